"""The tools that tell of the memory as a whole: what its conversations come to, and how much is in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field

from memory_rag.interfaces.mcp.results import ConversationCount, MemoryStats, OneSummary, Summaries, SummaryLine
from memory_rag.interfaces.mcp.told import Told
from memory_rag.interfaces.mcp.wording import counted, iso, joined, remembered
from memory_rag.interfaces.serving.live_memory import LiveMemory
from memory_rag.summaries.summary import Level, Summary

if TYPE_CHECKING:
    from memory_rag.memory import Memory

_SPEAKERS_SHOWN: Final = 20
_CONVERSATIONS_SHOWN: Final = 30
_SUMMARIES_SHOWN: Final = 10


class OverviewTools:
    """What a client may ask of one memory as a whole."""

    def __init__(self, live: LiveMemory) -> None:
        self._live = live

    def get_summary(
        self,
        conversation: Annotated[
            str | None, Field(description="Of this conversation; without it, of those summarised last.")
        ] = None,
        *,
        level: Annotated[
            Literal["hundred", "thousand", "lifetime"] | None,
            Field(description="How much one stands for: up to 100 turns, up to ten of those, the whole life."),
        ] = None,
    ) -> Told[Summaries]:
        """Read the running summary: topics, preferences, decisions with reasons, open questions, each with its turns.

        A summary tells where to look; for exact words use quote or get_turn with the turn ids of its lines.
        """
        memory = self._live.get()
        names = [conversation] if conversation is not None else summarised_last(memory, n=_SUMMARIES_SHOWN)
        levels = [Level.LIFETIME, Level.THOUSAND, Level.HUNDRED] if level is None else [Level(level)]
        found = [
            one for name in names for each in levels for one in reversed(memory.summaries.stored(name, level=each))
        ]
        shown = found[:_SUMMARIES_SHOWN]
        notes = [] if shown else [_no_summary(conversation, level)]
        if len(found) > len(shown):
            notes.append(f"{len(found) - len(shown)} more are stored; name a conversation and a level")
        result = Summaries(summaries=[_summary(one) for one in shown], notes=notes)
        return Told(result, joined(summaries_text(shown), [f"note: {line}" for line in notes]))

    def memory_stats(self) -> Told[MemoryStats]:
        """Count what is in the memory: turns, speakers, conversations, times, and how much is searched by meaning."""
        memory = self._live.get()
        stats = memory.stats()
        newest = sorted(
            stats.conversations, key=lambda one: (one.last is not None, one.last or stats.last, one.conversation_id)
        )[::-1][:_CONVERSATIONS_SHOWN]
        result = MemoryStats(
            n_turns=stats.n_turns,
            n_conversations=len(stats.conversations),
            n_sessions=stats.n_sessions,
            first=iso(stats.first),
            last=iso(stats.last),
            by_role=dict(stats.by_role),
            speakers=dict(list(stats.by_speaker.items())[:_SPEAKERS_SHOWN]),
            unrecalled=stats.unrecalled,
            languages=list(stats.languages),
            embedder=stats.embedder,
            embedded=stats.embedded,
            pending=stats.pending,
            conversations=[
                ConversationCount(
                    conversation_id=one.conversation_id,
                    title=one.title,
                    n_turns=one.n_turns,
                    first=iso(one.first),
                    last=iso(one.last),
                )
                for one in newest
            ],
            notes=[stats.note] if stats.note else [],
        )
        span = f", {result.first} to {result.last}" if result.first else ""
        head = f"{counted(stats.n_turns, 'turn')} in {counted(len(stats.conversations), 'conversation')}{span}"
        by_meaning = (
            f"{stats.embedded} can be searched by meaning, {stats.pending} wait for it"
            if stats.embedder
            else "keyword search only"
        )
        lines = [
            f"{one.conversation_id}: {one.title or '(no title)'} · {counted(one.n_turns, 'turn')} · last {one.last}"
            for one in result.conversations
        ]
        return Told(result, joined(head, by_meaning, remembered(lines), [f"note: {line}" for line in result.notes]))


def summarised_last(memory: Memory, *, n: int) -> list[str]:
    """Return the conversations whose summaries were made last, the newest first."""
    made = {
        one.conversation_id: max((made_at for _number, made_at in state), default=0)
        for one in memory.store.conversations()
        if (state := memory.summaries.shelf.state(one.conversation_id))
    }
    return sorted(made, key=lambda name: (-made[name], name))[:n]


def summaries_text(summaries: Sequence[Summary]) -> str:
    """Return summaries as one fenced text."""
    lines: list[str] = []
    for one in summaries:
        ends = f"{one.first_turn_id} to {one.last_turn_id}"
        lines += [f"[{one.conversation_id} · {one.level.value} · {one.n_turns} turns, {ends}]", *one.text.splitlines()]
    return remembered(lines)


def _summary(one: Summary) -> OneSummary:
    return OneSummary(
        conversation_id=one.conversation_id,
        level=one.level.value,
        n_turns=one.n_turns,
        first_turn_id=one.first_turn_id,
        last_turn_id=one.last_turn_id,
        made_by=one.made_by,
        made_at=iso(one.made_at) or "",
        focus=one.focus,
        note=one.note,
        lines=[
            SummaryLine(
                kind=line.kind.value,
                text=line.text,
                reason=line.reason,
                turn_ids=list(line.turn_ids),
                verbatim=line.verbatim,
            )
            for line in one.lines
        ],
    )


def _no_summary(conversation: str | None, level: str | None) -> str:
    where = "" if conversation is None else f" of conversation {conversation!r}"
    of_level = "" if level is None else f" of level {level!r}"
    return f"there is no summary{where}{of_level} yet; search_memory finds the turns themselves"
