"""``memory-rag serve``: a page of one's memory, an OpenAI-compatible endpoint and MCP, in one process."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer

from memory_rag.interfaces.cli.mcp_serving import (
    AllowHost,
    AllowOrigin,
    TokenFile,
    live_memory,
    pending_limit_of,
    token_of,
)
from memory_rag.interfaces.cli.output import note, tell
from memory_rag.interfaces.cli.place import Place
from memory_rag.settings import home_folder

KEY_VARIABLE: Final = "MEMORY_RAG_UPSTREAM_KEY"
UPSTREAM_VARIABLE: Final = "MEMORY_RAG_UPSTREAM"
_PORT: Final = 8766
_TOKENS: Final = 4000


def serve(
    place: Place,
    upstream: Annotated[
        str | None,
        typer.Option(
            "--upstream",
            metavar="URL",
            help="The OpenAI-compatible API that answers, such as http://127.0.0.1:11434/v1. Or MEMORY_RAG_UPSTREAM.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, metavar="N", help="0 takes a free one.")] = _PORT,
    token_file: TokenFile = None,
    allow_host: AllowHost = None,
    allow_origin: AllowOrigin = None,
    context_tokens: Annotated[
        int, typer.Option("--context-tokens", min=0, metavar="N", help="What the memory may add to a chat's prompt.")
    ] = _TOKENS,
    report: Annotated[
        list[Path] | None,
        typer.Option("--report", metavar="DIR", help="A folder of bench run, shown on the page.", exists=True),
    ] = None,
) -> None:
    """Serve the page, an endpoint for chats, and MCP.

    Point any OpenAI client at http://127.0.0.1:8766/v1. The key for the upstream is the client's own, or that in
    MEMORY_RAG_UPSTREAM_KEY; it is never stored.
    """
    from memory_rag.interfaces.serving.listening import Address
    from memory_rag.interfaces.serving.memories import Memories
    from memory_rag.interfaces.serving.running import serve as run

    upstream = upstream or os.environ.get(UPSTREAM_VARIABLE) or None
    address = Address(
        host=host, port=port, token=token_of(token_file), hosts=allow_host or (), origins=allow_origin or ()
    )
    pending_limit = pending_limit_of(place)

    named = "/" not in place.name
    memories = Memories(
        live_memory(place, pending_limit=pending_limit),
        name=place.title,
        home=home_folder(place.home) if named else None,
        opened=lambda name: live_memory(replace(place, memory=name), pending_limit=pending_limit),
    )

    def told(url: str) -> None:
        tell(f"serving {place.shown}; stop with Ctrl-C")
        tell(f"  the page  {url}")
        if upstream is not None:
            tell(f"  chat      {url}v1, answered by {upstream}")
        tell(f"  MCP       {url}mcp")
        if upstream is None:
            note("no chat: name the API that answers with --upstream URL")

    run(
        memories,
        address,
        upstream=upstream,
        key=os.environ.get(KEY_VARIABLE) or None,
        n_tokens=context_tokens,
        reports=report or (),
        told=told,
    )
