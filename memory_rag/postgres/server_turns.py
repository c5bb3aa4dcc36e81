"""The turns of a part of a memory on a server, as quotes look them up: by bytes, by whole words, by likeness."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

from memory_rag.errors import UnknownTurnError
from memory_rag.postgres.parts import Part
from memory_rag.postgres.words import ServerWords
from memory_rag.retrieval.quote_source import narrowing_terms
from memory_rag.retrieval.ranking import Ranking
from memory_rag.store.engine import Connections
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Turn, text_bytes

_READ: Final = 2000
"""Turns that share words with a quotation and are read for it; of more, the best by BM25."""
_FETCH: Final = 500


class ServerTurns:
    """A part of one owner's turns as a source of quotes."""

    def __init__(
        self,
        store: TurnWriter,
        words: ServerWords,
        part: Part,
        *,
        analyzer: Analyzer,
        like: Callable[[str, int], Ranking],
    ) -> None:
        """``like(text, k)`` ranks the k turns that share most of a text's words."""
        self._store = store
        self._words = words
        self._part = part
        self._analyzer = analyzer
        self._like = like

    def containing(self, text: str) -> Iterator[Turn]:
        """Yield the turns whose stored text holds exactly these code points, in stored order."""
        where, values = self._part.where(first=2)
        yield from self._turns(f"instr(text, ?1) > 0 AND {where}", [text_bytes(text), *values])

    def with_words(self, words: Sequence[str]) -> Iterator[Turn] | None:
        """Yield the turns that share most of these whole words, in stored order; None if no word narrows the search.

        They are so many that one that holds all of the words is hardly ever missed.
        """
        terms = list(chain.from_iterable(narrowing_terms(words, self._analyzer)))
        return self._at(sorted(self._words.best(terms, n=_READ, part=self._part))) if terms else None

    def like(self, text: str, *, k: int) -> Iterator[Turn]:
        """Yield the k turns that share most of the text's words, best first."""
        return (hit.turn for hit in self._like(text, k))

    def every(self) -> Iterator[Turn]:
        """Yield all turns, in stored order."""
        return self._turns(*self._part.where())

    def current(self, turn_id: str) -> Turn | None:
        """Return the turn as it is stored now; None when it isn't any more."""
        try:
            return self._store.get([turn_id])[0]
        except UnknownTurnError:
            return None

    def _turns(self, where: str, values: Sequence[Any]) -> Iterator[Turn]:
        with self._store.connections.reading() as connection:
            found = connection.execute(f"SELECT row FROM turns WHERE {where} ORDER BY row", values).fetchall()
        return self._at([int(row) for (row,) in found])

    def _at(self, rows: Sequence[int]) -> Iterator[Turn]:
        for start in range(0, len(rows), _FETCH):
            part = rows[start : start + _FETCH]
            turns = self._store.turns_at(part)
            yield from (turns[row] for row in part if row in turns)


def turn_ids(connections: Connections, part: Part, *, without: Sequence[str] = ()) -> list[str]:
    """Return the ids of the turns of a part, in stored order, but for some."""
    where, values = part.where()
    with connections.reading() as connection:
        found = connection.execute(f"SELECT turn_id FROM turns WHERE {where} ORDER BY row", values).fetchall()
    left_out = frozenset(without)
    return [turn_id for (turn_id,) in found if turn_id not in left_out]
