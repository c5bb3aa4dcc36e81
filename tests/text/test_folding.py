"""Folding makes alike what reads alike, and always finds the way back to the written characters."""

from __future__ import annotations

import re
import sys
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.text.folding import fold
from memory_rag.turns import Span

TRICKY = (
    "aAsSiIıİßẞςσΣǰŉﬁﬀKÅåäöÖéēᾳᾴΐ .\t\n\u00a0\u2003\u3000'\"’“”„«»「」‹›´–—−…\u00ad\u200b\u200c\u200d\u2060"
    "\ufeff\u200e\u202e\u0301\u0307\u0308\u030a\u0323\u0345\u0344\ufe0f\ufe0e\u034f한\u1112\u1161\u11ab हिन्दी"
    "👩👧❤👍🏽🇸🇪🏴\U000e0067\U000e007f①ｆ日\x00\x85\ud800\udc00\ue000"
)
any_text = st.text(st.characters(exclude_categories=()) | st.sampled_from(TRICKY), max_size=40)


def read_naively(text: str) -> str:
    """Fold the whole text at once, without keeping a way back: what ``fold`` must give."""
    unseen = r"[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufe0e\ufe0f]"
    seen = re.sub(unseen, "", text)
    folded = re.sub("i\u0307+", "i", unicodedata.normalize("NFD", seen).casefold())
    for marks, ascii_mark in {
        "‘’‚‛′‹›ʹʼ´＇": "'",
        "“”„‟″«»〝〞〟＂「」『』﹁﹂﹃﹄": '"',
        "‐‑‒–—―−⸺⸻﹘﹣－": "-",
    }.items():
        folded = re.sub(f"[{marks}]", ascii_mark, folded)
    return unicodedata.normalize("NFC", re.sub(r"\s+", " ", folded.replace("…", "...")))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Große STRASSE", "grosse strasse"),
        ("ΟΔΥΣΣΕΥΣ Ὀδυσσεύς", "οδυσσευσ ὀδυσσεύσ"),
        ("\ufb01n o\ufb00er", "fin offer"),
        ("pa\u030a mo\u0308tet", "på mötet"),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8", "한국"),
        ("DİL di\u0307l dİ\u0307l", "dil dil dil"),
        ("don’t don´t donʼt don′t", "don't don't don't don't"),
        ("“a” „b“ «c» »d« 「e」 『f』", '"a" "b" "c" "d" "e" "f"'),
        ("1–2 — 3 − 4 ‑ 5", "1-2 - 3 - 4 - 5"),
        ("wait… what", "wait... what"),
        ("so\u00adft zero\u200bwidth \u2067bidi\u2069 \ufeff", "soft zerowidth bidi "),
        ("  two \t\r\n lines\u2028\u00a0\u3000here ", " two lines here "),
        ("a \u200b \u200b b", "a b"),
        ("a \ufe0f\u200b b", "a b"),
        ("❤\ufe0f 1\ufe0f\u20e3", "❤ 1\u20e3"),
        ("ﬁ ① ｆ ² ı", "fi ① ｆ ² ı"),
        ("", ""),
        ("\u200b", ""),
    ],
)
def test_what_reads_alike_becomes_equal(written: str, read: str) -> None:
    assert fold(written).text == read


@pytest.mark.parametrize(
    ("text", "sought", "span"),
    [
        ("DİL: mötet är kl 9", "mötet", Span(5, 10)),
        ("Große Straße 9", "strasse", Span(6, 12)),
        ("Große Straße 9", "tras", Span(7, 11)),
        ("İİx", "x", Span(2, 3)),
        ("İi\u0307x", "ii", Span(0, 3)),
        ("Wi\u0307x", "i", Span(1, 3)),
        ("Vi ses pa\u030a mo\u0308tet", "mötet", Span(11, 17)),
        ("kl  \n 9 i\u00adda\u00adg \u200b.", "9 idag", Span(6, 14)),
        ("kl  \n 9", " ", Span(2, 6)),
        ("\u00adord\u00ad", "ord", Span(1, 4)),
        ("tja… nej", "..", Span(3, 4)),
        ("q\u0323\u0308y", "q", Span(0, 3)),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8", "국", Span(3, 6)),
        ("a👩\u200d👩\u200d👧b", "👩", Span(1, 6)),
        ("a👩\u200d👩\u200d👧b", "👧", Span(1, 6)),
        ("a👍🏽b", "👍", Span(1, 3)),
        ("a🇸🇪🇳🇴b", "🇳", Span(3, 5)),
        ("a❤\ufe0fb", "❤", Span(1, 3)),
    ],
)
def test_a_place_in_the_folded_text_leads_to_whole_written_characters(text: str, sought: str, span: Span) -> None:
    """G17: places in the folded text are no places in the text as written."""
    folded = fold(text)
    at = folded.text.index(sought)

    assert folded.span(at, at + len(sought)) == span


