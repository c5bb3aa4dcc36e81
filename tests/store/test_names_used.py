"""The names that turns use, for whoever has to choose one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_rag.errors import NotAMemoryError
from memory_rag.store.names_used import names_used
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.turns import Turn


@pytest.fixture
def folder(store: SqliteTurnStore, said: Callable[..., Turn]) -> Path:
    for name, speaker in (("b", "Östen"), ("a", "Bo"), ("b", "Bo"), ("Ab", "\ud800")):
        store.add(said("x", conversation_id=name, session_id=f"{name}-1", speaker=speaker))
    return store.path.parent


def test_each_name_comes_once_in_the_order_of_its_letters(folder: Path) -> None:
    assert names_used(folder, "conversation") == ["Ab", "a", "b"]
    assert names_used(folder, "session") == ["Ab-1", "a-1", "b-1"]
    assert names_used(folder, "speaker") == ["Bo", "Östen", "\ud800"]


def test_only_names_that_begin_so_are_returned(folder: Path) -> None:
    assert names_used(folder, "conversation", beginning="a") == ["a"]
    assert names_used(folder, "speaker", beginning="Ö") == ["Östen"]
    assert names_used(folder, "conversation", beginning="%") == []


def test_no_more_names_than_the_limit_are_returned(folder: Path) -> None:
    assert names_used(folder, "conversation", limit=2) == ["Ab", "a"]


def test_a_folder_without_a_store_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(NotAMemoryError):
        names_used(tmp_path / "none", "speaker")

    assert not (tmp_path / "none").exists()
