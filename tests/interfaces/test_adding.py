"""One turn at a time: add, correct, forget."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from memory_rag.memory import Memory
from tests.interfaces.command_line import CommandLine


def test_add_prints_the_id_and_keeps_every_code_point(memory_rag: CommandLine) -> None:
    added = memory_rag("add", "Priset är 49 euro. ", "--speaker", "Ebba")

    assert (added.code, added.out, added.err) == (0, "t1\n", "")
    shown = memory_rag("show", "t1", "--json").json["turn"]
    assert (shown["text"], shown["speaker"], shown["role"]) == ("Priset är 49 euro. ", "Ebba", "user")


def test_add_reads_stdin_byte_for_byte(memory_rag: CommandLine) -> None:
    words = "  först\r\n\x00 sedan\u2028 mo\u0308tet \n"

    assert memory_rag("add", "-", stdin=words.encode()).out == "t1\n"
    assert memory_rag("show", "t1", "--json").json["turn"]["text"] == words


def test_bytes_that_are_no_utf8_are_refused_with_their_place_and_nothing_is_stored(memory_rag: CommandLine) -> None:
    refused = memory_rag("add", "-", stdin=b"Malm\xf6")

    assert refused.code == 1
    assert refused.err.startswith("error: stdin is not UTF-8 at byte 4 (0xf6: ")
    assert not memory_rag.home.exists()


def test_an_argument_that_is_no_utf8_is_refused_with_its_place(memory_rag: CommandLine) -> None:
    refused = memory_rag("add", "Malm\udcf6")

    assert refused.code == 1
    assert refused.err.startswith("error: TEXT is not UTF-8 at byte 4 (0xf6: ")


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_text_without_words_is_refused(memory_rag: CommandLine, text: str) -> None:
    refused = memory_rag("add", text)

    assert refused.code == 1
    assert refused.err == "error: TEXT is empty; give the words that were said, or - and the words on stdin\n"


def test_an_unknown_role_is_wrong_usage_and_names_the_roles(memory_rag: CommandLine) -> None:
    refused = memory_rag("add", "hej", "--role", "narrator")

    assert refused.code == 2
    assert "unknown role 'narrator'; a role is one of: user, assistant, system, tool" in refused.err
    assert not memory_rag.home.exists()


def test_add_takes_where_and_when_it_was_said(memory_rag: CommandLine) -> None:
    place = ("--conversation", "c", "--session", "s", "--said-at", "2026-04-10 09:30", "--timezone", "Europe/Oslo")
    added = memory_rag("add", "hei", "--role", "assistant", *place, "--json").json

    assert added == {
        "turn_id": "t1",
        "source_id": None,
        "conversation_id": "c",
        "session_id": "s",
        "speaker": "assistant",
        "role": "assistant",
        "said_at": "2026-04-10T07:30:00Z",
        "ordinal": 0,
        "said_at_text": None,
        "text": "hei",
        "sha256": hashlib.sha256(b"hei").hexdigest(),
        "recalled": True,
        "source": None,
        "blocks": [],
        "stored": True,
        "reason": None,
        "findings": [],
    }


@pytest.mark.usefixtures("talk")
def test_a_corrected_turn_shows_what_it_was_before(memory_rag: CommandLine) -> None:
    corrected = memory_rag("correct", "t1", "Vi kör 59 euro.", "--speaker", "Sanna")

    assert (corrected.code, corrected.out) == (0, "corrected t1; the old version is kept\n")
    shown = memory_rag("show", "t1", "--json").json
    assert (shown["turn"]["text"], shown["turn"]["speaker"]) == ("Vi kör 59 euro.", "Sanna")
    assert [(old["text"], old["speaker"]) for old in shown["earlier_versions"]] == [
        ("Vi kör 49 euro för första säsongen, inte ett öre mindre.", "Ebba")
    ]
    assert "Before it was corrected: Ebba" in memory_rag("show", "t1").out


@pytest.mark.usefixtures("talk")
def test_a_version_that_is_dropped_is_not_shown(memory_rag: CommandLine) -> None:
    assert memory_rag("correct", "t1", "-", "--drop-old", stdin="Vi kör 59 euro.").out == "corrected t1\n"
    assert memory_rag("show", "t1", "--json").json["earlier_versions"] == []


@pytest.mark.usefixtures("talk")
def test_a_correction_of_nothing_is_wrong_usage(memory_rag: CommandLine) -> None:
    refused = memory_rag("correct", "t1")

    assert refused.code == 2
    assert "nothing to correct; give a TEXT, --speaker or --said-at" in refused.err


def test_forget_asks_first_and_keeps_the_turn_at_a_no(memory_rag: CommandLine, talk: Path) -> None:
    asked = memory_rag("forget", "t1", "t2", stdin="n\n")

    assert asked.code == 1
    assert "t1 Ebba: Vi kör 49 euro" in asked.err
    assert "Remove these 2 turns for good? [y/N]" in asked.err
    assert asked.err.endswith("nothing was removed\n")
    with Memory.open(talk, embedder="none") as memory:
        assert len(memory) == 5


def test_a_question_that_nobody_answers_is_a_no(memory_rag: CommandLine, talk: Path) -> None:
    assert memory_rag("forget", "t1").code == 1
    with Memory.open(talk, embedder="none") as memory:
        assert len(memory) == 5


def test_forget_removes_what_it_is_told_to(memory_rag: CommandLine, talk: Path) -> None:
    forgotten = memory_rag("forget", "t1", "t2", "t1", "--yes")

    assert (forgotten.code, forgotten.out) == (0, "forgot 2 turns\n")
    assert "note: a backup made earlier still holds the words\n" in forgotten.err
    with Memory.open(talk, embedder="none") as memory:
        assert [turn.turn_id for turn in memory.turns()] == ["t3", "t4", "t5"]


def test_an_id_that_nothing_has_forgets_nothing(memory_rag: CommandLine, talk: Path) -> None:
    refused = memory_rag("forget", "t1", "t99", "--yes")

    assert refused.code == 1
    assert refused.err.startswith("error: no turn has the id 't99'")
    with Memory.open(talk, embedder="none") as memory:
        assert len(memory) == 5
