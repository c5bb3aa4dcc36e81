"""A phrase is found as it stands, and in a long text only what lies around its rarest letters is folded."""

from __future__ import annotations

import re
import string
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.text.phrases import BECOME_LETTERS, LONG, Phrase, folded

FILL = "moss and gravel – "


class Counted:
    """Folds, and counts the code points that it was given."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self, text: str) -> str:
        self.n += len(text)
        return folded(text)


def plainly(phrase: str, text: str) -> bool:
    wanted = r"\s+".join(map(re.escape, folded(phrase).split()))
    return re.search(wanted, folded(text)) is not None


def test_a_phrase_of_a_short_text_is_found_without_a_pattern_made_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("a pattern takes as long to make as fifty turns to read")

    monkeypatch.setattr(re, "compile", refused)
    phrase = Phrase("the lamp in  the hall")
    assert phrase.is_said_in("By night THE LAMP in\nthe \t hall is on.")
    assert not phrase.is_said_in("The hall in the lamp, the lamp in a hall.")


def test_of_a_long_text_little_is_folded() -> None:
    fold = Counted()
    phrase = Phrase("the lamp in the hall is broken", fold=fold)
    text = FILL * 20_000 + "The LAMP in the\nhall is broken. " + FILL * 20_000 + "a lamp, a hall, broken"
    fold.n = 0

    assert phrase.is_said_in(text)
    assert not phrase.is_said_in(text.replace("hall is", "hall was"))

    assert 0 < fold.n < 10_000


def test_a_text_without_the_letters_is_not_folded_at_all() -> None:
    fold = Counted()
    phrase = Phrase("lampan i hallen", fold=fold)
    fold.n = 0

    assert not phrase.is_said_in(FILL * 20_000)

    assert fold.n == 0


@pytest.mark.parametrize(
    ("phrase", "said"),
    [
        ("grosse strasse hier", "Große Straße hier"),
        ("straße und weg", "STRASSE UND WEG"),
        ("på mötet i malmö", "PA\u030a MO\u0308TET I Malmö"),
        ("finding the office", "ﬁnding the oﬃce"),
        ("kelvin scale", "\u212aelvin \u017fcale"),
        ("istanbul not", "İstanbul not".replace("İ", "I")),
        ("i\u0307stanbul not", "İSTANBUL NOT"),
        ("дом у моря", "ДОМ\u00a0У\n\nМОРЯ"),
        ("art is long", "smart is longer"),
        ("the key word", "the \t\u2003\n key      word"),
        ("日志 清零", "重启日志 清零后"),
        ("surrogate \ud800 here", "SURROGATE \ud800 HERE"),
        ("a b c", "A B C"),
        ("4711-zx on", "4711-ZX ON"),
    ],
)
def test_a_phrase_is_found_in_a_long_text_as_in_a_short_one(phrase: str, said: str) -> None:
    assert Phrase(phrase).is_said_in(said)
    for before, after in ((FILL, FILL), ("ß ", " ﬁ ſ"), ("", " x"), ("x\u00a0", "")):
        assert Phrase(phrase).is_said_in(before * LONG + said + after * LONG)


def test_letters_that_composing_changes_are_others() -> None:
    assert not Phrase("pa motet").is_said_in("pa\u030a mo\u0308tet " * LONG)
    assert not Phrase("motet pa").is_said_in("é" * LONG + " motet pa\u030a " + "é" * LONG)
    assert Phrase("motet pa").is_said_in("é" * LONG + " motet pa, " + "é" * LONG)


def test_every_sign_is_known_that_folding_makes_a_letter_or_digit_of_ascii_of() -> None:
    plain = set(string.ascii_letters + string.digits)
    made = {
        sign: plain & set(folded(sign))
        for sign in map(chr, range(128, sys.maxunicode + 1))
        if not plain.isdisjoint(folded(sign))
    }

    assert made == {sign: set(letters) for sign, letters in BECOME_LETTERS.items()}


def test_words_of_a_megabyte_are_folded_once_or_twice() -> None:
    fold = Counted()
    phrase = Phrase("xyzzy and more", fold=fold)
    text = ("å" * LONG + "xyzzy") * 20
    fold.n = 0

    assert not phrase.is_said_in(text)

    assert fold.n <= 3 * len(text)


def test_a_phrase_of_common_letters_is_found_too() -> None:
    text = "é and the and the " * LONG

    assert Phrase("the and the").is_said_in(text)
    assert not Phrase("the the and").is_said_in(text)
    assert not Phrase("").is_said_in(text)
    assert not Phrase(" \u00a0").is_said_in("abc")


LETTERS = st.text(st.characters(exclude_categories=()) | st.sampled_from("abstk ASK ßſﬁK\u030a \n\u00a0"), max_size=12)


@given(LETTERS, st.lists(LETTERS, max_size=5), st.booleans())
def test_long_and_short_texts_are_looked_through_alike(phrase: str, others: list[str], is_in: bool) -> None:
    parts = [*others, phrase.swapcase()] if is_in else others
    text = " ".join(parts)

    expected = bool(phrase.strip()) and plainly(phrase, text)

    assert Phrase(phrase).is_said_in(text) is expected
    assert Phrase(phrase, long=0).is_said_in(text) is expected
