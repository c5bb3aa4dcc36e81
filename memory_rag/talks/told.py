"""What is told of talks, made ready to be searched: the words of their summaries and titles, and their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Embedder, Vectors
from memory_rag.retrieval.bm25 import Bm25, Pool
from memory_rag.retrieval.ranking import Scores
from memory_rag.retrieval.scene import MISSING
from memory_rag.retrieval.selected import Selected
from memory_rag.talks.shelf import TalkShelf
from memory_rag.talks.talk import TalkSummary
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import printable

_ROUGHLY_ALL = 4


@dataclass(frozen=True, slots=True)
class Telling:
    """The summaries that are searched, side by side, and the scores of each for one question."""

    summaries: tuple[TalkSummary, ...]
    bm25: Scores
    possible: float
    cosine: Scores


class Told:
    """The summaries of talks as an index; catches up with the shelf before it answers."""

    def __init__(self, shelf: TalkShelf) -> None:
        self._shelf = shelf
        self._analyzer: Analyzer | None = None
        self._start_over()

    def _start_over(self) -> None:
        self._summaries: list[TalkSummary] = []
        self._known: set[int] = set()
        self._n_texts: dict[int, int] = {}
        self._bm25 = Bm25()
        self._vectors: dict[int, Vectors] = {}
        self._read_vectors: tuple[str, int] = ("", 0)
        self._stacked: tuple[tuple[int, ...], Vectors, npt.NDArray[np.int64]] | None = None

    def catch_up(self, analyzer: Analyzer) -> None:
        """Take in the summaries that were made since; those that are gone are searched no more."""
        numbers = self._shelf.numbers()
        present = set(numbers)
        gone = len(self._known - present)
        if self._analyzer is not analyzer or gone * _ROUGHLY_ALL > len(self._known):
            self._start_over()
            self._analyzer = analyzer
        for summary in self._shelf.numbered([number for number in numbers if number not in self._known]):
            self._bm25.add(len(self._summaries), [analyzer.terms(printable("\n".join(summary.found_by)))])
            self._summaries.append(summary)
            self._known.add(summary.number)
            self._n_texts[summary.number] = len(summary.found_by)
        self._known = present
        self._vectors = {number: rows for number, rows in self._vectors.items() if number in present}

    @property
    def has_any(self) -> bool:
        """Whether any summary has texts that it is found by."""
        return any(self._n_texts.get(number) for number in self._known)

    def embed(self, embedder: Embedder, *, limit: int | None = None) -> int:
        """Embed the texts of summaries that have no vectors of this embedder, ``limit`` of them at most; how many.

        Raises:
            EmbedderError: the embedder can't be loaded or reached.
        """
        self._read(embedder)
        waiting = [one for one in self.living() if one.number not in self._vectors and self._n_texts[one.number]][
            :limit
        ]
        if not waiting:
            return 0
        texts = [printable(text) for one in waiting for text in one.found_by]
        rows = embedder.embed_turns([embedder.passages(text)[0].of(text) for text in texts])
        ends = np.cumsum([len(one.found_by) for one in waiting]).tolist()
        made = {one.number: rows[end - len(one.found_by) : end] for one, end in zip(waiting, ends, strict=True)}
        self._shelf.put_vectors(embedder.fingerprint, made)
        self._vectors.update(made)
        return len(made)

    def tellings(
        self,
        numbers: Sequence[int],
        *,
        terms: Sequence[str],
        words: Sequence[Sequence[str]],
        query: Vectors | None,
        embedder: Embedder | None,
    ) -> Telling:
        """Return the scores of the summaries of these numbers for a question's terms and its vector."""
        wanted = set(numbers)
        places = [place for place, one in enumerate(self._summaries) if one.number in wanted]
        searched = Selected.of_entries(np.array(places, np.int64), n_entries=len(self._summaries))
        pool = Pool(searched, self._bm25.lengths)
        scores = self._bm25.scores(terms, pool)
        cosine = np.full(len(self._summaries), MISSING)
        if query is not None and embedder is not None:
            self._read(embedder)
            own = tuple(place for place in places if self._summaries[place].number in self._vectors)
            rows, firsts = self._stack(own)
            if own:
                cosine[list(own)] = np.maximum.reduceat(rows @ query, firsts)
        summaries = tuple(self._summaries[place] for place in places)
        return Telling(summaries, scores[np.array(places, np.int64)], self._bm25.possible(words, pool), cosine[places])

    @property
    def analyzer(self) -> Analyzer:
        """What takes texts apart; there once it has caught up."""
        if self._analyzer is None:
            raise RuntimeError("catch up first")
        return self._analyzer

    def living(self) -> list[TalkSummary]:
        """Return every summary that is there, by number."""
        return [one for one in self._summaries if one.number in self._known]

    def _read(self, embedder: Embedder) -> None:
        fingerprint, last = self._read_vectors
        if fingerprint != embedder.fingerprint:
            self._vectors, last = {}, 0
        read = self._shelf.vectors(embedder.fingerprint, embedder.dim, after=last)
        self._vectors.update({n: rows for n, rows in read.items() if len(rows) == self._n_texts.get(n)})
        # Of the summaries known so far; those that another process embeds later are read when they are known.
        self._read_vectors = embedder.fingerprint, self._settled()

    def _settled(self) -> int:
        """Return the number up to which every living summary has its vectors."""
        settled = 0
        for one in self.living():
            if one.number not in self._vectors and self._n_texts[one.number]:
                break
            settled = one.number
        return settled

    def _stack(self, places: tuple[int, ...]) -> tuple[Vectors, npt.NDArray[np.int64]]:
        numbers = tuple(self._summaries[place].number for place in places)
        if self._stacked is None or self._stacked[0] != numbers:
            groups = [self._vectors[number] for number in numbers]
            sizes = np.array([len(rows) for rows in groups], np.int64)
            rows = np.concatenate(groups) if groups else np.zeros((0, 1), np.float32)
            self._stacked = numbers, rows, np.cumsum(sizes) - sizes
        return self._stacked[1], self._stacked[2]
