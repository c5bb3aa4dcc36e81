"""The dense index keeps in step with the store, other processes and what is left to embed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import EmbedderError, MemoryLockedError, StoreError
from memory_rag.privacy.vector_erasure import VectorErasure
from memory_rag.retrieval.dense import DenseIndex
from memory_rag.retrieval.dense_files import dense_in
from memory_rag.retrieval.kept_codes import KEPT_FROM, KeptCodes
from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.retrieval.ranking import Entries
from memory_rag.retrieval.scene import MISSING
from memory_rag.retrieval.selected import Selected
from memory_rag.store.files import LOCK_NAME, locked
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.store.turn_store import NEXT
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Role, Span, Turn
from tests.retrieval.given_vectors import GivenVectors

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
EAST = np.array([1, 0], np.float32)
NORTH = np.array([0, 1], np.float32)


def said(text: str, *, turn_id: str = "", recalled: bool = True, speaker: str = "user") -> Turn:
    return Turn(turn_id, "talk", "day", NEXT, Role.USER, speaker, text, said_at=NOON, recalled=recalled)


class Folder:
    """A memory's store and keyword index, with as many dense indexes on the same folder as a test opens."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = SqliteTurnStore(folder)
        self.keyword = KeywordIndex(Analyzer(("en",)))

    def add(self, *texts: str, recalled: bool = True) -> None:
        self.store.append(said(text, turn_id=text, recalled=recalled) for text in texts)
        self.keyword.catch_up(self.store)

    def add_words(self, n: int) -> None:
        self.store.append([said(" ".join(f"w{i}" for i in range(n)), turn_id="long")])
        self.keyword.catch_up(self.store)

    def correct(self, turn_id: str, text: str) -> None:
        self.store.correct(turn_id, text=text)
        self.keyword.catch_up(self.store)

    def forget(self, *turn_ids: str) -> None:
        self.store.remove(turn_ids)
        self.keyword.catch_up(self.store)

    def dense(self, embedder: GivenVectors, *, kept_from: int = KEPT_FROM) -> DenseIndex:
        index = dense_in(self.folder, embedder, lock_timeout_s=0.1, kept_from=kept_from)
        index.catch_up(self.keyword.table)
        return index

    def embed(self, index: DenseIndex, *, limit: int | None = None) -> int:
        return index.embed(self.keyword.table, self.store, limit=limit)

    def nearest(self, index: DenseIndex, *, n: int) -> list[str]:
        table = self.keyword.table
        return [
            table.turn_id(entry) for entry in index.nearest(EAST, n=n, searched=Selected.of_mask(table.alive)).tolist()
        ]

    def scores(self, index: DenseIndex, query: np.ndarray = EAST) -> dict[str, float]:
        """Return the scores of the living turns that have a vector."""
        index.catch_up(self.keyword.table)
        table = self.keyword.table
        scores = index.cosines(query, np.arange(len(table)))
        assert len(scores) == len(table)
        return {
            table.turn_id(entry): round(float(scores[entry]), 6)
            for entry in table.living().tolist()
            if scores[entry] != MISSING
        }


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Folder]:
    memory = Folder(tmp_path / "memory")
    yield memory
    memory.store.close()


def test_turns_are_embedded_and_scored_by_cosine(memory: Folder) -> None:
    memory.add("kayak", "canoe", "tax")
    index = memory.dense(GivenVectors({"kayak": (1, 0), "canoe": (0.6, 0.8)}))

    assert memory.embed(index) == 3

    assert memory.scores(index) == {"kayak": 1.0, "canoe": 0.6, "tax": 0.0}
    assert memory.embed(index) == 0
    assert len(index) == 3


def test_nothing_embedded_has_no_score(memory: Folder) -> None:
    memory.add("kayak")
    index = memory.dense(GivenVectors({}))

    assert memory.scores(index) == {}
    assert index.pending(memory.keyword.table).tolist() == [0]
    assert index.best_spans(EAST, np.array([0])) == [None]


def test_an_empty_memory_is_embedded_in_no_time(memory: Folder) -> None:
    index = memory.dense(GivenVectors({}))

    assert memory.embed(index) == 0
    assert index.cosines(EAST, np.zeros(0, np.int64)).tolist() == []
    assert not index.compact(memory.keyword.table)


