"""What models write when they are asked for a summary, and how much of it can be read."""

from __future__ import annotations

import pytest

from memory_rag.summaries.model_answer import read_lines
from memory_rag.summaries.summary import Kind, Line

KNOWN = {"t1", "t2", "trip 7/turn 3"}


def decision(*turn_ids: str) -> Line:
    return Line(Kind.DECISION, "We go.", turn_ids)


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ("decision: We go. [t1, t2]", decision("t1", "t2")),
        ("decision: We go. [t1; t2]", decision("t1", "t2")),
        ("decision: We go. [t1] [t2].", decision("t1", "t2")),
        ("decision: We go. [t1],[t2]", decision("t1", "t2")),
        ("1. decision: We go. [t1]", decision("t1")),
        ("2) **Decision:** We go. [t1]\r\n", decision("t1")),
        ("- decision: We go. [trip 7/turn 3]", decision("trip 7/turn 3")),
        ("decision: We go. [t1, t9]", decision("t1")),
        ('{"decisions": [{"text": "We go.", "turns": ["[t1]", "t2"]}]}', decision("t1", "t2")),
        ('{"decisions": [{"text": "We go.", "turns": "t1, t2"}]}', decision("t1", "t2")),
        ('First {"points": []}.</think>{"decisions": [{"text": "We go.", "turns": ["t1"]}]}', decision("t1")),
    ],
)
def test_a_line_is_read_however_it_is_written(answer: str, line: Line) -> None:
    assert read_lines(answer, known=KNOWN) == (line,)


def test_a_line_feed_of_another_kind_ends_no_line() -> None:
    (line,) = read_lines("decision: We\u2028go. [t1]", known=KNOWN) or ()
    assert (line.text, line.turn_ids) == ("We\u2028go.", ("t1",))


@pytest.mark.parametrize(
    "answer", ["decision: We go.", "decision: We go. [t9]", "We go [t1]", '{"decisions": [{"text": "We go."}]}', ""]
)
def test_what_cites_no_turn_is_no_line(answer: str) -> None:
    assert read_lines(answer, known=KNOWN) is None
