"""The options that narrow a search to some of the turns, checked before anything is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from memory_rag.errors import MemoryRagError

if TYPE_CHECKING:
    from memory_rag.retrieval.filters import Within

_PANEL: Final = "Only turns"


def _role(value: str | None) -> str | None:
    from memory_rag.turns import Role

    try:
        return None if value is None else Role.parse(value).value
    except MemoryRagError as error:
        raise typer.BadParameter(str(error)) from error


def _time(value: str | None) -> str | None:
    from memory_rag.text.instants import parse_bound

    try:
        if value is not None:
            parse_bound(value, end=False)
    except MemoryRagError as error:
        raise typer.BadParameter(str(error)) from error
    return value


Conversation = Annotated[
    str | None,
    typer.Option("--conversation", metavar="ID", help="of this conversation", rich_help_panel=_PANEL),
]
Session = Annotated[str | None, typer.Option("--session", metavar="ID", help="of this session", rich_help_panel=_PANEL)]
Speaker = Annotated[
    str | None,
    typer.Option("--speaker", metavar="NAME", help="by this speaker", rich_help_panel=_PANEL),
]
RoleName = Annotated[
    str | None,
    typer.Option(
        "--role",
        metavar="ROLE",
        callback=_role,
        help="by user, assistant, system or tool",
        rich_help_panel=_PANEL,
    ),
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        callback=_time,
        help="said then or later: 2026, 2026-04, 2026-04-10 or 2026-04-10T09:30Z",
        rich_help_panel=_PANEL,
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        metavar="TIME",
        callback=_time,
        help="said then or earlier; a day, month or year is meant whole",
        rich_help_panel=_PANEL,
    ),
]
All = Annotated[
    bool,
    typer.Option(
        "--all",
        help="Also look at what is left out of search: tool traffic, hidden context, abandoned branches.",
        rich_help_panel=_PANEL,
    ),
]


def within(
    *,
    conversation: str | None = None,
    session: str | None = None,
    speaker: str | None = None,
    role: str | None = None,
    since: str | None = None,
    until: str | None = None,
    unrecalled: bool = False,
) -> Within:
    """Return the filter that these options make."""
    from memory_rag.retrieval.filters import Within

    return Within(conversation, session, speaker, role, since, until, unrecalled)
