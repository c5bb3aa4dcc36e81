"""A memory's indexes as one: loaded, caught up, saved, and rid of what was removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import EmbedderError, SettingsError
from memory_rag.memory import Memory
from memory_rag.retrieval.keyword import FILE_NAME
from memory_rag.store.turn_reader import TurnReader
from tests.retrieval.given_vectors import GivenVectors
from tests.said import said

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
Open = Callable[..., Memory]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Open the one memory of a test, as often as it likes."""
    memories: list[Memory] = []

    def open_memory(*texts: str, embedder: GivenVectors | None = None, **settings: Any) -> Memory:
        memory = Memory.open(tmp_path / "memory", embedder=embedder or "none", clock=lambda: NOON, **settings)
        memories.append(memory)
        for text in texts:
            memory.add(text)
        return memory

    yield open_memory
    for memory in memories:
        memory.close()


def snapshot(memory: Memory) -> Path:
    return memory.folder / "derived" / FILE_NAME


ENGLISH = [f"I went to the market with my brother on day {n} and we bought fish" for n in range(60)]
SWEDISH = [f"Jag gick till torget med min bror dag {n} och vi köpte fisk" for n in range(60)]


# -- language


def test_the_language_is_guessed_from_what_was_said(opened: Open) -> None:
    memory = opened(*SWEDISH[:5])
    memory.search("fisk")

    assert memory.indexes.keyword.analyzer.languages == ("sv",)


def test_a_guess_may_change_while_little_was_said_and_then_stays(opened: Open) -> None:
    memory = opened(*ENGLISH[:2])
    memory.search("fish")
    assert memory.indexes.keyword.analyzer.languages == ("en",)

    for text in SWEDISH[:55]:
        memory.add(text)
    assert memory.search("fisken", mode="keyword", k=100).turn_ids != ()
    assert memory.indexes.languages() == ("sv",)

    for text in ENGLISH:
        memory.add(text)
    memory.search("fish")
    assert memory.indexes.languages() == ("sv",)
    assert opened().indexes.languages() == ("sv",)


def test_a_memory_of_two_languages_is_searched_in_both(opened: Open) -> None:
    memory = opened(*[text for pair in zip(ENGLISH, SWEDISH, strict=True) for text in pair])

    assert set(memory.indexes.languages()) == {"en", "sv"}
    assert len(memory.search("brothers", mode="keyword", k=100)) == 60
    assert len(memory.search("bröder", mode="keyword", k=100)) == 0
    assert len(memory.search("torgets", mode="keyword", k=100)) == 60


