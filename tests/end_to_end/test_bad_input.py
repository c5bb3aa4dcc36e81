"""Bad input and bad places: an error that says what to do, nothing half stored, nothing lost."""

from __future__ import annotations

import json
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import (
    MemoryRagError,
    NotAMemoryError,
    QueryError,
    SettingsError,
    StoreError,
    TurnError,
    UnknownTurnError,
)
from memory_rag.memory import Memory
from memory_rag.retrieval.filters import Within
from memory_rag.turns import Role, Turn
from tests.end_to_end.hashed_words import HashedWords, NoAnswer
from tests.end_to_end.places import fill, not_writable, small_disk, without_rights

WORDS = "the price is 49 euro"


def opened(folder: Path, **given: Any) -> Memory:
    return Memory.open(folder, **{"home": folder.parent, "embedder": HashedWords(), "language": "en", **given})


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "m") as memory:
        memory.add(WORDS, turn_id="kept")
        yield memory


def long_turns(n: int) -> list[Turn]:
    return [Turn("", "c", "s", -1, Role.USER, "user", f"{number} " * 2000) for number in range(n)]


def assert_whole(memory: Memory, *texts: str) -> None:
    """Check that just these texts are stored and each of them is found."""
    assert [turn.text for turn in memory.turns()] == list(texts)
    assert memory.store.check() == []
    for text in texts:
        assert text in [hit.turn.text for hit in memory.search(text, mode="keyword")]


# -- turns


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"role": "narrator"}, r"unknown role 'narrator'; a role is one of: user, assistant, system, tool"),
        ({"said_at": datetime(2026, 4, 1, 12)}, r"2026-04-01 12:00:00 has no time zone; give one"),
        ({"said_at": "2026-04-01"}, r"said_at is a datetime, got str \('2026-04-01'\)"),
        ({"turn_id": "kept"}, r"'kept' is stored already; leave turn_id empty to get a new one"),
        ({"turn_id": "x" * 1001}, r"an id is 1 to 1000 characters"),
        ({"conversation_id": ""}, r"conversation_id '' can't be an id"),
        ({"session_id": "a\0b"}, r"session_id 'a\\x00b' can't be an id"),
    ],
)
def test_a_turn_that_cant_be_stored_says_why(memory: Memory, given: dict[str, Any], error: str) -> None:
    with pytest.raises(TurnError, match=error):
        memory.add("words", **given)

    assert_whole(memory, WORDS)


@pytest.mark.parametrize("text", [None, b"bytes", 5, ["words"]])
def test_a_text_that_is_none_is_refused(memory: Memory, text: Any) -> None:
    with pytest.raises(TurnError, match=rf"the text of a turn is a str, got {type(text).__name__}"):
        memory.add(text)

    assert_whole(memory, WORDS)


def test_one_turn_that_cant_be_stored_keeps_all_of_its_list_out(memory: Memory) -> None:
    good = Turn("", "c", "s", -1, Role.USER, "user", "good")
    bad = Turn("kept", "c", "s", -1, Role.USER, "user", "bad")

    with pytest.raises(TurnError, match="'kept' is stored already"):
        memory.add_many([good, good, bad, good])

    assert_whole(memory, WORDS)
    assert memory.search("good", mode="keyword").hits == ()


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud800", "?!", "\u2028", "\ufeff"])
def test_a_text_with_nothing_to_find_is_stored_and_shown(memory: Memory, text: str) -> None:
    stored = memory.add(text)

    assert memory.get(stored.turn_id).text == text
    assert memory.neighbours(stored.turn_id)[0].text == WORDS
    memory.embed()
    for mode in ("keyword", "dense", "hybrid", "rrf", "overlap", "okapi", "rank-bm25"):
        assert memory.search("price", mode=mode, k=1, floor=False).turn_ids == ("kept",)
        assert memory.search(text, mode=mode).hits == ()


