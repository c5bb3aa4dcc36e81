"""How many tokens documents have, counted for those alone that somebody asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from memory_rag.evaluation.benchmark import Benchmark


class TokenCounts(Mapping[str, int]):
    """The number of tokens of each of a benchmark's documents, by id, a session's being those of its turns.

    A text is counted when its document is first looked up, and once however many turns say it: a budget is spent by a
    question's first hits, and most documents are among nobody's. A text of more tokens than ``enough`` is counted only
    until they are more: no budget holds it, however many it has. ``count`` gives the tokens of a text part by part.
    """

    def __init__(self, benchmark: Benchmark, *, count: Callable[[str], Iterable[int]], enough: int) -> None:
        self._documents = {document.doc_id: document for document in benchmark.documents}
        self._count = count
        self._enough = enough
        self._of_document: dict[str, int] = {}
        self._of_text: dict[str, int] = {}

    def __getitem__(self, doc_id: str) -> int:
        try:
            return self._of_document[doc_id]
        except KeyError:
            turns = self._documents[doc_id].turns
            found = self._of_document[doc_id] = sum(self._of(turn.searchable) for turn in turns)
            return found

    def __contains__(self, doc_id: object) -> bool:
        return doc_id in self._documents

    def __iter__(self) -> Iterator[str]:
        return iter(self._documents)

    def __len__(self) -> int:
        return len(self._documents)

    def _of(self, text: str) -> int:
        found = self._of_text.get(text)
        if found is None:
            found = self._of_text[text] = self._counted(text)
        return found

    def _counted(self, text: str) -> int:
        counted = 0
        for part in self._count(text):
            counted += part
            if counted > self._enough:
                break
        return counted
