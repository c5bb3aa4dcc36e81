"""Which turns a search may return."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.ranking import Entries
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


@dataclass(frozen=True, slots=True)
class Scope:
    """A filter applied to a table: ``context`` is what scores are made from, ``allowed`` what may be returned.

    Who speaks narrows only what is returned: a question before an answer helps to find the answer, even if only
    answers are asked for. ``left_out`` are entries of the context that don't count; they are no part of it that
    another search lacks, so that one pool serves all prompts of a memory, each without the turns that it holds already.
    """

    context: Mask
    allowed: Mask
    notes: tuple[str, ...] = ()
    left_out: Entries | None = None

    def leaving_out(self, entries: Entries) -> Scope:
        """Return this scope without some entries; itself if there are none."""
        if len(entries) == 0:
            return self
        allowed = self.allowed.copy()
        allowed[entries] = False
        return replace(self, allowed=allowed, left_out=entries)


def scope_of(
    table: TurnTable, within: Within, *, zone: tzinfo, earlier: Scope | None = None, ended: Entries | None = None
) -> Scope:
    """Return which entries a search looks at and which it may return, but for ``without``, which a pool is shared by.

    ``earlier`` is the scope of the same filter when the table was shorter: only what came since is looked at, and
    the entries that have ``ended`` since are taken out.

    Raises:
        QueryError: a bound that is no time.
        TurnError: a role that is none.
    """
    new = slice(0 if earlier is None else len(earlier.context), None)
    notes: list[str] = []
    context = table.alive[new].copy()
    if not within.unrecalled:
        context &= table.recalled[new]
    if within.conversation is not None:
        code = table.conversations.find(within.conversation)
        if code is None:
            notes.append(f"no conversation {within.conversation!r} in this memory; see: memory-rag stats")
        context &= table.conversation[new] == (-1 if code is None else code)
    if within.session is not None:
        codes = [c for c, name in enumerate(table.sessions.names) if name.partition("\0")[2] == within.session]
        if not codes:
            notes.append(f"no session {within.session!r} in this memory; see: memory-rag stats")
        context &= np.isin(table.session[new], codes)
    bounds = [
        (parse_bound(text, tz=zone, end=end), end)
        for text, end in ((within.since, False), (within.until, True))
        if text is not None
    ]
    for bound, end in bounds:
        context &= _inside(table.said_at[new], bound, end=end)
    if len(bounds) == 2 and _are_crossed(*(bound for bound, _end in bounds)):
        notes.append(f"nothing is both since {within.since} and until {within.until}, which is earlier")
    allowed = _narrowed(table, within, context, new, notes)
    if earlier is not None:
        whole = _longer(earlier.context, context, ended)
        allowed = whole if earlier.allowed is earlier.context else _longer(earlier.allowed, allowed, ended)
        context = whole
    given = [f"{name} {value}" for name in _NAMES if (value := getattr(within, name)) is not None]
    if given and not notes and not allowed.any():
        notes.append(f"no turn here is within this filter: {', '.join(given)}")
    return Scope(context, allowed, tuple(notes))


def _narrowed(table: TurnTable, within: Within, context: Mask, new: slice, notes: list[str]) -> Mask:
    """Return what is left of the context by who speaks; itself if the filter doesn't say."""
    allowed = context
    if within.speaker is not None:
        wanted = within.speaker.casefold()
        codes = [c for c, name in enumerate(table.speakers.names) if name.casefold() == wanted]
        if not codes:
            notes.append(f"nobody called {within.speaker!r} speaks in this memory; see: memory-rag stats")
        allowed = allowed & np.isin(table.speaker[new], codes)
    if within.role is not None:
        allowed = allowed & (table.role[new] == ROLES.index(Role.parse(within.role)))
    return allowed


def _longer(earlier: Mask, new: Mask, ended: Entries | None) -> Mask:
    longer = np.concatenate([earlier, new])
    longer[ended] = False
    return longer


def _are_crossed(since: Bound, until: Bound) -> bool:
    return since.instant > until.instant or (since.instant == until.instant and not until.inclusive)


def _inside(said: npt.NDArray[np.int64], bound: Bound, *, end: bool) -> Mask:
    at = to_microseconds(bound.instant)
    known = said != UNKNOWN_TIME
    inside: Mask = said >= at
    if end:
        inside = (said <= at) if bound.inclusive else (said < at)
    inside &= known
    return inside