@pytest.mark.parametrize("use", ["get", "correct", "forget", "neighbours"])
def test_a_turn_that_isnt_there_is_named(memory: Memory, use: str) -> None:
    calls: dict[str, Callable[[], object]] = {
        "get": partial(memory.get, "t99"),
        "correct": partial(memory.correct, "t99", text="x"),
        "forget": partial(memory.forget, ["kept", "t99"]),
        "neighbours": partial(memory.neighbours, "t99"),
    }

    with pytest.raises(UnknownTurnError, match=r"no turn has the id 't99' in .*find ids with: memory-rag search"):
        calls[use]()

    assert_whole(memory, WORDS)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"mode": "magic"}, QueryError, "unknown mode 'magic'; a mode is one of: hybrid, keyword"),
        ({"k": 0}, QueryError, "k must be at least 1, got 0"),
        ({"within": Within(since="yesterdayish")}, QueryError, "can't read 'yesterdayish' as a date or time"),
        ({"within": Within(role="narrator")}, TurnError, "unknown role 'narrator'"),
    ],
)
def test_a_search_that_cant_be_understood_says_why(
    memory: Memory, given: dict[str, Any], error: type[MemoryRagError], message: str
) -> None:
    with pytest.raises(error, match=message):
        memory.search("price", **given)


def test_settings_out_of_their_range_open_nothing(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="durability is one of: normal, full; got 'eternal'"):
        Memory.open(tmp_path / "m", durability="eternal")
    with pytest.raises(SettingsError, match="unknown setting 'speed'"):
        Memory.open(tmp_path / "m", speed="fast")
    with pytest.raises(QueryError, match="unknown time zone 'Europe/Malmo'"):
        Memory.open(tmp_path / "m", timezone="Europe/Malmo")

    assert list(tmp_path.iterdir()) == []


def test_ten_megabytes_are_stored_found_and_quoted_in_seconds(memory: Memory) -> None:
    needle = "a zebra in the very middle said so"
    many = " ".join(f"word{number % 5000} and more" for number in range(300_000))
    text = f"{many} {needle} \0\ud83d {many}"
    assert len(text) > 10_000_000
    began = time.process_time()

    stored = memory.add(text)
    found = memory.search("zebra in the very middle", k=1)
    by_keyword = memory.search("zebra", mode="keyword", k=1)
    quotes = memory.quote(needle)
    folded = memory.quote("A Zebra  in the very middle")

    took = time.process_time() - began
    assert memory.get(stored.turn_id).text == text
    assert found.pending == 1
    assert by_keyword[0].turn.turn_id == stored.turn_id
    assert needle in text[by_keyword[0].span.start : by_keyword[0].span.end]
    assert [(one.status, one.start, one.text) for one in quotes] == [("exact", len(many) + 1, needle)]
    assert [(one.status, one.text) for one in folded] == [("folded", "a zebra in the very middle")]
    # Far above what it takes; what it guards against takes minutes.
    assert took < 60


def test_an_embedder_that_doesnt_answer_leaves_words_that_are_found(tmp_path: Path) -> None:
    with opened(tmp_path / "m", embedder=NoAnswer()) as memory:
        memory.add(WORDS)

        found = memory.search("price")
        assert found.turn_ids == ("t1",)
        assert found.notes == ("found by keyword only: the model doesn't answer; try again later",)
        with pytest.raises(MemoryRagError, match="doesn't answer"):
            memory.search("price", mode="dense")
    with opened(tmp_path / "m") as memory:
        assert memory.search("price", mode="dense").turn_ids == ("t1",)


# -- files to import


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b'[{"role": "user", "content": "words"},', r"line 1"),
        (b'{"role": "user", "content": "ok"}\n{"role": "user" "content": "broken"}\n', r"line 2"),
        (b"\xff\xfe\xfawords", r"UTF-8|format"),
        (b"Dear diary, this is no chat.", r"format|line 1"),
        (b"", r"empty|format|nothing"),
        (b'[{"role": "narrator", "content": "words"}]', r"narrator|role"),
    ],
)
def test_a_file_that_cant_be_read_stores_nothing(memory: Memory, tmp_path: Path, content: bytes, error: str) -> None:
    path = tmp_path / "chat.json"
    path.write_bytes(content)

    with pytest.raises(MemoryRagError, match=error):
        memory.import_path(path)

    assert_whole(memory, WORDS)
    assert memory.store.last_seq == 1


