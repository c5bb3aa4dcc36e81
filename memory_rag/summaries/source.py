"""One conversation's summaries as a prompt takes them: the finest that fits."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memory_rag.prompt.summary_source import Covered, SummaryText
from memory_rag.summaries.shelf import Shelf, Standing
from memory_rag.summaries.summary import LAST_TO_GO, Level, Summary
from memory_rag.summaries.summary_rows import Stored

_NAMES: Final = {Level.HUNDRED: "100 turns", Level.THOUSAND: "1,000 turns", Level.LIFETIME: "lifetime"}
_NO_CHANGE: Final = 2**62
"""After every change of a store."""
_LONGEST_TOKEN: Final = 16
"""Code points of a token at most, on the average of a text: a longer text needn't be counted to be too long."""


@dataclass(slots=True)
class _Choice:
    """One way to tell a conversation; what it covers is only looked up if it is chosen.

    ``is_partial`` is one that leaves out what newer summaries tell.
    """

    level: Level
    text: str
    parts: Sequence[Stored]
    is_partial: bool
    covers: tuple[Covered, ...] | None = None


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read, and how the store stood then."""

    state: object
    seq: int
    choices: tuple[_Choice, ...]


class ConversationSummary:
    """The summaries of one conversation; satisfies :class:`memory_rag.prompt.summary_source.SummarySource`.

    Keeps what it read until a summary changes, or a turn comes in among those that are covered: a prompt asks at every
    turn.
    """

    def __init__(self, shelf: Shelf, conversation_id: str) -> None:
        self._shelf = shelf
        self._conversation_id = conversation_id
        self._read: _Read | None = None
        self._lock = threading.Lock()

    def at_most(self, n_tokens: int, *, count: Callable[[str], int]) -> SummaryText | None:
        """Return the finest summary of at most so many tokens as ``count`` counts them; None if there is none.

        Finest: every 100 turns' own; else 1,000 turns' and the 100s after them; else the lifetime's, with what is newer
        if that fits.
        """
        standing = self._shelf.follow()
        with self._lock:
            for choice in self._choices(standing):
                if len(choice.text) <= n_tokens * _LONGEST_TOKEN and count(choice.text) <= n_tokens:
                    if choice.covers is None:
                        choice.covers = self._covered(choice.parts)
                    return SummaryText(choice.text, _NAMES[choice.level], choice.covers)
        return None

    def shortened(self, n_tokens: int, *, count: Callable[[str], int]) -> SummaryText | None:
        """Return as many lines of the coarsest summary as fit, the most important first, and one at least.

        It stands for all that the whole summary stands for. None if there is no summary.
        """
        standing = self._shelf.follow()
        with self._lock:
            choices = self._choices(standing)
            # The lifetime alone, which comes last, doesn't tell what is newer.
            choice = next((one for one in reversed(choices) if not one.is_partial), None)
            if choice is None:
                return None
            if choice.covers is None:
                choice.covers = self._covered(choice.parts)
            text = _most_important(choice.parts, n_tokens, count=count)
            return SummaryText(text, f"{_NAMES[choice.level]}, shortened", choice.covers)

    def _choices(self, standing: Standing) -> tuple[_Choice, ...]:
        state = (standing.followed, self._shelf.state(self._conversation_id))
        read = self._read
        # At first nothing was covered that an addition could lie in: not every change has to be looked at.
        after = _NO_CHANGE if read is None else read.seq
        seq, lowest = after, None
        if after != standing.last_seq:
            seq, lowest = self._shelf.first_added(self._conversation_id, after_seq=after)
        if read is not None and read.state == state:
            covered = max((one.last_ordinal for choice in read.choices for one in choice.covers or ()), default=-1)
            if lowest is not None and lowest <= covered:
                for choice in read.choices:
                    choice.covers = None
            choices = read.choices
        else:
            choices = tuple(choice for choice in self._made() if choice.text)
        self._read = _Read(state, seq, choices)
        return choices

    def _made(self) -> list[_Choice]:
        hundreds = self._shelf.stored(self._conversation_id, Level.HUNDRED)
        thousands = self._shelf.stored(self._conversation_id, Level.THOUSAND)
        lifetime = self._shelf.stored(self._conversation_id, Level.LIFETIME)
        choices = [(Level.HUNDRED, hundreds)]
        if thousands:
            choices.append((Level.THOUSAND, [*thousands, *self._after(thousands, hundreds)]))
        newer: list[Stored] = []
        if lifetime:
            newer = self._after(lifetime, hundreds)
            choices += [(Level.LIFETIME, [*lifetime, *newer]), (Level.LIFETIME, lifetime)]
        shown = {one.summary.number: _shown(one.summary) for one in (*hundreds, *thousands, *lifetime)}
        return [
            _Choice(
                level,
                "\n\n".join(shown[one.summary.number] for one in parts if one.summary.lines),
                parts,
                is_partial=parts is lifetime and bool(newer),
            )
            for level, parts in choices
        ]

    def _after(self, wholes: Sequence[Stored], hundreds: Sequence[Stored]) -> list[Stored]:
        inside = {part for one in wholes for part in self._shelf.parts(one.summary.number)}
        return [one for one in hundreds if one.summary.number not in inside]

    def _covered(self, parts: Sequence[Stored]) -> tuple[Covered, ...]:
        numbers: list[int] = []
        for one in parts:
            numbers += self._shelf.parts(one.summary.number) or [one.summary.number]
        end = self._shelf.covered_up_to(self._conversation_id, numbers)
        return () if end is None else (Covered(self._conversation_id, *end),)


def _most_important(parts: Sequence[Stored], n_tokens: int, *, count: Callable[[str], int]) -> str:
    """Return the longest text of so many tokens that summaries' lines make, the most important kept; one is."""
    places = [(at, place, line) for at, part in enumerate(parts) for place, line in enumerate(part.summary.lines)]
    # Of a kind, the newest stay.
    places.sort(key=lambda one: (LAST_TO_GO.index(one[2].kind), -one[0], -one[1]))

    def text_of(n: int) -> str:
        kept = {(at, place) for at, place, _line in places[:n]}
        told = [
            replace(part.summary, lines=tuple(x for y, x in enumerate(part.summary.lines) if (at, y) in kept))
            for at, part in enumerate(parts)
        ]
        return "\n\n".join(_shown(one) for one in told if one.lines)

    return text_of(bisect_right(range(2, len(places) + 1), n_tokens, key=lambda n: count(text_of(n))) + 1)


def _shown(summary: Summary) -> str:
    ends = summary.first_turn_id
    if summary.last_turn_id != summary.first_turn_id:
        ends = f"{ends} to {summary.last_turn_id}"
    return f"Turns {ends}:\n{summary.text}"
