"""What is made from one owner's words: vectors on the server, and a keyword index in this process alone."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from memory_rag.embedding.embedder import Embedder
from memory_rag.postgres.held_turns import HeldTurns
from memory_rag.postgres.vectors import ServerVectors
from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.text.analyzer import Analyzer

if TYPE_CHECKING:
    from memory_rag.postgres.connections import PostgresConnections
    from memory_rag.retrieval.dense import DenseIndex


class DerivedOnServer:
    """What is made from the words of one owner."""

    def __init__(self, connections: PostgresConnections, *, whole: bool = True) -> None:
        """Hold all turns in this process, or with ``whole`` False those that are asked for."""
        self._connections = connections
        self._whole = whole
        self._vectors: ServerVectors | None = None

    def keyword(self, analyzer: Analyzer) -> KeywordIndex:
        return self.empty_keyword(analyzer)

    def empty_keyword(self, analyzer: Analyzer) -> KeywordIndex:
        return KeywordIndex(analyzer) if self._whole else HeldTurns(analyzer)

    def dense(self, embedder: Embedder) -> DenseIndex:
        from memory_rag.retrieval.dense import DenseIndex

        vectors = self.vectors(embedder)
        vectors.set_up()
        return DenseIndex(vectors, embedder, alone=vectors.alone)

    def vectors(self, embedder: Embedder) -> ServerVectors:
        """Return an embedder's vectors on the server; of one embedder always the same."""
        if self._vectors is None or self._vectors.fingerprint != embedder.fingerprint:
            self._vectors = ServerVectors(
                self._connections, fingerprint=embedder.fingerprint, dim=embedder.dim, whole=self._whole
            )
        return self._vectors

    def alone(self, *, timeout_s: float) -> AbstractContextManager[None]:
        del timeout_s
        return nullcontext()

    def save(self, keyword: KeywordIndex, *, embedder: str | None) -> None:
        """Keep nothing: words that are forgotten would stay in it, on machines that don't hear of it."""

    def prune(self, embedder: Embedder | None) -> None:
        with self._connections.writing() as connection:
            if embedder is None:
                connection.execute("DELETE FROM vectors")
                return
        self.vectors(embedder).prune()