def test_a_limit_takes_the_oldest_and_the_rest_stays_pending(memory: Folder) -> None:
    memory.add("one", "two", "three")
    embedder = GivenVectors({})
    index = memory.dense(embedder)

    assert memory.embed(index, limit=2) == 2

    assert embedder.embedded == ["one", "two"]
    assert index.pending(memory.keyword.table).tolist() == [2]
    assert memory.embed(index) == 1


def test_what_is_left_out_of_recall_is_not_embedded(memory: Folder) -> None:
    memory.add("kayak")
    memory.add("tool traffic", recalled=False)
    index = memory.dense(GivenVectors({}))

    assert memory.embed(index) == 1
    assert index.pending(memory.keyword.table).tolist() == []


def test_a_corrected_turn_loses_its_vector_until_it_is_embedded_again(memory: Folder) -> None:
    memory.add("kayak", "tax")
    index = memory.dense(GivenVectors({"kayak": (1, 0), "canoe": (0.6, 0.8)}))
    memory.embed(index)

    memory.correct("kayak", "canoe")

    assert memory.scores(index) == {"tax": 0.0}
    memory.embed(index)
    assert memory.scores(index) == {"kayak": 0.6, "tax": 0.0}


def test_a_long_turn_is_scored_by_its_best_passage_and_knows_where_it_is(memory: Folder) -> None:
    memory.add("aaaabbbbcc", "dddd")
    vectors = {"aaaa": (0, 1), "bbbb": (1, 0), "cc": (0.6, 0.8), "dddd": (0.8, 0.6)}
    index = memory.dense(GivenVectors(vectors, passage=4))

    memory.embed(index)

    assert len(index) == 4
    assert memory.scores(index) == {"aaaabbbbcc": 1.0, "dddd": 0.8}
    assert memory.scores(index, NORTH) == {"aaaabbbbcc": 1.0, "dddd": 0.6}
    assert index.best_spans(EAST, np.array([0])) == [Span(4, 8)]
    assert index.best_spans(NORTH, np.array([0])) == [Span(0, 4)]
    assert index.best_spans(np.array([0.6, 0.8], np.float32), np.array([0])) == [Span(8, 10)]
    assert index.best_spans(EAST, np.array([1])) == [Span(0, 4)]


def test_progress_is_told_in_turns(memory: Folder) -> None:
    memory.add(*(f"turn {n}" for n in range(600)))
    told: list[tuple[int, int]] = []

    memory.dense(GivenVectors({})).embed(
        memory.keyword.table, memory.store, progress=lambda done, total: told.append((done, total))
    )

    # Those after the first have twice its size if it was done soon.
    assert told in ([(0, 600), (256, 600), (600, 600)], [(0, 600), (256, 600), (512, 600), (600, 600)])


