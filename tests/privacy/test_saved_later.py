"""The keyword index of a larger memory is saved some time after a removal, and holds nothing of what is gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_rag.memory import Memory
from memory_rag.retrieval.keyword import FILE_NAME, KeywordIndex
from memory_rag.store.files import LOCK_NAME, locked
from memory_rag.turns import Role, Turn

N = 2100
CANARY = "zqcanary7731"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large") / "memory"
    with opened(folder) as memory:
        memory.add_many(
            Turn(f"n{number}", f"c{number % 9}", "s", -1, Role.USER, "Ada", f"number {number} of the garden {word}")
            for number in range(N)
            for word in [CANARY if number == 700 else f"zqother{number}"]
        )
        memory.indexes.save()
    return folder


@pytest.fixture
def memory(made: Path, tmp_path: Path) -> Iterator[Memory]:
    folder = tmp_path / "memory"
    for path in sorted(made.rglob("*")):
        if path.is_file():
            (folder / path.relative_to(made)).parent.mkdir(parents=True, exist_ok=True)
            (folder / path.relative_to(made)).write_bytes(path.read_bytes())
    with opened(folder) as memory:
        yield memory


def opened(folder: Path) -> Memory:
    return Memory.open(folder, embedder="none", language="en")


def snapshot(memory: Memory) -> Path:
    return memory.folder / "derived" / FILE_NAME


def first(memory: Memory, word: str) -> str:
    return memory.search(word).turn_ids[0]


def saved(memory: Memory) -> KeywordIndex:
    return KeywordIndex.load(snapshot(memory).parent, memory.indexes.analyzer)


def test_the_old_snapshot_is_gone_at_once_and_a_new_one_comes_by_itself(memory: Memory) -> None:
    assert CANARY.encode() in snapshot(memory).read_bytes()

    memory.forget(["n700"])

    assert not snapshot(memory).exists()
    assert memory.search(CANARY).turn_ids == ()
    assert first(memory, "zqother701") == "n701"
    memory.forgetting.wait()
    assert CANARY.encode() not in snapshot(memory).read_bytes()
    assert saved(memory).table.n_alive == len(saved(memory).table) == N - 1
    assert saved(memory).applied_seq == memory.indexes.keyword.applied_seq


def test_a_new_snapshot_holds_what_was_added_and_corrected_since(memory: Memory) -> None:
    memory.forget(["n700"])
    memory.add("zqnew", turn_id="new")
    memory.correct("n3", text="zqcorrected")
    memory.forgetting.wait()

    with opened(snapshot(memory).parents[1]) as again:
        for word, turn_id in (("zqnew", "new"), ("zqcorrected", "n3"), ("zqother5", "n5")):
            assert first(again, word) == turn_id
        assert len(again.indexes.keyword.table) >= N


def test_what_is_forgotten_just_after_is_in_no_snapshot_either(memory: Memory) -> None:
    for number in range(0, 60, 3):
        memory.forget([f"n{number}"])
        assert not snapshot(memory).exists()
    memory.forgetting.wait()

    data = snapshot(memory).read_bytes()
    assert [number for number in range(0, 60, 3) if f"zqother{number}\xff".encode("latin-1") in data] == []
    assert saved(memory).table.n_alive == N - 20


def test_it_is_written_at_the_latest_when_the_memory_is_closed(memory: Memory) -> None:
    memory.forget(["n700"])
    memory.close()

    data = snapshot(memory).read_bytes()
    assert CANARY.encode() not in data
    assert b"zqother701" in data


def test_forgetting_right_after_opening_goes_by_the_snapshot_and_reads_no_words_anew(memory: Memory) -> None:
    memory.forget(["n700"])

    # An index that was made of the words that are left has had no turn that ended.
    assert len(memory.indexes.keyword.table.ended) == 1


def test_while_another_process_writes_none_is_written_and_closing_makes_up_for_it(memory: Memory) -> None:
    memory.forget(["n700"])
    with locked(snapshot(memory).parents[1] / LOCK_NAME, timeout_s=1, what="derived files"):
        memory.forgetting.wait()
        assert not snapshot(memory).exists()
    memory.close()
    assert snapshot(memory).exists()


def test_so_many_may_be_forgotten_that_all_entries_are_numbered_anew(memory: Memory) -> None:
    memory.forget([f"n{number}" for number in range(500)])
    memory.forgetting.wait()

    assert len(memory.indexes.keyword.table) == len(saved(memory).table) == N - 500
    assert first(memory, "zqother501") == "n501"
    assert "n499" not in memory.search("zqother499").turn_ids


def test_a_proof_holds_before_and_after_it_is_written(memory: Memory) -> None:
    sought = memory.forgetting.look_for(["n700"])
    assert memory.forgetting.forget(["n700"], prove=True).is_done
    memory.forgetting.wait()
    assert memory.forgetting.prove(sought).holds
