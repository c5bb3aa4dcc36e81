"""Rights to summarise, and a memory that is closed while another thread gives one back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from memory_rag.errors import StoreError
from memory_rag.store.engine import Connection
from memory_rag.summaries.claims import Claims
from tests.either_engine import ENGINES, Place

WAIT_S = 30


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest) -> Place:
    return Place.of_engine(request, request.getfixturevalue("tmp_path"))


def test_one_that_another_thread_is_giving_back_is_gone_when_the_memory_is_closed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_go_on = threading.Event(), threading.Event()
    with place.stores() as opened:
        store = opened()
        claims = Claims(store.connections, clock=lambda: datetime(2026, 5, 1, tzinfo=UTC))
        assert claims.take("garden")
        writing = store.connections.writing

        @contextmanager
        def slow_in_the_background() -> Iterator[Connection]:
            if threading.current_thread() is worker:
                begun.set()
                assert may_go_on.wait(WAIT_S)
            with writing() as connection:
                yield connection

        def give_back() -> None:
            try:
                claims.release("garden")
            except StoreError:
                return

        worker = threading.Thread(target=give_back)
        monkeypatch.setattr(store.connections, "writing", slow_in_the_background)
        worker.start()
        assert begun.wait(WAIT_S)
        claims.give_up()
        store.close()
        may_go_on.set()
        worker.join(WAIT_S)

    assert place.rows("SELECT conversation_id FROM summary_claims") == []


def test_who_gave_up_takes_no_right_any_more(place: Place) -> None:
    with place.stores() as opened:
        claims = Claims(opened().connections, clock=lambda: datetime(2026, 5, 1, tzinfo=UTC))
        assert claims.take("garden")
        claims.give_up()
        assert not claims.take("garden")
        assert not claims.take("orchard")
