"""Where a sentence ends, and where only a dot stands."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.summaries.sentences import sentences


def cut(text: str) -> list[str]:
    return [span.of(text) for span in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Smith paid $4.50 at 9 a.m. Then he left.", ["Dr. Smith paid $4.50 at 9 a.m.", "Then he left."]),
        ("See e.g. section 3.2. What now?! OK... fine.", ["See e.g. section 3.2.", "What now?!", "OK... fine."]),
        ("J. K. Rowling wrote it. Version 2.4.1 is out.", ["J. K. Rowling wrote it.", "Version 2.4.1 is out."]),
        (
            "Vi möts kl. 9.30 hos dr. Berg, bl.a. om priset. Det är t.ex. 49 kr. Är det ok?",
            ["Vi möts kl. 9.30 hos dr. Berg, bl.a. om priset.", "Det är t.ex. 49 kr.", "Är det ok?"],
        ),
        ("Vi ses den 3. maj. Hej då!", ["Vi ses den 3. maj.", "Hej då!"]),
        (
            "Møtet er 17. juni kl. 10. Det er f.eks. på torget.",
            ["Møtet er 17. juni kl. 10.", "Det er f.eks. på torget."],
        ),
        ("彼は言った。「行くよ。」本当？", ["彼は言った。", "「行くよ。」", "本当？"]),
        ('"I don\'t know." she said. He did.', ['"I don\'t know." she said.', "He did."]),
    ],
)
def test_a_sentence_ends_where_a_reader_ends_it(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_lines_end_sentences_and_list_marks_stand_outside() -> None:
    assert cut("## Plan\n1. Buy jars\n- [ ] Call Mats\n> Quoted") == ["Plan", "Buy jars", "Call Mats", "Quoted"]


def test_code_and_tables_have_no_sentences() -> None:
    assert cut("Before.\n```py\nx = 1. Y\n```\n| a | b |\n|---|---|\nAfter.") == ["Before.", "After."]


@given(st.text())
def test_sentences_lie_in_order_and_never_overlap(text: str) -> None:
    spans = sentences(text)

    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert all(span.of(text).strip() == span.of(text) != "" for span in spans)


@pytest.mark.parametrize("piece", [". A", "a. ", "(", "- ", "```", "|", "「。"])
def test_long_runs_of_marks_are_cut_in_no_time(piece: str) -> None:
    before = time.process_time()

    sentences(piece * 100_000)

    assert time.process_time() - before < 5
