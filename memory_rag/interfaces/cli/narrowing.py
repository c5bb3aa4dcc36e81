"""The options that narrow a search to some of the turns, checked before anything is opened."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memory_rag.interfaces.cli.place import usable

if TYPE_CHECKING:
    from memory_rag.retrieval.filters import Within


def role_name(value: str | None) -> str | None:
    """Return the name of a role as turns have it, for typer; one that is none is wrong usage."""
    if value is None:
        return None
    from memory_rag.turns import Role

    return usable(Role.parse, value).value


def _time(value: str | None) -> str | None:
    if value is not None:
        from memory_rag.text.instants import parse_bound

        usable(partial(parse_bound, end=False), value)
    return value


ONLY: Final = "Only turns"
Conversation = Annotated[
    str | None,
    typer.Option("--conversation", metavar="ID", help="of this conversation", rich_help_panel=ONLY),
]
Session = Annotated[
    str | None,
    typer.Option("--session", metavar="ID", help="of this session", rich_help_panel=ONLY),
]
Speaker = Annotated[
    str | None,
    typer.Option("--speaker", metavar="NAME", help="by this speaker", rich_help_panel=ONLY),
]
RoleName = Annotated[
    str | None,
    typer.Option(
        "--role",
        metavar="ROLE",
        callback=role_name,
        help="by user, assistant, system or tool",
        rich_help_panel=ONLY,
    ),
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        callback=_time,
        help="said then or later: 2026, 2026-04, 2026-04-10 or 2026-04-10T09:30Z",
        rich_help_panel=ONLY,
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        metavar="TIME",
        callback=_time,
        help="said then or earlier; a day, month or year is meant whole",
        rich_help_panel=ONLY,
    ),
]
All = Annotated[
    bool,
    typer.Option(
        "--all",
        help="Also look at what is left out of search: tool traffic, hidden context, abandoned branches.",
    ),
]


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What a command line narrows a search to; None is what was not given."""

    conversation: Conversation = None
    session: Session = None
    speaker: Speaker = None
    role: RoleName = None
    since: Since = None
    until: Until = None

    def within(self, *, unrecalled: bool) -> Within:
        """Return the filter that these options make."""
        from memory_rag.retrieval.filters import Within

        return Within(
            self.conversation, self.session, self.speaker, self.role, self.since, self.until, unrecalled=unrecalled
        )


EVERYWHERE: Final = Narrowing()
"""Nothing given: the whole memory."""
