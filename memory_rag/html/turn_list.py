"""Turns in a row, such as one amid its neighbours."""

from __future__ import annotations

from memory_rag.html.cards import card, place_of, row, words
from memory_rag.turns import Span, Turn


class TurnList(list[Turn]):
    """Turns in the order in which they were said; a notebook shows who said what."""

    def _repr_html_(self) -> str:
        return card(*(row(one.turn_id, place_of(one), words(one.text, around=Span(0, 0))) for one in self))
