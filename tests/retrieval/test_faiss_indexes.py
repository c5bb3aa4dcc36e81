"""What FAISS answers, against NumPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.errors import EmbedderError
from memory_rag.retrieval.faiss_indexes import FlatVectors, ProductCodes

NONE = np.zeros((0, 2), np.float32)


def unit(n: int, dim: int, *, seed: int = 0) -> npt.NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=(n, dim)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


@given(st.integers(0, 70), st.integers(1, 40), st.integers(0, 3))
def test_scores_are_the_inner_products_of_every_vector(n: int, dim: int, parts: int) -> None:
    rows, query = unit(n, dim), unit(1, dim, seed=1)[0]
    vectors = FlatVectors(rows[:0])
    for part in range(parts + 1):
        vectors.put(rows[: n * (part + 1) // (parts + 1)])

    scores = vectors.scores(query)

    assert len(vectors) == n
    assert scores.shape == (n,)
    assert np.allclose(scores, rows @ query, atol=1e-6)
    assert np.array_equal(vectors.rows(np.arange(n)), rows)


@pytest.mark.parametrize("dim", [64, 256, 384])
def test_a_score_depends_on_the_two_vectors_alone(dim: int) -> None:
    """Not on the vector's place, nor on which others are scored, in the last bit: equal turns have to tie."""
    rows, query = np.tile(unit(41, dim), (1000, 1)), unit(1, dim, seed=1)[0]
    vectors = FlatVectors(rows)

    scores = vectors.scores(query).reshape(1000, 41)
    few = np.random.default_rng(2).permutation(len(rows))[:77]

    assert (scores == scores[0]).all()
    assert np.array_equal(vectors.scores_of(query, few), scores.ravel()[few])
    assert vectors.scores_of(query, few[:0]).tolist() == []


@given(st.integers(0, 70), st.integers(1, 90))
def test_the_nearest_come_best_first(n: int, k: int) -> None:
    rows, query = unit(n, 5), unit(1, 5, seed=1)[0]
    vectors = FlatVectors(rows)

    assert vectors.nearest(query, k=k).tolist() == np.argsort(-(rows @ query), kind="stable")[:k].tolist()


@pytest.mark.parametrize("dim", [64, 65, 384, 1537, 3072])
def test_codes_name_the_nearest_of_many(dim: int) -> None:
    """In which few directions matter, as in those of texts; FAISS adds up in 16 bits, however long vectors are."""
    directions = unit(40, dim)
    rows, queries = unit(5000, 40) @ directions, unit(20, 40, seed=1) @ directions
    codes = ProductCodes.like(rows[:1000])
    for part in np.array_split(rows, 3):
        codes.add(part)

    assert len(codes) == 5000
    n_named = 0
    for query in queries:
        named = codes.nearest(query, k=100)
        assert len(named) == len(set(named.tolist())) == 100
        n_named += len(set(np.argsort(-(rows @ query))[:10].tolist()) & set(named.tolist()))
    assert n_named >= 190


def test_codes_that_were_kept_name_what_they_named_and_are_gone_on_with() -> None:
    rows = unit(5000, 256)
    codes = ProductCodes.like(rows[:1000])
    for part in np.array_split(rows[:4000], 4):
        codes.add(part)

    again = ProductCodes.from_bytes(codes.as_bytes())

    assert len(again) == 4000
    for each in (codes, again):
        each.add(rows[4000:])
    for query in unit(20, 256, seed=1):
        named = codes.nearest(query, k=300).tolist()
        assert again.nearest(query, k=300).tolist() == named
        assert set(np.argsort(-(rows @ query))[:10].tolist()) <= set(named)


def test_codes_of_few_vectors_name_them_all() -> None:
    codes = ProductCodes.like(unit(16, 8))
    codes.add(unit(3, 8))

    assert sorted(codes.nearest(unit(1, 8, seed=1)[0], k=10).tolist()) == [0, 1, 2]


def test_a_query_that_is_shifted_need_not_have_length_one() -> None:
    vectors = FlatVectors(np.array([[1, 0], [0, 1]], np.float32))

    assert vectors.scores(np.array([1.5, -0.5], np.float32)).tolist() == [1.5, -0.5]


def test_what_is_handed_out_is_a_copy() -> None:
    vectors = FlatVectors(np.array([[1, 0], [0, 1]], np.float32))

    vectors.rows(np.array([0]))[:] = 7

    assert vectors.rows(np.array([1, 0])).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    "wrong", [np.zeros((2, 3), np.float32), np.zeros(2, np.float32), np.zeros((1, 2, 2), np.float32)]
)
def test_vectors_of_another_shape_are_refused_with_both_shapes(wrong: npt.NDArray[np.float32]) -> None:
    """FAISS itself raises an AssertionError without a word."""
    vectors = FlatVectors(NONE)

    with pytest.raises(EmbedderError, match=r"this index takes \(n, 2\)"):
        vectors.put(wrong)
    assert len(vectors) == 0


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_query_with_numbers_that_are_not_finite_is_refused(number: float) -> None:
    """FAISS answers a query of NaN with id -1 only."""
    with pytest.raises(EmbedderError, match="2 finite numbers"):
        FlatVectors(NONE).scores(np.array([number, 1], np.float32))


@pytest.mark.parametrize("wrong", [np.zeros(3, np.float32), np.zeros((1, 2), np.float32)])
def test_a_query_of_another_shape_is_refused(wrong: npt.NDArray[np.float32]) -> None:
    with pytest.raises(EmbedderError, match="2 finite numbers"):
        FlatVectors(NONE).scores(wrong)


def test_an_empty_index_has_no_scores() -> None:
    """FAISS pads what it doesn't have with id -1."""
    assert FlatVectors(NONE).scores(np.array([1, 0], np.float32)).tolist() == []
    assert FlatVectors(NONE).rows(np.zeros(0, np.int64)).shape == (0, 2)


def test_vectors_of_other_types_and_layouts_are_taken() -> None:
    vectors = FlatVectors(np.asfortranarray(unit(4, 3).astype(np.float64)))

    assert np.allclose(vectors.rows(np.arange(4)), unit(4, 3))
    assert np.allclose(vectors.scores(unit(2, 3)[::1].T[:, 1]), unit(4, 3) @ unit(2, 3)[1], atol=1e-6)
