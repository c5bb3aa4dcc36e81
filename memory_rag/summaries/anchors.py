"""What can be lost of a text and told from it alone: names, numbers, dates, identifiers and paths.

By the form of the words only, no model: a name is a capitalised word inside a sentence, an identifier has letters
beside digits, an underscore or a capital inside. German writes every noun with a capital, so it has no names here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from memory_rag.summaries.background import give_way
from memory_rag.summaries.sentences import sentences
from memory_rag.text.dates import find_dates
from memory_rag.text.pieces import casefolded, pattern_for
from memory_rag.text.stopwords import STOP_WORDS
from memory_rag.turns import Span, printable

_PATH: Final = re.compile(
    r"\b[a-z][a-z0-9+.-]*://[^\s<>\"'`)\]]*[^\s<>\"'`)\].,;:!?]"
    r"|(?<![\w/.])(?:~|\.{1,2})?/(?:[\w.@+-]+/){0,30}[\w.@+-]*\w"
    r"|(?<![\w/.])[\w.@+-]{1,80}(?:/[\w.@+-]{1,80}){0,30}\.(?:py|pyi|md|txt|json|jsonl|toml|ya?ml|ini|cfg|csv|tsv|xml|"
    r"html?|css|scss|jsx?|tsx?|sql|sqlite|db|sh|rs|go|java|kt|swift|cpp|hpp|rb|php|ipynb|pdf|docx?|xlsx?|pptx?|png|"
    r"jpe?g|svg|log|lock|env|conf)\b"
    r"|\b[A-Za-z]:\\[\w\\.-]+"
)
_NUMBER: Final = re.compile(r"\d(?:[\d.,:/-]*\d)?(?:st|nd|rd|th|am|pm|[^\W\d_]{1,3})?")
_PLACE: Final = re.compile(r"(?:st|nd|rd|th)$")
_CAMEL: Final = re.compile(r"[a-z][A-Z]|[A-Za-z](?:\+\+|#)$")
_NO_NAMES: Final = frozenset({"de"})
_LONGEST: Final = 120
_REMEMBERED: Final = 2_048
"""Texts read last: a running summary is audited against its hundred turns each time it is extended."""
_HEADING: Final = 0.6
"""From this share of words with a capital on, a line without a full stop is a heading: its capitals name nobody."""


class AnchorKind(StrEnum):
    """What sort of thing it is."""

    NAME = "name"
    NUMBER = "number"
    DATE = "date"
    IDENTIFIER = "identifier"
    PATH = "path"


@dataclass(frozen=True, slots=True)
class Anchor:
    """One such thing as it is written first, and ``key``, which is the same for every way of writing it."""

    kind: AnchorKind
    text: str
    key: str


def anchors(text: str, *, language: str) -> list[Anchor]:
    """Return the names, numbers, dates, identifiers and paths of a text in its order, each once; none gives none.

    A word with a capital at the start of a sentence is a name only if it has one elsewhere too.
    """
    return found_in([(text, language)])[0]


def found_in(texts: Iterable[tuple[str, str]]) -> list[list[Anchor]]:
    """Return the anchors of each (text, language) of a talk; names are told from all of them together."""
    read = [_read(printable(text), language) for text, language in texts]
    inside = {run.anchor.key for one in read for run in one.runs if not run.is_first}
    small: set[str] = set().union(*(one.small for one in read))
    return [_in_order(one, inside, small) for one in read]


def _in_order(one: _Read, inside: Set[str], small: Set[str]) -> list[Anchor]:
    found = list(one.others)
    for run in one.runs:
        anchor = run.anchor
        if run.is_first:
            head, _, rest = anchor.text.partition(" ")
            if not rest and anchor.key not in inside:
                continue
            if rest and normal(head).strip() in small:
                # "Thanks Ada": the first word has a capital for another reason.
                anchor = Anchor(AnchorKind.NAME, rest, normal(rest).strip())
        if anchor.key not in small:
            found.append((run.at, anchor))
    return list(dict.fromkeys(anchor for _at, anchor in sorted(found, key=lambda pair: pair[0])))


def normal(text: str) -> str:
    """Return a text's pieces as they are compared, with a space around each."""
    return f" {' '.join(map(_normal_piece, pattern_for(text).findall(text)))} "


