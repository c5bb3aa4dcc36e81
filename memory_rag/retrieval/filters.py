"""Which turns a search may return."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.ranking import Entries
from memory_rag.retrieval.selected import Selected, Where
from memory_rag.retrieval.turn_table import ROLES, UNKNOWN_TIME, Mask, TurnTable
from memory_rag.text.instants import Bound, parse_bound
from memory_rag.turns import Role, to_microseconds


@dataclass(frozen=True, slots=True)
class Within:
    """Narrows a search. All that is given must hold; nothing given means the whole memory.

    ``since`` and ``until`` are written as people write them (``2026-04-10``, ``2026-04``, ``2026-04-10T12:00Z``): a
    bare date, month or year as ``until`` includes all of it. A turn without a known time is outside of any bound.
    ``unrecalled`` also searches what is left out by default: tool traffic, hidden context, abandoned branches.
    ``without`` are ids of turns that don't count, such as those a prompt holds already.
    """

    conversation: str | None = None
    session: str | None = None
    speaker: str | None = None
    role: str | None = None
    since: str | None = None
    until: str | None = None
    unrecalled: bool = False
    without: tuple[str, ...] = ()


EVERYWHERE: Final = Within()
_NAMES: Final = ("conversation", "session", "speaker", "role", "since", "until")
_NOBODY: Final[Entries] = np.zeros(0, np.int64)
_FEW: Final = 16
"""One of so many entries is few: then those of a time are looked up, else all are looked at."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A filter applied to a table: ``context`` is what scores are made from, ``allowed`` what may be returned.

    Who speaks narrows only what is returned: a question before an answer helps to find the answer, even if only
    answers are asked for. ``left_out`` are entries of the context that don't count; they are no part of it that
    another search lacks, so that one pool serves all prompts of a memory, each without the turns that it holds already.
    """

    context: Selected
    allowed: Selected
    notes: tuple[str, ...] = ()
    left_out: Entries | None = None

    def leaving_out(self, entries: Entries) -> Scope:
        """Return this scope without some entries; itself if there are none."""
        if len(entries) == 0:
            return self
        return replace(self, allowed=self.allowed.without(entries), left_out=entries)


def scope_of(
    table: TurnTable, within: Within, *, zone: tzinfo, earlier: Scope | None = None, ended: Entries = _NOBODY
) -> Scope:
    """Return which entries a search looks at and which it may return, but for ``without``, which a pool is shared by.

    ``earlier`` is the scope of the same filter when the table was shorter: only what came since is looked at, and
    the entries that have ``ended`` since are taken out.

    Raises:
        QueryError: a bound that is no time.
        TurnError: a role that is none.
    """
    bounds = _Bounds.of(within, zone=zone)
    talks = _Talks.of(table, within)
    notes = [*talks.notes, *bounds.notes(within)]
    at = slice(earlier.context.n_entries, len(table)) if earlier else _reached(table, talks, bounds)
    inside = table.alive[at] & talks.hold(table, at) & bounds.hold(table.said_at[at])
    if not within.unrecalled:
        inside &= table.recalled[at]
    spoken = _spoken(table, within, at, notes)
    said = None if spoken is None else inside & spoken
    if earlier is not None:
        context = earlier.context.grown(inside, ended=ended)
        allowed = context if said is None else earlier.allowed.grown(said, ended=ended)
    else:
        context = _selected(table, at, inside)
        allowed = context if said is None else _selected(table, at, said)
    given = [f"{name} {value}" for name in _NAMES if (value := getattr(within, name)) is not None]
    if given and not notes and len(allowed) == 0:
        notes.append(f"no turn here is within this filter: {', '.join(given)}")
    return Scope(context, allowed, tuple(notes))


@dataclass(frozen=True, slots=True)
class _Talks:
    """The conversation and the sessions that a filter asks for, by their numbers in the table; None for any."""

    conversation: int | None
    sessions: list[int] | None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: TurnTable, within: Within) -> _Talks:
        notes: list[str] = []
        conversation, sessions = None, None
        if within.conversation is not None:
            conversation = table.conversations.find(within.conversation)
            if conversation is None:
                notes.append(f"no conversation {within.conversation!r} in this memory; see: memory-rag stats")
                conversation = -1
        if within.session is not None:
            sessions = table.sessions.called(within.session)
            if not sessions:
                notes.append(f"no session {within.session!r} in this memory; see: memory-rag stats")
        return cls(conversation, sessions, tuple(notes))

    def hold(self, table: TurnTable, at: Where) -> Mask:
        """Return which entries of a part of the table belong to what is asked for."""
        inside = np.ones(len(table.session[at]), np.bool_)
        if self.conversation is not None:
            inside &= table.conversation[at] == self.conversation
        if self.sessions is not None:
            inside &= np.isin(table.session[at], self.sessions)
        return inside


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The times that a filter asks for, in microseconds, both included; None for any."""

    first: int | None
    last: int | None
    are_crossed: bool

    @classmethod
    def of(cls, within: Within, *, zone: tzinfo) -> _Bounds:
        since, until = (
            None if text is None else parse_bound(text, tz=zone, end=end)
            for text, end in ((within.since, False), (within.until, True))
        )
        first = None if since is None else to_microseconds(since.instant)
        last = None if until is None else to_microseconds(until.instant) - (not until.inclusive)
        return cls(first, last, since is not None and until is not None and _are_crossed(since, until))

    def notes(self, within: Within) -> list[str]:
        if not self.are_crossed:
            return []
        return [f"nothing is both since {within.since} and until {within.until}, which is earlier"]

    @property
    def are_any(self) -> bool:
        return self.first is None and self.last is None

    def hold(self, said: npt.NDArray[np.int64]) -> Mask:
        """Return which times lie inside; an unknown one is outside of any bound."""
        if self.are_any:
            return np.ones(len(said), np.bool_)
        inside: Mask = said != UNKNOWN_TIME
        if self.first is not None:
            inside &= said >= self.first
        if self.last is not None:
            inside &= said <= self.last
        return inside

    def few(self, table: TurnTable) -> Entries | None:
        """Return all entries of a table that were said inside, ascending, if they are few of all."""
        first = UNKNOWN_TIME + 1 if self.first is None else self.first
        last = int(np.iinfo(np.int64).max) if self.last is None else self.last
        if self.are_any or table.n_said_between(first, last) * _FEW >= len(table):
            return None
        return table.said_between(first, last)


