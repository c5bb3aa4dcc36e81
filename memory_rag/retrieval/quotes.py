"""Where words were said, as they were written: exact, equal after folding, or near."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Literal, Protocol, Self

from memory_rag.errors import QueryError, StoreError
from memory_rag.retrieval.differences import Difference
from memory_rag.retrieval.near import MOST_COMPARED, joined_by_ellipsis, nearest, pieces_of
from memory_rag.retrieval.occurrences import (
    certain_words,
    cut_words,
    folded_spans,
    says_something,
    spans_alone,
    spans_of,
)
from memory_rag.text.folding import fold
from memory_rag.text.word_bounds import count_words
from memory_rag.turns import Role, Span, Turn

Status = Literal["exact", "folded", "near"]
Admits = Callable[[Turn], bool]

_CANDIDATES = 50
_LEAST_NEAR_WORDS = 3
_LEAST_NEAR_LENGTH = 12


@dataclass(frozen=True, slots=True)
class Quote:
    """A span of a stored turn, byte for byte: who said it, when, and where it stands.

    ``text`` is ``turn.text[start:end]``. ``exact``: the code points asked for. ``folded``: equal after NFC,
    case, white space and kinds of marks. ``near``: similar, 0 to 100, with every differing word in
    ``differences``. An exact or folded quote has differences only if it begins or ends inside a word: they
    name the whole words. ``source_id`` is the id in the file it was imported from. ``corrected_at`` is when
    the turn was last given other words, another speaker or time; None if it is as it was stored.
    """

    status: Status
    turn_id: str
    source_id: str | None
    conversation_id: str
    session_id: str
    role: Role
    speaker: str
    said_at: datetime | None
    start: int
    end: int
    text: str
    differences: tuple[Difference, ...] = ()
    similarity: float = 100.0
    corrected_at: datetime | None = None

    def as_json(self) -> dict[str, Any]:
        """Return what ``quote --json`` prints for it; the time in UTC with ``Z``, or None when not known."""
        said_at, corrected_at = _zulu(self.said_at), _zulu(self.corrected_at)
        return {
            "status": self.status,
            "turn_id": self.turn_id,
            "source_id": self.source_id,
            "role": self.role.value,
            "speaker": self.speaker,
            "said_at": said_at,
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "differences": [difference.as_json() for difference in self.differences],
            "corrected_at": corrected_at,
        }


class Quotes(tuple[Quote, ...]):
    """The places where ``query`` was said, as a tuple; empty if nobody said it."""

    query: str

    def __new__(cls, query: str, quotes: Iterable[Quote]) -> Self:
        made = super().__new__(cls, quotes)
        made.query = query
        return made

    def __getnewargs__(self) -> tuple[str, tuple[Quote, ...]]:
        return self.query, tuple(self)

    def _repr_html_(self) -> str:
        from memory_rag.retrieval.in_notebook import quotes_html

        return quotes_html(self.query, self)


class QuoteSource(Protocol):
    """The turns that quotes are taken from."""

    def containing(self, text: str) -> Iterable[Turn]:
        """Return the turns whose stored text holds exactly these code points, in stored order."""
        ...

    def with_words(self, words: Sequence[str]) -> Iterable[Turn] | None:
        """Return every turn that holds all these whole words, in stored order; others may be among them.

        The words are in NFC and casefolded, letters and digits only, stop words included. None: can't tell,
        look at every turn.
        """
        ...

    def like(self, text: str, *, k: int) -> Iterable[Turn]:
        """Return the k turns that share most of the text's words, best first."""
        ...

    def every(self) -> Iterable[Turn]:
        """Return all turns, in stored order."""
        ...

    def current(self, turn_id: str) -> Turn | None:
        """Return the turn as it is stored now; None when it is not stored any more."""
        ...


@dataclass(frozen=True, slots=True)
class _Found:
    turn: Turn
    status: Status
    span: Span
    differences: tuple[Difference, ...] = ()
    similarity: float = 100.0


def find_quotes(
    query: str,
    *,
    source: QuoteSource,
    limit: int = 10,
    near_threshold: float = 85.0,
    within: Admits | None = None,
) -> tuple[Quote, ...]:
    """Return where these words were said: exact quotes, then folded ones; near ones if there are neither.

    Exact and folded quotes are in stored order, several in a turn if they stand there several times (not
    overlapping). Those inside longer words (``art`` in ``party``) are given only when the words stand nowhere
    on their own. Near quotes come most similar first, those that differ in a negation or a number last; they
    need three words and twelve characters, and at most 5,000. A query with an ellipsis finds its pieces in
    order and close together in one turn, never as more than near. Quotation marks and space around the query
    count only for exact. ``within`` says which turns may be quoted. Empty for a query without letter, digit
    or picture.

    Raises:
        QueryError: a limit below 1, or a threshold outside 0 to 100.
        StoreError: a turn was changed or removed while it was being quoted.
    """
    if limit < 1:
        raise QueryError(f"limit is {limit}; ask for at least 1 quote")
    if not 0 <= near_threshold <= 100:
        raise QueryError(f"near_threshold is {near_threshold}; it is a similarity from 0 to 100")
    search = _Search(query, source, within)
    found = search.word_for_word(limit) or search.near(near_threshold)[:limit]
    return _checked(found, source)


def word_for_word(query: str, *, source: QuoteSource, limit: int, within: Admits | None = None) -> tuple[Quote, ...]:
    """Return the exact and folded quotes alone, as :func:`find_quotes` orders them."""
    return _checked(_Search(query, source, within).word_for_word(limit), source)


