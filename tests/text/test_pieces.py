"""How a text is cut into pieces, and by which forms a piece is indexed and asked for."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_rag.text.pieces import forms_of, has_words, is_unspaced, pattern_for, unspaced_places

ANY_TEXT = st.text(st.characters(exclude_categories=()))


def pieces_in(text: str) -> list[str]:
    return pattern_for(text).findall(text)


def turn(piece: str) -> set[str]:
    forms = forms_of(piece)
    return {*forms.words, *forms.terms}


def asked(piece: str) -> set[str]:
    forms = forms_of(piece, for_query=True)
    return {*forms.words, *forms.terms}


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Hello, world!", ["Hello", "world"]),
        ("don't won’t", ["don't", "won’t"]),
        ("4711-ZX foo_bar a/b.py x@y.se", ["4711-ZX", "foo_bar", "a/b.py", "x@y.se"]),
        ("C++ C# F# A+", ["C++", "C#", "F#", "A+"]),
        ("2.4.10, 1,000 and 10:30.", ["2.4.10", "1,000", "and", "10:30"]),
        ("a,b", ["a", "b"]),
        ("12 480 kr, 1\u00a0000\u202f000,50", ["12 480", "kr", "1\u00a0000\u202f000,50"]),
        (
            "in 2024 100 came, 12 4801, 1 00, 7 100st",
            ["in", "2024", "100", "came", "12", "4801", "1", "00", "7", "100st"],
        ),
        ("步骤3:重启api-gw后", ["步骤", "3", "重启", "api-gw", "后"]),
        ("**bold** _emphasis_ `code`", ["bold", "emphasis_", "code"]),
        ("🇸🇪🇳🇴 👍🏽 ☕", ["🇸🇪", "🇳🇴", "👍", "🏽", "☕"]),
        ("so\u00adft foo\u200dbar", ["so\u00adft", "foo\u200dbar"]),
        ("│───│ ▓", []),
        ("__ _ - ' \" ・ ๏ ။", []),
    ],
)
def test_a_text_is_cut_into_words_identifiers_numbers_runs_and_pictographs(text: str, pieces: list[str]) -> None:
    assert pieces_in(text) == pieces


@given(ANY_TEXT)
@example("a\u0338")
def test_pieces_hold_every_letter_and_digit_of_any_text(text: str) -> None:
    left = pattern_for(text).sub("", text)

    assert [c for c in left if c.isalnum() and not unicodedata.combining(c)] == []


@given(st.text(st.characters(max_codepoint=127), max_size=300))
@example("a" * 129 + "_b+#" + "-x" * 17)
@example("1,000,5 a,b don't C++# __init__ x--y")
def test_ascii_is_cut_as_it_is_beside_other_signs(text: str) -> None:
    """A text of ASCII has a pattern of its own; an ö makes the other one read the same text."""
    *pieces, last = pieces_in(f"{text} ö")

    assert (pieces, last) == (pieces_in(text), "ö")


@given(ANY_TEXT)
def test_a_text_has_words_exactly_if_it_has_pieces(text: str) -> None:
    assert has_words(text) == bool(pieces_in(text))


@pytest.mark.parametrize(
    "text", ["", "?!", "--", "*", ")(", '"', '" "', "\u00a0", "_", "__", "…", "\ud800", "\0", "・"]
)
def test_a_text_of_marks_and_space_has_no_words(text: str) -> None:
    assert not has_words(text)


def test_no_combining_mark_of_the_basic_plane_cuts_a_word() -> None:
    marks = [chr(code) for code in range(0x10000) if unicodedata.category(chr(code)) in ("Mn", "Mc")]
    cutting = [f"U+{ord(mark):04X}" for mark in marks if not is_unspaced(mark) and len(pieces_in(f"a{mark}b")) > 1]

    assert cutting == []


@pytest.mark.parametrize("word", ["हिन्दी", "தமிழ்", "ẹ́kọ́", "mo\u0308tet", "বাংলা"])
def test_a_word_with_marks_is_one_word(word: str) -> None:
    assert turn(word) == {unicodedata.normalize("NFC", word)}


@pytest.mark.parametrize(
    ("written", "plain"), [("العَرَبِيَّة", "العربية"), ("العـــربية", "العربية"), ("שָׁלוֹם", "שלום"), ("آمَنَ", "آمن")]
)
def test_a_word_is_found_with_and_without_the_vowel_signs_that_are_mostly_left_out(written: str, plain: str) -> None:
    assert turn(written) == turn(plain) == {plain}


@pytest.mark.parametrize(
    ("piece", "words", "terms"),
    [
        ("Sofia's", {"sofia"}, set()),
        ("Sofia’s", {"sofia"}, set()),
        ("don't", {"don't"}, set()),
        ("o'clock", {"o", "clock"}, {"o'clock"}),
        ("l'ami", {"l", "ami"}, {"l'ami"}),
        ("well-known", {"well", "known", "wellknown"}, set()),
        ("E-Mail", {"e", "mail", "email"}, set()),
        ("e\u2011post", {"e", "post", "epost"}, set()),
        ("e\u2010post", {"e", "post", "epost"}, set()),
        ("mother-in-law's", {"mother", "in", "law", "motherinlaw"}, set()),
        ("I-T", {"i", "t", "it"}, {"i-t"}),
        ("B-12", {"b"}, {"b12", "12"}),
        ("3-D", {"d"}, {"3d", "3"}),
        ("4711-Z", {"z"}, {"4711-z", "4711"}),
        ("e-mail/web", {"e", "mail", "web", "email"}, {"e-mail/web"}),
        ("4711-ZX", {"zx"}, {"4711-zx", "4711"}),
        ("foo_bar", {"foo", "bar"}, {"foo_bar"}),
        ("__init__", {"init"}, set()),
        ("memory_rag/store.py", {"memory", "rag", "store", "py"}, {"memory_rag/store.py"}),
        ("ann.b@ex.org", {"ann", "b", "ex", "org"}, {"ann.b@ex.org"}),
        ("C++", {"c"}, {"c++"}),
        ("C#", {"c"}, {"c#"}),
        ("AT&T", {"at", "t"}, {"at&t"}),
        ("gpt4", {"gpt"}, {"gpt4", "4"}),
        ("RTX4090", {"rtx"}, {"rtx4090", "4090"}),
        ("iPhone15", {"iphone", "i", "phone"}, {"iphone15", "15"}),
        ("49kr", {"kr"}, {"49kr", "49"}),
        ("20th", set(), {"20th", "20"}),
        ("a1b2c3", set(), {"a1b2c3"}),
        ("YouTube", {"youtube", "you", "tube"}, set()),
        ("HTTPServer", {"httpserver", "http", "server"}, set()),
        ("APIs", {"apis"}, set()),
        ("utf8Decoder", {"decoder", "utf"}, {"utf8decoder", "utf8", "8"}),
        ("fooBar_baz", {"foobar", "foo", "bar", "baz"}, {"foobar_baz"}),
        ("5G", set(), {"5g"}),
        ("x-4K", {"x"}, {"x-4k", "4k"}),
        ("EU:s", {"eu", "s"}, {"eu:s"}),
        ("Straße", {"strasse"}, set()),
        ("ﬁnd", {"find"}, set()),
        ("İstanbul", {"istanbul"}, set()),
        ("Isparta", {"isparta"}, set()),
        ("ısparta", {"isparta"}, set()),
        ("٤٩", set(), {"49"}),
        ("२०२६", set(), {"2026"}),
        ("so\u00adft", {"soft"}, set()),
        ("ＡＢＣ", {"abc"}, set()),
        ("🇸🇪", set(), {"🇸🇪"}),
    ],
)
def test_a_piece_is_indexed_whole_and_in_parts(piece: str, words: set[str], terms: set[str]) -> None:
    forms = forms_of(piece)

    assert (set(forms.words), set(forms.terms)) == (words, terms)


@pytest.mark.parametrize(
    ("piece", "indexed", "questions"),
    [
        ("2.4.10", {"2.4.10", "2.4", "2"}, {"2.4.10"}),
        ("10:30", {"10.30", "10"}, {"10.30"}),
        ("10.30", {"10.30", "10"}, {"10.30"}),
        ("1,000", {"1000"}, {"1000"}),
        ("1,234,567.50", {"1234567.50", "1234567"}, {"1234567.50"}),
        ("3,5", {"3.5", "3", "5"}, {"3.5"}),
        ("1,2,3", {"1", "2", "3"}, {"1", "2", "3"}),
        ("2023,2024", {"2023.2024", "2023", "2024"}, {"2023.2024"}),
        ("v2.4.10", {"v2.4.10", "2.4.10", "2.4", "2", "v2.4", "v2"}, {"v2.4.10", "2.4.10"}),
        ("python3.11", {"python3.11", "python", "3.11", "3", "python3"}, {"python3.11", "python", "3.11"}),
        ("2.4.10-rc1", {"2.4.10-rc1", "2.4.10", "2.4", "2", "rc1", "rc", "1"}, {"2.4.10-rc1", "2.4.10", "rc1", "rc"}),
        ("１０：３０", {"10.30", "10"}, {"10.30"}),
        ("１，０００", {"1000"}, {"1000"}),
        ("12 480", {"12480", "12", "480"}, {"12480", "12", "480"}),
        ("12\u00a0480", {"12480", "12", "480"}, {"12480"}),
        ("1\u202f234\u202f567,50", {"1234567.50", "1234567", "50", "1", "234", "567.50", "567"}, {"1234567.50"}),
        ("1'234'567", {"1234567", "1", "234", "567"}, {"1234567"}),
        ("1_000", {"1000", "1", "000"}, {"1000"}),
        ("12.480,50", {"12480.50", "12480", "12.480.50", "12.480", "12", "50"}, {"12480.50"}),
        ("1.000", {"1.000", "1", "1000"}, {"1.000"}),
        (
            "978-91-7000",
            {"978-91-7000", "978917000", "978", "91", "7000"},
            {"978-91-7000", "978917000", "978", "91", "7000"},
        ),
        ("3-5", {"3-5", "3", "5"}, {"3-5", "3", "5"}),
        ("2020-2021", {"2020-2021", "2020", "2021"}, {"2020-2021", "2020", "2021"}),
        ("gpt4", {"gpt4", "gpt", "4"}, {"gpt4", "gpt"}),
        ("日志", {"日", "志", "日志"}, {"日志"}),
        ("日", {"日"}, {"日"}),
        ("か\u3099く", {"が", "く", "がく"}, {"がく"}),
        ("ｶﾅ", {"カ", "ナ", "カナ"}, {"カナ"}),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", {"한", "글", "한글"}, {"한글"}),
    ],
)
def test_a_number_is_found_by_its_beginnings_and_a_run_by_its_pairs(
    piece: str, indexed: set[str], questions: set[str]
) -> None:
    assert (turn(piece), asked(piece)) == (indexed, questions)


@pytest.mark.parametrize(
    ("question", "text", "found"),
    [
        ("2.4.10", "2.4.10", True),
        ("2.4.1", "2.4.10", False),
        ("2.4", "2.4.10", True),
        ("4.10", "2.4.10", False),
        ("v2.4.1", "v2.4.10", False),
        ("2.4.10", "v2.4.10", True),
        ("v2", "v2.4.10", True),
        ("1000", "1,000", True),
        ("12480", "12 480", True),
        ("12 480", "12,480", True),
        ("12.480,50", "12 480,50", True),
        ("12,480.50", "12.480,50", True),
        ("1000", "1.000", True),
        ("2.480", "12.480", False),
        ("9789170001234", "978-91-7000-123-4", True),
        ("978-91-7000-123-4", "9789170001234", True),
        ("iphone", "iPhone15", True),
        ("49", "49kr", True),
        ("4", "49kr", False),
        ("May-20", "20th", True),
        ("10:30", "10.30", True),
        ("3.5", "3,5", True),
        ("🇪🇸", "🇸🇪", False),
    ],
)
def test_a_number_finds_its_own_kind_and_no_other(question: str, text: str, *, found: bool) -> None:
    assert bool(asked(question) & turn(text)) == found


@given(ANY_TEXT)
def test_every_form_of_a_question_is_one_of_the_pieces_own(text: str) -> None:
    for piece in pieces_in(text):
        assert asked(piece)
        assert asked(piece) <= turn(piece)


@given(ANY_TEXT)
def test_forms_are_the_same_for_composed_and_decomposed_text(text: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))

    # A sign such as ≠ is an equals sign and a mark when decomposed.
    found = [
        [forms_of(piece) for piece in pieces_in(written) if piece[0].isalnum()] for written in (composed, decomposed)
    ]

    assert found[0] == found[1]


@given(ANY_TEXT.filter(lambda text: re.search(r"\s", text) is None))
def test_upper_case_finds_lower_case(text: str) -> None:
    # A few capitals have no small form that folds alike ("ŉ"), and a capital inside a word makes parts of it.
    if text.lower().upper().casefold() != text.casefold():
        return
    small = [form for piece in pieces_in(text.lower()) for form in asked(piece)]
    large = [form for piece in pieces_in(text.lower().upper()) for form in turn(piece)]

    assert set(small) <= set(large)


def test_the_terms_of_a_run_know_their_places() -> None:
    run = "重启后"

    places = unspaced_places(run)

    assert [run[start:end] for start, end in places] == list(forms_of(run).terms)
    assert unspaced_places("word") == []
    assert unspaced_places("か\u3099く") == []


@pytest.mark.parametrize(
    "text",
    [
        "hello world this is a text " * 75_000,
        "a" * 2_000_000,
        "a-" * 1_000_000,
        "1.2." * 500_000,
        "aB" * 1_000_000,
        "a" + "\u0301\u0323" * 1_000_000,
        "QUJD/+" * 330_000,
        "\n" * 2_000_000,
        "'" * 2_000_000,
    ],
    ids=["words", "one letter", "hyphens", "points", "camels", "marks", "base64", "lines", "apostrophes"],
)
def test_two_million_characters_take_seconds_whatever_they_are(text: str) -> None:
    started = time.process_time()

    longest = max((len(form) for piece in pieces_in(text) for form in turn(piece)), default=0)

    assert longest < 20_000
    assert time.process_time() - started < 10
