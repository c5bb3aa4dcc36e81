"""One question, several ways of ranking, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memory_rag.retrieval.ranking import Ranking
from memory_rag.turns import Turn


@dataclass(frozen=True, slots=True)
class ComparedTurn:
    """A turn and its rank in each mode that found it."""

    turn: Turn
    ranks: Mapping[str, int]

    def move(self, start: str, end: str) -> int | None:
        """Return how many places the turn rises from one mode to another (negative: falls); None if one lacks it."""
        if start not in self.ranks or end not in self.ranks:
            return None
        return self.ranks[start] - self.ranks[end]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rankings of one question by mode, and every turn that any of them found, the last mode's order first."""

    query: str
    rankings: Mapping[str, Ranking]
    turns: tuple[ComparedTurn, ...]

    def _repr_html_(self) -> str:
        from memory_rag.retrieval.in_notebook import comparison_html

        return comparison_html(self)


def compare_rankings(query: str, rankings: Mapping[str, Ranking]) -> Comparison:
    """Line up rankings of the same question over the same turns."""
    turns: dict[str, Turn] = {}
    ranks: dict[str, dict[str, int]] = {}
    for mode, ranking in reversed(list(rankings.items())):
        for hit in ranking:
            turns.setdefault(hit.turn.turn_id, hit.turn)
            ranks.setdefault(hit.turn.turn_id, {})[mode] = hit.rank
    listed = tuple(
        ComparedTurn(turn, {mode: ranks[turn_id][mode] for mode in rankings if mode in ranks[turn_id]})
        for turn_id, turn in turns.items()
    )
    return Comparison(query, dict(rankings), listed)