def count_turns(query: str, *, source: QuoteSource, within: Admits | None = None) -> int:
    """Return in how many turns these words stand on their own, case and kinds of marks aside."""
    search = _Search(query, source, within)
    return len({found.turn.turn_id for found in search.folded() if not found.differences})


class _Search:
    """One query over one source."""

    def __init__(self, query: str, source: QuoteSource, within: Admits | None) -> None:
        self.query = query
        self.source = source
        self.within = within
        self.needle = fold(query).text.strip(" \"'") if says_something(query) else ""
        self._most_like: list[Turn] | None = None

    def word_for_word(self, limit: int) -> list[_Found]:
        if not self.needle:
            return []
        exact = self._exact(limit)
        taken: dict[str, list[Span]] = {}
        for found in exact:
            taken.setdefault(found.turn.turn_id, []).append(found.span)
        alone: list[_Found] = []
        inside: list[_Found] = []
        for found in self.folded() if len(exact) < limit else ():
            if any(_overlap(found.span, span) for span in taken.get(found.turn.turn_id, ())):
                continue
            (inside if found.differences else alone).append(found)
            if len(exact) + len(alone) == limit:
                break
        return exact + (alone or ([] if exact else inside[:limit]))

    def _exact(self, limit: int) -> list[_Found]:
        alone: list[_Found] = []
        inside: list[_Found] = []
        for turn in self._admitted(self.source.containing(self.query)):
            spans = islice(spans_alone(self.query, turn.text), limit - len(alone))
            alone.extend(_Found(turn, "exact", span) for span in spans)
            if len(alone) == limit:
                break
            if not alone:
                spans = islice(spans_of(self.query, turn.text), limit - len(inside))
                inside.extend(_Found(turn, "exact", span, cut_words(turn.text, span)) for span in spans)
        return alone or inside

    def folded(self) -> Iterator[_Found]:
        """Yield where turns read as the needle; inside words, with the whole words as differences."""
        if not self.needle:
            return
        parts = self.needle[:MOST_COMPARED].split(" ")
        # The first and the last word may be parts of words; those between are certain to be whole.
        certain = certain_words(parts[1:-1])
        narrowing = certain or certain_words(parts)
        turns = self.source.with_words(narrowing) if narrowing else None
        if turns is None:
            yield from self._folded_in(self.source.every())
            return
        nothing = True
        for found in self._folded_in(turns):
            nothing = False
            yield found
        if nothing:
            yield from self._folded_in(self.most_like() if certain else self.source.every())

    def _folded_in(self, turns: Iterable[Turn]) -> Iterator[_Found]:
        for turn in self._admitted(turns):
            for span in folded_spans(self.needle, turn.text):
                yield _Found(turn, "folded", span, cut_words(turn.text, span))

    def near(self, threshold: float) -> list[_Found]:
        """Return the near quotes, one a turn: the most similar first, those with a grave difference last."""
        long_enough = _LEAST_NEAR_LENGTH <= len(self.needle) <= MOST_COMPARED
        if not long_enough or count_words(self.needle) < _LEAST_NEAR_WORDS:
            return []
        found = self._joined() or [
            _Found(turn, "near", best.span, best.differences, best.similarity)
            for turn in self.most_like()
            if (best := nearest(self.query, turn.text, threshold=threshold)) is not None
        ]
        return sorted(found, key=lambda one: (_is_grave(one), -one.similarity, one.turn.turn_id))

    def _joined(self) -> list[_Found]:
        pieces = pieces_of(self.query)
        if not pieces:
            return []
        narrowing = certain_words(word for piece in pieces for word in piece.split(" "))
        turns = self.source.with_words(narrowing) if narrowing else None
        return [
            _Found(turn, "near", best.span, best.differences, best.similarity)
            for turn in self._admitted(self.source.every() if turns is None else turns)
            if (best := joined_by_ellipsis(pieces, turn.text)) is not None
        ]

    def most_like(self) -> list[Turn]:
        if self._most_like is None:
            found = self.source.like(self.query[:MOST_COMPARED], k=_CANDIDATES)
            self._most_like = list(self._admitted(found))
        return self._most_like

    def _admitted(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        seen = set[str]()
        for turn in turns:
            if turn.turn_id not in seen and (self.within is None or self.within(turn)):
                seen.add(turn.turn_id)
                yield turn


def _checked(found: Sequence[_Found], source: QuoteSource) -> tuple[Quote, ...]:
    """Return what was found as quotes, each compared with the turn as it is stored now."""
    stored: dict[str, Turn | None] = {}
    quotes: list[Quote] = []
    for one in found:
        turn, text = one.turn, one.span.of(one.turn.text)
        if turn.turn_id not in stored:
            stored[turn.turn_id] = source.current(turn.turn_id)
        now = stored[turn.turn_id]
        if now is None or one.span.of(now.text) != text:
            what = "is not stored any more" if now is None else "was changed"
            raise StoreError(f"turn {turn.turn_id!r} {what} while it was being quoted; ask for the quote again")
        quotes.append(
            Quote(
                status=one.status,
                turn_id=now.turn_id,
                source_id=now.source.native_id if now.source else None,
                conversation_id=now.conversation_id,
                session_id=now.session_id,
                role=now.role,
                speaker=now.speaker,
                said_at=now.said_at,
                start=one.span.start,
                end=one.span.end,
                text=text,
                differences=one.differences,
                similarity=one.similarity,
            )
        )
    return tuple(quotes)


def _zulu(instant: datetime | None) -> str | None:
    return None if instant is None else instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _is_grave(found: _Found) -> bool:
    return any(difference.grave for difference in found.differences)
