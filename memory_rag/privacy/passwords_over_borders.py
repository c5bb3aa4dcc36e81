"""Passwords that stand over a border from the words for them: on the next line, or in a cell of a Markdown table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memory_rag.privacy.secret_shape import is_secret_shaped, is_strongly_shaped
from memory_rag.privacy.value_edges import value_of
from memory_rag.turns import Span

_REACH: Final = 72
_MARKUP: Final = " \t\"'`*_])"
_ENDS_LINE: Final = re.compile(rf"(?P<rest>[^\n\r。]{{0,{_REACH}}})(?:\r\n?|\n)")
# One blank line at most, and the first line of a block of code.
_NEXT: Final = re.compile(
    r"(?:[ \t>]{0,12}(?:\r\n?|\n))?(?P<fence>[ \t>]{0,12}`{3}\w{0,12}[ \t]{0,4}(?:\r\n?|\n))?"
    r"[ \t>]{0,12}(?P<listed>(?:[-*+•]|\d{1,2}[.)])[ \t]{1,4})?(?P<word>[^\s]{4,140})(?P<more>[ \t]{0,8}[^\s])?"
)
_SENTENCE_END: Final = re.compile(r"[.!?](?:\s|\Z)")
_SAYS: Final = frozenset(
    ("is", "was", "be", "to", "är", "var", "blir", "blev", "till", "er", "ble", "blei", "til", "ist", "lautet", "es")
)
_SIGNS: Final = (":", "->", "=>", "→", "=")
_NAMES_MORE: Final = frozenset(":=(")
_PAUSES: Final = frozenset(",.;!?")
_QUOTES: Final = frozenset("\"'`”“»«」")
_OF_MANY: Final = re.compile(
    r"(?:rules?|requirements?|polic(?:y|ies)|managers?|examples?|hash(?:es)?|resets?|fields?|regler|krav|exempel|"
    r"eksempler?|hanterare|håndterer)\b",
    re.IGNORECASE,
)
_LEAST_WEAK: Final = 6
_LONGEST_CELL: Final = 200
_LONGEST_ROW: Final = 600
_MOST_ROWS: Final = 64
_ROW: Final = re.compile(rf"(?P<row>[^\r\n]{{0,{_LONGEST_ROW}}})(?:\r?\n|\Z)")
_RULED: Final = re.compile(r"[ \t>]{0,8}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t:|-]*)?")


def in_next_line(text: str, after: int, *, is_word: bool, begins_line: bool) -> Iterator[Span]:
    """Yield the value in the line after the words for a password, where these end their line.

    ``is_word`` says that the word for it is a word of its own, ``begins_line`` that little stands before it. Words that
    say that it follows ("is", a colon) let the value have a weaker shape, if nothing else stands in its line.
    """
    line = _ENDS_LINE.match(text, after)
    found = _NEXT.match(text, line.end()) if line else None
    if line is None or found is None or _SENTENCE_END.search(line["rest"]):
        return
    cue = _Cue.of(line["rest"])
    span = value_of(found["word"], at=found.start("word"))
    value, mark = span.of(text), text[span.end : span.end + 1]
    if cue.is_of_many or mark in _NAMES_MORE or not (is_word or (cue.sign and not cue.words)):
        return
    is_quoted = span.start > found.start("word") and mark in _QUOTES
    is_said = cue.says_it or (cue.sign == "=" and is_quoted)
    is_bare = not cue.words and not cue.sign
    if not (is_said or (is_bare and begins_line)):
        return
    is_alone = found["more"] is None
    # What a sentence goes on after is a value; what a line of code or a list goes on after may be anything.
    if not is_alone and mark not in _PAUSES and (cue.sign or is_bare or found["fence"] or found["listed"]):
        return
    is_direct = is_said and is_word and is_alone and len(cue.words) <= 1 and not found["listed"]
    if is_strongly_shaped(value) or (is_direct and _is_weakly_shaped(value)):
        yield span


@dataclass(frozen=True, slots=True)
class _Cue:
    """What stands between the word for a password and the end of its line: words, and the sign at their end if any."""

    words: list[str]
    sign: str

    @classmethod
    def of(cls, rest: str) -> _Cue:
        # In YAML, | and > say that a text follows in the next lines.
        bare = re.sub(r"(?<=:)\s+[|>][-+]?\s*\Z", "", rest.strip(_MARKUP))
        sign = next((sign for sign in _SIGNS if bare.endswith(sign)), "")
        return cls(bare.removesuffix(sign).strip(_MARKUP).lower().split(), sign)

    @property
    def says_it(self) -> bool:
        return self.sign not in ("", "=") or (bool(self.words) and self.words[-1] in _SAYS)

    @property
    def is_of_many(self) -> bool:
        return _OF_MANY.match(" ".join(self.words)) is not None


def in_cells(text: str, place: int, after: int) -> Iterator[Span]:
    """Yield the value in the cell right of the one that the word for a password stands in, or those below it."""
    start = text.rfind("\n", max(0, place - _LONGEST_ROW), place) + 1
    if start == 0 and place > _LONGEST_ROW:
        return
    bar = text.find("|", after, min(after + _REACH, _end_of_line(text, after)))
    between = text[after:bar].strip(_MARKUP) if bar >= 0 else ""
    has_words = bool(between.rstrip(":"))
    is_spaced = text[bar - 1 : bar + 2].strip() == "|" and len(text[bar - 1 : bar + 2]) == len(" | ")
    is_cell = bar >= 0 and not set(between[:-1]) & set(":=") and not _OF_MANY.match(between)
    if is_cell and (is_spaced or not has_words):
        end = _end_of_cell(text, bar + 1, bar + 1 + _LONGEST_CELL)
        if is_spaced or text[end : end + 1] == "|":
            yield from _alone(text, bar + 1, end)
    if "|" in text[start:place] or is_cell:
        yield from _below(text, text.count("|", start, place), after)


def _below(text: str, column: int, after: int) -> Iterator[Span]:
    """Yield the values of a column of a table, if the line of its name is followed by a ruled one."""
    name, rule = _row(text, after), None
    if name is not None and text[name.end() : name.end() + 1] in tuple("|:- >"):
        rule = _row(text, name.end())
    if rule is None or not _RULED.fullmatch(rule["row"]):
        return
    at = rule.end()
    for _ in range(_MOST_ROWS):
        row = _row(text, at)
        # A second rule is another table's.
        if row is None or "|" not in row["row"] or _RULED.fullmatch(row["row"]):
            return
        cell = at
        for _ in range(column):
            cell = text.find("|", cell, row.end("row")) + 1
            if cell == 0:
                return
        yield from _alone(text, cell, _end_of_cell(text, cell, row.end("row")))
        at = row.end()


def _row(text: str, at: int) -> re.Match[str] | None:
    return _ROW.match(text, at) if at < len(text) else None


def _alone(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the value that a cell consists of, if it has the shape of a password."""
    cell = text[start:end]
    word = cell.strip()
    span = value_of(word, at=start + len(cell) - len(cell.lstrip()))
    if len(word.split()) == 1 and is_strongly_shaped(span.of(text)):
        yield span


def _end_of_cell(text: str, start: int, limit: int) -> int:
    end = min(limit, _end_of_line(text, start))
    bar = text.find("|", start, end)
    return end if bar < 0 else bar


def _end_of_line(text: str, start: int) -> int:
    limit = min(len(text), start + _LONGEST_ROW)
    end = text.find("\n", start, limit)
    return limit if end < 0 else end


def _is_weakly_shaped(value: str) -> bool:
    has_digit = any(map(str.isdigit, value))
    is_number = value.isascii() and value.isdigit()
    return len(value) >= _LEAST_WEAK and has_digit and (is_number or is_secret_shaped(value))