def _reached(table: TurnTable, talks: _Talks, bounds: _Bounds) -> Where:
    """Return those entries, or all, that a filter may leave: what it names is looked up, not looked for among all."""
    if talks.conversation is not None:
        return table.of_conversation(talks.conversation)
    if talks.sessions is not None:
        own = [table.of_session(code) for code in talks.sessions]
        return np.sort(np.concatenate([_NOBODY, *own]))
    said = bounds.few(table)
    return slice(0, len(table)) if said is None else said


def _selected(table: TurnTable, at: Where, inside: Mask) -> Selected:
    if isinstance(at, slice):
        return Selected.of_mask(inside)
    return Selected.of_entries(at[inside], n_entries=len(table))


def _spoken(table: TurnTable, within: Within, at: Where, notes: list[str]) -> Mask | None:
    """Return which entries of a part are by who is asked for; None if the filter doesn't say."""
    spoken: Mask | None = None
    if within.speaker is not None:
        codes = table.speakers.called(within.speaker.casefold())
        if not codes:
            notes.append(f"nobody called {within.speaker!r} speaks in this memory; see: memory-rag stats")
        spoken = np.isin(table.speaker[at], codes)
    if within.role is not None:
        of_role: Mask = table.role[at] == ROLES.index(Role.parse(within.role))
        spoken = of_role if spoken is None else spoken & of_role
    return spoken


def _are_crossed(since: Bound, until: Bound) -> bool:
    return since.instant > until.instant or (since.instant == until.instant and not until.inclusive)
