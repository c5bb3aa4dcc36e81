"""A text cut into pieces, and the forms by which each piece is indexed and asked for.

A piece is a word, an identifier (``4711-ZX``, ``memory_rag/store.py``, ``C++``), a number with its points
(``2.4.10``, ``1,000``), a run of a script that is written without spaces, or a pictograph. Pieces are found in the text
as it is written and composed (NFC) one by one, so that every piece knows its place, and a million combining marks on
one letter, which NFC sorts in quadratic time, are many short pieces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final, NamedTuple

# Written without spaces: Thai, Lao, Myanmar, Hangul (jamo included), Khmer, kana, Han; their punctuation is left out.
_UNSPACED: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0eff\u1000-\u1049\u1050-\u109d\u1100-\u11ff\u1780-\u17d3\u17d7"
    "\u17dc-\u17ff\u3005-\u3007\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7af\ud7b0-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# Combining marks (categories Mn and Mc) of the basic plane, and letters that lie between them. Python's \w has none of
# them, and without them a word of Hindi would be cut at each vowel sign, one of Yoruba at each tone.
_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07f3\u07fd\u0816-\u082d\u0859-\u085b\u0898-\u08e1\u08e3-\u0963"
    "\u0981-\u09e3\u09fe-\u0a75\u0a81-\u0ae3\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83\u0cbc-\u0d4d"
    "\u0d57-\u0d63\u0d81-\u0df3\u0f18-\u0f19\u0f35\u0f37\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u0fc6\u135d-\u135f"
    "\u1712-\u1734\u1752-\u1773\u180b-\u180d\u180f-\u193b\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1abd\u1abf-\u1b44"
    "\u1b6b-\u1b73\u1b80-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1dff\u20d0-\u20dc\u20e1\u20e5-\u20f0\u2cef-\u2cf1"
    "\u2d7f-\u2dff\u302a-\u302f\ua66f\ua674-\ua67d\ua69e-\ua6f1\ua802-\ua827\ua82c\ua880-\ua8c5\ua8e0-\ua8f1"
    "\ua8ff-\ua92d\ua947-\ua953\ua980-\ua9c0\ua9e5-\uaa4d\uaa7b-\uaac1\uaaeb-\uaaef\uaaf5-\uaaf6\uabe3-\uabea"
    "\uabec-\uabed\ufb1e\ufe20-\ufe2f"
)
# Inside a word they are not seen: soft hyphen, grapheme joiner, zero-width and direction marks, variation selectors.
_UNSEEN: Final = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
_LETTER: Final = rf"[^\W{_UNSPACED}]"
# Every repetition has an end: base64, a million of one letter or of one mark become several pieces.
_LETTERS: Final = rf"[^\W_{_UNSPACED}]{_LETTER}{{0,127}}(?:[{_MARKS}{_UNSEEN}]{{1,32}}{_LETTER}{{0,128}}){{0,32}}"
_SPACES: Final = " \u00a0\u2009\u202f"
# A space between thousands joins what a space elsewhere parts: "12 480".
_JOINED: Final = (
    r"(?:[-\u2010\u2011'\u2018\u2019\u02bc\uff07._/:@#+&~\\]|(?<=\d)[,\uff0c\uff0e\uff1a](?=\d)"
    rf"|(?<=\d)(?<!\d\d\d\d)[{_SPACES}](?=\d\d\d(?!\w)))"
)
_OTHERS: Final = (
    rf"[{_UNSPACED}][{_UNSPACED}{_UNSEEN}]*"
    r"|[\U0001f1e6-\U0001f1ff]{2}"  # a flag
    r"|[\u2190-\u24ff\u25a0-\u2bff\U0001f000-\U0001faff]"  # a pictograph, a sign; not the lines of drawn boxes
)
_NOT_SEEN: Final = re.compile(f"[{_UNSEEN}]")
# Vowel signs that Arabic and Hebrew are mostly written without, and the stroke that stretches a word.
_OPTIONAL: Final = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u0652\u0670\u06d6-\u06ed]"
)
_FOREIGN_DIGIT: Final = re.compile(r"(?![0-9])\d")
_WIDE: Final = re.compile("[\uff01-\uffee]+")
_ALIKE: Final = str.maketrans(
    dict.fromkeys("\u2018\u2019\u02bc\uff07", "'") | dict.fromkeys("\u2010\u2011", "-")  # apostrophes and hyphens
)

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)+")
# 12 480,50 and 1'000 and 1_000; 12.480,50.
_GROUPED: Final = re.compile(rf"\d{{1,3}}([{_SPACES}'_])\d{{3}}(?:\1\d{{3}})*(?:[.,]\d+)?|\d{{1,3}}(?:\.\d{{3}})+,\d+")
_SPACED: Final = re.compile(f"[{_SPACES}]")
_DOTTED: Final = re.compile(r"\d{1,3}(?:\.\d{3})+")
_HYPHENED: Final = re.compile(r"\d+(?:-\d+)+")
# Written with a hyphen by some and closed by others: e-mail, co-operate, tv-program, B-12, 3-D.
_COMPOUND: Final = re.compile(r"(?<![\w-])(?:[^\W\d_]+(?:-[^\W\d_]+)+|[^\W\d_]-\d+|\d{1,3}-[^\W\d_])(?![\w-])")
_FEWEST_JOINED: Final = 4
"""Letters from which on a compound is known by its closed form alone: "I-T" would be the stop word it."""
_LEAST_HYPHENED: Final = 9
"""Digits from which on 978-91-7000 is one number, and 100-400 and 2020-2021 are two."""
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_VERSION: Final = re.compile(r"([^\W\d_]+)(\d+(?:[.:]\d+)+)")
# Between separators; a number with points keeps them, its letters before it stand apart (python3.11).
_PARTS: Final = re.compile(r"\d+(?:[.,:]\d+)+|(?:(?!\d+[.,:]\d)[^-'._/:@#+&~\\,])+|\d+")
# RTX4090, 49kr; a number with the ending of an ordinal (20th) stands for the number.
_GLUED: Final = re.compile(r"([^\W\d_]{2,})(\d+)|(\d+)(?:st|nd|rd|th|de|te)|(\d+)([^\W\d_]{2,})", re.IGNORECASE)
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z]{2})")
_CONTRACTED: Final = frozenset({"t", "d", "m", "ll", "re", "ve", "em"})
LONGEST_KEPT: Final = 256
"""Code points of the longest piece that is worth remembering; a run of Thai or Chinese may have millions."""


class Forms(NamedTuple):
    """How a piece is indexed or asked for: ordinary words, to be stemmed, and finished terms; all casefolded."""

    words: tuple[str, ...]
    terms: tuple[str, ...]


def pattern_for(text: str) -> re.Pattern[str]:
    """Return what finds the pieces of a text; one for ASCII finds the same there as the one for all scripts."""
    return _pieces_of_ascii() if text.isascii() else _pieces_of_any_text()


@cache
def _pieces_of_ascii() -> re.Pattern[str]:
    return re.compile(_joined(r"[^\W_]\w{0,127}"))


@cache
def _pieces_of_any_text() -> re.Pattern[str]:
    # It takes 13 ms to compile, which a process that reads English needn't spend.
    return re.compile(f"{_joined(_LETTERS)}|{_OTHERS}")


@cache
def _unspaced_sign() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


def _joined(letters: str) -> str:
    return rf"{letters}(?:{_JOINED}{letters}){{0,15}}\+{{0,2}}\#?"


def has_words(text: str) -> bool:
    """Tell whether there is anything to search for: a letter, a digit or a pictograph."""
    return pattern_for(text).search(text) is not None


def is_unspaced(text: str) -> bool:
    """Tell whether a text has a sign of the scripts that are written without spaces, Korean among them."""
    return not text.isascii() and _unspaced_sign().search(text) is not None


def forms_of(piece: str, *, for_query: bool = False) -> Forms:
    """Return the forms of a piece: of the whole, and of its parts.

    A question has fewer: a number only as a whole (``2.4.1`` must not find ``2.4.10``, but ``2.4`` may), a run of a
    script without spaces only as pairs of characters. Every form of a question is one of the piece's own.
    """
    return (_known_forms if len(piece) <= LONGEST_KEPT else _forms)(piece, for_query)


def _forms(piece: str, for_query: bool) -> Forms:
    if is_plain(piece):
        return Forms((piece.lower(),), ())
    written = _composed(piece)
    if _starts_unspaced(written):
        return Forms((), _characters(written, for_query))
    folded = casefolded(written)
    if folded.endswith("'s"):
        written, folded = written[:-2], folded[:-2]
    if _is_word(folded):
        return Forms((folded, *_parts(written, for_query).words), ()) if folded.isalpha() else Forms((folded,), ())
    grouped = _GROUPED.fullmatch(folded)
    if grouped is not None:
        return Forms((), _grouped(grouped, for_query))
    if _NUMBER.fullmatch(folded):
        return Forms((), _number(folded, for_query))
    if len(runs := _SPACED.split(written)) > 1:
        return _together(forms_of(run, for_query=for_query) for run in runs)
    version = _VERSION.fullmatch(folded)
    if version is not None:
        return Forms((), _version(version, for_query))
    parts = _with_compounds(_parts(written, for_query), folded)
    if _COMPOUND.fullmatch(folded):
        closed = folded.replace("-", "")
        if len(closed) >= _FEWEST_JOINED or not closed.isalpha():
            return parts
    is_one = _HYPHENED.fullmatch(folded) and sum(map(str.isdigit, folded)) >= _LEAST_HYPHENED
    return Forms(parts.words, (folded, *((folded.replace("-", ""),) if is_one else ()), *parts.terms))


_known_forms = lru_cache(maxsize=100_000)(_forms)


def _parts(written: str, for_query: bool) -> Forms:
    """Return the forms of what lies between a piece's separators; else of its letters and its number, or of what its
    changes of case part; none if it has none of these."""
    runs = [written] if written.isalnum() else _PARTS.findall(written)
    glued = _GLUED.fullmatch(runs[0]) if len(runs) == 1 else None
    if glued is not None:
        # A question's 4 would stand in too many turns.
        parts = [part for part in glued.groups() if part and not (for_query and len(part) == 1)]
    else:
        parts = _CAMEL.split(runs[0]) if len(runs) == 1 else runs
    if parts == [written]:
        return Forms((), ())
    return _together(forms_of(part, for_query=for_query) for part in parts)


def _with_compounds(parts: Forms, folded: str) -> Forms:
    """Add the closed form of each compound in a piece: a word, to be stemmed as such, or a letter and a number."""
    joined = [found.replace("-", "") for found in _COMPOUND.findall(folded)] if "-" in folded else []
    words = tuple(word for word in joined if word.isalpha())
    return Forms(parts.words + words, (*(term for term in joined if not term.isalpha()), *parts.terms))


def _together(several: Iterable[Forms]) -> Forms:
    forms = list(several)
    return Forms(
        tuple(word for form in forms for word in form.words),
        tuple(term for form in forms for term in form.terms),
    )


def is_plain(piece: str) -> bool:
    """Tell whether a piece is a word in which there is nothing to compose or to take apart, as most are.

    Its one form is the piece in lower case.
    """
    return piece.isascii() and piece.isalpha() and piece[1:].islower()


def casefolded(word: str) -> str:
    """Return a word for comparison regardless of case: composed, and i with a dot or without is i."""
    return unicodedata.normalize("NFC", word.casefold().replace("i\u0307", "i").replace("\u0131", "i"))


def unspaced_places(piece: str) -> list[tuple[int, int]]:
    """Return where the terms of a run of a script without spaces lie in it, in their order; none for other pieces.

    None either for a run that composing makes shorter: its terms lie somewhere in it.
    """
    if not _starts_unspaced(piece) or len(_composed(piece)) != len(piece):
        return []
    return [(i, i + 1) for i in range(len(piece))] + [(i, i + 2) for i in range(len(piece) - 1)]


def _starts_unspaced(piece: str) -> bool:
    return not piece.isascii() and _unspaced_sign().match(piece) is not None


def _composed(piece: str) -> str:
    if piece.isascii():
        return piece.strip("_")
    seen = _FOREIGN_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), _NOT_SEEN.sub("", piece))
    wide = _WIDE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), seen)
    composed = unicodedata.normalize("NFC", wide)
    return _OPTIONAL.sub("", composed).translate(_ALIKE).strip("_") or composed


def _is_word(folded: str) -> bool:
    if folded.isalpha():
        return True
    head, _, tail = folded.partition("'")
    return tail in _CONTRACTED and head.isalpha()


def _number(number: str, for_query: bool) -> tuple[str, ...]:
    """Return a number's terms: points alike (10:30 and 10.30, 3,5 and 3.5), no commas between thousands."""
    if _THOUSANDS.fullmatch(number):
        number = number.replace(",", "")
    listed = number.split(",")
    if len(listed) > 2:
        return tuple(term for part in listed for term in _number(part, for_query))
    whole = number.replace(",", ".").replace(":", ".")
    if for_query:
        return (whole,)
    beginnings = _beginnings(whole)
    if len(listed) == 2:
        return (whole, *beginnings, listed[1].replace(":", "."))
    # 1.000 may be a thousand.
    return (whole, *beginnings, whole.replace(".", "")) if _DOTTED.fullmatch(whole) else (whole, *beginnings)


