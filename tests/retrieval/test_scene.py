"""What is known when a question is ranked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.scene import Scene
from tests.retrieval.talks import Talk, turn


def keyword(scene: Scene) -> list[float]:
    return [float(value) for value in scene.keyword(np.arange(len(scene.table)))]


def dense(scene: Scene) -> list[float]:
    """Return the values of the pool's entries, and 0 for those outside, which are never asked for."""
    values = np.zeros(len(scene.table))
    values[scene.pool.entries] = scene.dense(scene.pool.entries)
    return [float(value) for value in values]


def test_keyword_is_over_the_best_of_the_pool() -> None:
    talk = Talk([turn("kayak kayak trip"), turn("kayak"), turn("tax")])

    scene = talk.scene("kayak trip")

    bm25 = scene.bm25.of_all
    assert keyword(scene) == pytest.approx([1.0, bm25[1] / bm25[0], 0.0])
    assert 0 < keyword(scene)[1] < 1
    assert scene.full_bm25 == bm25[0]


def test_a_best_turn_with_few_of_the_words_is_no_full_match() -> None:
    scene = Talk([turn("kayak"), turn("tax")]).scene("kayak trip over the lake at dawn")

    assert 0 < keyword(scene)[0] < 0.5


def test_a_long_turn_that_alone_holds_the_word_is_a_full_match() -> None:
    scene = Talk([turn("kayak " + "and much else was said of other things " * 99), turn("tax")]).scene("kayak")

    assert keyword(scene) == [1.0, 0.0]


def test_without_a_match_keyword_is_zero() -> None:
    scene = Talk([turn("kayak"), turn("tax")]).scene("snow")

    assert keyword(scene) == [0.0, 0.0]


def test_dense_is_in_quarters_of_a_deviation_from_the_mean_and_zero_without_a_vector() -> None:
    talk = Talk([turn("a"), turn("b"), turn("c"), turn("d")])

    scene = talk.scene("x", cosines={0: 0.1, 1: 0.3, 3: 0.5})

    deviation = float(np.std([0.1, 0.3, 0.5]))
    assert scene.cosine_spread == pytest.approx((0.3, deviation))
    assert dense(scene) == pytest.approx([-0.2 / (4 * deviation), 0.0, 0.0, 0.2 / (4 * deviation)])


@pytest.mark.parametrize("cosines", [None, {}, {0: 0.5}, {0: 0.5, 1: 0.5}, {0: 0.1, 1: 0.1, 2: 0.1}])
def test_cosines_that_do_not_differ_say_nothing(cosines: dict[int, float] | None) -> None:
    scene = Talk([turn("a"), turn("b"), turn("c")]).scene("x", cosines=cosines)

    assert dense(scene) == [0.0, 0.0, 0.0]


def test_nothing_of_a_scene_comes_from_outside_the_pool() -> None:
    inside = [turn("kayak trip"), turn("a kayak"), turn("tax form")]
    outside = [turn("kayak " * 9, conversation_id="other"), turn("trip", conversation_id="other")]
    alone, together = Talk(inside), Talk([*inside, *outside])
    cosines = {0: 0.1, 1: 0.3, 2: 0.2}

    narrowed = together.scene("kayak trip", cosines={**cosines, 3: 0.9, 4: -0.9}, within=Within(conversation="talk"))
    whole = alone.scene("kayak trip", cosines=cosines)

    assert keyword(narrowed) == pytest.approx([*keyword(whole), 0, 0])
    assert dense(narrowed) == pytest.approx([*dense(whole), 0, 0])
    assert narrowed.possible_bm25 == pytest.approx(whole.possible_bm25)


def test_the_spread_of_a_large_pool_comes_from_a_sample_that_is_always_the_same() -> None:
    talk = Talk([turn("x")] * 5000)
    cosines = dict(enumerate(np.random.default_rng(1).normal(0.2, 0.1, 5000).tolist()))

    one, other = talk.scene("x", cosines=cosines), talk.scene("x", cosines=cosines)

    sample = talk.stage().sample
    assert len(sample) == len(set(sample.tolist())) == 256
    assert one.cosine_spread == other.cosine_spread
    assert one.cosine_spread == pytest.approx((0.2, 0.1), abs=0.015)


def test_an_empty_pool_has_a_scene() -> None:
    scene = Talk([turn("a")]).scene("a", cosines={0: 0.5}, within=Within(conversation="none"))

    assert keyword(scene) == [0.0]
    assert dense(scene) == [0.0]
    assert dense(Talk().scene("a", cosines={})) == []


def test_what_is_left_out_does_not_spread_the_cosines_of_the_others() -> None:
    cosines = {0: 0.1, 1: 0.3, 2: 0.9}
    scene = Talk([turn("a"), turn("b"), turn("the question itself")]).scene("x", cosines=cosines)

    left = replace(scene, left_out=np.array([2], np.int64))

    assert left.cosine_spread == pytest.approx((0.2, 0.1))
    assert scene.cosine_spread[0] == pytest.approx(1.3 / 3)
    assert left.n_searched == 2
