"""Of a damaged memory every turn comes through that can be read, in its very words, and the rest is counted."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_rag.errors import MemoryRagError, NotAMemoryError, StoreError
from memory_rag.memory import Memory
from memory_rag.store.pages import Pages
from memory_rag.store.rescue import rescue
from memory_rag.turns import Conversation, Role, Turn
from tests.end_to_end.full_memory import filled, opened
from tests.end_to_end.hashed_words import HashedWords

WORDS = ["kayak", "bread", "tax", "Malmö", "東京", "\ud83d", "and", "of"]
PAGE = 4096
Damage = Callable[[bytearray, random.Random], bytearray]


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed memory of 300 turns, some of them several pages long, corrected and forgotten here and there."""
    folder = tmp_path_factory.mktemp("healthy") / "memory"
    chance = random.Random(5)
    with Memory.open(folder, embedder=HashedWords(), language="en") as memory:
        lengths = [chance.choice([2, 30, 30, 30, 3000]) for _ in range(300)]
        memory.add_many([Conversation("c0", "Boats"), *map(said, range(300), lengths)])
        for number in range(1, 300, 9):
            memory.correct(f"t{number}", text=f"corrected {number} " * 20)
        memory.forget(["t5", "t50"])
        memory.prompt.pins.add("always in Swedish")
        memory.embed()
    return folder


def said(number: int, length: int) -> Turn:
    words = random.Random(number).choices(WORDS, k=length)
    return Turn("", f"c{number % 5}", "s", -1, Role.USER, "Ada", " ".join([f"mark{number}x", *words]))


def texts(folder: Path) -> dict[str, str]:
    with Memory.open(folder, embedder=HashedWords(), language="en", create=False) as memory:
        assert memory.doctor().is_well
        return {turn.turn_id: turn.text for turn in memory.turns()}


def damaged(healthy: Path, place: Path, damage: Damage, *, seed: int = 0) -> Path:
    shutil.copytree(healthy, place / "damaged")
    path = place / "damaged" / "turns.sqlite"
    path.write_bytes(damage(bytearray(path.read_bytes()), random.Random(seed)))
    return place / "damaged"


def flip_a_byte(data: bytearray, chance: random.Random) -> bytearray:
    data[chance.randrange(len(data))] ^= chance.randrange(1, 256)
    return data


