"""What is counted of the places at which the right conversation comes, and how it is told."""

from __future__ import annotations

from typing import Any

from memory_rag.evaluation.datasets.fifty import Fifty, Talk, TalkQuestion
from memory_rag.evaluation.fifty_tables import fifty_tables
from memory_rag.evaluation.talk_places import Found, place_of, places

TALKS = {name: Talk(name, (("user", name),), ("x",)) for name in ("sv01", "sv02", "sv03", "sv04")}
FIVE = tuple(TALKS)
QUESTIONS = (
    TalkQuestion("sv01-same", "sv01", "same_words", "a?", "", (), FIVE),
    TalkQuestion("sv02-same", "sv02", "same_words", "b?", "", (), FIVE),
    TalkQuestion("sv01-para", "sv01", "paraphrase", "Hur går det?", "Hur går", ("sv02", "sv03"), FIVE),
)
FIFTY = Fifty("sv", TALKS, QUESTIONS, "0" * 64)
RANKED = {"sv01-same": ("sv01", "sv02"), "sv02-same": ("sv01", "sv03", "sv04", "sv02"), "sv01-para": ("sv03",)}


def measured() -> dict[str, Any]:
    return places(
        FIFTY,
        among_fifty=lambda one: {"turns": Found(RANKED[one.question_id], is_empty=one.kind == "paraphrase")},
        among_five=lambda one: {"turns": Found((one.talk_id,))},
    )


def test_a_place_counts_from_one_and_what_is_not_there_has_none() -> None:
    assert [place_of(name, ("a", "b")) for name in ("a", "b", "c")] == [1, 2, None]


def test_places_are_counted_by_way_kind_and_pool() -> None:
    found = measured()["turns"]

    assert found["same_words"]["of_fifty"] == {"first": 1, "in_three": 1, "empty": 0, "places": "1 4"}
    assert found["same_words"]["of_five"] == {"first": 2, "in_three": 2, "empty": 0, "places": "1 1"}
    assert found["paraphrase"] == {
        "n": 1,
        "of_fifty": {"first": 0, "in_three": 0, "empty": 1, "places": "-"},
        "of_five": {"first": 1, "in_three": 1, "empty": 0, "places": "1"},
    }
    assert found["weak_spot"] == {"question": "Hur går det?", "of_fifty": None, "of_five": 1}


def test_the_tables_tell_places_and_the_weak_spot() -> None:
    tables = fifty_tables({"result": {"e5": {"sv": measured()}}})

    assert tables["fifty"].splitlines()[2] == (
        "| `e5` | Swedish | turns | 1 · 1 · 0 | 2 · 2 · 0 | 0 · 0 · 1 | 1 · 1 · 0 |"
    )
    assert tables["fifty-weak-spot"].splitlines()[2] == "| `e5` | Hur går det? | turns | not found | 1 |"
