"""Codes that are made while searching goes on."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import numpy.typing as npt
import pytest

from memory_rag.retrieval.codes import CodedVectors
from memory_rag.retrieval.faiss_indexes import FlatVectors, ProductCodes

DIM = 384


def unit(n: int, *, seed: int) -> npt.NDArray[np.float32]:
    """Return vectors that lie in groups, as those of turns do."""
    groups = np.random.default_rng(0).normal(size=(50, DIM))
    rows = np.random.default_rng(seed).normal(size=(n, DIM)) + groups[np.arange(n) % 50]
    made: npt.NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return made


QUERIES = unit(20, seed=9)


def coded(n: int, *, coded_from: int = 1000) -> tuple[FlatVectors, CodedVectors]:
    vectors = FlatVectors(unit(n, seed=1))
    return vectors, CodedVectors(vectors, coded_from=coded_from)


def grow(vectors: FlatVectors, new: npt.NDArray[np.float32]) -> None:
    vectors.put(np.concatenate([vectors.rows(np.arange(len(vectors))), new]))


def agreement(vectors: FlatVectors, found: CodedVectors, *, k: int = 10) -> float:
    same = [len(set(found.nearest(q, k=k).tolist()) & set(vectors.nearest(q, k=k).tolist())) for q in QUERIES]
    return float(np.mean(same)) / k


def ready(found: CodedVectors) -> CodedVectors:
    for query in QUERIES[:3]:
        found.nearest(query, k=1)
    found.wait()
    return found


def test_a_few_searches_and_a_small_set_are_answered_without_codes() -> None:
    vectors, found = coded(3000)
    assert [found.nearest(q, k=5).tolist() for q in QUERIES[:2]] == [
        vectors.nearest(q, k=5).tolist() for q in QUERIES[:2]
    ]
    assert not found.has_codes

    vectors, found = coded(500)
    assert agreement(vectors, ready(found)) == 1.0
    assert not found.has_codes


def test_after_some_searches_codes_name_nearly_the_same() -> None:
    vectors, found = coded(5000)

    ready(found)

    assert found.has_codes
    assert agreement(vectors, found) >= 0.97


def test_what_is_named_comes_best_first_by_its_numbers() -> None:
    vectors, found = coded(5000)
    ready(found)

    for query in QUERIES:
        scores = vectors.scores_of(query, found.nearest(query, k=50))
        assert (np.diff(scores) <= 0).all()


@pytest.mark.parametrize("n_new", [1, 100, 3000])
def test_vectors_that_are_added_later_are_found(n_new: int) -> None:
    vectors, found = coded(5000)
    ready(found)
    new = unit(n_new, seed=2)

    grow(vectors, new)

    for number in (0, n_new - 1):
        assert found.nearest(new[number], k=1).tolist() == [5000 + number]
    assert agreement(vectors, ready(found)) >= 0.97
    assert found.has_codes


def test_adding_goes_on_while_codes_are_made() -> None:
    vectors, found = coded(20_000)
    for query in QUERIES[:3]:
        found.nearest(query, k=1)
    for n in range(200):
        grow(vectors, unit(50, seed=100 + n))

    found.wait()

    assert agreement(vectors, ready(found)) >= 0.95
    last = unit(50, seed=299)[-1]
    assert found.nearest(last, k=1).tolist() == [len(vectors) - 1]


def test_closing_stops_the_making() -> None:
    vectors, found = coded(20_000)
    for query in QUERIES[:3]:
        found.nearest(query, k=1)

    found.close()

    assert agreement(vectors, found) >= 0.97


def test_codes_of_an_earlier_process_serve_at_once_and_are_gone_on_with() -> None:
    vectors, found = coded(5000)
    codes = found.of_all()
    assert codes is not None
    kept = ProductCodes.from_bytes(codes.as_bytes())
    again = CodedVectors(vectors, coded_from=1000, codes=kept)
    assert again.has_codes
    assert [again.nearest(q, k=10).tolist() for q in QUERIES] == [found.nearest(q, k=10).tolist() for q in QUERIES]

    new = unit(10, seed=3)
    grow(vectors, new)

    assert again.nearest(new[7], k=1).tolist() == [5007]
    assert len(kept) == 5010


def test_how_well_codes_agree_with_comparing_every_vector_is_told() -> None:
    vectors, found = coded(5000)

    agreement = found.agreement(20)

    assert agreement is not None
    assert 0.95 <= agreement <= 1
    assert CodedVectors(vectors, coded_from=6000).agreement(20) is None


def test_closed_codes_are_made_no_more() -> None:
    _vectors, found = coded(5000)

    found.close()

    assert found.of_all() is None


def test_short_vectors_are_compared_without_codes() -> None:
    """One bit of each of 64 numbers tells too little."""
    rows = unit(3000, seed=1)[:, :64]
    vectors = FlatVectors(rows)
    found = CodedVectors(vectors, coded_from=1000)

    for query in rows[:5]:
        assert found.nearest(query, k=10).tolist() == vectors.nearest(query, k=10).tolist()
    found.wait()
    assert not found.has_codes


def test_most_of_a_set_is_asked_of_the_numbers() -> None:
    vectors, found = coded(5000)
    ready(found)

    assert found.nearest(QUERIES[0], k=3000).tolist() == vectors.nearest(QUERIES[0], k=3000).tolist()


FORKED = """
import os, signal, sys
import numpy as np
from memory_rag.retrieval.codes import CodedVectors
from memory_rag.retrieval.faiss_indexes import FlatVectors

def search() -> None:
    rows = np.random.default_rng(0).normal(size=(6000, 384)).astype(np.float32)
    vectors = FlatVectors(rows[:4000])
    found = CodedVectors(vectors, coded_from=1000)
    for _ in range(3):
        found.nearest(rows[0], k=1)
    found.wait()
    vectors.put(rows)
    found.nearest(rows[0], k=1)

search()
if os.fork() == 0:
    signal.alarm(30)
    search()
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_forked_off_one_that_made_codes_makes_its_own() -> None:
    """FAISS's threads aren't forked along: what would wait for them waits for ever."""
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], timeout=60, check=False)

    assert ran.returncode == 0
