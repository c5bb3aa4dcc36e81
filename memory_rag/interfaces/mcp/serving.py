"""Running the MCP server: over this process's stdin and stdout, or over HTTP on this machine."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from memory_rag.errors import MissingExtraError
from memory_rag.interfaces.serving.guard import Guard
from memory_rag.interfaces.serving.listening import Address, serve_app
from memory_rag.interfaces.serving.live_memory import LiveMemory

if TYPE_CHECKING:
    from memory_rag.interfaces.mcp.server import MemoryServer

_SIGNALLED: Final = 128
"""A shell's exit code for a process that a signal ended, less the signal's number."""


def open_server(live: LiveMemory) -> MemoryServer:
    """Return the server for a memory.

    Raises:
        MissingExtraError: the SDK isn't installed.
    """
    try:
        from memory_rag.interfaces.mcp.server import memory_server, quiet_logs
    except ImportError as error:
        if (error.name or "").partition(".")[0] in ("mcp", "mcp_types"):
            raise MissingExtraError("the MCP SDK", extra="mcp") from error
        raise
    # Set before the SDK does, which would draw every line in a frame.
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    quiet_logs()
    return memory_server(live)


def serve_stdio(live: LiveMemory) -> None:
    """Serve the client at the other end of stdin and stdout until it goes; nothing else may print on stdout."""
    import anyio

    server = open_server(live)
    try:
        anyio.run(_until_stopped, server, live)
    finally:
        live.close()


async def _until_stopped(server: MemoryServer, live: LiveMemory) -> None:
    """Serve stdin and stdout until the client goes, or a signal comes."""
    import anyio

    async def stop() -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for number in signals:
                live.close()
                # A thread waits for a line of stdin, and no exception reaches it: Python would wait for it.
                os._exit(_SIGNALLED + number)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stop)
        await server.run_stdio_async()
        tasks.cancel_scope.cancel()


def serve_http(live: LiveMemory, address: Address, *, told: Callable[[str], None]) -> None:
    """Serve clients over streamable HTTP until the process is stopped; ``told`` is given the URL.

    Raises:
        SettingsError: the address can't be listened at.
    """
    from memory_rag.interfaces.mcp.server import PATH, http_app

    app, _run = http_app(open_server(live))
    guarded: Any = Guard(app, hosts=address.names, origins=address.origins, token=address.token)
    try:
        serve_app(guarded, address, told=lambda url: told(url + PATH))
    finally:
        live.close()
