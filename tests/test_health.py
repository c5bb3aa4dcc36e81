"""The doctor finds what is wrong with a memory, and nothing where nothing is."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from memory_rag.checkup import Checkup, Finding
from memory_rag.errors import StoreError
from memory_rag.memory import Memory
from memory_rag.retrieval.vectors import VectorFile, ids_of
from tests.end_to_end.hashed_words import HashedWords, NoAnswer

Check = Callable[..., Checkup]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A memory of three turns, embedded and saved."""
    path = tmp_path / "memory"
    with Memory.open(path, embedder=HashedWords(), language="en") as memory:
        for text in ("the kayak is red", "tax is due in May", "bread is 62 kronor"):
            memory.add(text)
        memory.embed()
        memory.indexes.save()
    return path


def check(folder: Path, embedder: HashedWords | None = None) -> dict[str, Finding]:
    """Return what the doctor finds, by name."""
    with Memory.open(folder, embedder=embedder or HashedWords(), language="en") as memory:
        checkup = memory.doctor()
    assert checkup.is_well is all(finding.state != "fail" for finding in checkup.findings)
    return {finding.name: finding for finding in checkup.findings}


def test_a_memory_that_is_well_has_only_good_findings(folder: Path) -> None:
    found = check(folder)

    assert {name: finding.state for name, finding in found.items()} == dict.fromkeys(
        (
            "words",
            "removal",
            "keyword",
            "embedder",
            "vectors",
            "embedded",
            "private",
            "place",
            "log",
            "disk",
            "languages",
            "extras",
        ),
        "ok",
    )
    assert found["words"].message == "3 turns, each with the SHA-256 that it was stored with"
    assert found["vectors"].message == "3 vectors of 64 numbers and length 1"


