"""A line of a summary cites a turn for each of its numbers, or is none."""

from __future__ import annotations

import pytest

from memory_rag.summaries.summary import Kind, Line
from memory_rag.summaries.supported import supported

SAID = {
    "t1": "Vi tar 1 200 kr i månaden, från den 14 juli.",
    "t2": "Order 4711-ZX kostar 1.200,50 euro.",
    "t3": "٤٩ يورو",
    "t4": "No number here.",
    "t5": "Kvar är 12500 kr, och 200 och 300 till.",
}


def line(text: str, *turn_ids: str, reason: str = "") -> Line:
    return Line(Kind.DECISION, text, turn_ids, reason=reason)


@pytest.mark.parametrize(
    ("text", "cited", "cites"),
    [
        ("1200 kr från 14 juli", ["t1"], ("t1",)),
        ("1,200 kr", ["t1"], ("t1",)),
        ("order 4711-ZX", ["t2"], ("t2",)),
        ("12 500 kr kvar", ["t5"], ("t5",)),
        ("12\u00a0500 kr", ["t4"], ("t4", "t5")),
        ("12.500 kr", ["t5"], ("t5",)),
        ("200 300 till", ["t5"], ("t5",)),
        ("order 4711", ["t4"], ("t4", "t2")),
        ("49 euro", ["t3"], ("t3",)),
        ("three things, 3 in all", ["t4"], ("t4",)),
        ("no number", ["t4"], ("t4",)),
    ],
)
def test_a_number_is_looked_for_in_the_turns_cited_and_then_in_the_others(
    text: str, cited: list[str], cites: tuple[str, ...]
) -> None:
    found = supported(line(text, *cited), SAID)

    assert found is not None
    assert found.turn_ids == cites


@pytest.mark.parametrize("text", ["1300 kr", "order 4712-ZX", "14 and 15 July", "3 200 kr", "1 500 kr", "12 501 kr"])
def test_a_number_that_stands_nowhere_makes_the_line_none(text: str) -> None:
    assert supported(line(text, "t1", "t2", "t5"), SAID) is None


def test_the_reason_of_a_decision_is_looked_at_too() -> None:
    assert supported(line("the small one", "t4", reason="the other is 990"), SAID) is None


def test_a_number_of_many_digits_is_one() -> None:
    text = "9" * 4_000
    assert supported(line(text, "t9"), {"t9": text}) == line(text, "t9")


def test_many_groups_of_digits_are_no_number_of_thousands_of_digits() -> None:
    text = " ".join(["111"] * 3_000)
    assert supported(line(text, "t9"), {"t9": text}) == line(text, "t9")
