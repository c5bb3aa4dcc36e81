"""How often a term stands in a turn, and how long the turn is, as one number."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.retrieval.kinds import Kinds, Numbers

PAIRS = st.lists(
    st.tuples(st.integers(1, 3) | st.integers(1, 2**31 - 1), st.integers(1, 3) | st.integers(1, 2**31 - 1))
)


def pairs_of(kinds: Kinds, numbers: Numbers) -> list[tuple[int, int]]:
    return list(zip(kinds.counts[numbers].tolist(), kinds.lengths[numbers].tolist(), strict=True))


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


@given(st.lists(PAIRS, max_size=5), st.booleans())
def test_every_pair_has_one_number_that_leads_back_to_it(parts: list[list[tuple[int, int]]], one_by_one: bool) -> None:
    kinds, numbers = Kinds(), []
    for pairs in parts:
        if one_by_one:
            found = np.array([kinds.number(count, length) for count, length in pairs], np.int32)
        else:
            found = kinds.numbers(*columns(pairs))
        assert pairs_of(kinds, found) == pairs
        numbers.append(found)
        # As it comes back from a snapshot.
        kinds = Kinds(kinds.counts, kinds.lengths)

    assert len(kinds) == len({pair for pairs in parts for pair in pairs})
    for pairs, found in zip(parts, numbers, strict=True):
        assert pairs_of(kinds, found) == pairs, "numbers stay what they were"


@given(PAIRS, st.integers(0, 40))
def test_what_is_left_out_takes_the_kinds_with_it_that_it_alone_had(pairs: list[tuple[int, int]], n_kept: int) -> None:
    kinds = Kinds()
    numbers = kinds.numbers(*columns(pairs))

    only, kept = kinds.only(numbers[:n_kept])

    assert pairs_of(only, kept) == pairs[:n_kept]
    assert len(only) == len(set(pairs[:n_kept]))
    assert only.number(7, 9) == (len(only) - 1 if (7, 9) not in pairs[:n_kept] else pairs_of(only, kept).index((7, 9)))


def test_what_was_handed_out_stays_while_more_kinds_come() -> None:
    kinds = Kinds()
    kinds.number(1, 5)
    counts, lengths = kinds.counts, kinds.lengths

    for n in range(1000):
        kinds.number(2, 6 + n)

    assert (counts.tolist(), lengths.tolist()) == ([1], [5])
