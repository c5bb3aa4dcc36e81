"""The last questions of a memory: each taken apart once, and embedded once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from datetime import date
from typing import Final

from memory_rag.embedding.embedder import Embedder, Vectors
from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.retrieval.participants import Participants
from memory_rag.retrieval.query import QueryAnalysis
from memory_rag.retrieval.query_vectors import QueryVectors
from memory_rag.retrieval.turn_table import TurnTable

_KEPT: Final = 64
"""Several are asked at once, and each is looked at before it is embedded and after."""


class Questions:
    """Takes questions apart with a memory's language and people, and gives their vectors."""

    def __init__(self, keyword: KeywordIndex) -> None:
        self._keyword = keyword
        self._participants: tuple[TurnTable, int, Participants] | None = None
        self._analyzed: OrderedDict[str, tuple[date | None, QueryAnalysis]] = OrderedDict()
        self._vectors = QueryVectors()

    def analyze(self, query: str, *, today: date | None = None) -> QueryAnalysis:
        """Take a question apart; days in it are counted from ``today``."""
        participants = self._people()
        done = self._analyzed.get(query)
        if done is None or done[0] != today:
            analyzer = self._keyword.analyzer
            done = today, QueryAnalysis(query, analyzer=analyzer, participants=participants, today=today)
            self._analyzed[query] = done
            if len(self._analyzed) > _KEPT:
                self._analyzed.popitem(last=False)
        return done[1]

    def embed(self, query: str, embedder: Embedder) -> None:
        """Embed a question ahead, so that a search for it needs nothing of the embedder.

        Raises:
            EmbedderError: the embedder can't be loaded or reached.
        """
        self.vector(self._of_any_day(query), embedder)

    def is_embedded(self, query: str, embedder: Embedder) -> bool:
        """Tell whether a question is embedded already, so that a search for it waits for nobody."""
        return self._vectors.is_known(self._of_any_day(query).dense_text, embedder)

    def prepare(self, query: str, embedder: Embedder) -> bool:
        """Embed a question ahead, and tell whether it could be; why not, is told by the search."""
        return self._vectors.prepare([self._of_any_day(query).dense_text], embedder)

    def embedding_of(
        self, query: str, embedder: Embedder, *, today: date, by_matter: bool = False
    ) -> Callable[[], None]:
        """Return what embeds a question and, with ``by_matter``, what it is about; it needs nothing else of this.

        What fails is told by the search.
        """
        analysis = self.analyze(query, today=today)
        texts = [] if analysis.is_empty else [analysis.dense_text, *([analysis.matter] if by_matter else [])]

        def embed() -> None:
            self._vectors.prepare(texts, embedder)

        return embed

    def vector(self, analysis: QueryAnalysis, embedder: Embedder) -> Vectors:
        """Return the vector of a question, with its shift.

        Raises:
            EmbedderError: the embedder can't be loaded or reached.
        """
        return self._vectors.of(analysis.dense_text, embedder) - embedder.query_shift

    def matter_vector(self, query: str, embedder: Embedder) -> Vectors:
        """Return the vector of what a question is about, with its shift: to ask a list of subjects by.

        Raises:
            EmbedderError: the embedder can't be loaded or reached.
        """
        return self._vectors.of(self._of_any_day(query).matter, embedder) - embedder.query_shift

    def _of_any_day(self, query: str) -> QueryAnalysis:
        """Return a question taken apart, its days counted from whatever day it was last."""
        self._people()
        done = self._analyzed.get(query)
        return self.analyze(query) if done is None else done[1]

    def _people(self) -> Participants:
        """Return who speaks in this memory; what was taken apart with other people is let go."""
        table, known = self._keyword.table, self._participants
        n_speakers = len(table.speakers.names)
        if known is None or known[0] is not table or known[1] != n_speakers:
            people = Participants(table.speakers.names, languages=self._keyword.analyzer.languages)
            known = self._participants = (table, n_speakers, people)
            self._analyzed.clear()
        return known[2]
