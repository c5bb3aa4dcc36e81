"""What is told of talks, made ready to be searched: the words of their summaries and titles, and their vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Embedder, Vectors
from memory_rag.retrieval.bm25 import Bm25, Pool
from memory_rag.retrieval.growing import Growing
from memory_rag.retrieval.names import Names
from memory_rag.retrieval.ranking import Scores
from memory_rag.retrieval.scene import MISSING
from memory_rag.retrieval.selected import Selected
from memory_rag.retrieval.turn_table import Mask
from memory_rag.talks.keys import NOWHERE, KeysOfTalks, Places
from memory_rag.talks.shelf import TalkShelf
from memory_rag.talks.talk import TalkSummary, Unit
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import printable

_GONE: Final = 4
"""Once one in so many of the summaries that were taken in is gone, all are taken in anew."""


@dataclass(frozen=True, slots=True)
class Telling:
    """What some summaries say to a question, side by side: BM25, about what it could be, the cosine."""

    bm25: Scores
    possible: float
    cosine: Scores


class Told:
    """The summaries of talks as an index; catches up with the shelf before it answers.

    A summary is known by its place, in the order in which they were taken in; those that are gone keep theirs.
    """

    def __init__(self, shelf: TalkShelf) -> None:
        self._shelf = shelf
        self._analyzer: Analyzer | None = None
        self._start_over()

    def _start_over(self) -> None:
        self._version = (0, 0)
        self._summaries: list[TalkSummary] = []
        self._places: dict[int, int] = {}
        """Of the summaries that are there, by number."""
        self._living: Mask = np.zeros(0, np.bool_)
        self._are_of_sessions = Growing(np.zeros(0, np.bool_))
        self._keys = KeysOfTalks()
        self._bm25 = Bm25()
        self._pool: Pool | None = None
        self._read_for = ""
        self._vectors: dict[int, Vectors] = {}
        """By place."""
        self._waiting: set[int] = set()
        """The places of those that have texts and, as far as was read, no vectors."""
        self._stacked: _Stack | None = None

    def catch_up(self, analyzer: Analyzer) -> None:
        """Take in the summaries that were made since; those that are gone are searched no more."""
        version = self._shelf.version()
        if self._analyzer is analyzer and self._version == version:
            return
        numbers = self._shelf.numbers()
        gone = self._places.keys() - set(numbers)
        if self._analyzer is not analyzer or len(gone) * _GONE > len(self._places):
            self._start_over()
            self._analyzer, gone = analyzer, set()
        for number in gone:
            place = self._places.pop(number)
            self._vectors.pop(place, None)
            self._waiting.discard(place)
        for summary in self._shelf.numbered([number for number in numbers if number not in self._places]):
            self._take_in(summary, analyzer)
        self._living = np.zeros(len(self._summaries), np.bool_)
        self._living[list(self._places.values())] = True
        self._pool = self._stacked = None
        self._version = version

    def _take_in(self, summary: TalkSummary, analyzer: Analyzer) -> None:
        place = self._places[summary.number] = len(self._summaries)
        self._bm25.add(place, [analyzer.terms(printable("\n".join(summary.found_by)))])
        self._summaries.append(summary)
        if summary.found_by:
            self._waiting.add(place)
        self._are_of_sessions.append(summary.talk.unit is Unit.SESSION)
        self._keys.add(summary.talk)

    @property
    def has_any(self) -> bool:
        """Whether any summary has texts that it is found by."""
        return bool(self._waiting or self._vectors)

    def embed(self, embedder: Embedder, *, limit: int | None = None) -> int:
        """Embed the texts of summaries that have no vectors of this embedder, ``limit`` of them at most; how many.

        Raises:
            EmbedderError: the embedder can't be loaded or reached.
        """
        self._read(embedder)
        waiting = sorted(self._waiting)[:limit]
        if not waiting:
            return 0
        groups = [self._summaries[place].found_by for place in waiting]
        texts = [printable(text) for found_by in groups for text in found_by]
        rows = embedder.embed_turns([embedder.passages(text)[0].of(text) for text in texts])
        ends = np.cumsum([len(found_by) for found_by in groups]).tolist()
        made = {place: rows[end - len(own) : end] for place, own, end in zip(waiting, groups, ends, strict=True)}
        self._shelf.put_vectors(
            embedder.fingerprint, {self._summaries[place].number: own for place, own in made.items()}
        )
        self._take_vectors(made)
        return len(made)

    def places_of(self, unit: Unit, names: Names) -> Places:
        """Return the place of each talk's summary, by the talks' codes; -1 for one of which nothing is told.

        A conversation of one session has that session's.
        """
        codes = self._keys.codes(unit, names)
        places = np.arange(len(codes))
        known = self._living & (codes != NOWHERE)
        of_sessions = known & self._are_of_sessions.values
        own = of_sessions if unit is Unit.SESSION else known & ~of_sessions
        found = np.full(len(names.names), NOWHERE)
        found[codes[own]] = places[own]
        if unit is Unit.CONVERSATION:
            n_sessions = np.bincount(codes[of_sessions], minlength=len(found))
            alone = of_sessions & (n_sessions == 1)[codes] & (found == NOWHERE)[codes]
            found[codes[alone]] = places[alone]
        return found

    def at(self, place: int) -> TalkSummary | None:
        """Return the summary at a place; None at -1."""
        return None if place == NOWHERE else self._summaries[place]

    def tellings(
        self,
        places: Places,
        *,
        terms: Sequence[str],
        words: Sequence[Sequence[str]],
        query: Vectors | None,
        embedder: Embedder | None,
    ) -> Telling:
        """Return what the summaries at these places, each once, say to a question's terms and its vector."""
        pool = self._pool_of(np.sort(places))
        cosine = np.full(len(places), MISSING)
        if query is not None and embedder is not None:
            self._read(embedder)
            if self._vectors:
                cosine = self._cosines(query)[places]
        return Telling(self._bm25.scores(terms, pool)[places], self._bm25.possible(words, pool), cosine)

    @property
    def analyzer(self) -> Analyzer:
        """What takes texts apart; there once it has caught up."""
        if self._analyzer is None:
            raise RuntimeError("catch up first")
        return self._analyzer

    def _pool_of(self, ascending: Places) -> Pool:
        if self._pool is None or not np.array_equal(self._pool.entries, ascending):
            searched = Selected.of_entries(ascending, n_entries=len(self._summaries))
            self._pool = Pool(searched, self._bm25.lengths)
        return self._pool

    def _read(self, embedder: Embedder) -> None:
        """Read the vectors that this process or another one made of this embedder, where any may be missing."""
        if self._read_for != embedder.fingerprint:
            self._read_for, self._stacked = embedder.fingerprint, None
            self._waiting |= self._vectors.keys()
            self._vectors = {}
        if not self._waiting:
            return
        first = self._summaries[min(self._waiting)].number
        read = self._shelf.vectors(embedder.fingerprint, embedder.dim, after=first - 1)
        by_place = {self._places[number]: rows for number, rows in read.items() if number in self._places}
        self._take_vectors(
            {
                place: rows
                for place, rows in by_place.items()
                if place in self._waiting and len(rows) == len(self._summaries[place].found_by)
            }
        )

    def _take_vectors(self, made: dict[int, Vectors]) -> None:
        if made:
            self._vectors.update(made)
            self._waiting -= made.keys()
            self._stacked = None

    def _cosines(self, query: Vectors) -> Scores:
        """Return the cosine of each summary's nearest text, by place; ``MISSING`` without a vector."""
        if self._stacked is None:
            self._stacked = _Stack.of(self._vectors)
        cosine = np.full(len(self._summaries), MISSING)
        cosine[self._stacked.places] = np.maximum.reduceat(self._stacked.rows @ query, self._stacked.firsts)
        return cosine


@dataclass(frozen=True, slots=True)
class _Stack:
    """The vectors of summaries in one array: at whose place, and from which row on, those of each lie."""

    places: Places
    rows: Vectors
    firsts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, vectors: Mapping[int, Vectors]) -> _Stack:
        """Return those of each place side by side; there must be one."""
        sizes = np.array([len(rows) for rows in vectors.values()], np.int64)
        return cls(np.array(list(vectors), np.int64), np.concatenate(list(vectors.values())), np.cumsum(sizes) - sizes)
