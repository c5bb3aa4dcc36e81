"""The quoted strings in a text: between quotation marks of any kind, and in Markdown block quotes."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from memory_rag.text.attribution import claimed_speakers
from memory_rag.text.folding import is_unseen
from memory_rag.text.word_bounds import is_spaced
from memory_rag.turns import Span

# What may close each opening mark. Swedish and Finnish close with the mark they open with; German, Danish
# and others open with what English and French close with.
_CLOSED_BY = {
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
_SINGLE = frozenset("'‘’‚‹›")
# These pairs close each other wherever they stand; other closing marks follow a word and precede none.
_SURE = frozenset(["“”", "„”", "„“", "«»", "‹›", "「」", "『』", "〝〞", "〝〟"])
_ONLY_OPEN = frozenset("“„‘‚«‹「『〝")
_SPACED_INSIDE = frozenset("«‹")
_AFTER_THESE_OPENS = frozenset(":/*_~|>，。：、；！？") | frozenset(_CLOSED_BY)
_MARK = re.compile("[" + "".join(sorted({*_CLOSED_BY, *"".join(_CLOSED_BY.values())})) + "]")
_DEEPEST = 8
_MOST_ESCAPES = 7
"""Backslashes before a mark in JSON within JSON within JSON."""
# Words that English shortens in front, with an apostrophe that looks like an opening mark.
_SHORTENED = re.compile(r"(?:tis|twas|twere|em|cause|til|cuz|cos|n|\d0s)(?![^\W_])", re.IGNORECASE)
_BLANK_LINE = re.compile(r"\n[ \t]*(?=\n)")
_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")
_QUOTE_SIGN = re.compile(r"(?: {0,3}>[ \t]?)+")
_NEW_PARAGRAPH = re.compile(r"\s*(?:$|[-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s|\|)")
_ALERT = re.compile(r"\s*\[!\w+\]")
_SIGNED = re.compile(r"\s*(?:—|–|--)\s*\S+(?:\s+\S+){0,5}\s*")


@dataclass(frozen=True, slots=True)
class Quotation:
    """A quoted string: ``text`` without marks, its place in the text it was found in, and its two marks.

    ``text`` is what stands at ``span``; only in a block quote the ``>`` before each further line is left out,
    and the marks are ``(">", "")``. ``claimed`` is who is said to have spoken: ``user``, ``assistant``, a
    name, or None when the text does not tell.
    """

    text: str
    span: Span
    marks: tuple[str, str]
    claimed: str | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    quotation: Quotation
    place: Span
    """The quotation with its marks."""


class _Passage:
    """Lines that belong together, without the signs before them; it knows where each stands in the whole."""

    def __init__(self, whole: str, lines: Sequence[Span], *, quoted: bool) -> None:
        self.whole = whole
        self.lines = lines
        self.quoted = quoted
        self.text = "\n".join(line.of(whole) for line in lines)
        self._starts = [0, *accumulate(line.end - line.start + 1 for line in lines)][:-1]

    def span(self, start: int, end: int) -> Span:
        """Return where a range of the passage, not empty, stands in the whole text."""
        return Span(self._place(start), self._place(end - 1) + 1)

    def _place(self, at: int) -> int:
        line = bisect_right(self._starts, at) - 1
        return self.lines[line].start + at - self._starts[line]


def find_quotations(text: str) -> tuple[Quotation, ...]:
    """Return the quoted strings of a text in order, an outer one before those inside it, each once.

    Code (fenced or between backticks) holds no quotations, an apostrophe is no mark, and a mark without its
    partner reaches no further than its paragraph or list item. Empty when nothing is quoted.
    """
    found: list[_Found] = []
    for passage in _passages(text):
        found.extend(_block_quote(passage) if passage.quoted else _between_marks(passage))
    found.sort(key=lambda one: (one.place.start, -one.place.end))
    return tuple(_with_claims(text, _each_once(text, found)))


def _each_once(text: str, found: Sequence[_Found]) -> list[_Found]:
    """Leave out a quotation that holds nothing but another one."""
    kept: list[_Found] = []
    for one in found:
        if kept and one.place.end <= kept[-1].place.end:
            outer = kept[-1].quotation
            around = text[outer.span.start : one.place.start] + text[one.place.end : outer.span.end]
            if not any(map(str.isalnum, around)):
                inner = replace(one.quotation, claimed=outer.claimed)
                kept[-1] = _Found(inner, kept[-1].place)
                continue
        kept.append(one)
    return kept


def _with_claims(text: str, found: Sequence[_Found]) -> Iterator[Quotation]:
    outer: list[Span] = []
    for one in found:
        if not outer or one.place.start >= outer[-1].end:
            outer.append(one.place)
    claims = claimed_speakers(text, outer)
    starts = [place.start for place in outer]
    for one in found:
        # What is quoted within a quotation is the outer speaker's: the words around it are quoted themselves.
        claim = claims[bisect_right(starts, one.place.start) - 1]
        yield replace(one.quotation, claimed=one.quotation.claimed or claim)


def _passages(text: str) -> Iterator[_Passage]:
    """Yield paragraphs, list items and block quotes, in order, without the code fences between them."""
    lines: list[Span] = []
    quoted = False
    fence = ""
    for match in re.finditer(r"[^\n]+|\n(?=\n)", text):
        line = match[0].rstrip("\r\n")
        sign = _QUOTE_SIGN.match(line)
        edge = None if sign else _FENCE.match(line)
        if fence:
            if edge and edge[1].startswith(fence) and not line[edge.end() :].strip():
                fence = ""
            continue
        parted = not sign and (edge or _NEW_PARAGRAPH.match(line))
        if lines and (parted or bool(sign) != quoted):
            yield _Passage(text, lines, quoted=quoted)
            lines = []
        quoted = sign is not None
        fence = edge[1] if edge else ""
        if quoted or (line.strip() and not fence):
            lines.append(Span(match.start() + (sign.end() if sign else 0), match.start() + len(line)))
    if lines:
        yield _Passage(text, lines, quoted=quoted)


def _block_quote(passage: _Passage) -> Iterator[_Found]:
    lines = list(passage.lines)
    while len(lines) > 1 and not lines[-1].of(passage.whole).strip():
        lines.pop()
    last = lines[-1].of(passage.whole)
    signer = claimed_speakers(last, [Span(0, 0)])[0] if len(lines) > 1 and _SIGNED.fullmatch(last) else None
    body = _Passage(passage.whole, lines[:-1] if signer else lines, quoted=True)
    inner = _trimmed(body.text, 0, len(body.text))
    if inner is not None and not _ALERT.match(body.text):
        span = body.span(inner.start, inner.end)
        yield _Found(Quotation(inner.of(body.text), span, (">", ""), signer), span)
        yield from _between_marks(body)


def _between_marks(passage: _Passage) -> Iterator[_Found]:
    text = passage.text
    for start, end in _pairs(text):
        inner = _trimmed(text, start + 1, end - _escapes(text, end))
        if inner is not None:
            span = passage.span(inner.start, inner.end)
            quotation = Quotation(inner.of(text), span, (text[start], text[end]))
            yield _Found(quotation, passage.span(start, end + 1))


def _trimmed(text: str, start: int, end: int) -> Span | None:
    """Return a range without the space and emphasis around it; None when no letter or digit is left."""
    while start < end:
        if text[start].isspace():
            start += 1
        elif text[end - 1].isspace():
            end -= 1
        elif end - start > 2 and text[start] == text[end - 1] and text[start] in "*_":
            start, end = start + 1, end - 1
        else:
            break
    return Span(start, end) if any(map(str.isalnum, text[start:end])) else None


def _pairs(text: str) -> Iterator[tuple[int, int]]:
    """Yield where opening marks and their closing ones stand; inner pairs come before the one around them."""
    code = _code(text)
    starts = [span.start for span in code]
    low = 0
    for high in [*(match.start() for match in _BLANK_LINE.finditer(text)), len(text)]:
        marks = []
        for match in _MARK.finditer(text, low, high):
            at = match.start()
            around = bisect_right(starts, at) - 1
            if not (around >= 0 and at < code[around].end) and not _joins_letters(text, at):
                marks.append(at)
        yield from _paired(text, marks)
        low = high


def _paired(text: str, marks: Sequence[int]) -> Iterator[tuple[int, int]]:
    singles = [at for at in marks if text[at] in "'’"]
    open_marks: list[int] = []
    for at in marks:
        if text[at] in "'’" and _is_possessive(text, at, singles):
            continue
        depth = _opened(text, open_marks, at)
        if depth is not None:
            yield open_marks[depth], at
            del open_marks[depth:]
        elif _may_open(text, at):
            open_marks.append(at)
            del open_marks[:-_DEEPEST]


def _opened(text: str, open_marks: Sequence[int], at: int) -> int | None:
    """Return which of the open marks the mark at this place closes; None when it closes none of them."""
    for depth in range(len(open_marks) - 1, -1, -1):
        opening = text[open_marks[depth]]
        if _escapes(text, at) != _escapes(text, open_marks[depth]):
            continue  # JSON in an answer: \" ends nothing but what \" began.
        if text[at] in _CLOSED_BY[opening]:
            return depth if opening + text[at] in _SURE or _may_close(text, at) else None
        if text[at] in _SINGLE and opening not in _SINGLE:
            return None
    return None


def _may_open(text: str, at: int) -> bool:
    mark, before, after = text[at], _before(text, at), _after(text, at)
    if mark not in _CLOSED_BY or not after or (after.isspace() and mark not in _SPACED_INSIDE):
        return False
    if mark in "'’" and _SHORTENED.match(text, at + 1):
        return False
    if mark in _ONLY_OPEN or not before or before.isspace():
        return True
    opens_after = before in _AFTER_THESE_OPENS or unicodedata.category(before) in ("Ps", "Pi", "Pd")
    return opens_after or not is_spaced(before)


def _may_close(text: str, at: int) -> bool:
    before, after = _before(text, at), _after(text, at)
    if not before or before.isspace():
        return False
    return not after.isalnum() or not is_spaced(after) or (text[at] == '"' and not _may_open(text, at))


def _escapes(text: str, at: int) -> int:
    """Return how many backslashes stand right before a mark."""
    start = at
    while start > 0 and at - start < _MOST_ESCAPES and text[start - 1] == "\\":
        start -= 1
    return at - start


def _before(text: str, at: int) -> str:
    """Return the sign before a mark, its backslashes and what is not seen left out; empty at the beginning."""
    at -= _escapes(text, at) + 1
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


def _code(text: str) -> list[Span]:
    """Return where code stands between runs of as many backticks, in order."""
    runs = [Span(*match.span()) for match in re.finditer("`+", text)]
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
