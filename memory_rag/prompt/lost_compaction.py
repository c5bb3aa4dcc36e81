"""The silent bug, noticed: after a compaction the whole history is sent again, because its block was lost.

Whoever stores only the text of an answer loses the block that stands for everything before it. Nothing fails; the next
request is as large as if there had been no compaction. What each request had is in the event log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_rag.prompt.events import Event, EventKind


class LostCompactionWarning(UserWarning):
    """A provider's compaction was not sent back, and the whole history was."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """The newest compaction of a conversation: the turn whose answer brought it, tokens before and after it.

    Where the provider doesn't tell what was left, the next request does.
    """

    turn_id: str
    tokens_before: int
    tokens_after: int | None


@dataclass(frozen=True, slots=True)
class LostCompaction:
    """Where a compaction's block was lost: ``turn_id`` is the first turn whose request came without it."""

    turn_id: str
    compacted: Compacted
    n_sent: int
    was_kept: bool

    def __str__(self) -> str:
        to = "" if self.compacted.tokens_after is None else f" to {self.compacted.tokens_after:,}"
        cause = (
            f"it is kept, but the request that {self.turn_id} answers was sent without it: build requests with "
            "memory.prompt.replay"
            if self.was_kept
            else f"only the text of {self.compacted.turn_id} was stored: hand whole answers to memory.prompt.record"
        )
        return (
            f"the compaction block of {self.compacted.turn_id} was lost: the conversation had been compacted from "
            f"{self.compacted.tokens_before:,} input tokens{to}, and the request that {self.turn_id} answers had "
            f"{self.n_sent:,} again; {cause}"
        )


def lost_compaction(events: Sequence[Event], *, turn_id: str, n_sent: int, was_kept: bool) -> LostCompaction | None:
    """Tell whether a request held again what had been compacted; None if it did not.

    ``events`` are those of its conversation before it, oldest first; ``was_kept`` says whether the newest compaction's
    block is kept. A request that lost it is as large as before the compaction, and jumps there at once: it brings back
    at least half of what was compacted away. A conversation that grows long again with its block does not jump, and
    what was lost once is told once.
    """
    compacted, last_sent = newest_compaction(events)
    if compacted is None:
        return None
    before, after = compacted.tokens_before, compacted.tokens_after
    last_sent = after if last_sent is None else last_sent
    if n_sent < before or (last_sent is not None and last_sent >= before):
        return None
    if last_sent is not None and after is not None and 2 * (n_sent - last_sent) < before - after:
        return None
    return LostCompaction(turn_id, compacted, n_sent, was_kept)


def newest_compaction(events: Sequence[Event]) -> tuple[Compacted | None, int | None]:
    """Return a provider's newest compaction of these events, and what the newest request after it had, if any.

    A compaction of our own is of no answer: it has no block that could be lost.
    """
    compacted: Compacted | None = None
    last_sent: int | None = None
    for event in events:
        if event.kind is EventKind.COMPACTION and event.turn_id and event.tokens_before is not None:
            compacted, last_sent = Compacted(event.turn_id, event.tokens_before, event.tokens_after), None
        elif event.kind is EventKind.ANSWER and compacted is not None and event.turn_id != compacted.turn_id:
            last_sent = event.tokens_before
            if compacted.tokens_after is None:
                compacted = replace(compacted, tokens_after=last_sent)
    return compacted, last_sent
