"""Ids come from what was said and are kept apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_rag.importers.identity import DistinctIds, digest


def test_a_digest_stands_for_the_values_and_not_for_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": "ö"}) == digest({"b": "ö", "a": 1})
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("\ud800") != digest("\ud801")
    assert len(digest()) == 20


def test_an_id_that_comes_again_gets_the_number_of_its_occurrence() -> None:
    ids = DistinctIds()
    assert [ids.distinct(native_id) for native_id in ("a", "b", "a", "a")] == ["a", "b", "a#2", "a#3"]


@given(st.lists(st.sampled_from(["a", "b", "a#2", "a#2#2", "b#3"])))
def test_ids_are_distinct_and_stay_when_more_follow(native_ids: list[str]) -> None:
    whole = [*map(DistinctIds().distinct, native_ids)]
    assert len(set(whole)) == len(native_ids)
    for length in range(len(native_ids)):
        assert [*map(DistinctIds().distinct, native_ids[:length])] == whole[:length]
