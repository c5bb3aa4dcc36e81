"""``memory-rag summary``: what it shows, makes and audits."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_rag.memory import Memory
from tests.interfaces.command_line import CommandLine

SAID = (
    "We decided to charge 49 euro because the jars cost more.",
    "I prefer trains.",
    *(f"The garden wall has a stone number {number} in it." for number in range(12)),
)


@pytest.fixture
def garden(memory_rag: CommandLine) -> Path:
    """The folder of the memory ``main`` with fourteen turns of one conversation."""
    folder = memory_rag.home / "main"
    with Memory.open(folder, embedder="none", language="en") as memory:
        for text in SAID:
            memory.add(text, speaker="Ebba", conversation_id="garden")
    return folder


@pytest.mark.usefixtures("garden")
def test_without_a_summary_it_says_how_one_is_made(memory_rag: CommandLine) -> None:
    ran = memory_rag("summary")

    assert (ran.code, ran.out) == (0, "")
    assert "there is no summary of this level yet; make one with: memory-rag summary --make" in ran.err


@pytest.mark.usefixtures("garden")
def test_it_makes_one_and_shows_every_line_with_its_turns(memory_rag: CommandLine) -> None:
    ran = memory_rag("summary", "--make")

    assert ran.lines[0].startswith("garden: 6 turns, t1 to t6, ")
    assert "by extractive:1" in ran.lines[0]
    assert "  - Ebba: We decided to charge 49 euro because the jars cost more. [t1]" in ran.lines
    assert memory_rag("summary").out == ran.out


@pytest.mark.usefixtures("garden")
def test_the_audit_names_what_is_kept_and_what_is_lost(memory_rag: CommandLine) -> None:
    memory_rag("summary", "--make")

    (found,) = memory_rag("summary", "--audit", "--json").json
    shown = memory_rag("summary", "--audit").out

    assert found["audit"]["kept"]["decision"] == {"kept": 1, "of": 1, "share": 1.0}
    assert found["decisions"][0]["turns"] == ["t1"]
    assert found["decisions"][0]["reason"] == "because the jars cost more"
    assert "1 of 1 decisions, 1 of 1 preferences" in shown


@pytest.mark.usefixtures("garden")
def test_a_focus_makes_it_and_is_told(memory_rag: CommandLine) -> None:
    (found,) = memory_rag("summary", "--focus", "keep the trains", "--json").json

    assert found["focus"] == "keep the trains"
    assert "audit" not in found


@pytest.mark.usefixtures("garden")
def test_an_unknown_level_is_wrong_usage(memory_rag: CommandLine) -> None:
    ran = memory_rag("summary", "--level", "week")

    assert ran.code == 2
    assert "unknown level 'week'; a level is one of: hundred, thousand, lifetime" in ran.err


@pytest.mark.usefixtures("garden")
def test_only_one_conversation_is_shown_if_it_is_named(memory_rag: CommandLine) -> None:
    memory_rag("summary", "--make")

    assert memory_rag("summary", "--conversation", "other", "--json").json == []
    assert len(memory_rag("summary", "--conversation", "garden", "--json").json) == 1


def test_forget_takes_a_turn_out_of_the_summary(memory_rag: CommandLine, garden: Path) -> None:
    memory_rag("summary", "--make")

    memory_rag("forget", "t2", "--yes")

    assert "trains" not in memory_rag("summary").out
    assert b"trains" not in (garden / "turns.sqlite").read_bytes()


@pytest.mark.usefixtures("garden")
def test_a_model_that_cannot_be_asked_is_an_error_and_the_turns_stay(memory_rag: CommandLine) -> None:
    ran = memory_rag("summary", "--make", MEMORY_RAG_SUMMARIZER="openai:small")

    assert ran.code == 1
    assert "error: a summary wasn't made: openai:small needs a key; set OPENAI_API_KEY" in ran.err
    assert memory_rag("summary", "--json").json == []


@pytest.mark.usefixtures("garden")
def test_an_unknown_summarizer_is_told_with_those_that_there_are(memory_rag: CommandLine) -> None:
    ran = memory_rag("summary", MEMORY_RAG_SUMMARIZER="parrot")

    assert ran.code == 1
    assert "unknown summarizer 'parrot'; a summarizer is one of: extractive, openai:<model>" in ran.err
