"""One question, several ways of ranking, side by side."""

from __future__ import annotations

from memory_rag.retrieval.comparison import compare_rankings
from memory_rag.retrieval.ranking import Hit, Ranking
from memory_rag.turns import Span
from tests.retrieval.talks import turn


def ranking(mode: str, *turn_ids: str) -> Ranking:
    hits = (Hit(turn("x", turn_id=turn_id), 1.0 / n, n, Span(0, 1)) for n, turn_id in enumerate(turn_ids, start=1))
    return Ranking("x", mode, tuple(hits))


def test_every_turn_is_listed_once_with_its_rank_in_each_mode_the_last_mode_first() -> None:
    rankings = {
        "keyword": ranking("keyword", "a", "b"),
        "dense": ranking("dense", "c", "a"),
        "hybrid": ranking("hybrid", "a", "c", "d"),
    }

    compared = compare_rankings("x", rankings)

    assert [(found.turn.turn_id, dict(found.ranks)) for found in compared.turns] == [
        ("a", {"keyword": 1, "dense": 2, "hybrid": 1}),
        ("c", {"dense": 1, "hybrid": 2}),
        ("d", {"hybrid": 3}),
        ("b", {"keyword": 2}),
    ]


def test_a_move_is_how_many_places_a_turn_rises() -> None:
    compared = compare_rankings(
        "x", {"keyword": ranking("keyword", "a", "b"), "hybrid": ranking("hybrid", "b", "c", "a")}
    )

    moves = {found.turn.turn_id: found.move("keyword", "hybrid") for found in compared.turns}

    assert moves == {"b": 1, "c": None, "a": -2}


def test_empty_rankings_have_nothing_to_compare() -> None:
    assert compare_rankings("x", {"keyword": ranking("keyword")}).turns == ()
