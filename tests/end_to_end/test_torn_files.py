"""Files that a power cut tore, or a disk garbled: what is derived is made anew, and no text is ever a wrong one."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from memory_rag.memory import Memory
from memory_rag.retrieval.agreement import disagreement
from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.turns import Role, Turn
from tests.disk import NAMES_FILES, Disk
from tests.end_to_end.arithmetic import bm25, cosines
from tests.end_to_end.hashed_words import HashedWords

DERIVED = ("vectors/hashed-words-64.ids", "vectors/hashed-words-64.f32", "derived/keyword.npz", "derived/manifest.json")
LOG = "turns.sqlite-wal"
FILLER = ["the", "of", "kayak", "tax", "bread", "and", "boats", "in", "Malmö", "är", "på", "väg"]


@dataclass
class Torn:
    """A memory as it lay on the disk at one moment, and every text that each of its turns ever had."""

    folder: Path
    turns: list[Turn]
    ever: dict[str, set[str]]


def words(chance: random.Random, number: int) -> str:
    return " ".join([*chance.choices(FILLER, k=chance.randrange(25)), f"mark{number}x"])


def opened(folder: Path) -> Memory:
    return Memory.open(folder, embedder=HashedWords(), language="en")


@pytest.fixture(scope="module")
def whole() -> Iterator[Torn]:
    """A memory in full swing: blocks of vectors, a snapshot, changes since, and most of it in the write-ahead log."""
    chance = random.Random(7)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        ever: dict[str, set[str]] = {}
        with opened(Path(place) / "live") as memory:

            def add() -> None:
                turn = memory.add(words(chance, len(ever)), role=chance.choice(["user", "assistant"]), speaker="Ada")
                ever[turn.turn_id] = {turn.text}

            for step in range(60):
                add()
                if step % 7 == 3:
                    name = chance.choice(list(memory.turns())).turn_id
                    ever[name].add(memory.correct(name, text=words(chance, 1000 + step)).text)
                if step % 11 == 5:
                    memory.forget([chance.choice(list(memory.turns())).turn_id])
                if step % 6 == 2:
                    memory.embed()
                if step == 45:
                    memory.indexes.save()
            turns = list(memory.turns())
            shutil.copytree(memory.folder, Path(place) / "copy")
            (Path(place) / "copy" / "turns.sqlite-shm").unlink()
        yield Torn(Path(place) / "copy", turns, ever)


# -- what may happen to a file


def cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def garble(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data))
    length = min(chance.choice([1, 4, 16, 500]), len(data) - start)
    return data[:start] + chance.randbytes(length) + data[start + length :]


def blank_the_end(data: bytes, chance: random.Random) -> bytes:
    # What a file system shows of a file that grew and whose bytes never reached the disk.
    start = chance.randrange(len(data))
    return data[:start] + b"\0" * (len(data) - start)


def garble_the_end(data: bytes, chance: random.Random) -> bytes:
    length = chance.randrange(1, min(len(data), 3000))
    return data[:-length] + chance.randbytes(length)


def lengthen(data: bytes, chance: random.Random) -> bytes:
    return data + chance.randbytes(chance.randrange(1, 5000))


def double(data: bytes, chance: random.Random) -> bytes:
    return data + data[chance.randrange(len(data)) :]


ACCIDENTS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    cut,
    garble,
    blank_the_end,
    garble_the_end,
    lengthen,
    double,
)


def check(folder: Path, torn: Torn, *, words_are_safe: bool) -> None:
    with opened(folder) as memory:
        assert memory.store.check() == []
        turns = list(memory.turns())
        if words_are_safe:
            assert turns == torn.turns
        assert all(turn.text in torn.ever[turn.turn_id] for turn in turns)
        for number in range(2):
            turns.append(memory.add(f"mark{5000 + number}x came after the accident", speaker="Ada"))

            found = memory.search(f"mark{5000 + number}x", mode="keyword", k=1)
            assert found[0].turn == turns[-1]
            for question in ("kayak mark3x", "boats in Malmö mark1010x tax"):
                for mode, brute, tolerance in (("keyword", bm25, 1e-9), ("dense", cosines, 1e-6)):
                    answer = memory.search(question, mode=mode, k=1000)
                    got = {hit.turn.turn_id: hit.score for hit in answer}
                    assert got == pytest.approx(brute(question, turns), abs=tolerance, rel=0)
                    assert answer.pending == 0
            memory.indexes.save()
        built = KeywordIndex(memory.indexes.keyword.analyzer)
        built.catch_up(memory.store)
        assert disagreement(memory.indexes.keyword, built) == ""
    again = HashedWords()
    with Memory.open(folder, embedder=again, language="en") as memory:
        assert list(memory.turns()) == turns
        assert memory.embed() == 0
        assert again.n_embedded == 0


def tear(torn: Torn, *, n_rounds: int, seed: int, files: tuple[str, ...]) -> None:
    chance = random.Random(seed)
    for number in range(n_rounds):
        folder = torn.folder.with_name(f"torn-{seed}-{number}")
        shutil.copytree(torn.folder, folder)
        for name in chance.sample(files, chance.choice([1, 1, len(files)])):
            path = folder / name
            path.write_bytes(chance.choice(ACCIDENTS)(path.read_bytes(), chance))
        check(folder, torn, words_are_safe=LOG not in files)
        shutil.rmtree(folder)


def test_a_whole_copy_is_a_whole_memory(whole: Torn) -> None:
    folder = whole.folder.with_name("untouched")
    shutil.copytree(whole.folder, folder)
    assert (folder / LOG).stat().st_size > 50_000

    check(folder, whole, words_are_safe=True)


def test_torn_vectors_and_snapshots_are_made_anew(whole: Torn) -> None:
    tear(whole, n_rounds=60, seed=1, files=DERIVED)


def test_a_torn_log_gives_back_what_was_before_and_never_a_wrong_text(whole: Torn) -> None:
    tear(whole, n_rounds=40, seed=2, files=(LOG,))


def test_a_torn_log_beside_torn_vectors_and_snapshots_does_too(whole: Torn) -> None:
    tear(whole, n_rounds=20, seed=3, files=(LOG, *DERIVED))


@pytest.mark.parametrize("missing", [*DERIVED, LOG, "vectors", "derived"])
def test_files_that_are_missing_are_made_anew(whole: Torn, missing: str) -> None:
    folder = whole.folder.with_name(f"without {missing.replace('/', ' ')}")
    shutil.copytree(whole.folder, folder)
    path = folder / missing
    shutil.rmtree(path) if path.is_dir() else path.unlink()

    check(folder, whole, words_are_safe=missing != LOG)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 20))
def test_many_torn_files_are_made_anew(whole: Torn, seed: int) -> None:
    tear(whole, n_rounds=100, seed=seed, files=DERIVED)
    tear(whole, n_rounds=100, seed=100 + seed, files=(LOG,))
    tear(whole, n_rounds=50, seed=200 + seed, files=(LOG, *DERIVED))


def test_a_log_that_a_power_cut_took_leaves_no_trace_in_what_is_found(tmp_path: Path) -> None:
    with opened(tmp_path / "live") as memory:
        memory.add("bread is baked on Monday", turn_id="bread")
        memory.indexes.save()
        memory.embed()
        shutil.copytree(memory.folder, tmp_path / "at first")
        memory.add("a dinosaur in the garden", turn_id="dinosaur")
        memory.embed()
        memory.indexes.catch_up()
        memory.indexes.save()
        # What is derived had reached the disk; the log, with durability=normal, not yet.
        for part in ("vectors", "derived"):
            shutil.rmtree(tmp_path / "at first" / part)
            shutil.copytree(memory.folder / part, tmp_path / "at first" / part)

    with opened(tmp_path / "at first") as memory:
        memory.add_many([Turn("tax", "c", "s", -1, Role.USER, "user", "tax forms are due in May")])

        assert memory.search("tax forms due", mode="keyword").turn_ids == ("tax",)
        assert memory.search("dinosaur garden", mode="keyword").turn_ids == ()
        assert memory.search("tax forms are due in May", mode="dense", k=1)[0].score == pytest.approx(1, abs=1e-6)
        dinosaur = memory.search("a dinosaur in the garden", mode="dense")
        assert {hit.turn.turn_id: hit.score for hit in dinosaur} == pytest.approx(
            cosines("a dinosaur in the garden", list(memory.turns())), abs=1e-6
        )


@NAMES_FILES
@pytest.mark.parametrize(("durability", "waits"), [("normal", False), ("full", True)])
def test_vectors_wait_for_the_disk_where_words_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durability: str, waits: bool
) -> None:
    with Memory.open(tmp_path / "memory", embedder=HashedWords(), durability=durability) as memory:
        memory.add("bread is baked on Monday")
        disk = Disk(monkeypatch)
        assert memory.embed() == 1

    assert (".f32" in disk.waited_for) == waits
