"""Scores of entries, held for all of them or for the few that have one."""

from __future__ import annotations

import numpy as np
import pytest

from memory_rag.retrieval.entry_scores import EntryScores

N = 1000


@pytest.mark.parametrize("stretch", [(0, N), (300, 340), (N - 5, N)])
@pytest.mark.parametrize("n", [0, 1, 5, 14, 40, 5000])
def test_what_is_added_to_an_entry_is_summed_however_few_there_are(n: int, stretch: tuple[int, int]) -> None:
    random = np.random.default_rng(n)
    entries = random.integers(*stretch, n).astype(np.int32)
    values = random.random(n) + 0.1
    expected = [0.0] * N
    for entry, value in zip(entries.tolist(), values.tolist(), strict=True):
        expected[entry] += value

    scores = EntryScores.summed(entries, values, n_entries=N)

    assert scores.of_all.tolist() == expected, "in the order given, to the last bit"
    assert scores.matching.tolist() == sorted(set(entries.tolist()))
    assert scores.of_matching.tolist() == [expected[entry] for entry in scores.matching.tolist()]
    asked = random.integers(0, N, 300)
    assert scores[asked].tolist() == [expected[entry] for entry in asked.tolist()]
    assert scores[np.zeros(0, np.int64)].tolist() == []
