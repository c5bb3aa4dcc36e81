"""A flipped byte in the file of words is found by the doctor, or it touched no word; what is left can be rescued."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from memory_rag.errors import MemoryRagError, StoreError
from memory_rag.memory import Memory
from memory_rag.store.rescue import rescue
from memory_rag.turns import Role, Turn

WORDS = ["kayak", "bread", "tax", "Malmö", "東京", "and", "of"]


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flipped") / "memory"
    chance = random.Random(11)
    with Memory.open(folder, embedder="none", language="en") as memory:
        memory.add_many(
            Turn("", "c", "s", -1, Role.USER, "Ada", " ".join(chance.choices(WORDS, k=chance.choice([3, 20, 900]))))
            for _ in range(60)
        )
        memory.correct("t7", text="corrected")
        memory.forget(["t9"])
    return folder


def flip_and_look(healthy: Path, place: Path, *, n_flips: int, seed: int) -> tuple[int, int]:
    """Flip a byte so many times, each in a copy of its own, and return how often it was found, and how often not."""
    chance = random.Random(seed)
    data = (healthy / "turns.sqlite").read_bytes()
    with Memory.open(healthy, embedder="none", language="en") as memory:
        truth = {turn.turn_id: turn.text for turn in memory.turns()}
    found = 0
    for number in range(n_flips):
        folder = place / str(number)
        folder.mkdir()
        flipped = bytearray(data)
        at = chance.randrange(len(data))
        flipped[at] ^= 1 << chance.randrange(8)
        (folder / "turns.sqlite").write_bytes(flipped)
        problem = "memory-rag"
        try:
            with Memory.open(folder, embedder="none", language="en") as memory:
                is_well = memory.doctor().is_well
                texts = sorted(turn.text for turn in memory.turns())
        except StoreError as error:
            problem, is_well = str(error), False
        assert "memory-rag" in problem
        found += not is_well
        if is_well:
            assert texts == sorted(truth.values()), f"byte {at} changed what is read, and the doctor saw nothing"
        else:
            rescued = rescue(folder, folder / "new")
            assert rescued.n_turns >= len(truth) - 25
        shutil.rmtree(folder)
    return found, n_flips - found


def test_flipped_bytes_are_found_or_touch_no_word(healthy: Path, tmp_path: Path) -> None:
    found, harmless = flip_and_look(healthy, tmp_path, n_flips=40, seed=1)

    assert found > 10
    assert harmless > 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 104))
def test_many_flipped_bytes_are_found_or_touch_no_word(healthy: Path, tmp_path: Path, seed: int) -> None:
    found, _harmless = flip_and_look(healthy, tmp_path, n_flips=300, seed=seed)

    assert found > 60


def test_a_memory_of_which_every_byte_is_another_is_refused_in_words(tmp_path: Path) -> None:
    chance = random.Random(3)
    for n_bytes in (1, 15, 16, 99, 100, 512, 5000):
        folder = tmp_path / str(n_bytes)
        folder.mkdir()
        (folder / "turns.sqlite").write_bytes(b"SQLite format 3\0"[:n_bytes] + chance.randbytes(max(0, n_bytes - 16)))
        with pytest.raises(MemoryRagError, match=r"memory-rag|choose another folder"):
            Memory.open(folder, embedder="none").close()


def test_a_name_of_a_table_that_is_no_text_any_more_is_told_as_damage(healthy: Path, tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    folder.mkdir()
    data = (healthy / "turns.sqlite").read_bytes()
    assert data.count(b"tableerasingerasing") == 1
    (folder / "turns.sqlite").write_bytes(data.replace(b"tableerasingerasing", b"tableer\xccsingerasing"))

    with pytest.raises(StoreError, match="memory-rag doctor --rescue"):
        Memory.open(folder, embedder="none", language="en")
    assert rescue(folder, tmp_path / "new").n_turns > 0
