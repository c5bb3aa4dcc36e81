"""A part of an owner's turns, told so that the server can look within it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any, Final

from memory_rag.retrieval.filters import Within
from memory_rag.text.instants import parse_bound
from memory_rag.turns import Role, text_bytes, to_microseconds


@dataclass(frozen=True, slots=True)
class Part:
    """The turns for which these conditions hold, each with the place of its one value: ``("ordinal > {}", 3)``."""

    conditions: tuple[tuple[str, Any], ...] = ()

    @property
    def is_whole(self) -> bool:
        return not self.conditions

    def where(self, *, first: int = 1) -> tuple[str, list[Any]]:
        """Return what follows WHERE in a query of ``turns``, and its values, which stand from place ``first`` on."""
        told = [condition.format(f"?{place}") for place, (condition, _) in enumerate(self.conditions, first)]
        return " AND ".join(told) or "true", [value for _, value in self.conditions]

    def rows(self, *, first: int) -> tuple[str, Sequence[Any]]:
        """Return what follows a condition of a table that has turns' rows, and its values."""
        if self.is_whole:
            return "", []
        where, values = self.where(first=first)
        return f" AND row IN (SELECT row FROM turns WHERE {where})", values

    def narrowed(self, condition: str, value: Any) -> Part:
        """Return the turns of this part for which this holds, too."""
        return Part((*self.conditions, (condition, value)))


WHOLE: Final = Part()
RECALLED: Final = Part((("recalled = {}", 1),))


def part_of(within: Within, *, zone: tzinfo) -> Part:
    """Return the turns that scores are made from under a filter: who speaks doesn't narrow these.

    Raises:
        QueryError: a bound that is no time.
    """
    part = WHOLE if within.unrecalled else RECALLED
    if within.conversation is not None:
        part = part.narrowed("conversation_id = {}", within.conversation)
    if within.session is not None:
        part = part.narrowed("session_id = {}", within.session)
    if within.since is not None:
        part = part.narrowed("said_at >= {}", to_microseconds(parse_bound(within.since, tz=zone, end=False).instant))
    if within.until is not None:
        bound = parse_bound(within.until, tz=zone, end=True)
        part = part.narrowed("said_at <= {}" if bound.inclusive else "said_at < {}", to_microseconds(bound.instant))
    return part


def spoken_by(part: Part, names: Iterable[str]) -> Part:
    """Return the turns of a part that any of these people said."""
    return part.narrowed("speaker = ANY({}::bytea[])", [text_bytes(name) for name in names])


def allowed_part(part: Part, within: Within, *, speakers: Iterable[str]) -> Part:
    """Return the turns of a part that may be returned under its filter; ``speakers`` are all who speak.

    Raises:
        TurnError: a role that is none.
    """
    if within.speaker is not None:
        wanted = within.speaker.casefold()
        part = spoken_by(part, [name for name in speakers if name.casefold() == wanted])
    return part if within.role is None else part.narrowed("role = {}", str(Role.parse(within.role)))
