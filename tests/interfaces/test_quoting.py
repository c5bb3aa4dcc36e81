"""Quote: where exactly words were said, as JSON and for a reader."""

from __future__ import annotations

import pytest

from memory_rag.interfaces.cli.quoting import sentence
from memory_rag.turns import Span
from tests.interfaces.command_line import CommandLine

pytestmark = pytest.mark.usefixtures("talk")


def test_json_has_exactly_the_fields_that_are_promised(memory_rag: CommandLine) -> None:
    assert memory_rag("quote", "49 euro för första säsongen", "--json").json == {
        "query": "49 euro för första säsongen",
        "quotes": [
            {
                "status": "exact",
                "turn_id": "t1",
                "source_id": "n0",
                "role": "user",
                "speaker": "Ebba",
                "said_at": "2026-04-10T08:00:00Z",
                "start": 7,
                "end": 34,
                "text": "49 euro för första säsongen",
                "differences": [],
                "corrected_at": None,
                "findings": [],
            }
        ],
    }


def test_case_and_kinds_of_marks_make_a_folded_quote_with_the_stored_words(memory_rag: CommandLine) -> None:
    [quote] = memory_rag("quote", "i'd SAY the price", "--json").json["quotes"]

    assert (quote["status"], quote["text"]) == ("folded", "I’d say the price")


def test_a_near_quote_names_every_difference(memory_rag: CommandLine) -> None:
    [quote] = memory_rag("quote", "I’d say the price is 54 euro, jar included", "--json").json["quotes"]

    assert quote["status"] == "near"
    assert quote["differences"] == [{"kind": "changed", "expected": "54", "found": "45"}]


def test_a_reader_sees_the_words_in_their_sentence(memory_rag: CommandLine) -> None:
    quoted = memory_rag("quote", "the price is 45 euro")

    assert (quoted.code, quoted.err) == (0, "")
    assert quoted.lines == [
        "exact · Ebba (user) · 2026-04-10 08:02 UTC · t3 · pricing",
        "  … I’d say »the price is 45 euro«, jar included.",
        "  characters 26 to 46",
    ]


def test_a_reader_sees_what_differs(memory_rag: CommandLine) -> None:
    quoted = memory_rag("quote", "I’d say the price is 54 euro, jar included")

    assert quoted.lines[0].startswith("near, ")
    assert quoted.lines[-1] == "  changed: you have “54”, it says “45”"


def test_nothing_found_says_so_and_is_no_failure(memory_rag: CommandLine) -> None:
    quoted = memory_rag("quote", "a kayak in the sea")

    assert (quoted.code, quoted.out) == (0, "not found\n")


def test_nothing_found_is_an_empty_list_in_json_and_words_on_stderr(memory_rag: CommandLine) -> None:
    quoted = memory_rag("quote", "a kayak in the sea", "--json")

    assert quoted.json == {"query": "a kayak in the sea", "quotes": []}
    assert quoted.err == "not found\n"


@pytest.mark.parametrize(("text", "code"), [("a kayak in the sea", 1), ("49 euro", 0)])
def test_the_exit_code_tells_if_it_is_asked_to(memory_rag: CommandLine, text: str, code: int) -> None:
    assert memory_rag("quote", text, "--exit-code").code == code
    assert memory_rag("quote", text, "--exit-code", "--json").code == code


def test_filters_narrow_where_words_are_looked_for(memory_rag: CommandLine) -> None:
    by = {
        who: [quote["turn_id"] for quote in memory_rag("quote", "49 euro", "--role", who, "--json").json["quotes"]]
        for who in ("user", "assistant")
    }

    assert by == {"user": ["t1"], "assistant": ["t2"]}


def test_a_filter_that_nothing_matches_is_told(memory_rag: CommandLine) -> None:
    quoted = memory_rag("quote", "49 euro", "--speaker", "Ada")

    assert quoted.out == "not found\n"
    assert quoted.err == "note: nobody called 'Ada' speaks in this memory; see: memory-rag stats\n"


def test_no_more_places_than_the_limit(memory_rag: CommandLine) -> None:
    assert len(memory_rag("quote", "euro", "--limit", "2", "--json").json["quotes"]) == 2
    assert memory_rag("quote", "euro", "--limit", "0").code == 2


@pytest.mark.parametrize(
    ("text", "words", "whole"),
    [
        ("One. Two is here. Three.", "is", "Two is here."),
        ("One two three", "two", "One two three"),
        ("日志在这里。清零了。再见", "清零", "清零了。"),
        ("a\nb c\nd", "c", "b c"),
        ("Wait… “Yes.” No.", "Yes", "“Yes.”"),
    ],
)
def test_a_sentence_ends_where_a_reader_would_end_it(text: str, words: str, whole: str) -> None:
    start = text.index(words)

    assert sentence(text, Span(start, start + len(words))).of(text) == whole


def test_a_sentence_without_end_is_cut_between_words() -> None:
    text = " ".join(f"word{number}" for number in range(400))
    start = text.index("word200")
    found = sentence(text, Span(start, start + 7)).of(text)

    assert found.startswith("word1")
    assert not found.endswith(" ")
    assert len(found) <= 7 + 2 * 160
