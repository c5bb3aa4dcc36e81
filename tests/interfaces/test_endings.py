"""How a run ends: its code, what it says, and that it is never a traceback."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from memory_rag.interfaces.cli.app import COMMANDS
from memory_rag.memory import Memory
from tests.interfaces.command_line import CommandLine

READERS = ("search", "quote", "show", "compare", "stats", "doctor", "reindex", "export", "verify", "forget", "correct")


@pytest.mark.parametrize("command", READERS)
def test_a_memory_that_is_not_there_is_an_error_that_says_how_to_make_one(
    memory_rag: CommandLine, command: str
) -> None:
    words = {"search": ["x"], "quote": ["x"], "show": ["t1"], "compare": ["x"], "verify": ["--text", "x"]}
    more = {"forget": ["t1", "--yes"], "correct": ["t1", "x"]}
    refused = memory_rag(command, *{**words, **more}.get(command, []))

    assert refused.code == 1
    assert refused.out == ""
    assert refused.err.startswith(f"error: {memory_rag.home / 'main'} holds no memory")
    assert "memory-rag import" in refused.err
    assert not memory_rag.home.exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(memory_rag: CommandLine, command: str) -> None:
    helped = memory_rag(command, "--help")

    assert helped.code == 0
    assert helped.out.startswith(f"Usage: memory-rag {command} ") or f" {command} " in helped.lines[0]
    assert "--memory" in helped.out
    assert max(map(len, helped.lines)) <= 80


def test_the_help_lists_every_command_whole(memory_rag: CommandLine) -> None:
    listed = memory_rag("--help").lines

    for command in COMMANDS:
        [line] = [line for line in listed if line.startswith(f"  {command} ")]
        assert line.endswith(".")
        assert "..." not in line


def test_no_command_is_wrong_usage_and_shows_the_help(memory_rag: CommandLine) -> None:
    assert memory_rag().code == 2
    assert "Words out:" in memory_rag().out


def test_an_unknown_command_is_wrong_usage_and_names_the_one_that_is_meant(memory_rag: CommandLine) -> None:
    refused = memory_rag("serch", "x")

    assert refused.code == 2
    assert refused.err.startswith("error: No such command 'serch'")
    assert "see: memory-rag --help\n" in refused.err


def test_a_missing_argument_is_wrong_usage(memory_rag: CommandLine) -> None:
    refused = memory_rag("search")

    assert refused.code == 2
    assert refused.err.startswith("error: Missing argument 'QUERY'")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("search", "what", "did", "I", "say"),
            'words that belong together want quotes around them, as in "two words"',
        ),
        (("search", "x", "-k", "0"), "'-k' / '--k': 0 is below 1\n"),
        (("search", "x", "-k", "many"), "'-k' / '--k': 'many' is not a whole number\n"),
        (("forget", "t1", "--timeout", "long"), "'--timeout': 'long' is not a number\n"),
        (("serve", "--port", "70000"), "'--port': 70000 is not between 0 and 65535\n"),
        (("--json", "search", "x"), "No such option before the command: --json; write it after the command's name\n"),
        (("bench", "--limit", "3", "run"), "before the command: --limit; write it after the command's name\n"),
        (("--jsn", "search", "x"), "error: No such option: --jsn"),
    ],
)
def test_a_slip_on_the_command_line_is_told_with_how_it_is_written(
    memory_rag: CommandLine, words: tuple[str, ...], told: str
) -> None:
    refused = memory_rag(*words)

    assert (refused.code, refused.out) == (2, "")
    assert told in refused.err


def test_the_version_is_told(memory_rag: CommandLine) -> None:
    assert memory_rag("--version").out == "memory-rag 0.1.0\n"


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize("words", [("search", "säsongen"), ("quote", "49 euro"), ("show", "t1"), ("doctor",)])
def test_output_that_is_no_terminal_has_no_colour(
    memory_rag: CommandLine, words: tuple[str, ...], colour: bool
) -> None:
    ran = memory_rag.process(*words, NO_COLOR="" if colour else "1")

    assert ran.code == 0, ran
    assert "\x1b" not in ran.out + ran.err


@pytest.mark.usefixtures("talk")
def test_a_reader_that_goes_away_ends_the_run_quietly(memory_rag: CommandLine, talk: Path) -> None:
    with Memory.open(talk, embedder="none") as memory:
        memory.add("kayak " * 100_000)
    process = memory_rag.start("export")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()

    assert process.wait() == 141
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_full_disk_under_stdout_is_an_error(memory_rag: CommandLine, talk: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.fail("this test needs /dev/full, which Linux has")
    with Path("/dev/full").open("wb") as full:
        process = memory_rag.start("export", stdout=full)
        _, told = process.communicate()

    assert process.returncode == 1
    assert told.decode() == "error: No space left on device\n"


def test_ctrl_c_while_embedding_keeps_every_turn_and_says_how_to_go_on(memory_rag: CommandLine, tmp_path: Path) -> None:
    lines = [
        f'{{"role": "user", "content": "this is turn number {number} of our short talk"}}' for number in range(3000)
    ]
    (tmp_path / "history.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    process = memory_rag.start("import", str(tmp_path / "history.jsonl"), MEMORY_RAG_EMBEDDER="minilm")
    vectors = memory_rag.home / "main" / "vectors"
    deadline = time.monotonic() + 120
    while not list(vectors.glob("*.ids")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, told = process.communicate()

    assert process.returncode == 130, told
    assert out.decode().splitlines()[1] == "  3,000 read = 3,000 kept + 0 already there + 0 skipped"
    assert told.decode() == (
        "stopped; every turn is stored, and what is embedded stays so; go on with: memory-rag reindex\n"
    )
    counted = memory_rag("stats", "--embedder", "minilm", "--json").json
    assert counted["n_turns"] == 3000
    assert 0 < counted["embedded"] < 3000


def test_a_home_that_is_a_file_is_an_error(memory_rag: CommandLine) -> None:
    memory_rag.home.write_text("not a folder", encoding="utf-8")
    refused = memory_rag("add", "hej")

    assert refused.code == 1
    assert refused.err.startswith(f"error: {memory_rag.home / 'main'} ")


def test_two_processes_that_add_at_once_lose_nothing(memory_rag: CommandLine, talk: Path) -> None:
    processes = [memory_rag.start("add", f"kayak number {number}", "--conversation", "c") for number in range(4)]
    outcomes = [process.communicate() for process in processes]

    assert [process.returncode for process in processes] == [0] * 4, outcomes
    assert sorted(out.decode() for out, _ in outcomes) == ["t6\n", "t7\n", "t8\n", "t9\n"]
    found = memory_rag("search", "kayak", "--mode", "keyword", "--json").json
    assert len(found["hits"]) == 4
