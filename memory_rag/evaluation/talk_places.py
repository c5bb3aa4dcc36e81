"""At which place the right conversation comes: among fifty, and among five."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory_rag.evaluation.datasets.fifty import KINDS, Fifty, TalkQuestion

WEAK_SPOT: Final = {"sv": "sv01-para", "nb": "nb01-para"}
"""Of each language "how is the maths going?", which names neither derivatives nor fractions."""


@dataclass(frozen=True, slots=True)
class Found:
    """The conversations that a search gave, best first, and whether a search with a floor would have given none."""

    talk_ids: Sequence[str]
    is_empty: bool = False


Ask = Callable[[TalkQuestion], Mapping[str, Found]]
"""Gives what each way of searching finds for a question."""


def place_of(talk_id: str, talk_ids: Sequence[str]) -> int | None:
    """Return the place of a conversation in a ranking, from 1; None if it isn't there."""
    return talk_ids.index(talk_id) + 1 if talk_id in talk_ids else None


def places(fifty: Fifty, *, among_fifty: Ask, among_five: Ask) -> dict[str, Any]:
    """Return by way and kind of question how often the right conversation comes first and among the first three.

    ``empty`` counts the questions to which a search with its floor answers that nothing was said about it. The places
    themselves stand as text, in the order of the questions, - for a conversation that wasn't found.
    """
    by_way: dict[str, dict[str, Any]] = {}
    for kind in KINDS:
        questions = fifty.of_kind(kind)
        asked = {"fifty": [among_fifty(one) for one in questions], "five": [among_five(one) for one in questions]}
        for way in asked["fifty"][0]:
            own = by_way.setdefault(way, {})
            own[kind] = {"n": len(questions)}
            for pool, found in asked.items():
                where = [place_of(q.talk_id, one[way].talk_ids) for q, one in zip(questions, found, strict=True)]
                own[kind][f"of_{pool}"] = {
                    "first": sum(place == 1 for place in where),
                    "in_three": sum(place is not None and place <= 3 for place in where),
                    "empty": sum(one[way].is_empty for one in found),
                    "places": " ".join("-" if place is None else str(place) for place in where),
                }
                for question, place in zip(questions, where, strict=True):
                    if question.question_id == WEAK_SPOT.get(fifty.language):
                        spot = own.setdefault("weak_spot", {"question": question.text})
                        spot[f"of_{pool}"] = place
    return by_way
