"""What is made from one owner's words: vectors on the server, and a keyword index in this process alone."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from memory_rag.embedding.embedder import Embedder
from memory_rag.postgres.vectors import ServerVectors
from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.store.engine import Connections
from memory_rag.text.analyzer import Analyzer

if TYPE_CHECKING:
    from memory_rag.retrieval.dense import DenseIndex


class DerivedOnServer:
    """What is made from the words of one owner."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def keyword(self, analyzer: Analyzer) -> KeywordIndex:
        return KeywordIndex(analyzer)

    def dense(self, embedder: Embedder) -> DenseIndex:
        from memory_rag.retrieval.dense import DenseIndex

        vectors = ServerVectors(self._connections, fingerprint=embedder.fingerprint, dim=embedder.dim)
        vectors.set_up()
        return DenseIndex(vectors, embedder, alone=vectors.alone)

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
        ServerVectors(self._connections, fingerprint=embedder.fingerprint, dim=embedder.dim).prune()
