"""What the prompt asks of a summary: the fullest text of it that fits, and which turns it stands for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Covered:
    """The turns that a summary stands for: those of one conversation up to an ordinal, that one included, no gap."""

    conversation_id: str
    last_ordinal: int
    n_turns: int


@dataclass(frozen=True, slots=True)
class SummaryText:
    """A summary as it goes into a prompt.

    ``text`` cites the turns that its lines come from; ``level`` is the summary's own name for how coarse it is
    (``100 turns``, ``1,000 turns``, ``lifetime``); ``covers`` says what may be left out of the window because of it.
    """

    text: str
    level: str
    covers: tuple[Covered, ...] = ()


class SummarySource(Protocol):
    """Where the prompt takes a conversation's summary from."""

    def at_most(self, n_tokens: int, *, count: Callable[[str], int]) -> SummaryText | None:
        """Return the finest summary of at most so many tokens as ``count`` counts them; None if there is none."""

    def shortened(self, n_tokens: int, *, count: Callable[[str], int]) -> SummaryText | None:
        """Return a summary's most important lines, as many as fit, but one at least; None if there is no summary."""
