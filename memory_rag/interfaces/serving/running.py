"""The server's process: it listens until it is stopped."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memory_rag.errors import MemoryRagError, MissingExtraError
from memory_rag.interfaces.serving.listening import Address, serve_app
from memory_rag.interfaces.serving.memories import Memories

if TYPE_CHECKING:
    from memory_rag.interfaces.serving.app import Service

_PATIENCE_S: Final = 5
"""How long answers that are on their way are waited for when the server is stopped."""
_ANY_QUESTION: Final = "What did I say?"
_PARTS: Final = ("fastapi", "starlette", "uvicorn", "jinja2", "markupsafe", "python_multipart", "httpx2")


def serve(
    memories: Memories,
    address: Address,
    *,
    upstream: str | None,
    key: str | None,
    n_tokens: int,
    reports: Sequence[Path] = (),
    told: Callable[[str], None],
) -> None:
    """Serve the page, the endpoint and MCP until the process is stopped; ``told`` is given the URL.

    Raises:
        MissingExtraError: the extra isn't installed.
        SettingsError: the address can't be listened at, or the upstream is no URL.
    """
    try:
        import uvicorn  # noqa: F401  looked for here, where its extra can be named

        from memory_rag.interfaces.endpoint.upstream import Upstream
        from memory_rag.interfaces.serving.app import Service, app_of
    except ImportError as error:
        if (error.name or "").partition(".")[0] in _PARTS:
            raise MissingExtraError("the server", extra="server") from error
        raise
    # Before the MCP SDK sets logging up, which would draw every line in a frame.
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    service: Service = Service(
        memories,
        None if upstream is None else Upstream(upstream, key=key),
        n_tokens=n_tokens,
        hosts=address.names,
        origins=address.origins,
        token=address.token,
        has_mcp=_has_mcp(),
        reports=reports,
    )
    app: Any = app_of(service)

    def ready(root: str) -> None:
        told(root + "/")
        threading.Thread(target=_warm, args=(memories,), daemon=True, name="warming up").start()

    try:
        serve_app(app, address, told=ready, patience_s=_PATIENCE_S)
    finally:
        memories.close()


def _warm(memories: Memories) -> None:
    """Load the indexes and the embedder, which the first who asks would wait for, and embed what waits."""
    from memory_rag.prompt.asking_for_details import need_of_details

    with suppress(MemoryRagError):
        memory = memories.own.get()
        memories.own.catching_up.begin(memory)
        # Many modules and patterns, which the first prompt would load.
        _ = memory.prompt.counter
        need_of_details(_ANY_QUESTION, languages=memory.indexes.spoken_languages())


def _has_mcp() -> bool:
    return find_spec("mcp") is not None


def _is_news(record: logging.LogRecord) -> bool:
    """Tell whether a line of the server's log says something; an answer that its upstream broke off is no fault."""
    return "without completing response" not in record.getMessage()
