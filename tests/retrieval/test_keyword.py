"""The keyword index keeps in step with the store and comes back from its snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from memory_rag.retrieval.agreement import disagreement
from memory_rag.retrieval.keyword import FILE_NAME, KeywordIndex
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.store.turn_store import NEXT
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Block, Role, Span, Turn

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
ENGLISH = Analyzer(("en",))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteTurnStore]:
    store = SqliteTurnStore(tmp_path / "memory")
    yield store
    store.close()


def said(text: str, *, turn_id: str = "", speaker: str = "user", recalled: bool = True) -> Turn:
    return Turn(turn_id, "talk", "day", NEXT, Role.USER, speaker, text, said_at=NOON, recalled=recalled)


def caught_up(store: SqliteTurnStore, analyzer: Analyzer = ENGLISH) -> KeywordIndex:
    index = KeywordIndex(analyzer)
    index.catch_up(store)
    return index


def held_by(index: KeywordIndex, term: str) -> list[str]:
    found = index.bm25.postings.of(term)
    return [] if found is None else [index.table.turn_id(entry) for entry in found[0] if index.table.alive[entry]]


def test_added_corrected_and_removed_turns_are_taken_in(store: SqliteTurnStore) -> None:
    store.append([said("a kayak", turn_id="a"), said("a canoe", turn_id="b"), said("a raft", turn_id="c")])
    index = caught_up(store)
    store.correct("a", text="a ferry")
    store.remove(["b"])
    store.add(said("kayaks", turn_id="d"))

    assert index.catch_up(store) == 3

    assert (held_by(index, "kayak"), held_by(index, "canoe"), held_by(index, "ferri")) == (["d"], [], ["a"])
    assert index.table.n_alive == 3
    assert index.applied_seq == store.last_seq
    assert index.catch_up(store) == 0


def test_catching_up_in_steps_is_as_good_as_at_once(store: SqliteTurnStore) -> None:
    index = KeywordIndex(ENGLISH)
    for n in range(30):
        store.add(said(f"kayak number {n}", turn_id=f"t{n}"))
        if n % 4 == 0:
            store.correct(f"t{n}", text=f"canoe {n}")
        if n % 7 == 3:
            store.remove([f"t{n}"])
        if n % 5 == 0:
            index.catch_up(store)
    index.catch_up(store)

    assert disagreement(index, caught_up(store)) == ""


def test_progress_is_told_in_turns(store: SqliteTurnStore) -> None:
    store.append(said(f"turn {n}") for n in range(2500))
    told: list[tuple[int, int]] = []

    KeywordIndex(ENGLISH).catch_up(store, progress=lambda done, total: told.append((done, total)))

    assert told == [(1000, 2500), (2000, 2500), (2500, 2500)]


def test_a_turn_is_found_by_its_words_captions_and_speaker(store: SqliteTurnStore) -> None:
    index = KeywordIndex(ENGLISH)
    shown = Turn(
        "a",
        "talk",
        "day",
        0,
        Role.USER,
        "Ada",
        "[draft] a kayak [end]",
        blocks=(Block("image", {"url": "https://example.org/x"}, "a red boat"),),
        indexed=Span(8, 15),
    )

    assert index.terms_of(shown) == ["ada", "kayak", "share", "imag", "red", "boat"]


@pytest.mark.parametrize("speaker", ["user", "Assistant", "ChatGPT", "system"])
def test_a_part_in_the_conversation_is_no_name_to_be_found_by(speaker: str) -> None:
    assert KeywordIndex(ENGLISH).terms_of(said("a kayak", speaker=speaker)) == ["kayak"]


def test_a_compacted_index_is_as_good_as_one_that_is_built_anew(store: SqliteTurnStore) -> None:
    store.append(said(f"kayak {n} canoe{n % 5}", turn_id=f"t{n}", speaker=f"Ada {n % 7}") for n in range(60))
    index = caught_up(store)
    store.correct("t3", text="a ferry")
    store.remove(["t0", "t7", "t14"])
    index.catch_up(store)

    index.compact()

    assert disagreement(index, caught_up(store)) == ""
    assert len(index.table) == index.table.n_alive == 57
    assert held_by(index, "ferri") == ["t3"]
    store.add(said("a raft", turn_id="new"))
    index.catch_up(store)
    assert disagreement(index, caught_up(store)) == ""


# -- the snapshot


def test_a_snapshot_comes_back_and_catches_up_from_there(store: SqliteTurnStore, tmp_path: Path) -> None:
    store.append(said(f"kayak {n} på sjön \ud83d", speaker=f"Åsa {n % 3}") for n in range(100))
    store.remove(["t3"])
    index = caught_up(store)
    index.save(tmp_path)
    store.add(said("a canoe", turn_id="new"))

    loaded = KeywordIndex.load(tmp_path, ENGLISH)

    assert loaded.applied_seq == index.applied_seq
    assert disagreement(loaded, index) == ""
    assert loaded.follows(store)
    assert loaded.catch_up(store) == 1
    assert held_by(loaded, "cano") == ["new"]


def test_an_empty_index_has_a_snapshot_too(store: SqliteTurnStore, tmp_path: Path) -> None:
    KeywordIndex(ENGLISH).save(tmp_path)

    loaded = KeywordIndex.load(tmp_path, ENGLISH)
    store.add(said("a kayak", turn_id="a"))
    loaded.catch_up(store)

    assert held_by(loaded, "kayak") == ["a"]


def test_without_a_snapshot_or_with_another_analyzers_the_index_is_empty(
    store: SqliteTurnStore, tmp_path: Path
) -> None:
    assert KeywordIndex.load(tmp_path, ENGLISH).applied_seq == 0
    store.add(said("a kayak"))
    caught_up(store).save(tmp_path)

    assert KeywordIndex.load(tmp_path, ENGLISH).applied_seq == 1
    assert KeywordIndex.load(tmp_path, Analyzer(("sv",))).applied_seq == 0
    assert KeywordIndex.load(tmp_path, Analyzer(("en", "sv"))).applied_seq == 0


def test_a_snapshot_of_another_store_does_not_follow_this_one(store: SqliteTurnStore, tmp_path: Path) -> None:
    other = SqliteTurnStore(tmp_path / "other")
    for one in (store, other):
        one.append([said("a kayak"), said("a canoe")])
    index = caught_up(other)
    other.close()

    assert KeywordIndex(ENGLISH).follows(store)
    assert caught_up(store).follows(store)
    assert not index.follows(store)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, KeywordIndex]:
    folder = tmp_path_factory.mktemp("snapshot")
    store = SqliteTurnStore(folder / "memory")
    store.append(said(f"kayak {n} {'canoe ' * (n % 4)}", speaker=f"Ada {n % 3}") for n in range(30))
    index = caught_up(store)
    index.save(folder)
    store.close()
    return (folder / FILE_NAME).read_bytes(), index


@settings(max_examples=300)
@given(data=st.data())
def test_a_snapshot_with_any_byte_changed_is_the_same_or_not_used(
    snapshot: tuple[bytes, KeywordIndex], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole, index = snapshot
    place = data.draw(st.integers(0, len(whole) - 1))
    flipped = data.draw(st.integers(1, 255))
    folder = tmp_path_factory.getbasetemp() / "damaged"
    folder.mkdir(exist_ok=True)
    (folder / FILE_NAME).write_bytes(whole[:place] + bytes([whole[place] ^ flipped]) + whole[place + 1 :])

    loaded = KeywordIndex.load(folder, ENGLISH)

    assert loaded.applied_seq in (0, index.applied_seq)
    if loaded.applied_seq:
        assert disagreement(loaded, index) == ""
        assert loaded.bm25.postings.terms == index.bm25.postings.terms
    else:
        assert len(loaded.table) == 0


@settings(max_examples=100)
@given(data=st.data())
def test_a_snapshot_cut_off_anywhere_is_not_used(
    snapshot: tuple[bytes, KeywordIndex], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole, _index = snapshot
    folder = tmp_path_factory.getbasetemp() / "cut"
    folder.mkdir(exist_ok=True)
    (folder / FILE_NAME).write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])

    assert KeywordIndex.load(folder, ENGLISH).applied_seq == 0


# -- okapi, after everything


class Program:
    """A store and its index after adds, corrections, removals and snapshots; ``texts`` is what should be there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = SqliteTurnStore(folder / "memory")
        self.index = KeywordIndex(ENGLISH)
        self.texts: dict[str, str] = {}

    def run(self, step: tuple[str, int, str]) -> None:
        what, number, text = step
        known = sorted(self.texts)
        if what == "add":
            self.texts[self.store.add(said(text)).turn_id] = text
        elif what == "save":
            self.index.catch_up(self.store)
            self.index.save(self.folder)
            self.index = KeywordIndex.load(self.folder, ENGLISH)
        elif known and what == "correct":
            self.store.correct(known[number % len(known)], text=text)
            self.texts[known[number % len(known)]] = text
        elif known and what == "remove":
            self.store.remove([known[number % len(known)]])
            del self.texts[known[number % len(known)]]


WORDS = st.lists(st.sampled_from(["kayak", "tax", "bread", "rain", "the"]), max_size=5).map(" ".join)
STEPS = st.tuples(st.sampled_from(["add", "add", "add", "correct", "remove", "save"]), st.integers(0, 20), WORDS)


@settings(max_examples=40)
@given(st.lists(STEPS, max_size=25), st.lists(st.sampled_from(["kayak", "tax", "bread", "snow"]), max_size=4))
def test_okapi_is_rank_bm25_after_adds_corrections_removals_and_snapshots(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, str]], query: list[str]
) -> None:
    program = Program(tmp_path_factory.mktemp("program"))
    for step in steps:
        program.run(step)
    program.index.catch_up(program.store)
    program.store.close()
    table = program.index.table
    living = table.living().tolist()

    scores = program.index.bm25.okapi_scores(query, table.alive)

    tokens = [ENGLISH.terms(program.texts[table.turn_id(entry)]) for entry in living]
    assert {table.turn_id(entry) for entry in living} == set(program.texts)
    expected = BM25Okapi(tokens).get_scores(query) if any(tokens) else np.zeros(len(living))
    assert scores[living].tolist() == pytest.approx(expected.tolist(), abs=1e-9)