def test_a_prompt_guesses_no_language_anew(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = opened()
    memory.store.append([said(text) for text in SWEDISH[:20]])
    assert memory.indexes.spoken_languages() == ("sv",)
    memory.search("fisk")
    monkeypatch.delattr(TurnReader, "scan")

    made = memory.context("Vad sa jag om fisken?")

    assert memory.indexes.spoken_languages() == ("sv",)
    assert "torget" in made.quoted


def test_a_language_that_is_set_is_not_guessed(opened: Open) -> None:
    memory = opened(*SWEDISH[:3], language="en,de")
    memory.search("fisk")

    assert memory.indexes.keyword.analyzer.languages == ("en", "de")


def test_reindexing_in_another_language_is_remembered(opened: Open) -> None:
    memory = opened(*ENGLISH[:3])
    memory.reindex(language="sv,en,sv")

    assert memory.indexes.languages() == ("sv", "en")
    assert opened().indexes.languages() == ("sv", "en")
    with pytest.raises(SettingsError, match="klingon"):
        memory.reindex(language="klingon")


def test_languages_that_another_process_sets_are_searched_in(opened: Open) -> None:
    memory = opened(*ENGLISH[:3])
    memory.search("fish")
    opened().reindex(language="sv")

    assert memory.indexes.languages() == ("sv",)
    memory.search("fish")
    assert memory.indexes.keyword.analyzer.languages == ("sv",)


# -- saving


def test_a_snapshot_is_used_at_the_next_start_and_caught_up(opened: Open) -> None:
    memory = opened("a kayak")
    memory.search("kayak")
    memory.indexes.save()
    memory.add("another kayak")

    again = opened()

    assert again.indexes.keyword.applied_seq == 1
    assert len(again.search("kayak", mode="keyword")) == 2


def test_derived_files_may_be_deleted_at_any_time(opened: Open) -> None:
    memory = opened("a kayak")
    memory.search("kayak")
    memory.indexes.save()
    for path in snapshot(memory).parent.iterdir():
        path.unlink()

    assert len(opened().search("kayak", mode="keyword")) == 1
    memory.indexes.save()
    assert snapshot(memory).exists()


def test_closing_saves_only_what_is_worth_it(opened: Open) -> None:
    few = opened("a kayak")
    few.search("kayak")
    few.close()
    assert not snapshot(few).exists()

    many = opened(*(f"kayak {n}" for n in range(250)))
    many.search("kayak")
    many.close()
    assert snapshot(many).exists()


def test_nothing_of_a_forgotten_turn_stays_in_the_derived_files(opened: Open) -> None:
    memory = opened("a kayak", "zqcanary7731 was said here")
    canary = memory.add("by me", speaker="Zqspeaker", conversation_id="zqtalk", session_id="zqday")
    memory.search("kayak")
    memory.indexes.save()
    assert b"zqcanary7731" in snapshot(memory).read_bytes()
    assert b"Zqspeaker" in snapshot(memory).read_bytes()

    memory.forget([canary.turn_id, memory.search("zqcanary7731", mode="keyword").turn_ids[0]])

    left = b"".join(path.read_bytes() for path in snapshot(memory).parent.iterdir())
    assert b"zq" not in left.lower()
    assert memory.search("kayak", mode="keyword").turn_ids == ("t1",)


def test_a_process_that_has_not_heard_of_it_does_not_bring_a_forgotten_turn_back(opened: Open) -> None:
    memory, other = opened("a kayak", "zqcanary7731"), opened()
    for one in (memory, other):
        one.search("zqcanary7731")
    memory.forget(["t2"])

    other.indexes.save()

    assert b"zqcanary7731" not in snapshot(memory).read_bytes()


def test_the_old_words_of_a_corrected_turn_are_not_saved(opened: Open) -> None:
    memory = opened("zqcanary7731", "a kayak")
    memory.search("kayak")
    memory.correct("t1", text="a ferry")

    memory.indexes.save()

    assert b"zqcanary7731" not in snapshot(memory).read_bytes()
    assert memory.search("ferry", mode="keyword").turn_ids == ("t1",)


@pytest.mark.parametrize("mode", ["keyword", "hybrid", "dense"])
def test_searches_go_on_as_before_when_dead_entries_are_dropped(opened: Open, mode: str) -> None:
    texts = [f"kayak number{n}" for n in range(30)]
    embedder = GivenVectors({text: (1.0, n / 10) for n, text in enumerate(texts)})
    memory = opened(*texts, embedder=embedder, language="en")
    memory.correct("t5", text="kayak number12")
    memory.search("number12 kayak", mode=mode)
    memory.indexes.save()

    memory.forget([f"t{n}" for n in range(10, 20) if n != 13])

    after = memory.search("kayak number12", mode=mode, k=50, floor=False)
    anew = opened(embedder=embedder, language="en")
    anew.reindex()
    assert after.hits == anew.search("kayak number12", mode=mode, k=50, floor=False).hits


# -- without vectors


def test_without_an_embedder_a_hybrid_search_says_so(opened: Open) -> None:
    ranking = opened("a kayak").search("kayak")

    assert ranking.turn_ids == ("t1",)
    assert ranking.notes == ("found by keyword only: this memory has no embedder (embedder = none)",)


class Silent(GivenVectors):
    """An embedder whose model doesn't answer."""

    def embed_turns(self, texts: object) -> Vectors:
        raise EmbedderError("the model doesn't answer; try again later")

    embed_queries = embed_turns


def test_an_embedder_that_does_not_answer_leaves_keyword_search_and_is_told(opened: Open) -> None:
    memory = opened("a kayak", embedder=Silent({}))

    ranking = memory.search("kayak", floor=False)

    assert ranking.turn_ids == ("t1",)
    assert ranking.notes == ("found by keyword only: the model doesn't answer; try again later",)
    with pytest.raises(EmbedderError, match="doesn't answer"):
        memory.search("kayak", mode="dense")


def test_pruning_drops_the_vectors_of_other_embedders(opened: Open) -> None:
    first = opened("a kayak", embedder=GivenVectors({}, name="first"))
    first.embed()
    second = opened(embedder=GivenVectors({}, name="second"))

    second.reindex()
    assert {path.stem for path in (second.folder / "vectors").iterdir()} == {"first-2", "second-2"}

    second.reindex(prune=True)
    assert {path.stem for path in (second.folder / "vectors").iterdir()} == {"second-2"}


# -- a turn that was just said


def statements_of(memory: Memory, work: Callable[[], object]) -> list[str]:
    """Return what is asked of SQLite in this thread meanwhile."""
    asked: list[str] = []
    with memory.store.connections.reading() as connection:
        connection.set_trace_callback(asked.append)  # type: ignore[attr-defined]  # sqlite3's own, no other engine's
        try:
            work()
        finally:
            connection.set_trace_callback(None)  # type: ignore[attr-defined]
    return asked


def test_a_search_that_takes_in_a_turn_asks_the_store_nine_times(opened: Open) -> None:
    memory = opened(*ENGLISH, embedder=GivenVectors({}))
    memory.search("fish")
    memory.add("The kayak is leaking.", turn_id="new")

    asked = statements_of(memory, lambda: memory.search("kayak"))

    # What changed and in which language, before a vector is made and after; the new turn, twice; before and under the
    # lock, whether anything has changed since; the hits.
    assert len(asked) <= 9
    assert memory.search("kayak").turn_ids[0] == "new"
    assert len(statements_of(memory, lambda: memory.search("kayak"))) <= 3
