"""The vectors of the last questions; one that is foreseen is embedded while something else is done."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from memory_rag.embedding.embedder import Vectors, checked_vectors

if TYPE_CHECKING:
    from concurrent.futures import Future

    from memory_rag.embedding.embedder import Embedder

_KEPT: Final = 256


class QueryVectors:
    """Embeds a question once, however often it is asked for. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str], Future[Vectors]] = OrderedDict()

    def of(self, text: str, embedder: Embedder) -> Vectors:
        """Return a question's vector, shape (dim,).

        Raises:
            EmbedderError: the embedder can't be loaded or reached.
        """
        found, is_new = self._place(text, embedder)
        if is_new:
            self._embed(text, embedder, found)
        return found.result()

    def foresee(self, text: str, embedder: Embedder) -> None:
        """Embed a question in a thread of its own, if nobody has yet; returns at once. :meth:`of` tells what fails."""
        found, is_new = self._place(text, embedder)
        if is_new:
            threading.Thread(
                target=self._embed, args=(text, embedder, found), daemon=True, name="embedding a question"
            ).start()

    def _place(self, text: str, embedder: Embedder) -> tuple[Future[Vectors], bool]:
        key = (embedder.fingerprint, text)
        with self._lock:
            found = self._known.get(key)
            is_new = found is None
            if found is None:
                # Here and not above: it takes 15 ms of a start, and a search by keyword asks for no vector.
                from concurrent.futures import Future

                found = self._known[key] = Future()
                if len(self._known) > _KEPT:
                    self._known.popitem(last=False)
            self._known.move_to_end(key)
        return found, is_new

    def _embed(self, text: str, embedder: Embedder, place: Future[Vectors]) -> None:
        try:
            vectors = checked_vectors(embedder.embed_queries([text]), n=1, dim=embedder.dim, names=["the question"])
        except BaseException as error:
            # Not kept: the next time it may well be reached.
            with self._lock:
                self._known.pop((embedder.fingerprint, text), None)
            place.set_exception(error)
        else:
            place.set_result(vectors[0])
