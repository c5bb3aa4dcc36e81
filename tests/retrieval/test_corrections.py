"""A verdict says that a quoted turn was corrected, and of what words it was before."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_rag.memory import Memory

SAID = "The ferry to Visby leaves at seven in the evening."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory", embedder="none", language="en") as memory:
        memory.add(SAID, speaker="Ebba")
        memory.add("The ferry to Nynäshamn leaves at noon on Sundays.", speaker="Ebba")
        yield memory


@pytest.mark.parametrize("keep_old", [True, False])
def test_a_quotation_of_a_corrected_turn_says_so(memory: Memory, *, keep_old: bool) -> None:
    memory.correct("t1", text="The ferry to Visby leaves at eight in the evening.", keep_old=keep_old)

    (verdict,) = memory.verify("Ebba said: “The ferry to Visby leaves at eight in the evening.”")

    today = f"{datetime.now(UTC):%Y-%m-%d}"
    assert verdict.status == "verbatim"
    assert verdict.message.endswith(f"turn t1). That turn was corrected on {today}.")
    assert verdict.quotes[0].corrected_at is not None
    assert verdict.as_json()["quotes"][0]["corrected_at"].startswith(today)


def test_words_that_a_turn_said_until_it_was_corrected_are_told_and_not_confirmed(memory: Memory) -> None:
    memory.correct("t1", text="It sails at eight.")

    (verdict,) = memory.verify("Ebba said: “the ferry to Visby leaves at seven, in the evening”")

    assert verdict.status in ("near", "not_found")
    assert verdict.message.endswith(" Turn t1 said it until it was corrected.")


def test_other_quotations_and_parts_of_words_are_told_as_ever(memory: Memory) -> None:
    memory.correct("t1", text="It sails at eight.")

    other, cut = memory.verify(
        "Ebba: “The ferry to Nynäshamn leaves at noon on Sundays.” And “erry to Visby leaves at seven in the even”."
    )

    assert other.message.startswith("Word for word by Ebba")
    assert "corrected" not in other.message + cut.message


def test_the_answer_itself_does_not_say_what_it_said_before(memory: Memory) -> None:
    answer = memory.add("I think “trains to Oslo run every single hour”.", role="assistant")
    memory.correct(answer.turn_id, text="I don't know.")

    (verdict,) = memory.verify("“trains to Oslo run every single hour”", answer_turn_id=answer.turn_id)

    assert (verdict.status, "corrected" in verdict.message) == ("not_found", False)


def test_what_only_others_say_since_a_correction_is_told_to_have_been_said(memory: Memory) -> None:
    memory.add(f"Noted: {SAID}", role="assistant")
    memory.correct("t1", text="It sails at eight.")

    (repeated,) = memory.verify(f"You said “{SAID}”")
    memory.add(SAID, speaker="Bo")
    (by_bo,) = memory.verify(f"Ebba said: “{SAID}”")

    assert (repeated.status, by_bo.status) == ("only_assistant", "said_by_another")
    assert all(one.message.endswith(" Turn t1 said it until it was corrected.") for one in (repeated, by_bo))


def test_what_the_assistant_said_before_is_nothing_that_others_said(memory: Memory) -> None:
    for place in ("north", "south"):
        memory.add(f"Trains to {place} run every single hour.", role="assistant")
    memory.correct("t3", text="Trains to south run every single hour.")
    memory.correct("t4", text="I don't know.")

    (verdict,) = memory.verify("“Trains to south run every single hour”")

    assert verdict.status == "only_assistant"
    assert "until it was corrected" not in verdict.message
