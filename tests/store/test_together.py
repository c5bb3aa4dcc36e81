"""Appends committed together: each whole or not at all, and what is whole stays whatever happens to the next."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_rag.errors import StoreError
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.turns import Role, Source, Turn


def turn(native_id: str, text: str = "hej") -> Turn:
    return Turn("", "c", "s", int(native_id), Role.USER, "Ada", text, source=Source("made", native_id))


def some(*numbers: int) -> list[Turn]:
    return [turn(str(number)) for number in numbers]


def broken_after(*numbers: int) -> Iterator[Turn]:
    yield from some(*numbers)
    raise RuntimeError("the file ends here")


def stored(store: SqliteTurnStore) -> list[str]:
    return [found.source.native_id for _row, found in store.scan() if found.source is not None]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteTurnStore]:
    opened = SqliteTurnStore(tmp_path)
    yield opened
    opened.close()


def test_appends_are_seen_by_others_once_they_are_committed_together(store: SqliteTurnStore) -> None:
    with store.together():
        store.append(some(1, 2))
        store.append(some(3))
        assert stored(store) == []
        store.settle()
        assert stored(store) == ["1", "2", "3"]
        store.append(some(4))
    assert stored(store) == ["1", "2", "3", "4"]


def test_an_append_that_breaks_off_leaves_nothing_of_itself_and_all_of_the_others(store: SqliteTurnStore) -> None:
    with store.together():
        store.append(some(1))
        with pytest.raises(RuntimeError):
            store.append(broken_after(2, 3))
        assert store.append(some(2, 4)).turn_ids == ("t2", "t3")
    assert stored(store) == ["1", "2", "4"]
    assert [change.row for change in store.changes_since(0)] == [1, 2, 3]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_what_was_whole_stays_when_the_rest_is_given_up(store: SqliteTurnStore, error: type[BaseException]) -> None:
    def torn() -> Iterator[Turn]:
        yield from some(2)
        raise error

    def both() -> None:
        with store.together():
            store.append(some(1))
            store.append(torn())

    with pytest.raises(error):
        both()
    assert stored(store) == ["1"]


def test_a_dry_run_among_them_stores_nothing(store: SqliteTurnStore) -> None:
    with store.together():
        store.append(some(1))
        assert len(store.append(some(2), dry_run=True).turn_ids) == 1
        store.append(some(3))
    assert stored(store) == ["1", "3"]


def test_turns_of_an_append_are_known_to_the_next(store: SqliteTurnStore) -> None:
    with store.together():
        store.append(some(1, 2))
        assert store.append([*some(2, 3), turn("1", "hej igen")]).already_there == 2
    assert stored(store) == ["1", "2", "3"]


def test_the_same_turn_twice_in_an_append_is_stored_once(store: SqliteTurnStore) -> None:
    assert store.append(some(1, 2, 1, 3, 1)).already_there == 2
    store.append(some(4))
    assert store.append(some(4, 5, 5)).already_there == 2
    assert stored(store) == ["1", "2", "3", "4", "5"]


def test_many_turns_are_committed_before_the_end(store: SqliteTurnStore) -> None:
    with store.together():
        for number in range(150):
            store.append(some(number))
        assert 0 < len(stored(store)) < 150
    assert len(stored(store)) == 150


def test_nothing_else_is_written_by_the_thread_meanwhile(store: SqliteTurnStore) -> None:
    def writing_meanwhile() -> Iterator[Turn]:
        yield turn("2")
        store.append(some(3))

    with store.together():
        store.append(some(1))
        with pytest.raises(StoreError, match="make the list of turns first, then store it"):
            store.append(writing_meanwhile())
    assert stored(store) == ["1"]


def test_another_thread_writes_once_they_are_committed(store: SqliteTurnStore) -> None:
    other = threading.Thread(target=lambda: store.append(some(9)))
    with store.together():
        store.append(some(1))
        other.start()
    other.join()
    assert sorted(stored(store)) == ["1", "9"]


def test_within_one_another_they_are_committed_at_the_outer_end(store: SqliteTurnStore) -> None:
    with store.together():
        with store.together():
            store.append(some(1))
        assert stored(store) == []
    assert stored(store) == ["1"]


def test_on_a_full_disk_the_first_error_is_told_and_nothing_is_half_stored(store: SqliteTurnStore) -> None:
    store.append(some(0))
    with store.connections.reading() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 40}")

    def all_of_them() -> None:
        with store.together():
            store.append(some(1, 2))
            store.append([turn("3", "hej " * 200_000)])

    with pytest.raises(StoreError, match="is full"):
        all_of_them()
    with store.connections.reading() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    assert stored(store) in (["0"], ["0", "1", "2"])
    store.append(some(4))
    assert stored(store)[-1] == "4"
