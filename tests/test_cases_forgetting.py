"""Faults of other memories when something is deleted: G20, G21, and cases of their kinds."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from memory_rag.memory import Memory
from memory_rag.privacy.proof import prove
from memory_rag.privacy.sought import Needle
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.vector_blocks import ERASED
from memory_rag.retrieval.vectors import VectorFile
from memory_rag.store.backup import backup
from memory_rag.turns import Role, Turn
from tests.end_to_end.hashed_words import HashedWords
from tests.retrieval.given_vectors import GivenVectors

CANARY = b"zqcanary7731"


def filled(folder: Path) -> Memory:
    memory = Memory.open(folder, embedder=HashedWords(), language="en")
    memory.add_many(
        Turn(
            f"t{n}",
            "c",
            "the session" if n == 100 else f"session {n % 7}",
            n,
            Role.USER,
            "Ada",
            f"the word zqcanary7731 of turn {n}" if n == 100 else f"turn {n} of the talk",
        )
        for n in range(200)
    )
    memory.embed()
    memory.search("turn")
    memory.indexes.save()
    return memory


def occurrences(folder: Path) -> dict[str, int]:
    """Count the canary in every file, ignoring case; files without it are left out."""
    found = {
        str(path.relative_to(folder)): path.read_bytes().lower().count(CANARY)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    return {name: n for name, n in found.items() if n}


def test_g20_a_deleted_session_is_in_no_file_of_the_store(tmp_path: Path) -> None:
    with filled(tmp_path / "memory") as memory:
        assert set(occurrences(memory.folder)) >= {"turns.sqlite-wal", "derived/keyword.npz"}

        done = memory.forgetting.forget(memory.forgetting.select(Within(session="the session")), prove=True)

        assert done.n_turns == 1
        assert done.is_done
        assert occurrences(memory.folder) == {}
        assert memory.search("zqcanary7731", mode="keyword").turn_ids == ()
        assert memory.quote("zqcanary7731") == ()
    assert occurrences(tmp_path / "memory") == {}


def test_g20_the_proof_fails_if_one_file_could_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "fine").write_bytes(b"nothing")
    (tmp_path / "unreadable").symlink_to("unreadable")

    proof = prove(tmp_path, [Needle("words", "UTF-8", "zqcanary7731", CANARY)], [])

    assert proof.found == ()
    assert not proof.holds
    assert proof.unreadable == ("unreadable: Too many levels of symbolic links",)


def test_g20_of_its_kind_a_backup_that_is_kept_in_the_folder_is_read_too(tmp_path: Path) -> None:
    with filled(tmp_path / "memory") as memory:
        backup(memory.folder, tmp_path / "copy")
        (tmp_path / "copy").rename(memory.folder / "copy")

        done = memory.forgetting.forget(["t100"], prove=True)

        assert not done.is_done
        assert done.proof is not None
        # The backup's own snapshot, its words and its vectors.
        assert {trace.file for trace in done.proof.found} >= {"copy/turns.sqlite", "copy/derived/keyword.npz"}


def test_g20_of_its_kind_words_of_a_page_that_was_split_do_not_stay_behind(tmp_path: Path) -> None:
    """Secure deletion alone leaves stale copies of cells that a split moved."""
    with Memory.open(tmp_path / "memory", embedder="none", language="en") as memory:
        for n in range(300):
            memory.add(f"filling {n} " + "x" * (37 * n % 700))
            if n % 10 == 0:
                memory.add(f"zqcanary7731 {n} " + "y" * (53 * n % 900), conversation_id="secret")
        for turn_id in memory.forgetting.select(Within(conversation="secret")):
            memory.correct(turn_id, text="zqcanary7731 again, and longer " * 30)

        memory.forget(memory.forgetting.select(Within(conversation="secret")))

        assert occurrences(memory.folder) == {}


def test_g20_of_its_kind_a_turn_longer_than_many_pages_is_gone_whole(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory", embedder="none", language="en") as memory:
        memory.add("kept")
        long = memory.add(" ".join(f"zqcanary7731 and word{n}" for n in range(4_000)))

        assert memory.forgetting.forget([long.turn_id], prove=True).is_done
        assert occurrences(memory.folder) == {}
        assert (memory.folder / "turns.sqlite").stat().st_size < 300_000


@pytest.mark.parametrize("reopened", [False, True])
def test_g21_a_reused_key_does_not_inherit_the_dead_turns_vector(tmp_path: Path, reopened: bool) -> None:
    vectors = {"kayak trip": (1.0, 0.0), "canoe shop": (0.6, 0.8), "question": (1.0, 0.0)}
    folder = tmp_path / "memory"

    def opened() -> Memory:
        return Memory.open(folder, embedder=GivenVectors(vectors), language="en", pending_limit=0)

    memory = opened()
    memory.add("kayak trip", turn_id="k1")
    memory.add("canoe shop", turn_id="k2")
    memory.embed()
    memory.forget(["k1"])
    memory.add("tax form", turn_id="k1")
    if reopened:
        memory.close()
        memory = opened()

    ranking = memory.search("question", mode="dense")

    assert ranking.turn_ids == ("k2",)
    assert ranking[0].score == pytest.approx(0.6, abs=1e-6)
    dense = memory.indexes.dense()
    assert dense is not None
    rows = VectorFile(folder / "vectors", fingerprint=dense.embedder.fingerprint, dim=2).read_new()
    assert rows is not None
    assert rows.ids["row"].tolist() == [ERASED, 2]
    assert rows.vectors.tolist() == [[0, 0], pytest.approx([0.6, 0.8])]
    memory.close()


def test_g21_of_its_kind_the_same_words_said_again_are_embedded_anew_under_their_own_number(tmp_path: Path) -> None:
    embedder = HashedWords()
    with Memory.open(tmp_path / "memory", embedder=embedder, language="en") as memory:
        memory.add("kayak trip", turn_id="k1")
        memory.embed()
        memory.forget(["k1"])
        memory.add("kayak trip", turn_id="k1")

        assert memory.search("kayak trip", mode="dense").turn_ids == ("k1",)
        database = sqlite3.connect(memory.folder / "turns.sqlite")
        assert database.execute("SELECT row FROM turns").fetchall() == [(2,)]
        database.close()
        assert embedder.n_embedded == 3
