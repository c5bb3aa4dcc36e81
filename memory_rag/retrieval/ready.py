"""Both sides of a memory, ready for a question, and what is answered where the dense one can't help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from memory_rag.errors import EmbedderError, MissingExtraError, StoreError
from memory_rag.retrieval.ranking import Ranking
from memory_rag.retrieval.searcher import Searcher
from memory_rag.retrieval.sides import Sides

if TYPE_CHECKING:
    from memory_rag.retrieval.dense import DenseIndex

FAULTS: Final = (EmbedderError, MissingExtraError, StoreError)
"""What keeps the dense side from answering, while words are found all the same."""
_NO_EMBEDDER: Final = "found by keyword only: this memory has no embedder (embedder = none)"


class Ready(NamedTuple):
    """Both sides, caught up with the store; the dense one is None without an embedder, or by a fault."""

    searcher: Searcher
    dense: DenseIndex | None
    fault: Exception | None = None
    trouble: str = ""
    """Why turns that wait for a vector could not be embedded."""

    def ranking(self, searched: Callable[[Searcher, DenseIndex | None], Ranking], *, is_dense: bool) -> Ranking:
        """Search by both sides, or by words alone where vectors can't be had, and say so.

        Raises:
            EmbedderError, MissingExtraError, StoreError: vectors can't be had, and ``is_dense`` asks for nothing else.
        """
        fault = self.fault
        if fault is None:
            try:
                ranking = searched(self.searcher, self.dense)
            except FAULTS as error:
                fault = error
        if fault is not None:
            if is_dense:
                raise fault
            return _noted(searched(self.searcher, None), _by_words(fault))
        if self.dense is None:
            return _noted(ranking, _NO_EMBEDDER)
        if ranking.pending:
            many = (
                "1 turn is not embedded yet and was"
                if ranking.pending == 1
                else f"{ranking.pending:,} turns are not embedded yet and were"
            )
            waiting = f"{many} searched by keyword only"
            return _noted(ranking, f"{waiting}: {self.trouble}" if self.trouble else waiting)
        return ranking

    def sides(self, query: str) -> Sides:
        """Return both sides for other searches than those for turns, the question embedded."""
        fault = self.fault
        if fault is None and self.dense is not None:
            try:
                self.searcher.questions.embed(query, self.dense.embedder)
            except FAULTS as error:
                fault = error
        if fault is not None:
            return Sides(self.searcher, notes=(_by_words(fault),))
        note = _NO_EMBEDDER if self.dense is None else self.trouble
        return Sides(self.searcher, self.dense, (note,) if note else ())


def _by_words(fault: Exception) -> str:
    return f"found by keyword only: {fault}"


def _noted(ranking: Ranking, note: str) -> Ranking:
    return replace(ranking, notes=(*ranking.notes, note))
