"""Lines that cite turns, in the order of their kinds, within their words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_rag.errors import ModelError
from memory_rag.summaries.summary import Kind, Level, Line, Summary, check_lines


def line(text: str = "We go with 49 euro.", *turn_ids: str, kind: Kind = Kind.DECISION, reason: str = "") -> Line:
    return Line(kind, text, turn_ids or ("t1",), reason=reason)


def summary(*lines: Line) -> Summary:
    return Summary("pricing", Level.HUNDRED, lines, 4, "t1", "t4", "extractive:1", datetime(2026, 4, 10, tzinfo=UTC))


def test_a_line_without_a_turn_is_refused() -> None:
    with pytest.raises(ModelError, match=r"'We go with 49 euro\.' cites no turn"):
        Line(Kind.DECISION, "We go with 49 euro.", ())


def test_a_line_without_words_is_refused() -> None:
    with pytest.raises(ModelError, match="has no words"):
        line(" \n")


def test_a_citation_that_does_not_exist_is_rejected() -> None:
    with pytest.raises(ModelError, match=r"by small-model cites turn 't9' in a decision.*it was not kept"):
        check_lines([line(), line("We go with 49 euro.", "t1", "t9")], known={"t1"}, made_by="small-model")


def test_more_words_than_allowed_are_refused() -> None:
    with pytest.raises(ModelError, match="has 202 words, at most 200 are allowed"):
        check_lines([line("word " * 198), line("We go now. Yes")], known={"t1"}, made_by="m")


def test_the_text_has_headings_and_the_turns_of_every_line() -> None:
    shown = summary(
        line("pricing", kind=Kind.TOPIC),
        line("workshop", "t3", kind=Kind.TOPIC),
        line("We go with 49 euro.", "t1", "t2", reason="because the jars cost more"),
        line("Who brings the jars?", "t4", kind=Kind.QUESTION),
    ).text

    assert shown == (
        "Topics: pricing, workshop [t1, t3]\n"
        "Decisions:\n"
        "- We go with 49 euro. (why: because the jars cost more) [t1, t2]\n"
        "Open questions:\n"
        "- Who brings the jars? [t4]"
    )


def test_a_line_never_breaks_the_text_in_two() -> None:
    assert summary(line("one\n\nDecisions:\n- two", kind=Kind.POINT)).text == "Also said:\n- one Decisions: - two [t1]"


def test_the_structured_form_has_topics_facts_decisions_with_reasons_questions_and_todos() -> None:
    structured = summary(
        line("I prefer trains.", kind=Kind.PREFERENCE),
        line("My name is Ebba.", "t2", kind=Kind.FACT),
        line(reason="because of the jars"),
    ).structured()

    assert list(structured) == ["topics", "user_facts", "decisions", "open_questions", "todos", "points"]
    assert [one["text"] for one in structured["user_facts"]] == ["I prefer trains.", "My name is Ebba."]
    assert structured["decisions"] == [
        {
            "kind": "decision",
            "text": "We go with 49 euro.",
            "reason": "because of the jars",
            "turns": ["t1"],
            "verbatim": False,
        }
    ]
