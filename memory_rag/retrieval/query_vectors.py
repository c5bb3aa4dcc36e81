"""The vectors of the last questions; those that are asked at once are embedded together."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memory_rag.embedding.embedder import Vectors, checked_vectors

if TYPE_CHECKING:
    from concurrent.futures import Future

    from memory_rag.embedding.embedder import Embedder

_KEPT: Final = 256
_AT_ONCE: Final = 16
"""Questions of one run: a server is waited for once for all of them."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A text that is to be embedded, and where its vector, or what failed, is awaited."""

    text: str
    embedder: Embedder
    place: Future[Vectors]

    @property
    def key(self) -> tuple[str, str]:
        return self.embedder.fingerprint, self.text


class QueryVectors:
    """Embeds a question once, however often it is asked for. Safe for threads.

    One thread embeds at a time, all that wait by then; whoever comes meanwhile is in the next run.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._known: OrderedDict[tuple[str, str], Future[Vectors]] = OrderedDict()
        self._waiting: list[_Question] = []
        self._is_embedding = False

    def of(self, text: str, embedder: Embedder) -> Vectors:
        """Return a question's vector, shape (dim,).

        Raises:
            EmbedderError: the embedder can't be loaded or reached. It isn't kept: the next time it may well be.
        """
        asked = self._asked(text, embedder)
        self._wait_for(asked)
        if asked.place.exception() is not None:
            self._forget(asked)
        return asked.place.result()

    def prepare(self, texts: Sequence[str], embedder: Embedder) -> bool:
        """Embed at once what nobody has embedded yet, and tell whether it could be; :meth:`of` tells once why not."""
        all_asked = [self._asked(text, embedder) for text in texts]
        for asked in all_asked:
            self._wait_for(asked)
        failed = [asked for asked in all_asked if asked.place.exception() is not None]
        with self._changed:
            for asked in failed:
                self._known.setdefault(asked.key, asked.place)
        return not failed

    def is_known(self, text: str, embedder: Embedder) -> bool:
        """Tell whether a question's vector is there already, so that nothing has to be waited for."""
        with self._changed:
            found = self._known.get((embedder.fingerprint, text))
            return found is not None and found.done() and found.exception() is None

    def _asked(self, text: str, embedder: Embedder) -> _Question:
        key = (embedder.fingerprint, text)
        with self._changed:
            found = self._known.get(key)
            if found is None:
                # Here and not above: it takes 15 ms of a start, and a search by keyword asks for no vector.
                from concurrent.futures import Future

                found = self._known[key] = Future()
                self._waiting.append(_Question(text, embedder, found))
                if len(self._known) > _KEPT:
                    self._known.popitem(last=False)
            self._known.move_to_end(key)
        return _Question(text, embedder, found)

    def _wait_for(self, asked: _Question) -> None:
        """Wait until a question is embedded, and embed what waits where no other thread does."""
        while True:
            with self._changed:
                while self._is_embedding and not asked.place.done():
                    self._changed.wait()
                if asked.place.done():
                    return
                self._is_embedding = True
                first = self._waiting[0].embedder.fingerprint
                run = [one for one in self._waiting if one.embedder.fingerprint == first][:_AT_ONCE]
                self._waiting = [one for one in self._waiting if one not in run]
            try:
                self._embed(run)
            finally:
                with self._changed:
                    self._is_embedding = False
                    self._changed.notify_all()

    def _embed(self, run: Sequence[_Question]) -> None:
        embedder = run[0].embedder
        try:
            given = embedder.embed_queries([one.text for one in run])
            vectors = checked_vectors(given, n=len(run), dim=embedder.dim, names=["the question"] * len(run))
        except Exception as error:
            if len(run) > 1:
                # It may be the fault of one of them.
                for one in run:
                    self._embed([one])
                return
            self._forget(run[0])
            run[0].place.set_exception(error)
        except BaseException as error:
            for one in run:
                self._forget(one)
                one.place.set_exception(error)
        else:
            for one, vector in zip(run, vectors, strict=True):
                one.place.set_result(vector)

    def _forget(self, asked: _Question) -> None:
        with self._changed:
            if self._known.get(asked.key) is asked.place:
                del self._known[asked.key]