class _Run(NamedTuple):
    """Words with capitals in a row, and whether a sentence begins with them."""

    at: int
    anchor: Anchor
    is_first: bool


class _Read(NamedTuple):
    """What one text has: possible names, all else, and its words without a capital, which are no names."""

    runs: list[_Run]
    others: list[tuple[int, Anchor]]
    small: frozenset[str]


@lru_cache(maxsize=_REMEMBERED)
def _read(text: str, language: str) -> _Read:
    taken = bytearray(len(text))
    others: list[tuple[int, Anchor]] = []
    runs: list[_Run] = []
    small: set[str] = set()

    def take(kind: AnchorKind, start: int, end: int) -> None:
        if end - start <= _LONGEST and not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            others.append((start, Anchor(kind, text[start:end], normal(text[start:end]).strip())))

    for prose in sentences(text):
        give_way()
        sentence = prose.of(text)
        for path in _PATH.finditer(sentence):
            take(AnchorKind.PATH, prose.start + path.start(), prose.start + path.end())
        for date in find_dates(sentence, language=language):
            take(AnchorKind.DATE, prose.start + date.span.start, prose.start + date.span.end)
        words: list[Span] = []
        for match in pattern_for(sentence).finditer(sentence):
            word = Span(prose.start + match.start(), prose.start + match.end())
            if any(taken[word.start : word.end]):
                continue
            if _is_number(match[0]):
                take(AnchorKind.NUMBER, word.start, word.end)
            elif _is_identifier(match[0]):
                take(AnchorKind.IDENTIFIER, word.start, word.end)
            else:
                words.append(word)
                if match[0][0].islower():
                    small.add(_normal_piece(match[0]))
        if language not in _NO_NAMES:
            runs += _capitals(text, prose, words, language)
    return _Read(runs, others, frozenset(small))


def _capitals(text: str, prose: Span, words: Sequence[Span], language: str) -> Iterator[_Run]:
    """Yield the words with capitals of a sentence, those that stand side by side as one; none of a heading's."""
    capital = [word for word in words if text[word.start].isupper() and not _is_small_word(word.of(text), language)]
    long = [word for word in words if not _is_small_word(word.of(text), language)]
    ended = prose.of(text).rstrip("\"'”’)*_").endswith((".", "!", "?"))
    if not ended and len(capital) > max(2, _HEADING * len(long)):
        return
    run: list[Span] = []
    for word in [*capital, None]:
        if run and (word is None or text[run[-1].end : word.start] != " "):
            start, end = run[0].start, run[-1].end
            written = text[start:end].removesuffix("'s").removesuffix("’s")
            anchor = Anchor(AnchorKind.NAME, written, normal(written).strip())
            if anchor.key and end - start <= _LONGEST:
                yield _Run(start, anchor, not any(sign.isalnum() for sign in text[prose.start : start]))
            run = []
        if word is not None:
            run.append(word)


def _is_number(piece: str) -> bool:
    return piece[0].isdigit() and _NUMBER.fullmatch(piece) is not None


def _is_identifier(piece: str) -> bool:
    if piece.isalpha():
        return piece.isascii() and _CAMEL.search(piece) is not None
    has_digit = any(sign.isdigit() for sign in piece)
    has_letter = any(sign.isalpha() for sign in piece)
    return (has_digit and has_letter) or "_" in piece.strip("_") or _CAMEL.search(piece) is not None


def _is_small_word(piece: str, language: str) -> bool:
    folded = casefolded(piece)
    head = folded.replace("’", "'").partition("'")[0]
    known = STOP_WORDS.get(language, frozenset())
    return folded in known or head in known or len(head) < 2


def _normal_piece(piece: str) -> str:
    folded = casefolded(piece).replace("’", "'").removesuffix("'s")
    return _PLACE.sub("", folded) if folded[:1].isdigit() else folded


def stands_in(anchor: Anchor, normalised: str) -> bool:
    """Tell whether a text, as :func:`normal` gives it, still has what an anchor names."""
    return f" {anchor.key} " in normalised
