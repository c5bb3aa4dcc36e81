"""What a verdict has to say of corrections: a quoted turn was corrected, or these words are what it was before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from memory_rag.retrieval.verification import Verdict
from memory_rag.store.turn_reader import TurnReader
from memory_rag.text.folding import fold
from memory_rag.turns import Role, Turn

_MAYBE_EARLIER: Final = ("near", "not_found", "only_assistant", "said_by_another")


def with_corrections(
    verdicts: Sequence[Verdict], store: TurnReader, *, answer_turn_id: str | None = None
) -> tuple[Verdict, ...]:
    """Return verdicts whose quotes and messages tell of corrections.

    A quotation that nobody says now, or only others, but that a turn said before it was corrected, keeps its status:
    what it was is not what holds.
    """
    corrected = store.corrected_at([quote.turn_id for verdict in verdicts for quote in verdict.quotes])
    earlier: list[Turn] | None = None
    told: list[Verdict] = []
    for verdict in verdicts:
        quotes = tuple(replace(quote, corrected_at=corrected.get(quote.turn_id)) for quote in verdict.quotes)
        message = verdict.message
        before: Turn | None = None
        if verdict.status in _MAYBE_EARLIER:
            earlier = store.versions() if earlier is None else earlier
            said_by_some = bool(quotes) and verdict.status != "near"
            # Where the assistant repeats the words, an earlier version of its own tells nothing more.
            versions = [turn for turn in earlier if turn.role is not Role.ASSISTANT] if said_by_some else earlier
            before = _saying(versions, verdict.quotation.text, answer_turn_id)
        if before is not None:
            message += f" Turn {before.turn_id} said it until it was corrected."
        elif quotes and (at := quotes[0].corrected_at) is not None:
            message += f" That turn was corrected on {_day(at)}."
        told.append(replace(verdict, quotes=quotes, message=message))
    return tuple(told)


def _saying(earlier: Sequence[Turn], wording: str, answer_turn_id: str | None) -> Turn | None:
    """Return the newest earlier version that has these words, not cut; the answer itself doesn't count."""
    wanted = f" {_words(wording)} "
    if not wanted.strip():
        return None
    return next(
        (turn for turn in reversed(earlier) if turn.turn_id != answer_turn_id and wanted in f" {_words(turn.text)} "),
        None,
    )


def _words(text: str) -> str:
    """Return the letters and digits of a text as it is compared, a space between words."""
    return " ".join("".join(sign if sign.isalnum() else " " for sign in fold(text).text).split())


def _day(instant: datetime) -> str:
    return f"{instant.astimezone(UTC):%Y-%m-%d}"
