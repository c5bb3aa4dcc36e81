"""The file of words: private, never renumbered, refused when it is something else."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import NewerFormatError, NotAMemoryError, StoreError
from memory_rag.store.backup import restore
from memory_rag.store.rescue import rescue
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.turns import Turn

Say = Callable[..., Turn]


def rows_of(path: Path, question: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(question).fetchall()


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(statement)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_owner_may_look_into_a_memory(store: SqliteTurnStore, said: Say) -> None:
    store.add(said("private"))

    folder = store.path.parent
    assert mode_of(folder) == 0o700
    assert {path.name: mode_of(path) for path in folder.iterdir()} == {
        "turns.sqlite": 0o600,
        "turns.sqlite-wal": 0o600,
        "turns.sqlite-shm": 0o600,
    }


def test_closing_leaves_one_file(store: SqliteTurnStore, said: Say) -> None:
    store.add(said("words"))
    store.close()

    assert [path.name for path in store.path.parent.iterdir()] == ["turns.sqlite"]


@pytest.mark.parametrize(("durability", "synchronous"), [("normal", 1), ("full", 2)])
def test_durability_is_how_often_sqlite_waits_for_the_disk(tmp_path: Path, durability: str, synchronous: int) -> None:
    store = SqliteTurnStore(tmp_path / "memory", durability=durability)

    with store._connections.reading() as connection:
        found = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("synchronous", "journal_mode", "secure_delete")
        }
    store.close()

    assert found == {"synchronous": synchronous, "journal_mode": "wal", "secure_delete": 1}


def test_row_numbers_survive_a_removal_and_a_vacuum(tmp_path: Path, said: Say) -> None:
    store = SqliteTurnStore(tmp_path / "memory")
    store.append([said("kayak", turn_id="a"), said("tax", turn_id="b"), said("bread", turn_id="c")])
    rows = {name: store.row_of(name) for name in "abc"}
    store.remove(["a", "c"])
    store.close()

    change(store.path, "VACUUM")

    store = SqliteTurnStore(tmp_path / "memory")
    assert store.row_of("b") == rows["b"]
    store.add(said("boat", turn_id="d"))
    assert store.row_of("d") == max(rows.values()) + 1
    store.close()


def test_a_correction_keeps_the_old_version_unless_it_is_told_to_erase_it(store: SqliteTurnStore, said: Say) -> None:
    store.add(said("first", turn_id="t", speaker="Ada"))
    store.correct("t", text="zqcanary second")
    store.correct("t", text="third", keep_old=False)
    store.correct("t", speaker="Åsa")

    kept = [(version.text, version.speaker) for version in store.earlier_versions("t")]
    assert kept == [("first", "Ada"), ("third", "Ada")]
    store.close()
    assert b"zqcanary" not in store.path.read_bytes()


def test_a_removal_erases_the_earlier_versions_too(store: SqliteTurnStore, said: Say) -> None:
    store.add(said("zqcanary first", turn_id="t"))
    store.correct("t", text="zqcanary second", speaker="zqcanary")
    store.remove(["t"])
    store.close()

    assert rows_of(store.path, "SELECT * FROM versions") == []
    assert b"zqcanary" not in store.path.read_bytes()


def test_the_check_names_a_turn_whose_words_changed_on_the_disk(store: SqliteTurnStore, said: Say) -> None:
    store.append([said("as it was said", turn_id="one"), said("untouched", turn_id="two")])
    assert store.check() == []
    store.close()

    change(store.path, "UPDATE turns SET text = CAST('as it was sajd' AS BLOB) WHERE turn_id = 'one'")

    store = SqliteTurnStore(store.path.parent)
    assert store.check() == ["turn one: its text doesn't have the SHA-256 it was stored with"]
    store.close()


# -- folders and files that are no memory


def test_a_folder_without_a_memory_is_not_made_one_by_asking(tmp_path: Path) -> None:
    with pytest.raises(NotAMemoryError, match=r"holds no memory \(no turns.sqlite\); make one with"):
        SqliteTurnStore(tmp_path / "memory", create=False)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["letter.txt", "vectors/minilm.f32", "derived/keyword.npz"])
def test_a_memory_is_not_made_among_other_files(tmp_path: Path, name: str) -> None:
    other = tmp_path / name
    other.parent.mkdir(exist_ok=True)
    other.write_text("words")

    with pytest.raises(NotAMemoryError, match=rf"no memory but other files \({name.split('/')[0]} .*new or empty"):
        SqliteTurnStore(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == [name.split("/")[0]]


def test_a_memory_may_be_made_beside_hidden_files(tmp_path: Path) -> None:
    (tmp_path / ".DS_Store").write_bytes(b"")

    SqliteTurnStore(tmp_path).close()

    assert (tmp_path / "turns.sqlite").is_file()


@pytest.mark.parametrize("inside", ["", "below"])
def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path, inside: str) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("words")

    with pytest.raises(NotAMemoryError, match=r"letter.txt.* is a file, not the folder of a memory"):
        SqliteTurnStore(file / inside)

    assert file.read_text() == "words"


def test_a_link_in_the_place_of_the_file_is_refused_since_the_newest_words_lie_beside_what_it_leads_to(
    tmp_path: Path, said: Say
) -> None:
    memory, linked = tmp_path / "memory", tmp_path / "linked"
    store = SqliteTurnStore(memory)
    store.add(said("in the log"))
    linked.mkdir()
    (linked / store.path.name).symlink_to(store.path)

    for use in (
        lambda: SqliteTurnStore(linked),
        lambda: rescue(linked, tmp_path / "rescued"),
        lambda: restore(linked, tmp_path / "restored"),
    ):
        with pytest.raises(NotAMemoryError, match="link the memory's whole folder instead"):
            use()
    (tmp_path / "whole").symlink_to(memory)
    with SqliteTurnStore.opened(tmp_path / "whole") as whole:
        assert [turn.text for _row, turn in whole.scan()] == ["in the log"]
    store.close()


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "turns.sqlite").mkdir()

    with pytest.raises(NotAMemoryError, match=r"turns\.sqlite"):
        SqliteTurnStore(tmp_path)


@pytest.mark.parametrize("content", [b"not a database, but words\n" * 100, b"SQLite format 3\0" + b"\xff" * 8000, b"x"])
def test_garbage_is_not_a_store_and_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "turns.sqlite"
    path.write_bytes(content)

    with pytest.raises(NotAMemoryError, match=r"turns\.sqlite is not a store of memory_rag"):
        SqliteTurnStore(tmp_path)

    assert path.read_bytes() == content
    assert [one.name for one in tmp_path.iterdir()] == ["turns.sqlite"]


@pytest.mark.parametrize("part", ["vectors", "derived"])
def test_an_empty_file_beside_what_was_made_of_its_words_is_not_a_new_memory(
    store: SqliteTurnStore, said: Say, part: str
) -> None:
    store.add(said("words"))
    store.close()
    (store.path.parent / part).mkdir()
    store.path.write_bytes(b"")

    with pytest.raises(StoreError, match=rf"turns\.sqlite is empty, but .* \({part}\).*memory-rag restore"):
        SqliteTurnStore(store.path.parent)


@pytest.mark.parametrize("share", [0.002, 0.1, 0.5, 0.9])
def test_a_store_that_was_cut_off_is_an_error_and_not_an_empty_memory(tmp_path: Path, said: Say, share: float) -> None:
    store = SqliteTurnStore(tmp_path / "memory")
    store.append(said(f"turn {i} " * 50) for i in range(200))
    store.close()
    whole = store.path.read_bytes()
    cut = whole[: int(len(whole) * share)]
    store.path.write_bytes(cut)

    with pytest.raises(StoreError, match=r"turns\.sqlite is damaged .* from a backup with: memory-rag restore"):
        SqliteTurnStore(tmp_path / "memory")

    assert store.path.read_bytes() == cut


@pytest.mark.parametrize(
    "tables",
    [
        "CREATE TABLE turns (id, text)",
        "CREATE TABLE notes (id, text)",
        "CREATE TABLE migrations (version INTEGER)",
        "CREATE TABLE migrations (name TEXT, batch INTEGER)",
    ],
)
def test_another_programs_file_is_refused_and_stays_as_it_is(tmp_path: Path, tables: str) -> None:
    path = tmp_path / "turns.sqlite"
    change(path, tables)
    before = path.read_bytes()

    with pytest.raises(NotAMemoryError, match=r"another program's SQLite file .*nothing was changed"):
        SqliteTurnStore(tmp_path)

    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["turns.sqlite"]


def test_a_store_of_a_later_release_is_refused_and_stays_as_it_is(store: SqliteTurnStore, said: Say) -> None:
    store.add(said("words"))
    store.close()
    change(store.path, "INSERT INTO migrations VALUES ('m900_everything_else', '2030-01-01')")
    before = store.path.read_bytes()

    with pytest.raises(NewerFormatError) as caught:
        SqliteTurnStore(store.path.parent)

    assert str(caught.value) == (
        f"{store.path} was written by a later release of memory_rag (it has m900_everything_else); "
        "nothing was changed; install that release or a later one to open it"
    )
    assert store.path.read_bytes() == before


def test_the_steps_that_made_the_tables_are_recorded(store: SqliteTurnStore) -> None:
    store.close()
    recorded = rows_of(store.path, "SELECT name, applied_at FROM migrations ORDER BY name")
    SqliteTurnStore(store.path.parent).close()

    assert [name for name, _ in recorded] == [
        "m001_turns_and_changes",
        "m002_vanished",
        "m003_prompt",
        "m004_summaries",
        "m005_talks",
        "m006_forgetting",
        "m007_findings",
        "m008_pinned_words",
        "m009_chat_messages",
        "m010_talk_windows",
        "m011_moved_turns",
    ]
    assert rows_of(store.path, "SELECT name, applied_at FROM migrations ORDER BY name") == recorded


def test_a_store_whose_making_was_stopped_is_made_at_the_next_opening(tmp_path: Path, said: Say) -> None:
    (tmp_path / "turns.sqlite").touch(mode=0o600)

    store = SqliteTurnStore(tmp_path)
    store.add(said("words"))

    assert len(store) == 1
    store.close()