def _grouped(grouped: re.Match[str], for_query: bool) -> tuple[str, ...]:
    """Return the terms of a number with its thousands apart; what a plain space parts may be several numbers."""
    number, sign = grouped[0], grouped[1]
    plain = number.replace(sign or ".", "")
    terms = (plain,) if plain.isdigit() else _number(plain, for_query)
    if for_query and sign != " ":
        return terms
    if not sign:
        return (*terms, *_number(number, for_query))
    return (*terms, *(term for part in number.split(sign) for term in forms_of(part, for_query=for_query).terms))


def _beginnings(number: str) -> tuple[str, ...]:
    return tuple(number[:i] for i, character in enumerate(number) if character == ".")


def _version(match: re.Match[str], for_query: bool) -> tuple[str, ...]:
    """Return the terms of letters with a number after them: v2.4.10 is found by 2.4.10, v2.4 and 2.4."""
    letters, number = match[1], match[2].replace(":", ".")
    name = (letters,) if len(letters) > 1 else ()
    if for_query:
        return (letters + number, *name, number)
    beginnings = _beginnings(number)
    return (letters + number, *name, number, *beginnings, *(letters + beginning for beginning in beginnings))


def _characters(run: str, for_query: bool) -> tuple[str, ...]:
    pairs = tuple(run[i : i + 2] for i in range(len(run) - 1))
    return pairs if for_query and pairs else (*run, *pairs)
