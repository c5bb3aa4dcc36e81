"""A model that is loaded once: when it is first needed, or ahead of that, beside other work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, Protocol, TypeVar, runtime_checkable

Model = TypeVar("Model")


class Loading(Generic[Model]):
    """What a function loads, for many threads; a load that failed is tried again when it is next needed.

    The function shouldn't know the object that holds this one: a cycle keeps a model in memory after its embedder.
    """

    def __init__(self, load: Callable[[], Model]) -> None:
        self._load = load
        self._one_at_a_time = threading.Lock()
        self._model: Model | None = None
        self._begun = False

    def loaded(self) -> Model:
        """Return the model, once it is loaded."""
        with self._one_at_a_time:
            if self._model is None:
                self._model = self._load()
            return self._model

    def begin(self) -> None:
        """Begin to load it in a thread of its own, once; what goes wrong there, :meth:`loaded` raises."""
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._load_quietly, name="load-model").start()

    def _load_quietly(self) -> None:
        with suppress(Exception):
            self.loaded()


@runtime_checkable
class LoadsAhead(Protocol):
    """An embedder whose model takes a while to load, and needs neither Python nor the environment for it."""

    def load_ahead(self) -> None:
        """Begin to load the model, and return at once."""


def load_ahead(embedder: object) -> None:
    """Let an embedder load its model beside what is done until a text is embedded, if it has one to load."""
    if isinstance(embedder, LoadsAhead):
        embedder.load_ahead()
