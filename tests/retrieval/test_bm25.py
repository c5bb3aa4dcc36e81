"""BM25 over posting arrays, against plain loops and against rank-bm25 itself."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from memory_rag.retrieval.bm25 import Bm25, Pool
from memory_rag.retrieval.length_norm import B_LONG, B_SHORT, K1, LengthNorm, length_norm
from memory_rag.retrieval.selected import Selected
from memory_rag.retrieval.turn_table import Mask

WORDS = st.sampled_from("abcdef")
TEXTS = st.lists(st.lists(WORDS, max_size=9), max_size=12)
LEFT_OUT = st.sets(st.integers(0, 11), max_size=6)
QUERIES = st.lists(st.sampled_from("abcdefz"), max_size=6)


def made_of(texts: Sequence[Sequence[str]]) -> Bm25:
    bm25 = Bm25()
    for entry, terms in enumerate(texts):
        bm25.add(entry, [terms])
    return bm25


def everything(texts: Sequence[Sequence[str]]) -> Mask:
    return np.ones(len(texts), np.bool_)


def plain_bm25(texts: Sequence[Sequence[str]], query: Sequence[str]) -> list[float]:
    """Robertson & Zaragoza's sum with Lucene's idf, by loops; the length norm is taken from the texts."""
    norm = length_norm(np.array([len(text) for text in texts], np.int32))
    scores = []
    for text in texts:
        score = 0.0
        for term in query:
            tf, df = text.count(term), sum(term in other for other in texts)
            idf = math.log(1 + (len(texts) - df + 0.5) / (df + 0.5))
            score += idf * tf * (K1 + 1) / (tf + K1 * (1 - norm.b + norm.b * len(text) / norm.typical))
        scores.append(score)
    return scores


@given(TEXTS, QUERIES, LEFT_OUT)
def test_scores_are_those_of_plain_loops_over_what_is_searched(
    texts: list[list[str]], query: list[str], left_out: set[int]
) -> None:
    bm25 = made_of(texts)
    searched = np.array([entry not in left_out for entry in range(len(texts))], np.bool_)

    scores = bm25.scores(query, Pool(Selected.of_mask(searched), bm25.lengths)).of_all

    inside = [text for text, is_in in zip(texts, searched, strict=True) if is_in]
    assert scores[searched].tolist() == pytest.approx(plain_bm25(inside, query))
    assert not scores[~searched].any()


@given(TEXTS, QUERIES, LEFT_OUT, st.integers(0, 12))
def test_what_is_looked_up_by_kind_is_what_is_worked_out_for_each_posting_to_the_last_bit(
    texts: list[list[str]], query: list[str], left_out: set[int], sealed: int
) -> None:
    bm25 = Bm25()
    for entry, terms in enumerate(texts):
        bm25.add(entry, [terms])
        if entry == sealed:
            bm25.postings.seal()
    searched = np.array([entry not in left_out for entry in range(len(texts))], np.bool_)
    found = bm25.look_up([(term,) for term in query], Pool(Selected.of_mask(searched), bm25.lengths))

    assert found.scores_by_kind().tolist() == found.scores_by_posting().tolist()


def test_the_words_of_a_large_memory_are_scored_as_by_plain_loops() -> None:
    random = np.random.default_rng(4)
    texts = [random.choice(list("abcdef"), random.integers(1, 4)).tolist() for _ in range(3000)]
    bm25 = Bm25()
    bm25.add(0, texts)
    assert len(bm25.postings.kinds) < 9, "the scores of thousands of postings are looked up"

    scores = bm25.scores(["a", "b", "b"], Pool(Selected.of_mask(everything(texts)), bm25.lengths)).of_all

    assert scores.tolist() == pytest.approx(plain_bm25(texts, ["a", "b", "b"]))


@given(TEXTS, QUERIES)
def test_a_score_is_zero_exactly_where_no_term_is(texts: list[list[str]], query: list[str]) -> None:
    bm25 = made_of(texts)

    scores = bm25.scores(query, Pool(Selected.of_mask(everything(texts)), bm25.lengths)).of_all

    matching = [bool(set(text) & set(query)) for text in texts]
    assert (scores > 0).tolist() == matching
    assert (scores >= 0).all()
    assert bm25.matching(query).tolist() == matching


@given(TEXTS, QUERIES, LEFT_OUT)
@example([["a"], ["a", "b"], ["a"]], ["a", "a", "b"], set())
@example([["a"], ["b"]], ["a"], set())
def test_okapi_gives_the_scores_of_rank_bm25(texts: list[list[str]], query: list[str], left_out: set[int]) -> None:
    searched = np.array([entry not in left_out for entry in range(len(texts))], np.bool_)
    inside = [text for text, is_in in zip(texts, searched, strict=True) if is_in]
    bm25 = made_of(texts)

    scores = bm25.okapi_scores(query, searched)

    expected = BM25Okapi(inside).get_scores(query).tolist() if any(inside) else [0.0] * len(inside)
    assert scores[searched].tolist() == pytest.approx(expected, abs=1e-9)
    assert not scores[~searched].any()


def test_okapi_knows_words_of_more_than_half_of_the_turns_and_repeated_words() -> None:
    texts = [["a", "b"], ["a", "c", "c"], ["a"], ["d", "a", "a"]]
    bm25 = made_of(texts)

    scores = bm25.okapi_scores(["a", "c", "c"], everything(texts))

    assert scores.tolist() == pytest.approx(BM25Okapi(texts).get_scores(["a", "c", "c"]).tolist(), abs=1e-9)


def test_the_traps_of_rank_bm25_are_its_own() -> None:
    """A word in one of two turns scores 0 there, a word in every turn below 0; ours are above 0."""
    texts = [["kayak"], ["tax"]]
    bm25 = made_of(texts)

    assert bm25.okapi_scores(["kayak"], everything(texts)).tolist() == [0.0, 0.0]
    assert bm25.scores(["kayak"], Pool(Selected.of_mask(everything(texts)), bm25.lengths)).of_all[0] > 0
    assert bm25.matching(["kayak"]).tolist() == [True, False]
    same = [["kayak"], ["kayak"]]
    assert (made_of(same).okapi_scores(["kayak"], everything(same)) < 0).all()
    assert (
        made_of(same).scores(["kayak"], Pool(Selected.of_mask(everything(same)), made_of(same).lengths)).of_all > 0
    ).all()


@pytest.mark.parametrize("texts", [[], [[]], [[], []]])
def test_an_empty_memory_and_empty_turns_have_scores_too(texts: list[list[str]]) -> None:
    bm25 = made_of(texts)
    pool = Pool(Selected.of_mask(everything(texts)), bm25.lengths)

    assert bm25.scores(["a"], pool).of_all.tolist() == [0.0] * len(texts)
    assert bm25.okapi_scores(["a"], everything(texts)).tolist() == [0.0] * len(texts)
    assert bm25.matching(["a"]).tolist() == [False] * len(texts)
    assert bm25.possible([("a",)], pool) >= 0
    assert bm25.possible([], pool) == 0


def test_entries_come_without_gaps() -> None:
    with pytest.raises(ValueError, match="the next entry is 0, got 1"):
        Bm25().add(1, [["a"]])


def test_a_word_twice_in_a_question_counts_twice() -> None:
    texts = [["a"], ["b"], ["c"]]
    bm25 = made_of(texts)
    pool = Pool(Selected.of_mask(everything(texts)), bm25.lengths)

    assert bm25.scores(["a", "a"], pool).of_all[0] == pytest.approx(2 * bm25.scores(["a"], pool).of_all[0])
    assert bm25.possible([("a",), ("a",)], pool) == pytest.approx(2 * bm25.possible([("a",)], pool))


def test_what_is_possible_counts_a_word_of_several_languages_once() -> None:
    texts = [["run", "shoe"], ["hund"], ["katt"]]
    bm25 = made_of(texts)
    pool = Pool(Selected.of_mask(everything(texts)), bm25.lengths)

    one_language = bm25.possible([("run",), ("shoe",)], pool)
    two_languages = bm25.possible([("running", "run"), ("shoes", "shoe")], pool)

    assert two_languages == pytest.approx(one_language) == pytest.approx(2 * math.log(1 + 2.5 / 1.5))


def test_what_is_possible_is_large_for_words_that_nobody_said() -> None:
    texts = [["a"], ["a", "b"], ["a"]]
    bm25 = made_of(texts)
    pool = Pool(Selected.of_mask(everything(texts)), bm25.lengths)

    assert bm25.possible([("z",)], pool) == pytest.approx(math.log(1 + 3.5 / 0.5))
    assert bm25.possible([("a",)], pool) < bm25.possible([("b",)], pool) < bm25.possible([("z",)], pool)


def test_what_is_possible_is_the_score_of_a_turn_of_typical_length_that_says_every_word_once() -> None:
    texts = [["a", "b"], ["c", "d"], ["e", "f"]]
    bm25 = made_of(texts)
    pool = Pool(Selected.of_mask(everything(texts)), bm25.lengths)

    assert bm25.possible([("a",), ("b",)], pool) == pytest.approx(bm25.scores(["a", "b"], pool).of_all[0])


# -- the length norm


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([], LengthNorm(B_SHORT, 1.0)),
        ([7], LengthNorm(B_SHORT, 7.0)),
        ([0], LengthNorm(B_SHORT, 1.0)),
        ([0, 3], LengthNorm(B_SHORT, 2.0)),
        ([5, 5, 5], LengthNorm(B_SHORT, 5.0)),
        ([10, 1000], LengthNorm(B_LONG, 505.0)),
    ],
)
def test_the_length_norm_follows_the_spread_of_lengths(lengths: list[int], expected: LengthNorm) -> None:
    assert length_norm(np.array(lengths, np.int32)) == expected


@given(st.lists(st.integers(0, 10**6), max_size=30))
def test_a_length_norm_is_always_between_its_bounds(lengths: list[int]) -> None:
    norm = length_norm(np.array(lengths, np.int32))

    assert B_SHORT <= norm.b <= B_LONG
    assert norm.typical >= 1
    assert (norm.denominators(np.array(lengths, np.int32)) > 0).all()


def test_fifteen_words_of_a_user_beat_twenty_long_answers_that_hold_them_scattered() -> None:
    random = np.random.default_rng(15)
    asked = ["balcony", "tomato", "shade"]
    user = [*asked, *(f"u{n}" for n in range(12))]
    answers = [
        [*random.permutation([*(f"w{n}" for n in random.integers(0, 3000, 394)), *asked, *asked]).tolist()]
        for _ in range(20)
    ]
    others = [[f"x{n}-{m}" for m in range(15)] for n in range(19)]
    texts = [*answers, user, *others]
    bm25 = made_of(texts)

    scores = bm25.scores(asked, Pool(Selected.of_mask(everything(texts)), bm25.lengths)).of_all

    assert int(np.argmax(scores)) == 20
    without_norm = [sum(min(text.count(word), 2) for word in asked) for text in texts]
    assert without_norm[20] < max(without_norm)


def test_in_short_human_chat_a_longer_turn_that_says_more_is_not_held_back() -> None:
    random = np.random.default_rng(8)
    lengths = random.integers(4, 16, 60)
    texts = [[f"w{n}" for n in random.integers(0, 400, length)] for length in lengths]
    texts += [["pottery", "class", "kids", *(f"y{n}" for n in range(13))], ["pottery", "class"]]
    bm25 = made_of(texts)

    scores = bm25.scores(["pottery", "class", "kids"], Pool(Selected.of_mask(everything(texts)), bm25.lengths)).of_all

    assert length_norm(bm25.lengths).b == B_SHORT
    assert int(np.argmax(scores)) == 60


def test_a_pool_scores_as_a_memory_that_holds_nothing_else() -> None:
    texts = [["a", "b"], ["a"] * 50, ["b", "c"], ["c"] * 400]
    searched = np.array([True, False, True, False])
    bm25, alone = made_of(texts), made_of([texts[0], texts[2]])

    narrowed = bm25.scores(["a", "b"], Pool(Selected.of_mask(searched), bm25.lengths)).of_all

    whole = alone.scores(["a", "b"], Pool(Selected.of_mask(np.ones(2, np.bool_)), alone.lengths)).of_all
    assert narrowed[searched].tolist() == whole.tolist()


SAME_LENGTH = st.lists(st.lists(WORDS, min_size=4, max_size=4), min_size=1, max_size=12)


@given(SAME_LENGTH, QUERIES, LEFT_OUT)
def test_what_is_left_out_of_a_pool_counts_for_nothing(
    texts: list[list[str]], query: list[str], left_out: set[int]
) -> None:
    bm25 = made_of(texts)
    searched = np.array([entry not in left_out for entry in range(len(texts))], np.bool_)
    words = [(term,) for term in query]
    entries = np.array(sorted(entry for entry in left_out if entry < len(texts)), np.int64)

    left = bm25.look_up(words, Pool(Selected.of_mask(everything(texts)), bm25.lengths).leaving_out(entries))
    alone = bm25.look_up(words, Pool(Selected.of_mask(searched), bm25.lengths))

    if searched.any():
        assert left.scores.of_all.tolist() == pytest.approx(alone.scores.of_all.tolist())
    assert left.possible == pytest.approx(alone.possible)
    assert [one.tolist() for one in left.holders] == [one.tolist() for one in alone.holders]