def garble_a_page(data: bytearray, chance: random.Random) -> bytearray:
    start = chance.randrange(len(data) // PAGE) * PAGE
    data[start : start + PAGE] = chance.randbytes(PAGE)
    return data


def cut(data: bytearray, chance: random.Random) -> bytearray:
    return data[: chance.randrange(len(data) // 4, len(data))]


def lose_the_head(data: bytearray, chance: random.Random) -> bytearray:
    data[:PAGE] = bytes(PAGE)
    return data


def lose_the_magic(data: bytearray, chance: random.Random) -> bytearray:
    data[:40] = chance.randbytes(40)
    return data


def flip_many_bytes(data: bytearray, chance: random.Random) -> bytearray:
    for _ in range(40):
        flip_a_byte(data, chance)
    return data


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("damage", "share"),
    [
        (flip_a_byte, 0.98),
        (garble_a_page, 0.9),
        (lose_the_head, 1.0),
        (lose_the_magic, 1.0),
        (flip_many_bytes, 0.85),
        (cut, 0.1),
    ],
)
def test_what_can_be_read_comes_through_and_nothing_else(
    healthy: Path, tmp_path: Path, damage: Damage, share: float, seed: int
) -> None:
    truth = texts(healthy)
    folder = damaged(healthy, tmp_path, damage, seed=seed)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    rescued = rescue(folder, tmp_path / "new")

    found = texts(tmp_path / "new")
    assert set(found.values()) <= set(truth.values())
    assert len(found) == rescued.n_turns >= share * len(truth)
    assert rescued.n_turns + rescued.n_lost == len(truth) or not rescued.is_log_whole
    assert not {"t5", "t50"} & found.keys()
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["damaged", "new"]


def test_every_turn_of_a_healthy_memory_comes_through_with_its_vectors_pins_and_earlier_words(
    healthy: Path, tmp_path: Path
) -> None:
    shutil.copytree(healthy, tmp_path / "damaged")

    rescued = rescue(tmp_path / "damaged", tmp_path / "new")

    assert (rescued.n_turns, rescued.n_lost, rescued.is_log_whole, rescued.damaged_tables) == (298, 0, True, ())
    assert texts(tmp_path / "new") == texts(healthy)
    embedder = HashedWords()
    with Memory.open(tmp_path / "new", embedder=embedder, language="en") as memory, opened(healthy) as original:
        assert memory.embed() == 0
        assert embedder.n_embedded == 0
        assert [pin.text for pin in memory.prompt.pins.all()] == ["always in Swedish"]
        assert memory.store.earlier_versions("t1") == original.store.earlier_versions("t1")
        assert {one.conversation_id: one.title for one in memory.store.conversations()}["c0"] == "Boats"
        memory.correct("t1", text="corrected once more")
        assert memory.store.earlier_versions("t1")[-1].text == original.get("t1").text
        assert memory.add("a new one").turn_id == "t301"


@pytest.mark.parametrize("n_lost", [0, 16, 100])
def test_a_memory_with_something_in_every_table_comes_through_without_its_head_too(tmp_path: Path, n_lost: int) -> None:
    filled(tmp_path / "memory", tmp_path)
    shutil.copytree(tmp_path / "memory", tmp_path / "damaged")
    path = tmp_path / "damaged" / "turns.sqlite"
    path.write_bytes(bytes(n_lost) + path.read_bytes()[n_lost:])

    rescued = rescue(tmp_path / "damaged", tmp_path / "new")

    assert (rescued.n_lost, rescued.is_log_whole, rescued.damaged_tables) == (0, True, ())
    with opened(tmp_path / "memory") as original, opened(tmp_path / "new") as memory:
        assert list(memory.turns()) == list(original.turns())
        assert rescued.n_turns == len(original)
        assert memory.summaries.stored("main") == original.summaries.stored("main")
        assert memory.prompt.state.get() == original.prompt.state.get()
        assert memory.store.vanished() == original.store.vanished()


@pytest.mark.parametrize("head_too", [False, True])
def test_what_only_the_write_ahead_log_has_comes_through(tmp_path: Path, head_too: bool) -> None:
    with Memory.open(tmp_path / "live", embedder="none", language="en") as memory:
        memory.add_many(map(said, range(60), [20] * 60))
        memory.correct("t3", text="changed in the log")
        truth = {turn.turn_id: turn.text for turn in memory.turns()}
        shutil.copytree(tmp_path / "live", tmp_path / "damaged")
    if head_too:
        path = tmp_path / "damaged" / "turns.sqlite"
        path.write_bytes(b"\0" * 100 + path.read_bytes()[100:])
    else:
        (tmp_path / "damaged" / "turns.sqlite-shm").unlink()

    assert rescue(tmp_path / "damaged", tmp_path / "new").n_turns == 60
    assert texts(tmp_path / "new") == truth


def test_a_text_that_isnt_what_was_stored_is_lost_and_named(healthy: Path, tmp_path: Path) -> None:
    shutil.copytree(healthy, tmp_path / "damaged")
    database = sqlite3.connect(tmp_path / "damaged" / "turns.sqlite")
    database.execute("UPDATE turns SET text = CAST('something else' AS BLOB) WHERE turn_id = 't7'")
    database.commit()
    database.close()

    rescued = rescue(tmp_path / "damaged", tmp_path / "new")

    assert (rescued.n_turns, rescued.n_lost, rescued.lost) == (297, 1, ("t7",))
    with Memory.open(tmp_path / "new", embedder="none") as memory:
        assert memory.add("a new one").turn_id == "t301"


def test_where_nothing_can_be_read_nothing_is_made(healthy: Path, tmp_path: Path) -> None:
    folder = damaged(healthy, tmp_path, lambda data, chance: bytearray(chance.randbytes(len(data))))

    with pytest.raises(NotAMemoryError, match=r"not one turn can be read .*memory-rag restore"):
        rescue(folder, tmp_path / "new")
    with pytest.raises(NotAMemoryError, match="holds no memory"):
        rescue(tmp_path, tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["damaged"]


def test_a_folder_that_holds_something_is_not_written_to(healthy: Path, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "mine.txt").touch()

    with pytest.raises(StoreError, match="is not empty; what is rescued goes into a new or empty folder"):
        rescue(healthy, tmp_path / "new")


@settings(max_examples=25)
@given(st.binary(max_size=9000), st.sampled_from([b"", b"SQLite format 3\0", b"SQLite format 3\0\x10\0"]))
def test_any_bytes_can_be_looked_through(data: bytes, head: bytes) -> None:
    for size in (512, 4096):
        for _number, record in Pages(head + data, size).rows():
            assert len(record) < 600


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_many_damaged_memories_give_no_wrong_word(healthy: Path, tmp_path: Path, seed: int) -> None:
    truth = texts(healthy)
    chance = random.Random(1000 + seed)
    for number in range(25):
        place = tmp_path / str(number)
        place.mkdir()
        damage = chance.choice([flip_a_byte, garble_a_page, lose_the_head, lose_the_magic, flip_many_bytes, cut])
        folder = damaged(healthy, place, damage, seed=chance.randrange(2**32))
        try:
            rescue(folder, place / "new")
        except MemoryRagError:
            assert damage is cut
            continue
        # An id has no checksum of its own; words have.
        assert set(texts(place / "new").values()) <= set(truth.values())
        shutil.rmtree(place)
