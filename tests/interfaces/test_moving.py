"""``memory-rag migrate``: what it tells, and how it ends."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.interfaces.command_line import CommandLine

pytestmark = pytest.mark.usefixtures("talk")


def test_a_memory_goes_to_another_place_and_is_proved_the_same(memory_rag: CommandLine, tmp_path: Path) -> None:
    moved = memory_rag("migrate", "main", str(tmp_path / "there"))

    assert (moved.code, moved.err) == (0, "")
    assert moved.lines[:4] == [
        "copied 5 turns",
        f"from {memory_rag.home / 'main'}",
        f"to   {tmp_path / 'there'}",
        "compared, every byte of every row (SHA-256 of all rows):",
    ]
    turns = moved.lines[4].split()
    assert turns[:2] == ["5", "turns"]
    assert (len(turns[2]), turns[3]) == (16, "equal")
    assert moved.lines[-1] == "both are the same memory, to the last byte"
    there = ("--memory", str(tmp_path / "there"))
    assert memory_rag("export", *there).out == memory_rag("export").out
    assert memory_rag("search", "jar included", *there).out.count("t3") == 1


def test_it_reports_as_json(memory_rag: CommandLine) -> None:
    told = memory_rag("migrate", "main", "there", "--json").json

    assert (told["checked_only"], told["turns"], told["copied_before"], told["equal"]) == (False, 5, 0, True)
    assert (told["from"], told["to"]) == (str(memory_rag.home / "main"), str(memory_rag.home / "there"))
    (turns,) = [one for one in told["compared"] if one["name"] == "turns"]
    assert turns["rows"] == [5, 5]
    assert turns["sha256"][0] == turns["sha256"][1]
    assert len(turns["sha256"][0]) == 64
    assert (turns["equal"], turns["difference"]) == (True, None)


def test_what_would_be_copied_is_counted_and_nothing_is_made(memory_rag: CommandLine) -> None:
    told = memory_rag("migrate", "main", "there", "--dry-run")
    as_json = memory_rag("migrate", "main", "there", "--dry-run", "--json").json

    assert told.code == 0
    assert told.lines[0] == f"would copy from {memory_rag.home / 'main'}:"
    assert told.lines[1].split() == ["5", "turns"]
    assert as_json["rows"]["turns"] == 5
    assert not (memory_rag.home / "there").exists()


def test_a_place_that_holds_something_is_refused(memory_rag: CommandLine) -> None:
    memory_rag("migrate", "main", "there")
    refused = memory_rag("migrate", "main", "there")

    assert (refused.code, refused.out) == (1, "")
    assert "holds a memory already (5 turns), and nothing was copied" in refused.err
    assert "memory-rag migrate FROM TO --check" in refused.err


def test_two_memories_are_compared_and_a_difference_ends_with_1(memory_rag: CommandLine) -> None:
    memory_rag("migrate", "main", "there")
    same = memory_rag("migrate", "main", "there", "--check")
    memory_rag("correct", "t1", "something else", "--memory", "there")
    unlike = memory_rag("migrate", "main", "there", "--check")

    assert (same.code, same.lines[-1]) == (0, "both are the same memory, to the last byte")
    assert unlike.code == 1
    assert "NOT EQUAL" in unlike.out
    assert "first difference: turns, row 1: text, sha256 differ ('Vi kör 49 euro" in unlike.err
    assert "the two are NOT the same memory" in unlike.err


def test_a_copy_that_turns_out_unlike_is_not_taken_for_whole(memory_rag: CommandLine) -> None:
    database = sqlite3.connect(memory_rag.home / "main" / "turns.sqlite")
    database.execute("UPDATE turns SET text = x'414243' WHERE row = 2")
    database.commit()
    database.close()

    moved = memory_rag("migrate", "main", "there")

    assert moved.code == 1
    assert "first difference: turns, row 2: its text doesn't have the SHA-256 it was stored with" in moved.err
    assert "the copy is NOT the same memory, and stays marked as unfinished" in moved.err
    assert "is itself not whole" in memory_rag("migrate", "there", "further").err


def test_options_that_exclude_each_other_are_wrong_usage(memory_rag: CommandLine) -> None:
    refused = memory_rag("migrate", "main", "there", "--check", "--anew")

    assert refused.code == 2
    assert "--check, --anew and --dry-run exclude each other" in refused.err


def test_an_owner_belongs_to_a_server(memory_rag: CommandLine) -> None:
    refused = memory_rag("migrate", "main", "there", "--owner", "ebba")

    assert refused.code == 2
    assert "--owner says whose memory on a server" in refused.err


def test_a_memory_that_is_not_there_is_an_error(memory_rag: CommandLine) -> None:
    refused = memory_rag("migrate", "nothing", "there")

    assert refused.code == 1
    assert "nothing" in refused.err
    assert "holds no memory" in refused.err
    assert not (memory_rag.home / "there").exists()
