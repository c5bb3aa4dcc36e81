"""Quotation marks in a paragraph: which belong together, and which are left without a partner."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from memory_rag.text.folding import is_unseen
from memory_rag.text.word_bounds import is_spaced
from memory_rag.turns import Span

# What may close each opening mark. Swedish and Finnish close with the mark they open with; German, Danish
# and others open with what English and French close with.
CLOSED_BY = {
    '"': '"”',
    "＂": "＂",
    "〝": "〞〟",
    "“": '”"',
    "„": '“”"',
    "”": "”",
    "«": "»",
    "»": "«»",
    "「": "」",
    "『": "』",
    "'": "'",
    "‘": "’'",
    "‚": "‘’'",
    "’": "’",
    "‹": "›",
    "›": "‹›",
}
AMBIGUOUS = frozenset("'‘’")
"""Marks that are apostrophes more often."""
_SINGLE = frozenset("'‘’‚‹›")
# These pairs close each other wherever they stand; other closing marks follow a word and precede none.
_SURE = frozenset(["“”", "„”", "„“", "«»", "‹›", "「」", "『』", "〝〞", "〝〟"])
_ONLY_OPEN = frozenset("“„‘‚«‹「『〝")
_SPACED_INSIDE = frozenset("«‹")
_AFTER_THESE_OPENS = frozenset(":/*_~|>，。：、；！？") | frozenset(CLOSED_BY)
_MARK = re.compile("[" + "".join(sorted({*CLOSED_BY, *"".join(CLOSED_BY.values())})) + "]")
_TICKS = re.compile("`+")
_DEEPEST = 8
_MOST_ESCAPES = 7
"""Backslashes before a mark in JSON within JSON within JSON."""
# Words that English shortens in front, with an apostrophe that looks like an opening mark.
_SHORTENED = re.compile(r"(?:tis|twas|twere|em|cause|til|cuz|cos|bout|round|nuff|n|\d0s)(?![^\W_])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Marked:
    """Where the marks of a paragraph stand: pairs, inner ones before the one around them, and those left over."""

    pairs: list[tuple[int, int]] = field(default_factory=list)
    opening: list[int] = field(default_factory=list)
    closing: list[int] = field(default_factory=list)


def marks_of(text: str, paragraph: Span) -> Marked:
    """Return the quotation marks of a paragraph, outside code; apostrophes aren't among them."""
    code = code_in(text, paragraph)
    places = (match.start() for match in _MARK.finditer(text, paragraph.start, paragraph.end))
    marks = [at for at in places if not is_in_one_of(code, at) and not _joins_letters(text, at)]
    found = Marked()
    singles = [at for at in marks if text[at] in "'’"]
    open_marks: list[int] = []
    for at in marks:
        if text[at] in "'’" and _is_possessive(text, at, singles):
            continue
        depth = _opened(text, open_marks, at)
        if depth is not None:
            found.pairs.append((open_marks[depth], at))
            del open_marks[depth:]
        elif _may_open(text, at):
            open_marks.append(at)
            found.opening.extend(open_marks[:-_DEEPEST])
            del open_marks[:-_DEEPEST]
        elif may_close(text, at) or text[at] in "»›":  # French has a space before them
            found.closing.append(at)
    found.opening.extend(open_marks)
    return found


def is_in_one_of(spans: Sequence[Span], at: int) -> bool:
    """Tell whether a place lies in one of these spans, which are in order and apart."""
    around = bisect_right(spans, at, key=lambda span: span.start) - 1
    return around >= 0 and at < spans[around].end


def belong_together(text: str, opening: int, closing: int) -> bool:
    """Tell whether a mark may end what another one, in an earlier paragraph, has opened."""
    return text[closing] in CLOSED_BY[text[opening]] and escapes(text, opening) == escapes(text, closing)


def _opened(text: str, open_marks: Sequence[int], at: int) -> int | None:
    """Return which of the open marks the mark at this place closes; None when it closes none of them."""
    for depth in range(len(open_marks) - 1, -1, -1):
        opening = text[open_marks[depth]]
        if escapes(text, at) != escapes(text, open_marks[depth]):
            continue  # JSON in an answer: \" ends nothing but what \" began.
        if text[at] in CLOSED_BY[opening]:
            return depth if opening + text[at] in _SURE or may_close(text, at) else None
        if text[at] in _SINGLE and opening not in _SINGLE:
            return None
    return None


def _may_open(text: str, at: int) -> bool:
    mark, before, after = text[at], _before(text, at), _after(text, at)
    if mark not in CLOSED_BY or not after or (after.isspace() and mark not in _SPACED_INSIDE):
        return False
    if mark in "'’" and _SHORTENED.match(text, at + 1):
        return False
    if mark in _ONLY_OPEN or not before or before.isspace():
        return True
    opens_after = before in _AFTER_THESE_OPENS or unicodedata.category(before) in ("Ps", "Pi", "Pd")
    return opens_after or not is_spaced(before)


def may_close(text: str, at: int) -> bool:
    """Tell whether a mark stands as one that ends a quotation: right behind a word."""
    before, after = _before(text, at), _after(text, at)
    if not before or before.isspace():
        return False
    return not after.isalnum() or not is_spaced(after) or (text[at] == '"' and not _may_open(text, at))


def escapes(text: str, at: int) -> int:
    """Return how many backslashes stand right before a mark."""
    start = at
    while start > 0 and at - start < _MOST_ESCAPES and text[start - 1] == "\\":
        start -= 1
    return at - start


def _before(text: str, at: int) -> str:
    """Return the sign before a mark, its backslashes and what is not seen left out; empty at the beginning."""
    at -= escapes(text, at) + 1
    while at >= 0 and is_unseen(text[at]):
        at -= 1
    return text[at] if at >= 0 else ""


def _after(text: str, at: int) -> str:
    """Return the sign after a mark, but for what is not seen; empty at the end."""
    at += 1
    while at < len(text) and is_unseen(text[at]):
        at += 1
    return text[at : at + 1]


def _joins_letters(text: str, at: int) -> bool:
    """Tell whether a mark is an apostrophe inside a word: ``don't``."""
    return text[at] in "'’‘" and text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalnum()


def _is_possessive(text: str, at: int, singles: Sequence[int]) -> bool:
    """Tell whether a mark is the apostrophe of ``the boys' toys``, judged by the next single mark."""
    following = bisect_right(singles, at)
    if not _ends_plural(text, at) or following == len(singles):
        return False
    return not _may_open(text, singles[following]) and not _ends_plural(text, singles[following])


def _ends_plural(text: str, at: int) -> bool:
    word_follows = text[at + 1 : at + 2].isspace() and text[at + 2 : at + 3].isalpha()
    return word_follows and text[at - 1 : at].lower() in ("s", "x", "z")


def code_in(text: str, paragraph: Span) -> list[Span]:
    """Return where code stands between runs of as many backticks, in order."""
    runs = [Span(*match.span()) for match in _TICKS.finditer(text, paragraph.start, paragraph.end)]
    partner: dict[int, int] = {}
    last_of_length: dict[int, int] = {}
    for i in range(len(runs) - 1, -1, -1):
        length = runs[i].end - runs[i].start
        if length in last_of_length:
            partner[i] = last_of_length[length]
        last_of_length[length] = i
    spans: list[Span] = []
    i = 0
    while i < len(runs):
        if i in partner:
            spans.append(Span(runs[i].start, runs[partner[i]].end))
            i = partner[i]
        i += 1
    return spans
