"""The stored turns, as quotes look them up: by bytes, by whole words, by likeness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from memory_rag.errors import UnknownTurnError
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.retrieval.ranking import Entries
from memory_rag.retrieval.searcher import Mode, Searcher, SearchOptions
from memory_rag.store.turn_reader import TurnReader
from memory_rag.text.analyzer import Analyzer
from memory_rag.text.stopwords import STOP_WORDS
from memory_rag.turns import Turn

_EVERY_STOP_WORD = frozenset().union(*STOP_WORDS.values())
_FETCH = 500


class StoredTurns:
    """A store and its caught-up keyword index as a source of quotes, narrowed to what a filter allows."""

    def __init__(self, store: TurnReader, keyword: KeywordIndex, searcher: Searcher, within: Within) -> None:
        self._store = store
        self._keyword = keyword
        self._searcher = searcher
        self._within = within
        scope, _pool = searcher.pool(within)
        self._allowed = scope.allowed
        self._everything = len(scope.allowed) == keyword.table.n_alive

    def containing(self, text: str) -> Iterator[Turn]:
        """Yield the turns whose stored text holds exactly these code points, in stored order."""
        allowed = None if self._everything else self._rows(self._allowed.entries)
        known = None if allowed is None else set(allowed)
        for row, turn in self._store.containing(text):
            if known is None or row in known:
                yield turn

    def with_words(self, words: Sequence[str]) -> Iterator[Turn] | None:
        """Yield every turn that may hold all these whole words; None if no word narrows the search."""
        terms_of_words = narrowing_terms(words, self._keyword.analyzer)
        matching = self._allowed.entries
        for terms in terms_of_words:
            matching = matching[self._keyword.bm25.matching(terms)[matching]]
        return self._turns(matching) if terms_of_words else None

    def like(self, text: str, *, k: int) -> Iterator[Turn]:
        """Yield the k turns that share most of the text's words, best first."""
        options = SearchOptions(k=k, mode=Mode.KEYWORD, within=self._within)
        return (hit.turn for hit in self._searcher.search(text, options, dense=None))

    def every(self) -> Iterator[Turn]:
        """Yield all turns, in stored order."""
        return self._turns(self._allowed.entries)

    def current(self, turn_id: str) -> Turn | None:
        """Return the turn as it is stored now; None when it isn't any more."""
        try:
            return self._store.get([turn_id])[0]
        except UnknownTurnError:
            return None

    def _rows(self, entries: Entries) -> list[int]:
        rows: list[int] = np.sort(self._keyword.table.row[entries]).tolist()
        return rows

    def _turns(self, entries: Entries) -> Iterator[Turn]:
        rows = self._rows(entries)
        for start in range(0, len(rows), _FETCH):
            part = rows[start : start + _FETCH]
            turns = self._store.turns_at(part)
            yield from (turns[row] for row in part if row in turns)


def narrowing_terms(words: Sequence[str], analyzer: Analyzer) -> list[list[str]]:
    """Return the terms of those whole words that an index surely has if a turn has them.

    A stop word of any language may not be in it.
    """
    content = (word for word in words if word not in _EVERY_STOP_WORD and word.isalpha() and len(word) > 1)
    return [terms for word in content if (terms := analyzer.query_terms(word))]