def test_embedding_that_stops_on_the_way_is_taken_up_again(memory: Folder) -> None:
    memory.add(*(f"turn {n}" for n in range(600)))
    embedder = GivenVectors({})
    index = memory.dense(embedder)

    def stop(done: int, _total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.embed(memory.keyword.table, memory.store, progress=stop)

    assert len(memory.scores(index)) == 256
    again = memory.dense(embedder)
    assert memory.embed(again) == 344
    assert sorted(embedder.embedded) == sorted(f"turn {n}" for n in range(600))


class ByWords(GivenVectors):
    """Cuts every turn at each space, and calls something after each call to embed."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        super().__init__({})
        self.calls: list[int] = []
        self._meanwhile = meanwhile

    def passages(self, text: str) -> tuple[Span, ...]:
        return tuple(Span(*found.span()) for found in re.finditer(r"[^ ]+", text))

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(len(texts))
        vectors = super().embed_turns(texts)
        self._meanwhile()
        return vectors


def test_a_turn_of_very_many_passages_is_embedded_in_parts_and_kept_as_a_whole(memory: Folder) -> None:
    memory.add_words(1_000)
    memory.add("one more")
    embedder = ByWords(lambda: None)
    index = memory.dense(embedder)

    assert memory.embed(index) == 2

    assert sum(embedder.calls) == 1_002
    assert max(embedder.calls) < 512
    assert sorted(embedder.embedded) == sorted([*(f"w{n}" for n in range(1_000)), "one", "more"])


def test_a_memory_that_is_closed_while_a_long_turn_is_embedded_ends_that_after_the_part_at_hand(memory: Folder) -> None:
    memory.add_words(3_000)
    embedder = ByWords(memory.store.close)
    index = memory.dense(embedder)

    with pytest.raises(StoreError, match="is closed"):
        index.embed(memory.keyword.table, memory.store)

    assert len(embedder.calls) == 1
    assert embedder.calls[0] < 512


def test_of_a_long_turn_that_is_forgotten_meanwhile_nothing_more_is_embedded(memory: Folder) -> None:
    memory.add_words(3_000)
    memory.add("stays")
    forgotten = ["long"]
    embedder = ByWords(lambda: memory.forget(*forgotten and [forgotten.pop()]))
    index = memory.dense(embedder)

    memory.embed(index)

    assert embedder.calls[0] < 512
    assert len(embedder.calls) == 2, "one part, and the other turn"
    assert list(memory.scores(index)) == ["stays"]


def test_words_that_were_said_before_are_not_embedded_again(memory: Folder) -> None:
    embedder = GivenVectors({"same": (0.6, 0.8)})
    index = memory.dense(embedder)
    memory.store.append([said("same", turn_id="first"), said("other", turn_id="other")])
    memory.keyword.catch_up(memory.store)
    index.catch_up(memory.keyword.table)
    memory.embed(index)
    embedder.embedded.clear()

    memory.store.append(said("same", turn_id=f"again {n}") for n in range(70))
    memory.store.append([said("same", turn_id="by another", speaker="Ada"), said("new", turn_id="new")])
    memory.keyword.catch_up(memory.store)
    index.catch_up(memory.keyword.table)

    assert memory.embed(index) == 72
    assert sorted(embedder.embedded) == ["new", "same"]
    scores = memory.scores(index)
    assert {scores[f"again {n}"] for n in range(70)} == {scores["first"]} == {0.6}


def test_words_are_not_taken_from_a_file_that_was_written_anew_meanwhile(memory: Folder) -> None:
    class Compacting(GivenVectors):
        """Has another process write the file anew, without its first vectors, while a batch is embedded."""

        def embed_turns(self, texts: Sequence[str]) -> Vectors:
            if not self.is_done:
                self.is_done = True
                memory.forget(*(f"old {n}" for n in range(4)))
                other = memory.dense(GivenVectors(given))
                assert other.compact(memory.keyword.table)
            return super().embed_turns(texts)

        is_done = False

    given = {"same": (0.6, 0.8), "east": (1.0, 0.0)}
    memory.store.append([said(f"old {n}", turn_id=f"old {n}") for n in range(4)])
    memory.store.append([said("same", turn_id="same"), said("east", turn_id="east")])
    memory.keyword.catch_up(memory.store)
    memory.embed(memory.dense(GivenVectors(given)))
    memory.store.append(said(f"new {n}", turn_id=f"new {n}") for n in range(300))
    memory.store.append([said("same", turn_id="again"), said("east", turn_id="once more")])
    memory.keyword.catch_up(memory.store)

    memory.embed(memory.dense(Compacting(given)))

    scores = memory.scores(memory.dense(GivenVectors(given)))
    assert (scores["again"], scores["once more"]) == (scores["same"], scores["east"]) == (0.6, 1.0)


# -- codes that are kept


def kept_codes(memory: Folder) -> KeptCodes | None:
    paths = list((memory.folder / "derived").glob("*.codes.npz"))
    return KeptCodes.read(paths[0]) if paths else None


def test_the_codes_of_many_vectors_are_kept_and_serve_the_next_process(memory: Folder) -> None:
    memory.add(*(f"turn {n}" for n in range(30)))
    index = memory.dense(GivenVectors({"turn 7": (1, 0)}), kept_from=20)
    assert memory.embed(index) == 30
    assert index.is_worth_saving
    index.save()
    kept = kept_codes(memory)
    assert kept is not None
    assert len(kept.codes) == 30

    again = memory.dense(GivenVectors({}), kept_from=20)

    assert memory.nearest(again, n=1) == ["turn 7"]
    assert not again.is_worth_saving
    memory.add("one more")
    again.catch_up(memory.keyword.table)
    memory.embed(again)
    assert not again.is_worth_saving
    memory.add(*(f"and {n}" for n in range(5)))
    again.catch_up(memory.keyword.table)
    memory.embed(again)
    assert again.is_worth_saving


def test_of_a_vector_that_was_taken_out_no_code_is_kept(memory: Folder) -> None:
    vectors = {f"turn {n}": np.random.default_rng(n).standard_normal(8).tolist() for n in range(30)}
    unit = {text: (np.array(one) / np.linalg.norm(one)).tolist() for text, one in vectors.items()}
    memory.add(*unit)
    index = memory.dense(GivenVectors(unit, dim=8), kept_from=20)
    memory.embed(index)
    index.save()
    before = kept_codes(memory)
    memory.forget("turn 7")
    VectorErasure(memory.folder).erase({8: None})

    index.catch_up(memory.keyword.table)
    index.save()

    after = kept_codes(memory)
    (path,) = (memory.folder / "derived").glob("*.codes.npz")
    path.unlink()
    memory.dense(GivenVectors({}, dim=8), kept_from=20).save()
    anew = kept_codes(memory)
    assert before is not None
    assert after is not None
    assert anew is not None
    written = [kept.codes.as_bytes().tobytes() for kept in (before, after, anew)]
    assert written[0] != written[1] == written[2]


def test_vectors_stay_where_they_are_when_one_is_taken_out(memory: Folder) -> None:
    memory.add("kayak", "canoe", "tax")
    embedder = GivenVectors({"kayak": (1, 0), "canoe": (0.6, 0.8)})
    here, there = memory.dense(embedder), memory.dense(embedder)
    memory.embed(here)
    assert memory.scores(there) == {"kayak": 1.0, "canoe": 0.6, "tax": 0.0}
    memory.forget("kayak")

    VectorErasure(memory.folder).erase({1: None})

    for index in (here, there):
        assert memory.scores(index) == {"canoe": 0.6, "tax": 0.0}
        assert memory.nearest(index, n=3) == ["canoe", "tax"]
        assert len(index) == 3
    memory.add("kayak again")
    there.catch_up(memory.keyword.table)
    assert memory.embed(there) == 1
    assert memory.scores(here) == memory.scores(there) == {"canoe": 0.6, "tax": 0.0, "kayak again": 0.0}


def test_few_vectors_keep_no_codes(memory: Folder) -> None:
    memory.add(*(f"turn {n}" for n in range(19)))
    index = memory.dense(GivenVectors({}), kept_from=20)
    memory.embed(index)

    index.save()

    assert kept_codes(memory) is None


@pytest.mark.parametrize("harm", ["cut off", "garbled", "of other vectors"])
def test_codes_that_do_not_fit_are_made_anew(memory: Folder, harm: str) -> None:
    memory.add(*(f"turn {n}" for n in range(30)))
    index = memory.dense(GivenVectors({"turn 7": (1, 0)}), kept_from=20)
    memory.embed(index)
    index.save()
    (path,) = (memory.folder / "derived").glob("*.codes.npz")
    if harm == "of other vectors":
        memory.forget(*(f"turn {n}" for n in range(10, 30)))
        index.catch_up(memory.keyword.table)
        assert index.compact(memory.keyword.table)
    else:
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2] + (b"" if harm == "cut off" else bytes(len(data) - len(data) // 2)))

    again = memory.dense(GivenVectors({}), kept_from=5)

    assert memory.nearest(again, n=1) == ["turn 7"]
    assert again.is_worth_saving


# -- several on one folder


def test_vectors_of_another_process_are_taken_in(memory: Folder) -> None:
    embedder = GivenVectors({"kayak": (1, 0)})
    memory.add("kayak")
    one, other = memory.dense(embedder), memory.dense(embedder)

    memory.embed(one)

    assert memory.scores(other) == {"kayak": 1.0}
    assert memory.embed(other) == 0
    assert embedder.embedded == ["kayak"]


def test_two_that_embed_the_same_turns_in_turns_stay_right(memory: Folder) -> None:
    vectors = {f"turn {n}": (1.0, n / 10) for n in range(20)}
    embedder = GivenVectors(vectors)
    one, other = memory.dense(embedder), memory.dense(embedder)
    for n in range(0, 20, 2):
        memory.add(f"turn {n}", f"turn {n + 1}")
        # Each still thinks that both turns are waiting when it begins.
        one.catch_up(memory.keyword.table)
        other.catch_up(memory.keyword.table)
        memory.embed(one, limit=1)
        memory.embed(other, limit=2)

    expected = {text: round(1 / float(np.hypot(1, n / 10)), 6) for n, text in enumerate(vectors)}
    for index in (one, other, memory.dense(embedder)):
        assert memory.scores(index) == pytest.approx(expected, abs=2e-6)
        assert index.pending(memory.keyword.table).tolist() == []


def test_what_waits_is_what_lives_and_has_no_vector_whatever_came_and_went(memory: Folder) -> None:
    random = np.random.default_rng(8)
    embedder = GivenVectors({})
    one, other = memory.dense(embedder), memory.dense(embedder)
    living: list[str] = []
    for step in range(60):
        change = random.integers(6)
        if change < 2 or not living:
            living.append(f"turn {step}")
            memory.add(living[-1], recalled=bool(random.random() < 0.8))
        elif change == 2:
            memory.forget(living.pop(random.integers(len(living))))
        elif change == 3:
            memory.correct(str(random.choice(living)), f"corrected {step % 7}")
        else:
            memory.embed((one, other)[change - 4], limit=int(random.integers(1, 4)))
        if step == 40:
            memory.keyword.compact()
        table = memory.keyword.table
        for index in (one, other) if step % 3 else (other,):
            index.catch_up(table)
            waiting = np.flatnonzero(table.alive & table.recalled & ~index.covered)
            assert index.pending(table).tolist() == waiting.tolist()


def test_a_turn_that_two_processes_embedded_is_named_once(memory: Folder) -> None:
    embedder = GivenVectors({"a": (1, 0), "b": (0.8, 0.6), "c": (0.6, 0.8)})
    memory.add("a", "b", "c")
    one, other = memory.dense(embedder), memory.dense(embedder)
    memory.embed(one)
    # It has not heard of the other's vectors when it asks what is pending.
    memory.embed(other)

    for index in (one, other, memory.dense(embedder)):
        index.catch_up(memory.keyword.table)
        assert len(index) == 6
        assert memory.nearest(index, n=3) == ["a", "b", "c"]


@pytest.mark.parametrize("passage", [None, 6])
def test_the_nearest_are_those_with_the_highest_cosines_of_what_is_searched(
    memory: Folder, passage: int | None
) -> None:
    random = np.random.default_rng(3)
    texts = [f"turn {n} {'and more' * (n % 3)}" for n in range(300)]
    pieces = {text[start : start + (passage or 100)] for text in texts for start in range(0, len(text), passage or 100)}
    memory.add(*texts)
    index = memory.dense(
        GivenVectors({piece: random.normal(size=8).tolist() for piece in sorted(pieces)}, dim=8, passage=passage)
    )
    memory.embed(index)
    memory.forget(*texts[10:40])
    memory.correct(texts[50], "nothing of it")
    memory.correct(texts[60], texts[70])
    index.catch_up(memory.keyword.table)
    table = memory.keyword.table

    for every in (1, 2, 7, 40, 1000):
        searched = table.alive & (np.arange(len(table)) % every == 0)
        for n in (1, 10, 50, 400):
            query = random.normal(size=8).astype(np.float32)
            query /= np.linalg.norm(query)
            cosines = np.where(searched, index.cosines(query, np.arange(len(table))), MISSING)
            best = np.argsort(-cosines, kind="stable")[: min(n, int((cosines > MISSING).sum()))]
            found = index.nearest(query, n=n, searched=Selected.of_mask(searched))
            assert len(set(found.tolist())) == len(found)
            assert cosines[found].tolist() == cosines[best].tolist()


def test_the_spread_over_a_sample_follows_the_vectors_that_its_entries_have(memory: Folder) -> None:
    vectors: dict[str, Sequence[float]] = {
        "east": [1, 0],
        "north": [0, 1],
        "between": [0.6, 0.8],
        "late": [-1, 0],
        "said instead": [0.8, -0.6],
    }
    index = memory.dense(GivenVectors(vectors))
    sample = np.arange(4)

    def spread(**asked: Entries) -> tuple[float, float]:
        index.catch_up(memory.keyword.table)
        return index.spread(EAST, sample, **asked)

    def embed(limit: int | None = None) -> None:
        index.catch_up(memory.keyword.table)
        memory.embed(index, limit=limit)

    def of(*cosines: float) -> Any:
        return pytest.approx((np.mean(cosines), np.std(cosines)), abs=1e-6)

    memory.add("east", "north", "between", "late")
    embed(limit=3)
    assert spread() == of(1, 0, 0.6)
    assert spread(without=np.array([2, 0])) == of(0)
    embed()
    assert spread() == of(1, 0, 0.6, -1)
    memory.add("elsewhere")
    embed()
    assert spread() == of(1, 0, 0.6, -1)
    memory.correct("north", "said instead")
    embed()
    # The entry that was corrected is another one now.
    assert spread() == of(1, 0.6, -1)
    assert index.spread(NORTH, sample) == of(0, 0.8, 0)
    memory.forget("late")
    assert spread(without=np.array([0])) == of(0.6)


def test_the_spread_over_a_sample_takes_the_best_passage_of_each_turn(memory: Folder) -> None:
    index = memory.dense(GivenVectors({"ab": [1, 0], "cd": [0, 1], "ef": [-1, 0]}, passage=2))
    memory.add("abcdef", "cd", "cdef")
    index.catch_up(memory.keyword.table)
    memory.embed(index)

    assert index.spread(EAST, np.arange(3)) == pytest.approx((1 / 3, np.std([1, 0, 0])))
    assert index.spread(EAST, np.arange(3), without=np.array([0])) == pytest.approx((0, 0))


def test_a_file_that_another_process_wrote_anew_with_as_many_vectors_is_matched_anew(memory: Folder) -> None:
    vectors = {"a": (1, 0), "b": (0.8, 0.6), "c": (0.6, 0.8), "old": (0, 1), "new": (0, -1)}
    embedder = GivenVectors(vectors)
    memory.add("old", "a", "b")
    one = memory.dense(embedder)
    memory.embed(one)
    memory.forget("old")
    memory.add("c")
    reader = memory.dense(embedder)
    assert memory.scores(reader) == {"a": 1.0, "b": 0.8}

    assert one.compact(memory.keyword.table)
    memory.embed(one)

    assert len(one) == 3
    assert memory.scores(reader) == {"a": 1.0, "b": 0.8, "c": 0.6}


def test_compaction_waits_for_many_dead_vectors_and_keeps_the_living(memory: Folder) -> None:
    embedder = GivenVectors({"a": (1, 0), "d": (0.6, 0.8)})
    memory.add("a", "b", "c", "d")
    index = memory.dense(embedder)
    memory.embed(index)
    memory.forget("b")
    index.catch_up(memory.keyword.table)
    assert not index.compact(memory.keyword.table)

    memory.forget("c")
    index.catch_up(memory.keyword.table)

    assert index.compact(memory.keyword.table)
    assert len(index) == 2
    for opened in (index, memory.dense(embedder)):
        assert memory.scores(opened) == {"a": 1.0, "d": 0.6}
    assert len(embedder.embedded) == 4


def test_a_lock_that_another_process_holds_is_waited_for_and_named(memory: Folder) -> None:
    memory.add("kayak")
    index = memory.dense(GivenVectors({}))

    with locked(memory.folder / LOCK_NAME, timeout_s=1, what="a test"), pytest.raises(MemoryLockedError):
        memory.embed(index)

    assert memory.embed(index) == 1


# -- what an embedder may not do


@pytest.mark.parametrize("vector", [(0.0, 0.0), (float("nan"), 0.0), (float("inf"), 1.0)])
def test_a_vector_without_direction_is_refused_and_nothing_of_its_batch_is_kept(
    memory: Folder, vector: tuple[float, float]
) -> None:
    memory.add("fine", "broken")
    index = memory.dense(GivenVectors({"broken": vector}, raw=True))

    with pytest.raises(EmbedderError, match="'broken'"):
        memory.embed(index)

    assert memory.scores(index) == {}


class ThreeForTwo(GivenVectors):
    """Says that it gives two numbers and gives three."""

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        return np.ones((len(texts), 3), np.float32)


def test_vectors_of_another_dim_are_refused(memory: Folder) -> None:
    memory.add("kayak")
    index = memory.dense(ThreeForTwo({}))

    with pytest.raises(EmbedderError, match=r"shape \(1, 3\)"):
        memory.embed(index)
    assert memory.scores(index) == {}


def test_two_embedders_have_their_own_vectors(memory: Folder) -> None:
    memory.add("kayak")
    one = memory.dense(GivenVectors({"kayak": (1, 0)}, name="one"))
    other = memory.dense(GivenVectors({"kayak": (0, 1)}, name="other"))

    memory.embed(one)

    assert other.pending(memory.keyword.table).tolist() == [0]
    memory.embed(other)
    assert (memory.scores(one), memory.scores(other)) == ({"kayak": 1.0}, {"kayak": 0.0})


def test_a_keyword_index_that_is_built_anew_is_matched_anew(memory: Folder) -> None:
    memory.add("a", "b", "c")
    memory.forget("a")
    index = memory.dense(GivenVectors({"b": (1, 0), "c": (0.6, 0.8)}))
    memory.embed(index)

    memory.keyword = KeywordIndex(Analyzer(("en",)))
    memory.keyword.catch_up(memory.store)

    assert memory.scores(index) == {"b": 1.0, "c": 0.6}
