"""What was said to a model and what it answered, as a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_rag.html.cards import card, quiet, row, words
from memory_rag.html.markup import Html

if TYPE_CHECKING:
    from memory_rag.interfaces.chat.session import Exchange


def exchange_html(exchange: Exchange) -> Html:
    """Return both sides; where no model answered, that none was asked."""
    said, answer = exchange.said, exchange.answer
    rows = [row(said.speaker or said.role.value, words(said.text), quiet(said.turn_id or "not stored"))]
    if answer is not None:
        cut = f"{answer.turn_id} · cut off: {exchange.cut_off}" if exchange.cut_off else answer.turn_id
        rows.append(row(answer.speaker or answer.role.value, words(answer.text), quiet(cut)))
        return card(*rows)
    none = (
        "No model is set (OPENAI_BASE_URL or OPENAI_API_KEY), so nobody was asked; .prompt is what it would have read."
    )
    return card(*rows, quiet(none))
