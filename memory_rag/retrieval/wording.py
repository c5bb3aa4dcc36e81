"""What a question's own words say of entries: how many of them a turn holds, and whether it says them as they stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

import numpy as np

from memory_rag.retrieval.ascending import distinct
from memory_rag.retrieval.bm25 import Bm25, FoundWords, Pool
from memory_rag.retrieval.entry_scores import EntryScores
from memory_rag.retrieval.once import once
from memory_rag.retrieval.query import QueryAnalysis
from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.turn_table import TurnTable
from memory_rag.text.analyzer import Analyzer
from memory_rag.text.phrases import Phrase
from memory_rag.turns import Turn

_FEWEST: Final = 2
"""Words of content that make a phrase: one alone is found as any word is."""
_LONG: Final = 4
_LONG_IN_ALL: Final = 7
"""Words of content from which on a question is looked for as it stands, or words of any kind."""
_READ: Final = 256
"""Turns that hold every word of a phrase and are read for it, the best by BM25."""


_NONE: Final = np.zeros(0, np.int64)
TurnsAt = Callable[[Sequence[int]], Mapping[int, Turn]]
"""Gives the turns at row numbers, without those that are gone."""


class IndexedWords(Protocol):
    """What knows which entries hold a term."""

    @property
    def table(self) -> TurnTable: ...
    @property
    def bm25(self) -> Bm25: ...
    @property
    def analyzer(self) -> Analyzer: ...


class Wording:
    """The words of one question before one pool; ``scores`` are its BM25 of every entry, 0 for what doesn't count."""

    def __init__(
        self,
        query: QueryAnalysis,
        found: FoundWords,
        *,
        indexed: IndexedWords,
        pool: Pool,
        scores: EntryScores,
        turns_at: TurnsAt,
    ) -> None:
        self._query = query
        self._found = found
        self._indexed = indexed
        self._pool = pool
        self._scores = scores
        self._turns_at = turns_at

    def share(self, entries: Entries) -> Scores:
        """Return what share of the question's words each of these entries holds, weighed by idf, 0 to 1."""
        return self._found.share(entries)

    @once
    def literal(self) -> Entries:
        """The entries that say the words given, or those that a question quotes, as they stand, ascending.

        As they stand but for case and white space. A long question may be words that were said, too.
        """
        found = [self._saying(phrase, self._look_up(phrase)) for phrase in self._query.quoted]
        if self._query.gives_words or len(self._found) >= _LONG or self._is_long:
            found.append(self._saying(self._query.whole, self._found))
        if len(found) < 2:
            return found[0] if found else _NONE
        return distinct(np.sort(np.concatenate(found)))

    @property
    def _is_long(self) -> bool:
        return len(self._query.whole.split()) >= _LONG_IN_ALL

    def _look_up(self, phrase: str) -> FoundWords:
        return self._indexed.bm25.look_up(self._indexed.analyzer.query_words(phrase), self._pool)

    def _saying(self, phrase: str, found: FoundWords) -> Entries:
        """Return the entries that say a phrase, of those that hold each of its words."""
        entries = found.of_all() if len(found) >= _FEWEST else _NONE
        if len(entries) == 0:
            return _NONE
        entries = entries[self._scores[entries] > 0].astype(np.int64)
        if len(entries) > _READ:
            entries = np.sort(entries[np.argsort(-self._scores[entries], kind="stable")[:_READ]])
        rows = self._indexed.table.row[entries].tolist()
        turns = self._turns_at(rows)
        wanted = Phrase(phrase)
        said = [row in turns and wanted.is_said_in(turns[row].searchable) for row in rows]
        return entries[np.array(said, np.bool_)]
