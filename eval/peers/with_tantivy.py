"""tantivy: a search engine's word index; a turn is there once its commit is done."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import tantivy
from serving import K, searchable, serve, turns_of

WORD = re.compile(r"\w+")


class Peer:
    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        kinds = tantivy.SchemaBuilder()
        kinds.add_text_field("id", stored=True, tokenizer_name="raw")
        kinds.add_text_field("conversation", tokenizer_name="raw")
        kinds.add_text_field("text", stored=True, tokenizer_name="en_stem")
        self.index = tantivy.Index(kinds.build(), path=str(folder))

    def load(self, turns: str, vectors: str, n: int) -> None:
        writer = self.index.writer(num_threads=1)
        for turn in turns_of(turns, n):
            writer.add_document(document_of(turn))
        writer.commit()
        writer.wait_merging_threads()

    def open(self) -> None:
        self.writer = self.index.writer(num_threads=1)
        self.index.reload()

    def add(self, turn: dict[str, str], vector: Any) -> None:
        self.writer.add_document(document_of(turn))
        self.writer.commit()
        self.index.reload()

    def search(self, text: str, vector: Any) -> list[str]:
        return self._found(self._asked(text))

    def filtered(self, text: str, vector: Any, conversation: str) -> list[str]:
        within = tantivy.Query.term_query(self.index.schema, "conversation", conversation)
        must, of_words = tantivy.Occur.Must, self._asked(text)
        return self._found(tantivy.Query.boolean_query([(must, of_words), (must, within)]))

    def delete(self, turn_id: str) -> None:
        self.writer.delete_documents_by_term("id", turn_id)
        self.writer.commit()
        self.index.reload()

    def close(self) -> None:
        pass

    def _asked(self, text: str) -> Any:
        return self.index.parse_query(" ".join(WORD.findall(text.lower())), ["text"])

    def _found(self, asked: Any) -> list[str]:
        searcher = self.index.searcher()
        return [searcher.doc(place)["id"][0] for _score, place in searcher.search(asked, K).hits]


def document_of(turn: dict[str, str]) -> Any:
    return tantivy.Document(id=turn["id"], conversation=turn["conversation"], text=searchable(turn))


serve(Peer)
