from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from memory_rag.errors import SettingsError
from memory_rag.evaluation.benchmark import Benchmark, Document, Query
from memory_rag.evaluation.held_words import HeldWords, ReadWords
from memory_rag.evaluation.pools import Pools, by_conversation, limited, pools_named
from memory_rag.evaluation.retrievers import Overlap, PlainBm25, baselines, bounds, text_of
from memory_rag.retrieval.overlap import overlap_scores, rank_bm25_scores
from memory_rag.turns import Role, Turn


def document(conversation: str, place: int, text: str) -> Document:
    turn = Turn(f"{conversation}/{place}", conversation, "s", place, Role.USER, "Ada", text)
    return Document(turn.turn_id, conversation, (turn,))


def benchmark(**texts: list[str]) -> Benchmark:
    """Each conversation asks for "kayak"; its first turn is relevant."""
    documents = tuple(document(name, place, text) for name, said in texts.items() for place, text in enumerate(said))
    queries = tuple(Query(f"{name}/q", "Where is the kayak?", name) for name in texts)
    return Benchmark("made", "turn", "0" * 64, documents, queries, {f"{n}/q": {f"{n}/0": 1} for n in texts})


def many_texts() -> list[str]:
    rng = random.Random(3)
    words = [f"w{number}" for number in range(30)]
    return ["", *(" ".join(rng.choices(words, k=rng.randrange(1, 12))) for _ in range(60)), "W1 w1 w2", "the the"]


def held(texts: Sequence[str]) -> HeldWords:
    read = ReadWords()
    return HeldWords(read, [read.of(text) for text in texts])


def test_rank_bm25s_scores_are_its_own() -> None:
    texts = many_texts()
    for query in ("w1", "w2 w2 W5 nothing", "the w29 w3", "nothing", ""):
        expected = rank_bm25_scores(query, texts)

        np.testing.assert_allclose(PlainBm25(held(texts)).scores(query), expected, rtol=1e-12, atol=1e-15)


def test_rank_bm25_scores_common_words_below_nothing_as_it_does() -> None:
    texts = ["a b", "a c", "a d", "a"]

    assert PlainBm25(held(texts)).scores("a").tolist() == pytest.approx(rank_bm25_scores("a", texts).tolist())


def test_texts_without_a_word_score_nothing() -> None:
    assert PlainBm25(held(["", ""])).scores("a").tolist() == [0.0, 0.0]
    assert PlainBm25(held([])).scores("a").tolist() == []


def test_overlap_is_the_share_of_the_questions_words() -> None:
    texts = many_texts()
    for query in ("w1 w2 W2 w3", "nothing", ""):
        assert Overlap(held(texts)).scores(query).tolist() == overlap_scores(query, texts).tolist()


def test_the_baselines_read_a_turn_with_its_speaker_and_a_session_line_by_line() -> None:
    one, other = document("c", 0, "Hello."), document("c", 1, "Bye.")

    assert text_of(Document("c/s", "c", (*one.turns, *other.turns))) == "Ada: Hello.\nAda: Bye."


def test_a_conversations_pool_holds_its_own_turns_and_the_memory_all() -> None:
    made = benchmark(a=["the kayak is red", "no"], b=["kayak? what kayak?", "the tax"])
    overlap, rank_bm25 = baselines(Pools(made))
    [first, _] = made.queries

    assert overlap.rank(first, "conversation", 10).doc_ids == ["a/0"]
    assert overlap.rank(first, "memory", 10).doc_ids == ["a/0", "b/0", "b/1"]
    assert overlap.rank(first, "memory", 1).doc_ids == ["a/0"]
    assert set(rank_bm25.rank(first, "conversation", 10).doc_ids) == {"a/0", "a/1"}


def test_another_conversations_twin_of_the_evidence_is_no_candidate_in_the_memory() -> None:
    made = benchmark(a=["the kayak is red", "no"], b=["the kayak is red", "the tax"])
    overlap, _ = baselines(Pools(made))
    [first, second] = made.queries

    assert overlap.rank(first, "memory", 10).doc_ids == ["a/0", "b/1"]
    assert overlap.rank(second, "memory", 10).doc_ids == ["b/0", "b/1"]
    assert overlap.rank(second, "memory", 1).doc_ids == ["b/0"]


def test_a_random_order_is_the_seeds_and_the_same_again() -> None:
    made = benchmark(a=[f"turn {n}" for n in range(20)])
    [query] = made.queries
    order = bounds(made, Pools(made), seed=1)[0].rank(query, "conversation", 20).doc_ids

    assert sorted(order) == sorted(d.doc_id for d in made.documents)
    assert bounds(made, Pools(made), seed=1)[0].rank(query, "conversation", 5).doc_ids == order[:5]
    assert bounds(made, Pools(made), seed=2)[0].rank(query, "conversation", 20).doc_ids != order


def test_the_oracle_ranks_the_evidence_and_nothing_else() -> None:
    made = benchmark(a=["x", "y"])

    assert bounds(made, Pools(made), seed=0)[1].rank(made.queries[0], "memory", 10).doc_ids == ["a/0"]


def test_a_limit_keeps_questions_from_all_over_and_every_document() -> None:
    made = benchmark(**{f"c{n}": ["x"] for n in range(10)})

    assert [query.query_id for query in limited(made, 3).queries] == ["c0/q", "c3/q", "c6/q"]
    assert limited(made, 3).documents == made.documents
    assert limited(made, 99) is made
    assert limited(made, None) is made
    with pytest.raises(SettingsError, match="limit of 0 questions"):
        limited(made, 0)


def test_questions_of_a_conversation_are_asked_together() -> None:
    queries = [Query("1", "", "a"), Query("2", "", "b"), Query("3", "", "a")]

    assert [query.query_id for query in by_conversation(queries)] == ["1", "3", "2"]


def test_pools_are_named() -> None:
    assert pools_named("both") == ("conversation", "memory")
    assert pools_named("memory") == ("memory",)
    with pytest.raises(SettingsError, match="unknown pool 'all'; a pool is one of: conversation, memory, both"):
        pools_named("all")
