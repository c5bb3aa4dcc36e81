"""``memory-rag mcp``: the memory for Claude, Cursor, VS Code and every other MCP client."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory_rag.errors import SettingsError
from memory_rag.interfaces.cli.output import tell
from memory_rag.interfaces.cli.place import Place

if TYPE_CHECKING:
    from memory_rag.interfaces.serving.live_memory import LiveMemory

TOKEN_VARIABLE = "MEMORY_RAG_TOKEN"
TokenFile = Annotated[
    Path | None, typer.Option("--token-file", metavar="FILE", help="Holds the token; or set MEMORY_RAG_TOKEN.")
]
AllowHost = Annotated[
    list[str] | None, typer.Option("--allow-host", metavar="NAME", help="A name that clients reach it by.")
]
AllowOrigin = Annotated[
    list[str] | None, typer.Option("--allow-origin", metavar="URL", help="A page that may ask, beside its own.")
]
_PORT = 8765
_ON_THE_WAY = 8
"""64, the default of other commands, cost seconds with long turns."""


def mcp(
    place: Place,
    http: Annotated[
        bool, typer.Option("--http", help="Serve streamable HTTP instead of stdin and stdout.", show_default=False)
    ] = False,
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Where to listen. Default: 127.0.0.1.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, metavar="N", help=f"0 takes a free one. Default: {_PORT}."),
    ] = None,
    token_file: TokenFile = None,
    allow_host: AllowHost = None,
    allow_origin: AllowOrigin = None,
) -> None:
    """Serve the memory to an MCP client.

    A client starts this by itself; memory-rag install writes the entry. On stdout is the protocol and nothing else.
    """
    from memory_rag.interfaces.mcp.serving import serve_http, serve_stdio
    from memory_rag.interfaces.serving.listening import Address

    given = [
        name
        for name, value in (
            ("--host", host),
            ("--port", port),
            ("--token-file", token_file),
            ("--allow-host", allow_host),
            ("--allow-origin", allow_origin),
        )
        if value is not None
    ]
    if given and not http:
        raise typer.BadParameter(f"{given[0]} is for HTTP; add --http")
    pending_limit = pending_limit_of(place)
    live = live_memory(place, pending_limit=pending_limit)
    if not http:
        serve_stdio(live)
        return
    address = Address(
        host=host or "127.0.0.1",
        port=_PORT if port is None else port,
        token=token_of(token_file),
        hosts=allow_host or (),
        origins=allow_origin or (),
    )
    serve_http(live, address, told=lambda url: tell(f"serving {place.shown} at {url}; stop with Ctrl-C"))


def live_memory(place: Place, *, pending_limit: int) -> LiveMemory:
    """Return the memory that a command line names, to be opened when a client first needs it."""
    from memory_rag.interfaces.serving.live_memory import LiveMemory

    where = place.shown if place.is_on_server else place.folder
    return LiveMemory(where, lambda create: place.open(create=create, pending_limit=pending_limit))


def pending_limit_of(place: Place) -> int:
    """Return how many turns a search embeds on its way: few, since the server embeds what waits in the background."""
    from memory_rag.interfaces.serving.catching_up import is_paid_for

    settings = place.settings()
    if is_paid_for(settings.embedder):
        return settings.pending_limit
    return min(settings.pending_limit, _ON_THE_WAY)


def token_of(file: Path | None) -> str | None:
    """Return the token of a file, else of the environment; None if there is neither."""
    if file is None:
        return os.environ.get(TOKEN_VARIABLE) or None
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it isn't UTF-8"
        raise SettingsError(f"the token file {file} can't be read ({why}); name one that holds the token") from error
