"""A model is loaded once, by whoever needs it first or ahead of that; a failure is told where it is needed."""

from __future__ import annotations

import threading

import pytest

from memory_rag.embedding.loading import Loading, load_ahead
from memory_rag.errors import EmbedderError


class Shelf:
    """Loads a model when it may, and counts how often."""

    def __init__(self, *, failures: int = 0) -> None:
        self.may = threading.Event()
        self.failures = failures
        self.tried: list[str] = []

    def load(self) -> str:
        assert self.may.wait(10)
        self.tried.append(threading.current_thread().name)
        if len(self.tried) <= self.failures:
            raise EmbedderError("the shelf is empty")
        return "model"


def test_a_model_is_loaded_when_it_is_first_needed_and_never_again() -> None:
    shelf = Shelf()
    shelf.may.set()
    loading = Loading(shelf.load)

    assert shelf.tried == []
    assert (loading.loaded(), loading.loaded()) == ("model", "model")
    assert shelf.tried == ["MainThread"]


def test_one_that_was_begun_is_waited_for_and_not_loaded_twice() -> None:
    shelf = Shelf()
    loading = Loading(shelf.load)

    loading.begin()
    loading.begin()
    shelf.may.set()

    assert loading.loaded() == "model"
    assert len(shelf.tried) == 1


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_failure_ahead_is_told_by_whoever_needs_the_model() -> None:
    shelf = Shelf(failures=2)
    loading = Loading(shelf.load)

    loading.begin()
    shelf.may.set()
    for thread in threading.enumerate():
        if thread.name == "load-model":
            thread.join(10)

    assert shelf.tried == ["load-model"]
    with pytest.raises(EmbedderError, match="the shelf is empty"):
        loading.loaded()
    assert loading.loaded() == "model"


def test_an_embedder_that_has_nothing_to_load_is_left_alone() -> None:
    load_ahead(object())


def test_an_embedder_that_has_a_model_begins_to_load_it() -> None:
    class Slow:
        begun = False

        def load_ahead(self) -> None:
            self.begun = True

    slow = Slow()
    load_ahead(slow)

    assert slow.begun