def test_what_was_removed_and_is_still_to_be_overwritten_is_told(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory", embedder=HashedWords(), language="en") as memory:
        memory.add("the kayak is red")
        memory.store.remove(["t1"])

        found = {finding.name: finding for finding in memory.doctor().findings}["removal"]
        assert (found.state, found.message) == (
            "warn",
            "bytes pending of 1 turn, forgotten or corrected for good: somebody reads an older state, or a process was "
            "stopped",
        )
        assert "the next opening overwrites them" in found.remedy

    assert check(tmp_path / "memory")["removal"].state == "ok"


def test_an_empty_memory_is_well(tmp_path: Path) -> None:
    assert {finding.state for finding in check(tmp_path / "memory").values()} == {"ok"}


def test_it_changes_nothing(folder: Path) -> None:
    def everything() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    before = everything()
    check(folder)

    assert everything() == before


def test_a_text_that_is_not_what_was_stored_fails(folder: Path) -> None:
    database = sqlite3.connect(folder / "turns.sqlite")
    database.execute("UPDATE turns SET text = CAST('the kayak is blue' AS BLOB) WHERE turn_id = 't1'")
    database.commit()
    database.close()
    found = check(folder)["words"]

    assert (found.state, found.message) == (
        "fail",
        "turn t1: its text doesn't have the SHA-256 it was stored with",
    )
    assert "memory-rag restore" in found.remedy


def test_a_keyword_index_that_lags_behind_is_well(folder: Path) -> None:
    with Memory.open(folder, embedder=HashedWords(), language="en") as memory:
        memory.add("one more kayak")
        memory.correct("t2", text="tax is due in June")
        memory.forget(["t3"])
    found = check(folder)["keyword"]

    assert found.state == "ok"


def test_a_keyword_index_that_is_not_what_the_words_give_fails(folder: Path) -> None:
    path = folder / "derived" / "keyword.npz"
    with np.load(path) as arrays:
        parts = dict(arrays)
    parts["postings.counts_of_kinds"][0] += 1
    np.savez(path, **parts)
    found = check(folder)["keyword"]

    assert found.state == "fail"
    assert found.message.startswith("the saved index is not what the words give: the turns that hold ")
    assert found.remedy == "build it anew with: memory-rag reindex"


def test_a_keyword_index_that_cannot_be_read_is_a_warning(folder: Path) -> None:
    (folder / "derived" / "keyword.npz").write_bytes(b"not an archive")

    assert check(folder)["keyword"].state == "warn"


def test_an_embedder_that_does_not_answer_fails_and_the_rest_is_checked(folder: Path) -> None:
    found = check(folder, NoAnswer())

    assert (found["embedder"].state, found["embedder"].message) == (
        "fail",
        "the model doesn't answer; try again later",
    )
    assert found["words"].state == "ok"


def test_vectors_that_are_not_of_length_one_fail(folder: Path) -> None:
    embedder = HashedWords()
    file = VectorFile(folder / "vectors", fingerprint=embedder.fingerprint, dim=embedder.dim)
    rows = file.read_new()
    assert rows is not None
    unfit = np.array([np.full(64, np.nan), np.full(64, 2.0)], np.float32)
    file.append(unfit, ids_of([(1, 1, 0, 1), (2, 2, 0, 1)]))
    found = check(folder)["vectors"]

    assert found.state == "fail"
    assert found.message.startswith("2 of 5 vectors in ")


def test_what_a_killed_process_left_is_a_warning(folder: Path) -> None:
    with next((folder / "vectors").glob("*.f32")).open("ab") as file:
        file.write(bytes(256))
    found = check(folder)["vectors"]

    assert (found.state, found.message) == (
        "warn",
        "3 vectors, and 256 B that a stopped or damaged write left unused",
    )


def test_turns_without_a_vector_are_a_warning_if_they_are_many(folder: Path) -> None:
    with Memory.open(folder, embedder="none", language="en") as memory:
        memory.add("one more")
    assert check(folder)["embedded"] == Finding("embedded", "ok", "the next search embeds what came last (1)")
    with Memory.open(folder, embedder="none", language="en") as memory:
        for number in range(64):
            memory.add(f"turn {number}")
    found = check(folder)["embedded"]

    assert (found.state, found.message) == (
        "warn",
        "65 turns have no vector yet and are found by keyword only",
    )


def test_another_embedders_vectors_are_named(folder: Path) -> None:
    found = check(folder, HashedWords(name="another"))

    assert found["others"].state == "warn"
    assert "hashed-words-64" in found["others"].message
    assert "memory-rag reindex --prune" in found["others"].remedy


def test_a_memory_that_others_may_read_is_a_warning(folder: Path) -> None:
    folder.chmod(0o755)
    (folder / "turns.sqlite").chmod(0o644)
    found = check(folder)["private"]

    assert found.state == "warn"
    assert str(folder / "turns.sqlite") in found.message
    assert found.remedy == f"close it with: chmod -R go= '{folder}'"


def test_a_log_without_end_is_a_warning(folder: Path) -> None:
    from memory_rag.health import write_ahead_log

    with (folder / "turns.sqlite-wal").open("wb") as log:
        log.truncate(100_000_000)

    assert (write_ahead_log(folder).state, write_ahead_log(folder).message) == (
        "warn",
        "write-ahead log of 100 MB",
    )


def test_a_folder_that_is_synced_is_a_warning(tmp_path: Path) -> None:
    found = check(tmp_path / "Dropbox" / "memory")["place"]

    assert found.state == "warn"
    assert found.message.startswith("seems to be synced by Dropbox")
    assert "memory-rag backup DEST" in found.remedy


def test_one_damaged_block_costs_its_own_turns_only_and_is_told(folder: Path) -> None:
    with Memory.open(folder, embedder=HashedWords(), language="en") as memory:
        for number in range(4):
            memory.add(f"kayak number {number}")
            memory.embed()
    path = next((folder / "vectors").glob("*.f32"))
    data = bytearray(path.read_bytes())
    data[3 * 256 + 5] ^= 1
    path.write_bytes(data)

    found = check(folder)
    assert (found["vectors"].state, found["vectors"].message) == (
        "warn",
        "6 vectors, and damaged blocks of 1 more, which aren't used",
    )
    assert found["embedded"].message == "the next search embeds what came last (1)"
    embedder = HashedWords()
    with Memory.open(folder, embedder=embedder, language="en") as memory:
        memory.reindex()
    assert embedder.n_embedded == 1
    assert check(folder)["vectors"].state == "ok"


def test_words_that_cant_be_read_fail_and_the_rest_is_looked_at(folder: Path) -> None:
    path = folder / "turns.sqlite"
    data = bytearray(path.read_bytes())
    for start in range(4096, len(data), 4096):
        if data[start] == 13 and b"the kayak is red" in data[start : start + 4096]:
            data[start : start + 8] = bytes(8)
    path.write_bytes(data)
    found = check(folder)

    assert found["words"].state == "fail"
    assert "memory-rag doctor --rescue NEW" in found["words"].remedy
    assert found["disk"].state == "ok"


@pytest.mark.parametrize("change", ["text = 'a text and no bytes'", "speaker = x'ff'", "said_at = 9223372036854775807"])
def test_a_value_that_is_never_stored_fails_and_is_an_error_of_ours(folder: Path, change: str) -> None:
    database = sqlite3.connect(folder / "turns.sqlite")
    database.execute(f"UPDATE turns SET {change} WHERE turn_id = 't2'")
    database.commit()
    database.close()

    assert "fail" in {finding.state for finding in check(folder).values()}
    with Memory.open(folder, embedder="none") as memory:
        with pytest.raises(
            StoreError, match=r"turn 't2' can't be read, the file of words is damaged .*memory-rag doctor"
        ):
            memory.get("t2")
        assert memory.get("t1").text == "the kayak is red"