# -- places


def test_what_is_no_memory_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("words")
    cases: list[tuple[Path, dict[str, Any], str]] = [
        (tmp_path / "nowhere", {"create": False}, r"nowhere holds no memory .*make one with: memory-rag add"),
        (tmp_path, {"create": False}, r"holds no memory"),
        (tmp_path, {}, r"holds no memory but other files \(letter.txt"),
        (tmp_path / "letter.txt", {}, r"letter.txt is a file, not the folder of a memory"),
        (tmp_path / "letter.txt" / "m", {}, r"is a file, not the folder of a memory"),
    ]
    for folder, given, error in cases:
        with pytest.raises(NotAMemoryError, match=error):
            opened(folder, **given)

    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_full_disk_stores_nothing_half_and_loses_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", n_bytes=6_000_000) as disk:
        with opened(disk / "m") as memory:
            memory.add(WORDS, turn_id="kept")
            memory.embed()
            memory.indexes.save()
            filling = fill(disk, leaving=300_000)

            with pytest.raises(StoreError, match=r"is full.*nothing of this change was stored, free some space"):
                memory.add_many(long_turns(400))
            assert_whole(memory, WORDS)

            # As many single turns as there is room for; each of them is stored, or not and said so.
            stored = [WORDS]

            def add_for_ever() -> None:
                for number in range(10_000):
                    stored.append(memory.add(f"turn {number} " + "kayak " * 1000).text)

            with pytest.raises(StoreError, match="is full"):
                add_for_ever()
            assert [turn.text for turn in memory.turns()] == stored
            assert 1 < len(stored) < 10_000

            # Searches need no room, and say what couldn't be written.
            more_filling = fill(disk)
            found = memory.search("price euro", floor=False)
            assert found.turn_ids[0] == "kept"
            assert "vectors can't be written" in found.notes[0]
            assert "No space left on device" in found.notes[0]
            with pytest.raises(StoreError, match=r"vectors can't be written .*the words are safe"):
                memory.embed()
            with pytest.raises(StoreError, match="can't be written"):
                memory.indexes.save()
            assert memory.quote("price is 49 euro")[0].turn_id == "kept"

        filling.unlink()
        more_filling.unlink()
        with opened(disk / "m") as memory:
            assert [turn.text for turn in memory.turns()] == stored
            memory.add("there is room again")
            assert memory.embed() == len(stored)
            assert_whole(memory, *stored, "there is room again")
        assert not [path for path in (disk / "m").rglob("*") if path.name.endswith((".tmp", ".new"))]


def test_a_memory_on_a_disk_without_room_is_not_half_made(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", n_bytes=1_000_000) as disk:
        filling = fill(disk)

        with pytest.raises(StoreError, match=r"free (some )?space|can't be opened or made"):
            opened(disk / "m").add(WORDS)

        filling.unlink()
        with opened(disk / "m") as memory:
            memory.add(WORDS)
            assert_whole(memory, WORDS)


def test_a_limit_on_the_size_of_files_stores_nothing_half(tmp_path: Path) -> None:
    with opened(tmp_path / "m") as memory:
        memory.add(WORDS)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, before[1]))
        try:
            with pytest.raises(StoreError, match=r"full.*nothing of this change was stored"):
                memory.add_many(long_turns(400))
            assert_whole(memory, WORDS)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert len(memory.add_many(long_turns(400)).turn_ids) == 400
        assert memory.store.check() == []


@pytest.fixture
def rehearsed(memory: Memory) -> Memory:
    """A memory of which everything was used once: who has no rights may not even read our modules."""
    memory.search("price")
    memory.quote("price is")
    memory.indexes.save()
    return memory


@pytest.fixture
def foreign(rehearsed: Memory) -> Iterator[Path]:
    """A closed memory in a place that a user without rights can reach, and may not write to."""
    rehearsed.close()
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)  # noqa: PTH101
        folder = Path(place) / "m"
        shutil.copytree(rehearsed.folder, folder)
        with not_writable(folder):
            yield folder


