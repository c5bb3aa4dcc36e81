"""Show: one turn in full, amid the turns around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_rag.memory import Memory
from tests.interfaces.command_line import CommandLine

pytestmark = pytest.mark.usefixtures("talk")


def test_a_turn_is_shown_in_full_and_its_neighbours_in_a_line(memory_rag: CommandLine) -> None:
    assert memory_rag("show", "t2").lines == [
        "Ebba · 2026-04-10 08:00 UTC · t1 · pricing",
        "  Vi kör 49 euro för första säsongen, inte ett öre mindre.",
        "",
        "Assistant · 2026-04-10 08:01 UTC · t2 · pricing",
        "  role assistant · session 2026-04-10 · notes n1",
        "",
        "Noted: 49 euro for the first season.",
        "I will remind you in autumn.",
        "",
        "Ebba · 2026-04-10 08:02 UTC · t3 · pricing",
        "  And the workshop? I’d say the price is 45 euro, jar included.",
    ]


def test_as_many_neighbours_as_are_asked_for(memory_rag: CommandLine) -> None:
    shown = memory_rag("show", "t3", "--before", "5", "--after", "0", "--json").json

    assert [turn["turn_id"] for turn in shown["before"]] == ["t1", "t2"]
    assert (shown["turn"]["turn_id"], shown["after"]) == ("t3", [])


def test_the_source_is_shown_as_it_came(memory_rag: CommandLine) -> None:
    assert memory_rag("show", "t1", "--raw").out == '{"words": "kept as they came: ö"}\n'


def test_a_turn_without_source_has_none_to_show(memory_rag: CommandLine) -> None:
    refused = memory_rag("show", "t5", "--raw")

    assert refused.code == 1
    assert refused.err == "error: turn t5 has no source JSON, it was not imported; leave out --raw\n"


def test_a_tool_call_is_shown(memory_rag: CommandLine) -> None:
    shown = memory_rag("show", "t5", "--before", "0")

    assert "left out of search" in shown.out
    assert "[tool_call: remind me in autumn]" in shown.lines
    assert '  "name": "remind",' in shown.out
    assert memory_rag("show", "t5", "--json").json["turn"]["blocks"] == [
        {"kind": "tool_call", "caption": "remind me in autumn", "data": {"name": "remind", "when": "autumn"}}
    ]


def test_a_stored_text_cannot_write_to_the_terminal(memory_rag: CommandLine, talk: Path) -> None:
    with Memory.open(talk, embedder="none") as memory:
        memory.add("red \x1b[31m and a title \x1b]0;gone\x07 and \x9b2J", speaker="\x1b[2Jeve")
    shown = memory_rag("show", "t6")

    assert not {"\x1b", "\x07", "\x9b"} & set(shown.out)
    assert "red \ufffd[31m and a title \ufffd]0;gone\ufffd and \ufffd2J" in shown.out


def test_an_id_that_nothing_has_says_where_to_find_ids(memory_rag: CommandLine) -> None:
    refused = memory_rag("show", "t99")

    assert refused.code == 1
    assert refused.err.startswith("error: no turn has the id 't99'")
    assert "memory-rag search" in refused.err
