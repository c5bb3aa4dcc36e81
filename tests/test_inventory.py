"""What is in a memory is counted right."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_rag.inventory import ConversationStats, readable_size
from memory_rag.memory import Memory
from memory_rag.turns import Conversation, Role, Turn
from tests.end_to_end.hashed_words import HashedWords, NoAnswer


def turn(text: str, *, conversation: str = "c", day: int | None = None, recalled: bool = True) -> Turn:
    said_at = None if day is None else datetime(2026, 4, day, tzinfo=UTC)
    return Turn("", conversation, "s", -1, Role.USER, "Ada", text, said_at, recalled=recalled)


def test_turns_are_counted_by_everything_that_tells_them_apart(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory", embedder=HashedWords(), language="sv") as memory:
        memory.add_many([Conversation("c", "Priser"), turn("ett två tre", day=3), turn("fyra", day=1)])
        memory.add_many([turn("utan tid", conversation="d"), turn("verktyg", conversation="d", recalled=False)])
        memory.add("svar", role="assistant", conversation_id="d", said_at=datetime(2026, 4, 9, tzinfo=UTC))
        memory.embed()
        memory.add("nytt", conversation_id="d", said_at=datetime(2026, 4, 8, tzinfo=UTC))
        counted = memory.stats()

    assert (counted.n_turns, counted.n_words, counted.n_sessions) == (6, 9, 4)
    assert (counted.undated, counted.unrecalled) == (2, 1)
    assert counted.by_role == {"user": 5, "assistant": 1}
    assert list(counted.by_speaker.items()) == [("Ada", 4), ("assistant", 1), ("user", 1)]
    assert counted.conversations == (
        ConversationStats("c", "Priser", 2, datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 4, 3, tzinfo=UTC)),
        ConversationStats("d", "", 4, datetime(2026, 4, 8, tzinfo=UTC), datetime(2026, 4, 9, tzinfo=UTC)),
    )
    assert (counted.first, counted.last) == (datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 4, 9, tzinfo=UTC))
    assert (counted.embedder, counted.embedded, counted.pending) == ("hashed-words-64", 4, 1)
    assert (counted.seq, counted.snapshot_seq, counted.languages) == (6, None, ("sv",))


def test_an_empty_memory_counts_nothing(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory", embedder="none") as memory:
        counted = memory.stats()

    assert (counted.n_turns, counted.conversations, counted.first, counted.last) == (0, (), None, None)
    assert (counted.embedder, counted.embedded, counted.pending, counted.seq) == (None, 0, 0, 0)


def test_an_embedder_that_cannot_be_opened_is_noted(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory", embedder="nonsense") as memory:
        memory.add("hej")
        counted = memory.stats()

    assert (counted.embedder, counted.embedded, counted.pending) == (None, 0, 1)
    assert counted.note.startswith("unknown embedder 'nonsense'")


def test_an_embedder_that_does_not_answer_is_only_counted(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory", embedder=NoAnswer()) as memory:
        memory.add("hej")

        assert memory.stats().pending == 1


def test_the_snapshot_is_told_once_it_is_saved(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory", embedder="none", language="en") as memory:
        memory.add("one")
        memory.reindex()
        memory.add("two")

        assert (memory.stats().seq, memory.stats().snapshot_seq) == (2, 1)


@pytest.mark.parametrize(
    ("n_bytes", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (12_345, "12 kB"),
        (3_440_000, "3.4 MB"),
        (123_000_000, "123 MB"),
        (76_900_000_000, "76.9 GB"),
    ],
)
def test_sizes_are_told_in_the_unit_that_fits(n_bytes: int, words: str) -> None:
    assert readable_size(n_bytes) == words
