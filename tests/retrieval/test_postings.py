"""Which entries hold a term, against a dict of lists."""

from __future__ import annotations

import tracemalloc
from collections import Counter, defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.retrieval.postings import Postings

TERMS = st.sampled_from("abcdefghåß日") | st.text(st.characters(exclude_categories=()), max_size=4)
TEXTS = st.lists(TERMS, max_size=8)
STEPS = st.lists(st.one_of(TEXTS, st.sampled_from(["seal", "save", "look"])), max_size=40)


class Model:
    """What postings are: for each term the entries that hold it, and how often."""

    def __init__(self) -> None:
        self.of: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self.n = 0

    def add(self, terms: list[str]) -> None:
        for term, count in Counter(terms).items():
            self.of[term].append((self.n, count))
        self.n += 1


def held(postings: Postings, term: str) -> list[tuple[int, int]]:
    found = postings.of(term)
    if found is None:
        return []
    entries, counts = found
    return list(zip(entries.tolist(), counts.astype(int).tolist(), strict=True))


@given(STEPS)
def test_postings_agree_with_a_dict_of_lists(steps: list[list[str] | str]) -> None:
    postings, model = Postings(), Model()
    for step in steps:
        if step == "seal":
            postings.seal()
        elif step == "save":
            postings = Postings.from_arrays(postings.arrays())
        elif isinstance(step, list):
            postings.add(model.n, [step])
            model.add(step)
        for term in [*model.of, "never"]:
            assert held(postings, term) == model.of.get(term, [])
    searched = np.arange(model.n) % 2 == 0

    frequencies = dict(zip(postings.terms, postings.document_frequencies(searched).tolist(), strict=True))

    assert frequencies == {term: sum(entry % 2 == 0 for entry, _count in listed) for term, listed in model.of.items()}


def test_many_postings_are_sealed_on_the_way_and_nothing_is_lost() -> None:
    postings, model = Postings(), Model()
    for entry in range(3000):
        terms = [f"w{entry % 7}", f"w{entry % 11}", f"only{entry}", "all"]
        postings.add(entry, [terms])
        model.add(terms)

    assert all(held(postings, term) == listed for term, listed in model.of.items())


def test_what_was_handed_out_stays_as_it_was() -> None:
    postings = Postings()
    postings.add(0, [["a", "a"]])
    found = postings.of("a")

    postings.add(1, [["a"]])
    postings.seal()

    assert found is not None
    assert (found[0].tolist(), found[1].tolist()) == ([0], [2.0])


def test_an_unknown_term_is_nothing_and_no_terms_are_fine() -> None:
    postings = Postings()
    postings.add(0, [[]])
    postings.seal()

    assert postings.of("a") is None
    assert postings.document_frequencies(np.ones(1, np.bool_)).tolist() == []
    assert Postings.from_arrays(postings.arrays()).of("a") is None


@given(st.lists(TEXTS, max_size=12), st.sets(st.integers(0, 11)))
def test_postings_of_some_entries_are_those_of_a_memory_that_never_had_the_others(
    texts: list[list[str]], dropped: set[int]
) -> None:
    postings, model = Postings(), Model()
    for entry, terms in enumerate(texts):
        postings.add(entry, [terms])
        if entry not in dropped:
            model.add(terms)
    kept = np.array([entry not in dropped for entry in range(len(texts))], np.bool_)

    only = postings.only(kept)

    assert set(only.terms) == set(model.of)
    assert all(held(only, term) == listed for term, listed in model.of.items())
    only.add(model.n, [["new"]])
    assert held(only, "new") == [(model.n, 1)]


@given(st.lists(TEXTS, max_size=20), st.lists(st.booleans(), min_size=20, max_size=20), st.integers(0, 20))
def test_what_some_entries_hold_is_told_by_term(texts: list[list[str]], chosen: list[bool], sealed: int) -> None:
    postings = Postings()
    for entry, terms in enumerate(texts):
        postings.add(entry, [terms])
        if entry == sealed:
            postings.seal()

    numbers, entries = postings.within(np.array(chosen[: len(texts)], np.bool_))

    told = sorted((postings.terms[number], entry) for number, entry in zip(numbers.tolist(), entries, strict=True))
    assert told == sorted((term, entry) for entry, terms in enumerate(texts) if chosen[entry] for term in set(terms))


def test_what_a_few_entries_hold_is_found_without_a_number_for_each_posting() -> None:
    postings = Postings()
    postings.add(0, [[f"term {number % 97}" for number in range(entry, entry + 40)] for entry in range(5000)])
    chosen = np.zeros(5000, np.bool_)
    chosen[[7, 4000]] = True

    tracemalloc.start()
    try:
        numbers, entries = postings.within(chosen)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert sorted((postings.terms[number], entry) for number, entry in zip(numbers, entries.tolist(), strict=True)) == (
        sorted((f"term {number % 97}", entry) for entry in (7, 4000) for number in range(entry, entry + 40))
    )
    assert taken < 2 * 5000 * 40
