"""Stats, doctor and reindex."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from pathlib import Path

import pytest

from tests.end_to_end.places import not_writable, without_rights
from tests.interfaces.command_line import CommandLine


def test_stats_as_json(memory_rag: CommandLine, talk: Path) -> None:
    counted = memory_rag("stats", "--json").json

    sizes = counted.pop("n_bytes")
    assert sizes.keys() == {"words", "vectors", "derived"}
    assert sizes["words"] >= (talk / "turns.sqlite").stat().st_size
    assert counted == {
        "place": str(talk),
        "folder": str(talk),
        "n_turns": 5,
        "by_role": {"user": 2, "assistant": 2, "tool": 1},
        "by_speaker": {"Assistant": 2, "Ebba": 2, "calendar": 1},
        "n_conversations": 1,
        "n_sessions": 1,
        "first": "2026-04-10T08:00:00Z",
        "last": "2026-04-10T08:09:00Z",
        "undated": 0,
        "unrecalled": 1,
        "n_words": counted["n_words"],
        "languages": counted["languages"],
        "embedder": None,
        "embedded": 0,
        "pending": 4,
        "seq": 5,
        "snapshot_seq": None,
        "found": {},
        "off_record_since": None,
        "rows": {"changes": 5},
        "note": None,
    }


@pytest.mark.usefixtures("talk")
def test_stats_for_a_reader(memory_rag: CommandLine) -> None:
    counted = {line[:13].strip(): line[15:] for line in memory_rag("stats").lines}

    assert counted["turns"] == "5 (user 2, assistant 2, tool 1)"
    assert counted["speakers"] == "Assistant 2, Ebba 2, calendar 1"
    assert counted["said"] == "2026-04-10 08:00 UTC to 2026-04-10 08:09 UTC"
    assert counted["left out"] == "1 of tool traffic, hidden or abandoned; search with --all"
    assert counted["embedder"] == "none"
    assert counted["words in"] == "turns.sqlite: turns with their sources 5, changes logged 5"


def test_what_can_still_be_read_goes_into_a_new_memory_and_what_is_lost_is_told(
    memory_rag: CommandLine, talk: Path, tmp_path: Path
) -> None:
    database = sqlite3.connect(talk / "turns.sqlite")
    database.execute("UPDATE turns SET text = x'00' WHERE row = 2")
    database.commit()
    database.close()
    new = tmp_path / "rescued"

    checked = memory_rag("doctor")
    rescued = memory_rag("doctor", "--rescue", str(new))

    assert checked.code == 1
    assert "memory-rag doctor --rescue NEW" in " ".join(checked.out.split())
    assert (rescued.code, rescued.lines[0]) == (1, f"rescued 4 turns into {new}, lost 1")
    assert "lost: t2" in rescued.err
    assert memory_rag("doctor", "--memory", str(new)).code == 0
    assert memory_rag("stats", "--memory", str(new), "--json").json["n_turns"] == 4
    again = memory_rag("doctor", "--rescue", str(new))
    assert (again.code, again.err.count("is not empty")) == (1, 1)


def test_a_file_that_lost_its_head_is_rescued(memory_rag: CommandLine, talk: Path, tmp_path: Path) -> None:
    path = talk / "turns.sqlite"
    path.write_bytes(bytes(100) + path.read_bytes()[100:])

    assert "memory-rag doctor --rescue NEW" in memory_rag("doctor").err
    rescued = memory_rag("doctor", "--rescue", str(tmp_path / "new"), "--json").json
    assert (rescued["n_turns"], rescued["n_lost"]) == (5, 0)


@pytest.mark.usefixtures("talk")
def test_stats_lists_the_conversations(memory_rag: CommandLine) -> None:
    memory_rag("add", "hej", "--conversation", "other", "--said-at", "2026-05-01")

    assert [line.split() for line in memory_rag("stats", "--conversations").lines] == [
        ["conversation", "turns", "first", "to", "last", "title"],
        ["other", "1", "2026-05-01", "to", "2026-05-01"],
        ["pricing", "5", "2026-04-10", "to", "2026-04-10"],
    ]
    assert memory_rag("stats", "--conversations", "--json").json["conversations"][1] == {
        "conversation_id": "pricing",
        "title": "",
        "n_turns": 5,
        "first": "2026-04-10T08:00:00Z",
        "last": "2026-04-10T08:09:00Z",
    }


@pytest.mark.usefixtures("talk")
def test_a_memory_that_is_well_is_said_to_be(memory_rag: CommandLine) -> None:
    checked = memory_rag("doctor")

    assert checked.code == 0
    assert checked.lines[-1] == "all is well"
    assert checked.lines[1].split()[:2] == ["ok", "words"]


@pytest.mark.usefixtures("talk")
def test_doctor_as_json(memory_rag: CommandLine) -> None:
    checked = memory_rag("doctor", "--json").json

    assert checked["is_well"] is True
    assert {finding["state"] for finding in checked["findings"]} <= {"ok", "warn"}
    assert list(checked["findings"][0]) == ["name", "state", "message", "remedy"]


def test_a_damaged_store_fails_with_what_to_do(memory_rag: CommandLine, talk: Path) -> None:
    store = talk / "turns.sqlite"
    store.write_bytes(store.read_bytes()[:6000])
    checked = memory_rag("doctor")

    assert checked.code == 1
    assert checked.lines[1].startswith("fail  words  ")
    assert "memory-rag restore SRC --overwrite" in checked.out.replace("\n" + " " * 13, " ")
    assert checked.lines[-1] == "1 failed, 0 to look at"


@pytest.mark.usefixtures("talk")
def test_reindex_builds_and_remembers_the_language(memory_rag: CommandLine) -> None:
    built = memory_rag("reindex", "--language", "nb,en")

    assert built.code == 0
    assert built.out.startswith("indexed 5 turns in nb, en; embedded 0 in ")
    assert memory_rag("stats", "--json").json["languages"] == ["nb", "en"]
    assert memory_rag("stats", "--json").json["snapshot_seq"] == 5


@pytest.mark.usefixtures("talk")
def test_reindex_with_an_embedder_embeds_what_is_pending(memory_rag: CommandLine) -> None:
    built = memory_rag("reindex", "--embedder", "minilm", "--json").json

    assert (built["n_turns"], built["embedded"]) == (5, 4)
    assert memory_rag("stats", "--embedder", "minilm", "--json").json["pending"] == 0


@pytest.mark.usefixtures("talk")
def test_an_unknown_language_is_wrong_usage(memory_rag: CommandLine) -> None:
    refused = memory_rag("reindex", "--language", "sv,klingon")

    assert refused.code == 2
    assert "unknown language 'klingon'" in refused.err


def test_a_memory_that_may_not_be_written_is_not_called_damaged(memory_rag: CommandLine, talk: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        folder = Path(place) / "m"
        shutil.copytree(talk, folder)
        with not_writable(folder), without_rights():
            ran = memory_rag("doctor", "--home", place, "--memory", str(folder), "--json")
    [found] = json.loads(ran.out)["findings"]

    assert (found["name"], found["state"]) == ("words", "fail")
    assert found["remedy"].startswith(f"let yourself write there, with: chmod -R u+rwX {folder}")
    assert "--rescue" not in found["remedy"]
