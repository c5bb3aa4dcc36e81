"""One search from the question to its hits, in any of the modes."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import EmbedderError, QueryError
from memory_rag.memory import Memory
from memory_rag.retrieval.dense import DenseIndex
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.ranking import Entries, Ranking
from memory_rag.retrieval.searcher import Mode, SearchOptions
from memory_rag.retrieval.selected import Selected
from memory_rag.retrieval.signals import WEIGHTS
from memory_rag.retrieval.vectors import VectorFile
from memory_rag.turns import Role, Span, Turn
from tests.retrieval.given_vectors import GivenVectors

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
Open = Callable[..., Memory]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    memories: list[Memory] = []

    def open_memory(
        *turns: Turn, embedder: GivenVectors | None = None, language: str = "en", **settings: Any
    ) -> Memory:
        memory = Memory.open(
            tmp_path / f"memory{len(memories)}",
            embedder=embedder or "none",
            language=language,
            clock=lambda: NOON,
            **settings,
        )
        memories.append(memory)
        memory.add_many(replace(said, turn_id=said.turn_id or said.text, ordinal=n) for n, said in enumerate(turns))
        return memory

    yield open_memory
    for memory in memories:
        memory.close()


def said(
    text: str,
    *,
    turn_id: str = "",
    speaker: str = "user",
    role: Role = Role.USER,
    session_id: str = "day",
    recalled: bool = True,
    conversation_id: str = "talk",
) -> Turn:
    return Turn(turn_id, conversation_id, session_id, 0, role, speaker, text, said_at=NOON, recalled=recalled)


# -- modes and options


def test_an_unknown_mode_is_an_error_that_names_the_modes() -> None:
    with pytest.raises(
        QueryError, match="'fuzzy'; a mode is one of: hybrid, keyword, dense, rrf, overlap, okapi, rank-bm25"
    ):
        Mode.parse("fuzzy")


def test_less_than_one_of_anything_is_an_error() -> None:
    with pytest.raises(QueryError, match="k must be at least 1, got 0"):
        SearchOptions(k=0)
    with pytest.raises(QueryError, match="depth must be at least 1, got -1"):
        SearchOptions(depth=-1)


# -- hits


def test_hits_are_numbered_and_say_why_they_are_there(opened: Open) -> None:
    memory = opened(said("kayak trip"), said("kayak"), said("tax"))

    ranking = memory.search("kayak trip", mode="keyword")

    assert [(hit.rank, hit.turn.text, hit.span) for hit in ranking] == [
        (1, "kayak trip", Span(0, 10)),
        (2, "kayak", Span(0, 5)),
    ]
    assert all(hit.signals == {"keyword": hit.score} for hit in ranking)
    assert ranking.evidence == "strong"
    assert (ranking.query, ranking.mode, ranking.pending, ranking.notes) == ("kayak trip", "keyword", 0, ())


def test_a_hybrid_score_is_the_sum_of_its_signals(opened: Open) -> None:
    memory = opened(said("kayak trip"), said("kayak"), said("tax"), embedder=GivenVectors({"kayak": (1, 0)}))

    for hit in memory.search("kayak trip", floor=False):
        assert hit.score == pytest.approx(sum(hit.signals.values()))
        assert list(hit.signals) == list(WEIGHTS)


def test_the_span_of_a_long_turn_is_its_best_passage(opened: Open) -> None:
    text = "aaaa" * 100 + "bbbb" * 100 + "cccc" * 100
    vectors = {"aaaa" * 100: (0, 1), "bbbb" * 100: (1, 0), "cccc" * 100: (0, 1), "what": (1, 0)}
    memory = opened(said(text, turn_id="long"), embedder=GivenVectors(vectors, passage=400))

    assert memory.search("what", mode="dense")[0].span == Span(400, 800)
    assert memory.search("what", floor=False)[0].span == Span(400, 800)


def test_a_turn_that_is_only_found_by_keyword_has_the_span_of_its_words(opened: Open) -> None:
    text = f"{'nothing here. ' * 60}a kayak. {'nothing here. ' * 60}"
    memory = opened(said(text, turn_id="long"), embedder=GivenVectors({}), pending_limit=0)

    for mode in ("keyword", "hybrid"):
        assert "kayak" in memory.search("kayak", mode=mode, floor=False)[0].span.of(text)


def test_a_span_is_in_the_stored_text_though_less_or_more_of_it_is_searched(opened: Open) -> None:
    turn = replace(said("[draft] a kayak [end]", turn_id="a"), indexed=Span(8, 15))
    memory = opened(turn, embedder=GivenVectors({}))

    for mode in ("keyword", "dense"):
        assert memory.search("kayak", mode=mode)[0].span.of(turn.text) == "a kayak"


# -- what is found by which side


def test_questions_of_names_find_what_was_said_and_not_who_is_greeted(opened: Open) -> None:
    vectors = {"What did they research?": (1, 0), "adoption agencies": (0.9, 0.1), "Hi Caroline!": (0, 1)}
    memory = opened(
        said("Hi Caroline!", speaker="Melanie"),
        said("adoption agencies", speaker="Caroline"),
        embedder=GivenVectors(vectors),
    )

    ranking = memory.search("What did Caroline research?", floor=False)

    assert ranking.turn_ids[0] == "adoption agencies"
    assert ranking[0].signals["speaker"] > 0


def test_what_you_said_is_the_assistants_and_what_i_said_the_users(opened: Open) -> None:
    memory = opened(
        said("tomatoes on the balcony", turn_id="u"),
        said("tomatoes on the balcony", turn_id="a", role=Role.ASSISTANT, speaker="assistant"),
        embedder=GivenVectors({}),
    )

    assert memory.search("What did I say about tomatoes?", floor=False).turn_ids == ("u", "a")
    assert memory.search("What did you say about tomatoes?", floor=False).turn_ids == ("a", "u")


def test_words_of_common_use_alone_are_told_to_be_looked_up_as_a_quote(opened: Open) -> None:
    memory = opened(said("To be or not to be"), said("kayak"))

    for mode in ("keyword", "hybrid"):
        ranking = memory.search("to be or not to be", mode=mode)
        assert ranking.hits == ()
        assert "memory-rag quote" in ranking.notes[0]
    assert [quote.text for quote in memory.quote("to be or not to be")] == ["To be or not to be"]
    assert memory.search("kayak", mode="keyword").notes == ()


def test_words_of_common_use_are_found_by_meaning(opened: Open) -> None:
    memory = opened(
        said("To be or not to be"),
        said("kayak"),
        embedder=GivenVectors({"to be or not to be": (1, 0), "To be or not to be": (1, 0)}),
    )

    ranking = memory.search("to be or not to be", floor=False)

    assert ranking.turn_ids[0] == "To be or not to be"
    assert not any("memory-rag quote" in note for note in ranking.notes)


def test_a_stop_word_of_one_language_finds_a_word_of_the_other(opened: Open) -> None:
    memory = opened(said("a fox den"), said("det var en räv"), language="en,sv")

    assert memory.search("den", mode="keyword").turn_ids == ("a fox den",)


# -- scores


MODES = ("keyword", "dense", "hybrid", "rrf", "overlap", "okapi", "rank-bm25")


def many(n: int) -> tuple[Turn, ...]:
    return tuple(
        said(
            f"word{i % 17} other{i % 13} thing{i % 7}", turn_id=f"t{i:04}", speaker="AB"[i % 2], session_id=f"s{i // 9}"
        )
        for i in range(n)
    )


def scores_of(ranking: Ranking) -> dict[str, float]:
    return {hit.turn.turn_id: hit.score for hit in ranking}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("n", [60, 2500])
def test_a_score_does_not_change_with_k(opened: Open, mode: str, n: int) -> None:
    random = np.random.default_rng(4)
    turns = many(n)
    vectors = {turn.text: random.normal(size=4).tolist() for turn in turns}
    memory = opened(*turns, embedder=GivenVectors(vectors, dim=4))
    memory.embed()
    question = "word3 thing4"
    rankings = [memory.search(question, mode=mode, k=k, floor=False) for k in (1, 5, 12)]

    assert [len(ranking) for ranking in rankings] == [1, 5, 12]
    for short, long in pairwise(rankings):
        assert long.turn_ids[: len(short)] == short.turn_ids
        assert scores_of(short).items() <= scores_of(long).items()
        assert scores_of(long) == dict(sorted(scores_of(long).items(), key=lambda item: (-item[1], item[0])))


def test_a_score_does_not_change_with_k_however_many_hits_are_wanted(opened: Open) -> None:
    turns = many(2500)
    random = np.random.default_rng(4)
    vectors = {turn.text: random.normal(size=4).tolist() for turn in turns}
    memory = opened(*turns, embedder=GivenVectors(vectors, dim=4))
    memory.embed()

    searched = [
        scores_of(memory.search("What did A say about word3?", k=k, floor=False)) for k in (1, 10, 100, 700, 2500)
    ]

    assert [len(scores) for scores in searched] == [1, 10, 100, 700, 2500]
    for few, many_more in pairwise(searched):
        common = few.keys() & many_more.keys()
        assert len(common) >= 0.9 * len(few)
        assert all(many_more[turn_id] == few[turn_id] for turn_id in common)


class Fickle(DenseIndex):
    """Names other turns when more are asked for, as codes may."""

    def nearest(self, query: Vectors, *, n: int, searched: Selected) -> Entries:
        entries: Entries = searched.entries
        return entries[:n] if n <= 100 else entries[::-1][:n]


def test_scores_stay_when_a_longer_list_would_not_name_what_a_shorter_one_does(opened: Open, tmp_path: Path) -> None:
    turns = [replace(turn, turn_id=f"t{n:04}") for n, turn in enumerate(many(2500))]
    random = np.random.default_rng(4)
    memory = opened(*turns)
    embedder = GivenVectors({turn.text: random.normal(size=4).tolist() for turn in turns}, dim=4)
    dense = Fickle(VectorFile(tmp_path, fingerprint=embedder.fingerprint, dim=4), embedder, alone=nullcontext)
    searcher = memory.indexes.searcher()
    table = searcher.pool(Within())[1].table
    dense.catch_up(table)
    dense.embed(table, memory.store)

    few, more = (scores_of(searcher.search("word3", SearchOptions(k=k, floor=False), dense=dense)) for k in (10, 1000))

    assert len(more) == 1000
    assert few.items() <= more.items()


@pytest.mark.parametrize("embedder", [None, GivenVectors({})])
def test_a_word_that_was_never_said_has_no_hits_in_a_large_memory(opened: Open, embedder: GivenVectors | None) -> None:
    """Without vectors nothing at all is a candidate there."""
    memory = opened(*many(2500), embedder=embedder, pending_limit=0)

    for k in (10, 5000):
        ranking = memory.search("zebra", k=k, floor=False)
        assert (ranking.hits, ranking.evidence) == ((), "none")


@pytest.mark.parametrize("mode", ["dense", "rrf"])
def test_equal_turns_come_in_the_order_of_their_ids_however_many_they_are(opened: Open, mode: str) -> None:
    turns = [said("kayak", turn_id=f"t{2499 - n:04}", session_id=f"s{n // 20}") for n in range(2500)]
    memory = opened(*turns, embedder=GivenVectors({"kayak": (1, 0)}))
    memory.embed()

    assert memory.search("kayak", mode=mode, k=3, floor=False).turn_ids == ("t0000", "t0001", "t0002")


def test_searching_one_conversation_is_as_if_the_memory_held_nothing_else(opened: Open) -> None:
    own = [said(turn.text, turn_id=turn.turn_id, speaker=turn.speaker, session_id=turn.session_id) for turn in many(40)]
    others = [
        said("word3 " * 30, turn_id=f"x{n}", conversation_id="other", speaker="C", session_id="s0") for n in range(200)
    ]
    vectors = {turn.text: np.random.default_rng(n).normal(size=4).tolist() for n, turn in enumerate(own)}
    alone, together = (opened(*turns, embedder=GivenVectors(vectors, dim=4)) for turns in (own, [*own, *others]))
    for memory in (alone, together):
        memory.embed()

    for mode in MODES:
        narrowed = together.search("word3 thing4", mode=mode, within=Within(conversation="talk"), floor=False)
        whole = alone.search("word3 thing4", mode=mode, floor=False)
        assert narrowed.turn_ids == whole.turn_ids, mode
        assert [hit.score for hit in narrowed] == pytest.approx([hit.score for hit in whole]), mode


@pytest.mark.parametrize("mode", MODES)
def test_equal_turns_come_in_the_order_of_their_ids(opened: Open, mode: str) -> None:
    turns = [said("the same kayak", turn_id=f"t{n * 7 % 20:02}", session_id=f"s{n * 7 % 20}") for n in range(20)]
    memory = opened(*turns, embedder=GivenVectors({"the same kayak": (1, 0), "kayak": (1, 0)}))

    assert memory.search("kayak", mode=mode, k=5, floor=False).turn_ids == ("t00", "t01", "t02", "t03", "t04")


def test_nothing_is_kept_of_a_pool_that_has_changed(opened: Open) -> None:
    memory = opened(*many(30))
    searcher = memory.indexes.searcher()
    before = weakref.ref(searcher.pool(Within())[1])
    assert searcher.pool(Within())[1] is before()

    memory.add("kayak")
    memory.search("kayak")

    gc.collect()
    assert before() is None


# -- pending, removed, left out


def test_turns_without_a_vector_are_searched_by_keyword_and_counted(opened: Open) -> None:
    memory = opened(said("kayak"), said("canoe"), said("tax"), embedder=GivenVectors({}), pending_limit=0)

    hybrid, dense = memory.search("kayak", floor=False), memory.search("kayak", mode="dense")

    assert hybrid.turn_ids[0] == "kayak"
    assert (hybrid.pending, dense.pending) == (3, 3)
    assert dense.hits == ()
    assert hybrid.notes[0].startswith("3 turns are not embedded yet")


def test_what_is_never_embedded_is_not_waited_for(opened: Open) -> None:
    memory = opened(said("kayak"), said("tool kayak", recalled=False), embedder=GivenVectors({}))

    assert memory.search("kayak", floor=False).turn_ids == ("kayak",)
    everything = memory.search("kayak", within=Within(unrecalled=True), floor=False)

    assert set(everything.turn_ids) == {"kayak", "tool kayak"}
    assert (everything.pending, everything.notes) == (0, ())


@pytest.mark.parametrize("mode", MODES)
def test_a_corrected_turn_is_found_by_its_new_words_only_and_a_removed_one_not_at_all(opened: Open, mode: str) -> None:
    vectors = {"kayak": (1, 0), "canoe": (0, 1), "tax": (-1, 0)}
    memory = opened(said("kayak", turn_id="a"), said("tax", turn_id="b"), embedder=GivenVectors(vectors))
    memory.search("kayak", mode=mode)
    memory.correct("a", text="canoe")
    memory.forget(["b"])

    assert memory.search("canoe", mode=mode, floor=False).turn_ids == ("a",)
    assert memory.search("tax", mode="keyword").turn_ids == memory.search("kayak", mode="keyword").turn_ids == ()


@pytest.mark.parametrize("mode", MODES)
def test_an_empty_memory_has_no_hits_in_any_mode(opened: Open, mode: str) -> None:
    assert opened(embedder=GivenVectors({})).search("kayak", mode=mode, floor=False).hits == ()


@pytest.mark.parametrize("mode", MODES)
def test_a_filter_that_leaves_nothing_has_no_hits_and_says_why(opened: Open, mode: str) -> None:
    memory = opened(said("kayak"), embedder=GivenVectors({}))

    ranking = memory.search("kayak", mode=mode, within=Within(conversation="never"), floor=False)

    assert ranking.hits == ()
    assert "no conversation 'never'" in ranking.notes[0]


@pytest.mark.parametrize("mode", MODES)
def test_turns_of_empty_texts_are_no_trouble(opened: Open, mode: str) -> None:
    memory = opened(
        said("", turn_id="a"), said("?", turn_id="b"), said("kayak", turn_id="c"), embedder=GivenVectors({})
    )

    assert "c" in memory.search("kayak", mode=mode, floor=False).turn_ids


def test_of_a_pasted_file_the_beginning_and_the_end_are_searched_for_and_that_is_told(opened: Open) -> None:
    memory = opened(said("kayak", turn_id="a"), said("paddle", turn_id="b"), said("river", turn_id="c"))
    pasted = "kayak " + "word " * 10_000 + "paddle " + "word " * 10_000 + "river"

    ranking = memory.search(pasted, mode="keyword")

    assert set(ranking.turn_ids) == {"a", "c"}
    assert ranking.query == pasted
    assert "more than 20,000 characters is searched for by its beginning and its end" in ranking.notes[0]
    assert memory.search(pasted[:20_000], mode="keyword").notes == ()


@pytest.mark.parametrize("k", ["3", 1.5])
def test_a_number_of_hits_that_is_none_is_refused(opened: Open, k: object) -> None:
    with pytest.raises(QueryError, match="k is a whole number of hits"):
        opened(said("kayak")).search("kayak", k=k)  # type: ignore[arg-type]


# -- embedders that misbehave


class Counted(GivenVectors):
    """Counts how often a question is embedded."""

    n_questions = 0

    def embed_queries(self, texts: list[str]) -> Vectors:  # type: ignore[override]
        self.n_questions += len(texts)
        return super().embed_queries(texts)


def test_a_question_is_embedded_once(opened: Open) -> None:
    embedder = Counted({})
    memory = opened(said("kayak"), embedder=embedder)

    for mode in ("hybrid", "dense", "rrf", "hybrid"):
        memory.search("kayak", mode=mode)

    assert embedder.n_questions == 1


class RawQuestions(GivenVectors):
    """Gives questions vectors of any length, and those that are none."""

    def embed_queries(self, texts: list[str]) -> Vectors:  # type: ignore[override]
        return self._rows(texts)


def test_a_questions_vector_counts_by_its_direction(opened: Open) -> None:
    memory = opened(said("kayak"), embedder=RawQuestions({"kayak": (0.6, 0.8), "what": (300, 0)}))

    assert [hit.score for hit in memory.search("what", mode="dense")] == pytest.approx([0.6])


@pytest.mark.parametrize("vector", [(0.0, 0.0), (float("nan"), 1.0)])
def test_a_question_without_direction_is_searched_by_keyword_and_that_is_told(
    opened: Open, vector: tuple[float, float]
) -> None:
    memory = opened(said("kayak"), embedder=RawQuestions({"kayak trip": vector}))

    ranking = memory.search("kayak trip", floor=False)

    assert ranking.turn_ids == ("kayak",)
    assert "found by keyword only: the vector of 'the question'" in ranking.notes[0]
    with pytest.raises(EmbedderError, match="the question"):
        memory.search("kayak trip", mode="dense")


def test_a_shifted_question_ranks_by_what_is_left_of_it(opened: Open) -> None:
    vectors = {"hub": (1, 0), "north": (0, 1), "what": (0.8, 0.6)}
    plain = opened(said("hub"), said("north"), embedder=GivenVectors(vectors))
    shifted = opened(said("hub"), said("north"), embedder=GivenVectors(vectors, shift=(0.7, 0.0)))

    assert plain.search("what", mode="dense").turn_ids == ("hub", "north")
    assert shifted.search("what", mode="dense").turn_ids == ("north", "hub")


def test_products_of_a_shifted_question_above_one_keep_their_order(opened: Open) -> None:
    vectors = {"a": (0.99, 0.1), "b": (1, 0), "what": (1, 0)}
    memory = opened(said("a"), said("b"), embedder=GivenVectors(vectors, shift=(-0.5, 0.0)))

    ranking = memory.search("what", mode="dense")

    assert ranking.turn_ids == ("b", "a")
    assert max(hit.score for hit in ranking) == 1.0


# -- turns that don't count


@pytest.mark.parametrize(("mode", "n"), [*((mode, 60) for mode in MODES), ("hybrid", 2500), ("dense", 2500)])
def test_a_turn_that_is_left_out_is_not_found_and_holds_no_other_back(opened: Open, mode: str, n: int) -> None:
    own = [said("the red kayak leaks", turn_id="own", session_id="s1"), *many(n)]
    question = said("Where does the red kayak leak?", turn_id="question", session_id="s9")
    vectors = {turn.text: np.random.default_rng(at).normal(size=4).tolist() for at, turn in enumerate([*own, question])}
    vectors["Where does the red kayak leak"] = vectors[question.text]
    alone, together = (opened(*turns, embedder=GivenVectors(vectors, dim=4)) for turns in (own, [*own, question]))
    for memory in (alone, together):
        memory.embed()
    asked = question.text

    expected = alone.search(asked, mode=mode, floor=False)
    found = together.search(asked, mode=mode, within=Within(without=("question", "never")), floor=False)
    assert "question" not in found.turn_ids
    assert found.turn_ids[:3] == expected.turn_ids[:3]


def test_one_pool_serves_prompts_whatever_they_leave_out(opened: Open) -> None:
    memory = opened(*many(30))
    searcher = memory.indexes.searcher()

    _, whole = searcher.pool(Within())
    scope, stage = searcher.pool(Within(without=("t0001", "t0002")))

    assert stage is whole
    assert len(scope.allowed) == 28
    assert len(searcher.pool(Within())[0].allowed) == 30
