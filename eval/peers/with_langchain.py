"""langchain: its FAISS store and its BM25 retriever behind its ensemble, durable when all of it is saved."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.retrievers import BM25Retriever
from langchain_community.vectorstores import FAISS
from langchain_community.vectorstores.utils import DistanceStrategy
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from serving import K, serve, turns_of, vectors_of


class Given(Embeddings):
    """Embeds a question by what it was given last."""

    vector: Any = None

    def embed_query(self, text: str) -> list[float]:
        return self.vector

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.vector for _ in texts]


class Peer:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.embedding = Given()

    def load(self, turns: str, vectors: str, n: int) -> None:
        found = list(turns_of(turns, n))
        self.store = FAISS.from_embeddings(
            zip((turn["text"] for turn in found), vectors_of(vectors)[:n], strict=True),
            self.embedding,
            metadatas=[{"id": turn["id"], "conversation": turn["conversation"]} for turn in found],
            ids=[turn["id"] for turn in found],
            distance_strategy=DistanceStrategy.MAX_INNER_PRODUCT,
        )
        self.documents = [document_of(turn) for turn in found]
        self._rebuild()
        self._save()

    def open(self) -> None:
        self.store = FAISS.load_local(
            str(self.folder),
            self.embedding,
            allow_dangerous_deserialization=True,
            distance_strategy=DistanceStrategy.MAX_INNER_PRODUCT,
        )
        with (self.folder / "documents.pickle").open("rb") as file:
            self.documents = pickle.load(file)
        self._rebuild()

    def before(self, what: str, given: dict[str, Any]) -> None:
        self.embedding.vector = given.get("vector")

    def add(self, turn: dict[str, str], vector: Any) -> None:
        document = document_of(turn)
        self.store.add_embeddings([(turn["text"], vector)], metadatas=[document.metadata], ids=[turn["id"]])
        self.documents.append(document)
        self._rebuild()
        self._save()

    def search(self, text: str, vector: Any) -> list[str]:
        return [found.metadata["id"] for found in self.ensemble.invoke(text)[:K]]

    def nearest(self, text: str, vector: Any) -> list[str]:
        return [found.metadata["id"] for found in self.store.similarity_search_by_vector(vector, K)]

    def filtered(self, text: str, vector: Any, conversation: str) -> list[str]:
        # Its BM25 retriever knows no filter, so only vectors are asked; FAISS filters what it found, so all is fetched.
        found = self.store.similarity_search_by_vector(
            vector, K, filter={"conversation": conversation}, fetch_k=len(self.documents)
        )
        return [document.metadata["id"] for document in found]

    def delete(self, turn_id: str) -> None:
        self.store.delete([turn_id])
        self.documents = [document for document in self.documents if document.metadata["id"] != turn_id]
        self._rebuild()
        self._save()

    def close(self) -> None:
        pass

    def _rebuild(self) -> None:
        words = BM25Retriever.from_documents(self.documents, k=K)
        nearest = self.store.as_retriever(search_kwargs={"k": K})
        self.ensemble = EnsembleRetriever(retrievers=[words, nearest], weights=[0.5, 0.5])

    def _save(self) -> None:
        self.store.save_local(str(self.folder))
        with (self.folder / "documents.pickle").open("wb") as file:
            pickle.dump(self.documents, file)


def document_of(turn: dict[str, str]) -> Document:
    return Document(turn["text"], metadata={"id": turn["id"], "conversation": turn["conversation"]})


serve(Peer)
