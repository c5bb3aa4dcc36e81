"""From text to index terms: what is found by what."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.text.analyzer import VERSION, Analyzer
from memory_rag.text.stopwords import STOP_WORDS

ENGLISH = Analyzer(("en",))
SWEDISH = Analyzer(("sv",))
BOTH = Analyzer(("sv", "en"))
ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("analyzer", "text", "terms"),
    [
        (ENGLISH, "The running dogs ran.", ["run", "dog", "ran"]),
        (ENGLISH, "Miller's Bread and Sofia's Tea open at nine", ["miller", "bread", "sofia", "tea", "open", "nine"]),
        (ENGLISH, "Don't, won’t, can't!", []),
        (ENGLISH, "NOT NULL", ["null"]),
        (SWEDISH, "Vi ses pa\u030a mo\u0308tet i Malmo\u0308", ["ses", "möt", "malmö"]),
        (SWEDISH, "Annas hundar", ["ann", "hund"]),
        (BOTH, "Hundarna är glada", ["hund", "glad"]),
        (BOTH, "The dogs are happy", ["dog", "happi"]),
        (Analyzer(("ja",)), "東京へ", ["東", "京", "へ", "東京", "京へ"]),
        (ENGLISH, "", []),
    ],
)
def test_a_turn_gives_stems_without_stop_words(analyzer: Analyzer, text: str, terms: list[str]) -> None:
    assert analyzer.terms(text) == terms


def test_decomposed_text_gives_the_terms_of_composed_text() -> None:
    """G03: a combining mark is no end of a word."""
    decomposed = "Vi ses pa\u030a mo\u0308tet i Malmo\u0308"

    assert len(decomposed) == 26
    assert SWEDISH.terms(decomposed) == SWEDISH.terms("Vi ses på mötet i Malmö")
    assert SWEDISH.query_terms("mötet") == SWEDISH.query_terms("mo\u0308tet") == ["möt"]


def test_a_question_is_stemmed_in_each_language_of_the_memory() -> None:
    assert BOTH.query_words("running hundarna") == [("running", "run"), ("hund", "hundarna")]
    assert BOTH.query_terms("running hundarna") == ["running", "run", "hund", "hundarna"]
    assert ENGLISH.query_words("running dogs") == [("run",), ("dog",)]


def test_stop_words_are_left_out_of_a_question_unless_there_is_nothing_else() -> None:
    assert ENGLISH.query_words("to be or not to be, Hamlet") == [("hamlet",)]
    assert ENGLISH.query_words("to be or not") == [("to",), ("be",), ("or",), ("not",)]
    assert SWEDISH.query_words("vad är det") == [("vad",), ("är",), ("det",)]
    assert ENGLISH.query_words("?!") == []
    assert ENGLISH.is_common("to be or not to be")
    assert not ENGLISH.is_common("to be or not to be, Hamlet")
    assert not ENGLISH.is_common("to be 7")


def test_the_language_of_a_text_is_the_one_with_most_of_its_function_words() -> None:
    assert BOTH.language_of("Vad sa hon om resan?") == "sv"
    assert BOTH.language_of("What did she say about it?") == "en"
    assert BOTH.language_of("Hallsberg 4711-ZX") == "sv"
    assert ENGLISH.language_of("Vad sa hon om resan?") == "en"


def test_a_language_without_a_stemmer_keeps_words_as_they_are() -> None:
    assert Analyzer(("uk",)).terms("Книги книга") == ["книги", "книга"]


@given(ANY_TEXT)
def test_any_text_gives_terms_without_an_error(text: str) -> None:
    for analyzer in (ENGLISH, BOTH):
        assert all(analyzer.terms(text))
        assert all(analyzer.query_terms(text))
        assert analyzer.language_of(text) in analyzer.languages


@given(
    st.lists(ANY_TEXT | st.sampled_from(["running", "hundarna", "4711-ZX", "2.4.10", "YouTube", "日志"])).map(" ".join)
)
def test_every_word_of_a_turn_that_is_no_stop_word_asks_for_one_of_its_terms(text: str) -> None:
    common = frozenset().union(*(STOP_WORDS[code] for code in BOTH.languages))
    terms = set(BOTH.terms(text))

    for word in text.split():
        asked = BOTH.query_words(word)
        if asked and not all(set(alternatives) & common for alternatives in asked):
            assert any(terms.intersection(alternatives) for alternatives in asked), word


@pytest.mark.parametrize(
    ("language", "open_form", "closed"),
    [
        ("en", "e-mail", "email"),
        ("en", "E-Mails", "emails"),
        ("en", "web-site", "websites"),
        ("en", "back-up", "backup"),
        ("en", "data-base", "databases"),
        ("en", "co-operate", "cooperating"),
        ("en", "sub-committee", "subcommittee"),
        ("en", "pre-order", "preorder"),
        ("en", "Wi-Fi", "wifi"),
        ("en", "B-12", "B12"),
        ("en", "3-D", "3D"),
        ("sv", "e-post", "epost"),
        ("sv", "tv-programmet", "tvprogrammet"),
        ("sv", "e\u2011posten", "e-posten"),
        ("nb", "e-posten", "eposten"),
        ("da", "tv-program", "tvprogram"),
        ("de", "E-Mail", "Email"),
        ("de", "Software-Entwicklung", "Softwareentwicklung"),
        ("en+sv", "e-post", "epost"),
    ],
)
def test_a_compound_is_found_with_and_without_its_hyphen(language: str, open_form: str, closed: str) -> None:
    analyzer = Analyzer(tuple(language.split("+")))

    for asked, stored in ((open_form, closed), (closed, open_form)):
        terms = set(analyzer.terms(stored))
        assert any(terms.intersection(alternatives) for alternatives in analyzer.query_words(asked)), (asked, stored)


@pytest.mark.parametrize(("one", "other"), [("e-mail", "blackmail"), ("re-sign", "designs"), ("10-20", "1020")])
def test_other_words_than_the_compound_are_not_found(one: str, other: str) -> None:
    assert set(ENGLISH.query_terms(one)).isdisjoint(ENGLISH.terms(other))


@given(ANY_TEXT, st.sampled_from(["happen", "10.30", "日志", "x1"]))
def test_located_terms_stand_where_they_are_said_to(text: str, word: str) -> None:
    written = f"{text} {word} {text}"
    wanted = frozenset(ENGLISH.query_terms(word))

    found = list(ENGLISH.located_terms(written, wanted=wanted))

    assert (len(text) + 1, len(text) + 1 + len(word)) in [(start, end) for start, end, _ in found]
    assert found == sorted(found)
    for start, end, term in found:
        assert term in wanted
        assert term in ENGLISH.terms(written[start:end])


@given(
    st.lists(
        st.sampled_from(["12 480 ", "happen ", "10", " ", "\u00a0", "\n", "日志", "x1 ", "C++ ", "e-mail "]),
        max_size=40,
    )
)
def test_terms_are_located_in_a_long_text_as_in_its_parts(parts: list[str]) -> None:
    part = "".join(parts) + " end.\n"
    wanted = frozenset(ENGLISH.query_terms("12480 12 480 10 happen 日志 x1 c++ mail"))
    once = list(ENGLISH.located_terms(part, wanted=wanted))

    many = list(ENGLISH.located_terms(part * 60, wanted=wanted))

    assert many == [(start + n * len(part), end + n * len(part), term) for n in range(60) for start, end, term in once]


def test_located_terms_of_a_run_without_spaces_have_their_own_places() -> None:
    text = "步骤3:重启api-gw后日志清零"

    assert list(ENGLISH.located_terms(text, wanted={"日志", "api", "零"})) == [
        (6, 12, "api"),
        (13, 15, "日志"),
        (16, 17, "零"),
    ]


def test_the_fingerprint_names_the_rules_and_the_languages() -> None:
    assert ENGLISH.fingerprint.startswith(f"{VERSION}:en:")
    assert BOTH.fingerprint.startswith(f"{VERSION}:sv+en:")


def test_stop_words_are_written_as_they_are_looked_up() -> None:
    for words in STOP_WORDS.values():
        for word in words:
            assert ENGLISH.language_of(word) == "en"
            assert word == word.casefold()


@pytest.mark.parametrize(
    "text",
    ["hello world this is a text " * 400_000, "東京は夜の七時" * 400_000, " ".join(f"w{n:x}" for n in range(300_000))],
    ids=["ten megabytes of words", "one run without spaces", "distinct words"],
)
def test_a_very_long_text_takes_seconds(text: str) -> None:
    started = time.process_time()

    assert len(ENGLISH.terms(text)) > 290_000
    assert time.process_time() - started < 20