def test_a_folder_that_may_not_be_written_is_named_and_unchanged(foreign: Path) -> None:
    before = {path: path.read_bytes() for path in foreign.rglob("*") if path.is_file()}

    with without_rights():
        with pytest.raises(StoreError, match=rf"{foreign}.*can't be (written|opened).*write to"):
            opened(foreign)
        with pytest.raises(StoreError, match=r"can't be opened or made \(Permission denied\)"):
            opened(foreign / "inside")

    assert {path: path.read_bytes() for path in foreign.rglob("*") if path.is_file()} == before


def test_a_folder_that_may_not_be_read_is_named(foreign: Path) -> None:
    foreign.chmod(0o000)
    with without_rights():
        for create in (True, False):
            with pytest.raises(StoreError, match=r"can't be opened or made \(Permission denied\)"):
                opened(foreign, create=create)


@pytest.mark.usefixtures("rehearsed")
def test_words_are_stored_and_found_where_indexes_cant_be_written() -> None:
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o777)  # noqa: PTH101
        folder = Path(place) / "m"
        with without_rights(), opened(folder) as memory:
            memory.add(WORDS, turn_id="kept")
            memory.search("price")
            memory.indexes.save()
            with not_writable(folder / "derived"), not_writable(folder / "vectors"):
                memory.add("said where indexes can't be written", turn_id="late")

                found = memory.search("indexes", floor=False)
                assert found.turn_ids[0] == "late"
                assert "vectors can't be written" in found.notes[0]
                assert "Permission denied" in found.notes[0]
                with pytest.raises(StoreError, match=r"can't be written .*words are safe"):
                    memory.embed()
                with pytest.raises(StoreError, match=r"can't be written .*the old file, if any, is unchanged"):
                    memory.indexes.save()
            assert memory.search("indexes", mode="dense", k=1).turn_ids == ("late",)


def test_a_memory_that_is_deleted_while_it_is_open_takes_no_more_words(memory: Memory) -> None:
    memory.search("price")
    shutil.rmtree(memory.folder)

    uses: dict[str, Callable[[], object]] = {
        "add": lambda: memory.add("lost"),
        "search": lambda: memory.search("price"),
        "quote": lambda: memory.quote("price is 49"),
        "forget": lambda: memory.forget(["kept"]),
    }
    for use in uses.values():
        with pytest.raises(StoreError, match="was deleted or replaced while it was open"):
            use()
    memory.close()
    assert not memory.folder.exists()


def test_a_memory_after_it_was_closed_says_so(memory: Memory) -> None:
    memory.close()

    for use in (lambda: memory.add("late"), lambda: memory.search("price"), lambda: memory.embed()):
        with pytest.raises(StoreError, match=r"is closed; open it again with Memory\.open"):
            use()
    memory.close()


def test_a_search_that_is_stopped_half_way_does_the_next_one_no_harm(memory: Memory) -> None:
    memory.add_many(long_turns(50))
    stopped: list[int] = []

    def stop(what: str, done: int, total: int) -> None:
        stopped.append(done)
        raise KeyboardInterrupt

    for use in (memory.indexes.catch_up, memory.embed, memory.reindex):
        with pytest.raises(KeyboardInterrupt):
            use(progress=stop)
        memory.add(f"said after stop {len(stopped)}")
        found = memory.search(f"said stop {len(stopped)}", mode="keyword", k=1)
        assert found[0].turn.text == f"said after stop {len(stopped)}"
        assert memory.search("price is 49 euro", mode="dense", k=1).turn_ids == ("kept",)
    assert len(stopped) == 3
    assert memory.doctor().is_well


def test_an_export_of_anything_is_imported_again(memory: Memory, tmp_path: Path) -> None:
    memory.add("\ud83d\0 lone\u2028", said_at=datetime(2026, 5, 1, tzinfo=UTC))
    lines = list(memory.export())
    assert all(isinstance(json.loads(line), dict) for line in lines)
    path = tmp_path / "export.jsonl"
    path.write_bytes("".join(f"{line.removesuffix(chr(10))}\n" for line in lines).encode())

    with opened(tmp_path / "again") as again:
        again.import_path(path)
        assert [turn.text for turn in again.turns()] == [turn.text for turn in memory.turns()]
