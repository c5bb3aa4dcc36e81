"""Which texts hold each word, as counting them one by one tells it; and that a text is read once."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.evaluation.benchmark import Benchmark, Document, Query
from memory_rag.evaluation.held_words import HeldWords, Numbers, ReadWords
from memory_rag.evaluation.pool_sizes import SizedPools
from memory_rag.evaluation.pools import Pools
from memory_rag.evaluation.retrievers import baselines
from memory_rag.turns import Role, Turn

WORDS = ("a", "A", "b", "ö", "ß", "SS", "word", "\u2003", "x\u00a0y")


class Counted(ReadWords):
    """Counts the texts that it reads."""

    n = 0

    def of(self, text: str) -> Numbers:
        self.n += 1
        return super().of(text)


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), max_size=8), st.integers(0, 8))
def test_a_words_texts_are_those_that_counting_finds(texts: list[str], n: int) -> None:
    read = ReadWords()
    said = [read.of(text) for text in texts]

    # A pool may be some of the texts that were read: the others' words are none of it.
    held, counted = HeldWords(read, said[:n]), [Counter(text.lower().split()) for text in texts[:n]]

    assert held.lengths.tolist() == [of_text.total() for of_text in counted]
    for word in {*(word for text in texts for word in text.lower().split()), "never said"}:
        places, counts = held.of(word)
        assert dict(zip(places.tolist(), counts.tolist(), strict=True)) == {
            place: of_text[word] for place, of_text in enumerate(counted) if word in of_text
        }
        assert np.all(np.diff(places) > 0)
    in_texts = Counter(word for of_text in counted for word in of_text)
    assert held.frequencies() == list(in_texts.values())


def test_a_turn_is_read_once_however_many_pools_and_baselines_it_is_ranked_by() -> None:
    documents = tuple(
        Document(f"{name}/{place}", name, (Turn(f"{name}/{place}", name, "s", place, Role.USER, "Ada", f"w{place}"),))
        for name in "abcd"
        for place in range(3)
    )
    queries = tuple(Query(f"{name}/q", "w1", name) for name in "abcd")
    made = Benchmark("made", "turn", "0" * 64, documents, queries, {f"{n}/q": {f"{n}/1": 1} for n in "abcd"})
    read = Counted()

    for pools in (Pools(made), SizedPools(made, 2, seed=0)):
        for baseline in baselines(pools, read=read):
            for query in queries:
                own = baseline.rank(query, "conversation", 1).doc_ids
                assert len(baseline.rank(query, "memory", 12).doc_ids) >= len(own) == 1

    assert read.n == len(documents)