def test_an_empty_range_gives_an_empty_span() -> None:
    folded = fold("ßx\u00ad")

    assert [folded.span(at, at) for at in range(4)] == [Span(0, 0), Span(0, 0), Span(1, 1), Span(3, 3)]


@pytest.mark.parametrize(("start", "end"), [(-1, 0), (2, 1), (0, 4)])
def test_a_range_outside_the_folded_text_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="of 3 characters"):
        fold("abc").span(start, end)


@given(any_text)
def test_folding_twice_is_folding_once(text: str) -> None:
    once = fold(text).text

    assert fold(once).text == once


@given(any_text)
def test_folding_piece_by_piece_equals_folding_the_whole_at_once(text: str) -> None:
    assert fold(text).text == read_naively(text)


@given(any_text, st.data())
def test_a_mapped_span_lies_in_the_text_and_reads_as_what_was_sought(text: str, data: st.DataObject) -> None:
    folded = fold(text)
    start = data.draw(st.integers(0, len(folded.text)))
    end = data.draw(st.integers(start, len(folded.text)))

    span = folded.span(start, end)

    assert span.end <= len(text)
    assert folded.text[start:end] in fold(span.of(text)).text


@given(any_text)
def test_spans_of_neighbours_never_run_backwards(text: str) -> None:
    folded = fold(text)
    spans = [folded.span(at, at + 1) for at in range(len(folded.text))]

    assert spans == sorted(spans)


@given(any_text, st.data())
def test_a_mapped_span_never_begins_with_a_mark_of_the_letter_before(text: str, data: st.DataObject) -> None:
    folded = fold(text)
    at = data.draw(st.integers(0, len(folded.text)))
    span = folded.span(at, min(at + 1, len(folded.text)))

    for edge in {span.start, span.end} & set(range(1, len(text))):
        before, after = text[edge - 1], text[edge]
        assert not (unicodedata.category(after) == "Mn" and before.isalpha() and after not in "\u034f")


def test_every_character_of_unicode_folds_to_something_stable() -> None:
    # The 100,000 Chinese, Tangut and Korean signs all behave alike; a few of them stand in the other tests.
    alike = ("CJK UNIFIED", "HANGUL SYLLABLE", "TANGUT IDEOGRAPH")
    unlike = (chr(code) for code in range(sys.maxunicode + 1))
    assigned = [sign for sign in unlike if not unicodedata.name(sign, "CJK UNIFIED").startswith(alike)]
    text = "".join(f"A{character}\u0301B {character}\n" for character in (*assigned, *map(chr, range(0xA0))))
    once = fold(text).text

    assert once == read_naively(text)
    assert fold(once).text == once


def test_a_letter_with_more_marks_than_any_writing_has_is_left_as_it_is() -> None:
    heap = "A" + "\u0301\u0323" * 50_000

    assert fold(heap).text == heap
    assert fold(heap + "\u200b B").span(100_001, 100_003) == Span(100_002, 100_004)


@pytest.mark.parametrize("unit", ["The quick Brown  fox\njumps. ", "Vi ses pa\u030a mo\u0308tet — “ja”. ", "步骤三 "])
def test_ten_megabytes_fold_in_seconds(unit: str) -> None:
    text = unit * (10_000_000 // len(unit.encode()))
    began = time.process_time()

    folded = fold(text)

    assert time.process_time() - began < 15
    assert folded.span(0, len(folded.text)).end >= len(text) - 1
