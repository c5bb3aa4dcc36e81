"""The quoted strings in a text: between quotation marks of any kind, in block quotes of Markdown, and in HTML's."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from memory_rag.text.attribution import claimed_speakers
from memory_rag.text.quotation_marks import code_in, is_in_one_of
from memory_rag.text.quotation_runs import Paragraph, quoted_runs
from memory_rag.turns import Span

_LINE = re.compile(r"[^\n]+|\n(?=\n)")
_BLANK_LINE = re.compile(r"\n[ \t]*(?=\n)")
_BLOCK_EDGE = re.compile(r" {0,3}>>>[ \t]*")
_TAG = re.compile(r"<(?P<end>/?)(?P<name>blockquote|q)(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_DEEPEST = 8
_ANY_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")
_QUOTE_SIGN = re.compile(r"(?: {0,3}>[ \t]?)+")
_NEW_PARAGRAPH = re.compile(r"\s*(?:$|[-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s|\|)")
_ALERT = re.compile(r"\s*\[!\w+\]")
_SIGNED = re.compile(r"\s*(?:—|–|--)\s*\S+(?:\s+\S+){0,5}\s*")


@dataclass(frozen=True, slots=True)
class Quotation:
    """A quoted string: ``text`` without marks, its place in the text it was found in, and its two marks.

    ``text`` is what stands at ``span``, but for what only says that the quotation goes on: ``>`` before each further
    line of a block quote, whose marks are ``(">", "")``, the opening mark again before each further paragraph, and
    tags within HTML's. ``claimed`` is who is said to have spoken: ``user``, ``assistant``, a name, or None when the
    text does not tell.

    ``is_whole`` is False for a mark without its partner, which is ``""`` in ``marks``: what is quoted can't be told,
    and ``text`` is what stands behind an opening mark or before a closing one in its paragraph.
    """

    text: str
    span: Span
    marks: tuple[str, str]
    claimed: str | None = None
    is_whole: bool = True


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

    def as_paragraph(self) -> Paragraph:
        """Return where the passage's lines stand in the whole text."""
        span = Span(self.lines[0].start, self.lines[-1].end)
        return Paragraph(span, is_item=_NEW_PARAGRAPH.match(self.text) is not None)

    def _place(self, at: int) -> int:
        line = bisect_right(self._starts, at) - 1
        return self.lines[line].start + at - self._starts[line]


def find_quotations(text: str) -> tuple[Quotation, ...]:
    """Return the quoted strings of a text in order, an outer one before those inside it, each once.

    Code (fenced or between backticks) holds no quotations, and an apostrophe is no mark. A quotation may run over
    paragraphs and list items. A mark whose partner is missing is given with ``is_whole`` False, unless it stands
    within another quotation. Empty when nothing is quoted.
    """
    paragraphs: list[Paragraph] = []
    found: list[_Found] = []
    for passage in _passages(text):
        if passage.quoted:
            found.extend(_block_quote(passage))
        else:
            paragraphs.append(passage.as_paragraph())
    found.extend(_between_marks(text, paragraphs))
    found.extend(_between_tags(text, paragraphs))
    found.sort(key=lambda one: (one.place.start, -one.place.end))
    return tuple(_with_claims(text, _each_once(text, found)))


def _each_once(text: str, found: Sequence[_Found]) -> list[_Found]:
    """Leave out a quotation that holds nothing but another one, and marks alone that stand in a whole one."""
    kept: list[_Found] = []
    covered = 0
    for one in found:
        if not one.quotation.is_whole and one.place.end <= covered:
            continue
        if one.quotation.is_whole:
            covered = max(covered, one.place.end)
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
    """Yield paragraphs, list items and block quotes, in order, without the code fences between them.

    A block quote is lines with ``>`` before each of them, or lines between two of nothing but ``>>>``.
    """
    lines: list[Span] = []
    quoted = between = False
    fence = ""
    n_edges = sum(_BLOCK_EDGE.fullmatch(match[0].rstrip()) is not None for match in _LINE.finditer(text))
    for match in _LINE.finditer(text):
        line = match[0].rstrip("\r\n")
        is_edge = not fence and _BLOCK_EDGE.fullmatch(line) is not None
        n_edges -= is_edge
        sign = None if between else _QUOTE_SIGN.match(line)
        edge = None if sign or between else _FENCE.match(line)
        if fence:
            if edge and edge[1].startswith(fence) and not line[edge.end() :].strip():
                fence = ""
            continue
        if is_edge and (between or n_edges > 0):
            if lines:
                yield _Passage(text, lines, quoted=quoted)
                lines = []
            between = not between
            continue
        is_quoted = between or sign is not None
        parted = not is_quoted and (edge or _NEW_PARAGRAPH.match(line))
        if lines and (parted or is_quoted != quoted):
            yield _Passage(text, lines, quoted=quoted)
            lines = []
        quoted = is_quoted
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
        yield from _between_marks(body.text, _paragraphs(body.text), body)


def _paragraphs(text: str) -> list[Paragraph]:
    ends = [*(match.start() for match in _BLANK_LINE.finditer(text)), len(text)]
    return [Paragraph(Span(start, end)) for start, end in pairwise([0, *ends])]


def _between_tags(text: str, paragraphs: Sequence[Paragraph]) -> Iterator[_Found]:
    """Yield what stands in ``<blockquote>`` and ``<q>``, without tags and with entities read."""
    opened: list[re.Match[str]] = []
    for paragraph in paragraphs:
        code = code_in(text, paragraph.span)
        for tag in _TAG.finditer(text, paragraph.span.start, paragraph.span.end):
            if is_in_one_of(code, tag.start()):
                continue
            if not tag["end"]:
                opened.append(tag)
                del opened[:-_DEEPEST]
                continue
            names = [one["name"].lower() for one in opened]
            if tag["name"].lower() in names:
                depth = len(names) - 1 - names[::-1].index(tag["name"].lower())
                yield from _tagged(text, opened[depth], tag)
                del opened[depth:]
    for tag in opened:
        if tag["name"].lower() == "blockquote":
            end = next(one.span.end for one in paragraphs if one.span.end >= tag.end())
            yield from _tagged(text, tag, None, end_at=end)


def _tagged(text: str, start: re.Match[str], end: re.Match[str] | None, *, end_at: int = 0) -> Iterator[_Found]:
    inner = _trimmed(text, start.end(), end.start() if end else end_at)
    if inner is not None:
        said = html.unescape(_ANY_TAG.sub(" ", inner.of(text))).strip()
        marks = (start[0], end[0] if end else "")
        place = Span(start.start(), end.end() if end else end_at)
        yield _Found(Quotation(said, inner, marks, is_whole=end is not None), place)


def _between_marks(text: str, paragraphs: Sequence[Paragraph], passage: _Passage | None = None) -> Iterator[_Found]:
    for run in quoted_runs(text, paragraphs):
        inner = _trimmed(text, run.inner.start, run.inner.end)
        if inner is not None:
            ends = [inner.start, *(place for at in run.left_out for place in (at, at + 1)), inner.end]
            parts = [text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True)]
            said = "".join(parts).replace("\r\n", "\n")
            span, place = inner, run.place
            if passage is not None:
                span, place = passage.span(inner.start, inner.end), passage.span(place.start, place.end)
            yield _Found(Quotation(said, span, run.marks, is_whole=run.is_whole), place)


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
