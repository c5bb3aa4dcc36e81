"""A vector belongs to the words it was made from, whatever becomes of the turn, its id, its row or the files."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import EmbedderError
from memory_rag.memory import Memory
from memory_rag.store.backup import backup, restore
from memory_rag.turns import Role, Turn
from tests.end_to_end.hashed_words import HashedWords


class Given(HashedWords):
    """An embedder that gives each text the vector that a test has thought of."""

    def __init__(self, vectors: Mapping[str, ArrayLike], *, dim: int = 2) -> None:
        super().__init__(dim=dim, name="given")
        self.vectors = vectors

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        return np.array([self.vectors[text] for text in texts])


def hits(memory: Memory, query: str) -> list[tuple[str, float]]:
    return [(hit.turn.turn_id, round(hit.score, 6)) for hit in memory.search(query, mode="dense")]


def turn(turn_id: str, text: str) -> Turn:
    return Turn(turn_id, "c", "s", -1, Role.USER, "user", text)


KAYAK: dict[str, list[float]] = {"kayak trip": [1, 0], "canoe shop": [0.6, 0.8], "tax form": [0, 1], "asked": [1, 0]}


def test_a_turn_under_the_id_of_a_forgotten_one_does_not_inherit_its_vector(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m", embedder=Given(KAYAK)) as memory:
        memory.add_many([turn("k1", "kayak trip"), turn("k2", "canoe shop")])
        assert hits(memory, "asked") == [("k1", 1.0), ("k2", 0.6)]
        memory.forget(["k1"])
        memory.add("tax form", turn_id="k1")

    # The new turn waits to be embedded.
    for _ in range(2):
        with Memory.open(tmp_path / "m", embedder=Given(KAYAK), pending_limit=0) as memory:
            found = memory.search("asked", mode="dense")
            assert ([(hit.turn.turn_id, round(hit.score, 6)) for hit in found], found.pending) == ([("k2", 0.6)], 1)
            dense = memory.indexes.dense()
            assert dense is not None
            assert dense.covered.sum() == 1


def test_a_corrected_turn_is_not_found_by_what_it_said_before(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m", embedder=Given(KAYAK), pending_limit=0) as memory:
        memory.add_many([turn("k1", "kayak trip"), turn("k2", "canoe shop")])
        memory.embed()

        memory.correct("k1", text="tax form")
        assert hits(memory, "asked") == [("k2", 0.6)]
        memory.embed()
        assert hits(memory, "asked") == [("k2", 0.6), ("k1", 0.0)]
        memory.correct("k1", text="kayak trip")
        # Words that come back have a vector already.
        assert hits(memory, "asked") == [("k1", 1.0), ("k2", 0.6)]


def test_vectors_stay_with_their_turns_after_vacuum_compaction_backup_and_restore(tmp_path: Path) -> None:
    vectors = {"kayak": [1, 0, 0], "tax": [0, 1, 0], "bread": [0, 0, 1], "e2": [0, 1, 0], "e3": [0, 0, 1]}

    def check(folder: Path) -> None:
        embedder = Given(vectors, dim=3)
        with Memory.open(folder, embedder=embedder) as memory:
            assert memory.search("e2", mode="dense", k=1)[0].turn.text == "tax"
            assert memory.search("e3", mode="dense", k=1)[0].turn.text == "bread"
            assert embedder.n_embedded == 0

    with Memory.open(tmp_path / "m", embedder=Given(vectors, dim=3)) as memory:
        memory.add_many([turn("a", "kayak"), turn("b", "tax"), turn("c", "bread")])
        memory.embed()
        size = sum(path.stat().st_size for path in (tmp_path / "m" / "vectors").iterdir())
        memory.forget(["a"])
    check(tmp_path / "m")

    with closing(sqlite3.connect(tmp_path / "m" / "turns.sqlite", isolation_level=None)) as database:
        database.execute("VACUUM")
    check(tmp_path / "m")
    with Memory.open(tmp_path / "m", embedder=Given(vectors, dim=3)) as memory:
        memory.reindex()
    check(tmp_path / "m")
    assert sum(path.stat().st_size for path in (tmp_path / "m" / "vectors").iterdir()) < size

    backup(tmp_path / "m", tmp_path / "copy")
    restore(tmp_path / "copy", tmp_path / "again")
    check(tmp_path / "again")


def test_an_index_that_is_built_anew_is_matched_with_its_vectors_anew(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m", embedder=HashedWords(), language="en") as memory:
        names = [memory.add(text).turn_id for text in ("one", "two")]
        memory.search("one", mode="keyword")
        memory.forget(names)
    with Memory.open(tmp_path / "m", embedder=HashedWords(), language="en") as memory:
        for text in ("three", "four", "five"):
            memory.add(text)
        assert memory.search("four", mode="dense", k=1)[0].turn.text == "four"

        # Built anew it has as many changes as before, and other numbers for them.
        memory.reindex()

        for text in ("three", "four", "five"):
            assert memory.search(text, mode="dense", k=1)[0].turn.text == text


def test_vectors_that_are_compacted_elsewhere_are_read_anew(tmp_path: Path) -> None:
    with (
        Memory.open(tmp_path / "m", embedder=HashedWords(), language="en") as one,
        Memory.open(tmp_path / "m", embedder=HashedWords(), language="en") as other,
    ):
        texts = [f"text number {number} of many words" for number in range(20)]
        names = [one.add(text).turn_id for text in texts]
        for round_ in range(6):
            one.embed()
            assert len(other.search("text", mode="dense", k=100)) == len(other)
            # Twice: the second file may have the number of the first.
            for _ in range(2):
                one.forget([names.pop(0)])
                one.embed()
                one.indexes.compact()
            one.add(f"late text {round_}")
            for memory in (one, other):
                for kept in list(memory.turns()):
                    best = memory.search(kept.text, mode="dense", k=1)[0]
                    assert (best.turn.text, round(best.score, 6)) == (kept.text, 1)
                assert len(memory.search("text", mode="dense", k=100)) == len(memory)


def test_as_many_other_vectors_as_before_are_matched_anew(tmp_path: Path) -> None:
    with (
        Memory.open(tmp_path / "m", embedder=HashedWords(), language="en") as one,
        Memory.open(tmp_path / "m", embedder=HashedWords(), language="en", pending_limit=0) as other,
    ):
        for name in ("kayak", "bread"):
            one.add(f"the {name} turn", turn_id=name)
            one.embed()
        one.correct("kayak", text="something else now")
        one.embed()
        one.add("the harbour turn", turn_id="harbour")
        assert other.search("the harbour turn", mode="dense").pending == 1

        shutil.rmtree(tmp_path / "m" / "vectors")
        one.embed()

        for turn in one.turns():
            best = other.search(turn.text, mode="dense", k=1)[0]
            assert (best.turn.turn_id, round(best.score, 6)) == (turn.turn_id, 1)


def test_vectors_that_are_copied_over_the_old_ones_are_read_anew(tmp_path: Path) -> None:
    with (
        Memory.open(tmp_path / "m", embedder=HashedWords(), language="en") as one,
        Memory.open(tmp_path / "m", embedder=HashedWords(), language="en", pending_limit=0) as other,
    ):
        for name in ("kayak", "bread"):
            one.add(f"the {name} turn", turn_id=name)
            one.embed()
        assert len(other.search("turn", mode="dense")) == 2
        one.add("the harbour turn", turn_id="harbour")
        backup(tmp_path / "m", tmp_path / "elsewhere")
        shutil.rmtree(tmp_path / "elsewhere" / "vectors")
        with Memory.open(tmp_path / "elsewhere", embedder=HashedWords(), language="en") as elsewhere:
            elsewhere.embed()

        # Into the same files, which are longer then, as cp does it.
        for path in (tmp_path / "elsewhere" / "vectors").iterdir():
            shutil.copyfile(path, tmp_path / "m" / "vectors" / path.name)

        for turn in one.turns():
            best = other.search(turn.text, mode="dense", k=1)[0]
            assert (best.turn.turn_id, round(best.score, 6)) == (turn.turn_id, 1)


def test_compaction_keeps_what_another_process_has_embedded_meanwhile(tmp_path: Path) -> None:
    embedder = HashedWords()
    with (
        Memory.open(tmp_path / "m", embedder=HashedWords(), language="en") as one,
        Memory.open(tmp_path / "m", embedder=embedder, language="en") as other,
    ):
        names = [one.add(f"old {number}").turn_id for number in range(4)]
        one.embed()
        one.store.remove(names[:3])
        one.indexes.catch_up()
        other.add("new and embedded elsewhere")
        other.embed()

        one.indexes.compact()

        assert other.embed() == 0
        assert other.search("new and embedded elsewhere", mode="dense", k=1)[0].score == pytest.approx(1, abs=1e-6)


GOOD: dict[str, list[float]] = {"good": [1, 0], "asked": [1, 0]}


@pytest.mark.parametrize(
    ("vector", "fault"),
    [([np.nan, 1], "not finite"), ([np.inf, 1], "not finite"), ([0, 0], "all zeros"), ([1, 2, 3], "")],
)
def test_a_vector_that_cant_be_used_is_refused_before_it_is_kept(
    tmp_path: Path, vector: list[float], fault: str
) -> None:
    with Memory.open(tmp_path / "m", embedder=Given({**GOOD, "bad": vector})) as memory:
        memory.add("good", turn_id="fine")
        memory.embed()
        memory.add("bad", turn_id="unfit")

        with pytest.raises(EmbedderError, match=f"'unfit'.* {fault}" if fault else "shape"):
            memory.embed()

        found = memory.search("asked", mode="dense")
        assert (found.turn_ids, found.pending) == (("fine",), 1)
        assert found.notes[0].startswith("1 turn is not embedded yet and was searched by keyword only: ")
        assert fault in found.notes[0]
    with Memory.open(tmp_path / "m", embedder=Given({"bad": [0, 1], "asked": [1, 0]})) as memory:
        assert memory.embed() == 1
        assert hits(memory, "asked") == [("fine", 1.0), ("unfit", 0.0)]


def test_vectors_of_any_length_and_kind_of_number_are_kept_as_unit_float32(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m", embedder=Given({"a": [0.2, 0], "b": [6, 9], "asked": [1, 0]})) as memory:
        memory.add("a", turn_id="a")
        memory.add("b", turn_id="b")
        assert memory.embed() == 2
        assert memory.embed() == 0

        found = memory.search("asked", mode="dense")
        assert [hit.score for hit in found] == pytest.approx([1.0, 0.5547], abs=1e-5)
        assert max(hit.score for hit in found) <= 1.0


def test_a_turn_too_long_to_embed_in_passing_waits_and_holds_up_no_other(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m", embedder=HashedWords(), language="en", pending_limit=3) as memory:
        for number in range(4):
            memory.add(f"giant {number} " * 26_000)
        memory.add("a short word about kayaks", turn_id="short")
        for _ in range(2):
            found = memory.search("a short word about kayaks", mode="dense", k=1)

        assert (found.turn_ids, found.pending) == (("short",), 4)
        assert memory.search("giant 3", mode="keyword", k=1)[0].turn.text.startswith("giant 3 ")
        assert memory.embed() == 4
        assert memory.search("giant 3", mode="dense", k=1).pending == 0


def test_two_embedders_never_mix_their_vectors(tmp_path: Path) -> None:
    vectors = {"kayak": [1, 0], "tax": [0, 1], "asked": [1, 0]}
    turned = {"kayak": [0, 1], "tax": [1, 0], "asked": [1, 0]}
    with Memory.open(tmp_path / "m", embedder=Given(vectors)) as memory:
        memory.add_many([turn("k", "kayak"), turn("t", "tax")])
        assert hits(memory, "asked") == [("k", 1.0), ("t", 0.0)]

    other = Given(turned)
    other.name = "turned"
    with Memory.open(tmp_path / "m", embedder=other, pending_limit=0) as memory:
        assert hits(memory, "asked") == []
        memory.embed()
        assert hits(memory, "asked") == [("t", 1.0), ("k", 0.0)]
        memory.reindex(prune=True)
        assert {path.stem for path in (tmp_path / "m" / "vectors").iterdir()} == {"turned-2"}
