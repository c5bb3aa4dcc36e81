"""Names, numbers, dates, identifiers and paths, told by their form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.summaries.anchors import anchors, found_in, normal, stands_in


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met Ada Berg in Oslo.", [("name", "Ada Berg"), ("name", "Oslo")]),
        ("Thanks for that. It is fine.", []),
        ("The price is 49.90 euro, 15% off.", [("number", "49.90"), ("number", "15")]),
        ("See you on 10 April 2026 in the hall.", [("date", "10 April 2026")]),
        ("The code is 4711-ZX, set in max_tokens.", [("identifier", "4711-ZX"), ("identifier", "max_tokens")]),
        (
            "It is in memory_rag/store.py and https://example.org/a?b=1.",
            [("path", "memory_rag/store.py"), ("path", "https://example.org/a?b=1")],
        ),
        ("Read it and/or leave it.", []),
        ("## Set Up The Database Schema", []),
    ],
)
def test_what_can_be_lost_is_told_by_its_form(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(found.kind.value, found.text) for found in anchors(text, language="en")] == expected


def test_a_first_word_is_a_name_if_it_has_a_capital_elsewhere_too() -> None:
    found = found_in([("Mats called.", "en"), ("So I asked Mats. Jars are in. Good.", "en")])

    assert [[one.text for one in own] for own in found] == [["Mats"], ["Mats"]]


def test_german_nouns_are_no_names() -> None:
    assert anchors("Wir haben das Haus in der Stadt gesehen.", language="de") == []


def test_a_summary_has_a_name_in_any_case_and_with_a_possessive() -> None:
    (ada,) = anchors("So we met Ada Berg today then.", language="en")[:1]

    assert stands_in(ada, normal("we saw ADA BERG's hall"))
    assert not stands_in(ada, normal("we saw Ada"))


@given(st.text(), st.sampled_from(["en", "sv", "de", "ja"]))
def test_any_text_has_anchors_that_stand_in_it(text: str, language: str) -> None:
    normalised = normal(text)

    assert all(found.text and found.kind for found in anchors(text, language=language))
    assert normalised.startswith(" ")
