"""One app of all that is served: the chat endpoint, MCP, and the page. The one module that knows FastAPI."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount

from memory_rag import __version__
from memory_rag.interfaces.endpoint.relay import error_body
from memory_rag.interfaces.endpoint.routes import CHAT, Endpoint
from memory_rag.interfaces.endpoint.upstream import Upstream
from memory_rag.interfaces.endpoint.wishes import TOKENS_BY_DEFAULT
from memory_rag.interfaces.page.page import Page
from memory_rag.interfaces.serving.entrance import Entrance
from memory_rag.interfaces.serving.guard import LOOPBACK, Guard
from memory_rag.interfaces.serving.limits import Limited, Limits
from memory_rag.interfaces.serving.memories import Memories
from memory_rag.interfaces.serving.openapi import CHAT_BODY, EMBEDDINGS_BODY, JSON_ERRORS
from memory_rag.interfaces.serving.safe_headers import SafeHeaders
from memory_rag.interfaces.serving.straight import Straight

_LISTED: Final = "v1"
FAULT: Final = "memory_rag failed at this request; what went wrong is in the server's log"


@dataclass(frozen=True, slots=True)
class Service:
    """What is served, and to whom; ``hosts`` and ``origins`` as the guard takes them."""

    memories: Memories
    upstream: Upstream | None = None
    n_tokens: int = TOKENS_BY_DEFAULT
    hosts: Sequence[str] = LOOPBACK
    origins: Sequence[str] = ()
    token: str | None = None
    limits: Limits = field(default_factory=Limits)
    has_mcp: bool = True
    reports: Sequence[Path] = ()


def app_of(service: Service) -> Any:
    """Return an ASGI app, guarded; its lifespan has to be run."""
    mounted, running = _mcp(service)
    endpoint = Endpoint(
        service.memories, service.upstream, n_tokens=service.n_tokens, takes_token=service.token is not None
    )
    page = Page(service.memories, secret=secrets.token_bytes(32), reports=service.reports)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with running():
            yield
        page.close()
        if service.upstream is not None:
            await service.upstream.close()

    app = FastAPI(
        title="memory_rag",
        version=__version__,
        summary="An OpenAI-compatible endpoint that remembers.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    for posted, answer, schema in (
        (CHAT, endpoint.chat, CHAT_BODY),
        ("embeddings", endpoint.embeddings, EMBEDDINGS_BODY),
    ):
        app.add_api_route(
            f"/{_LISTED}/{posted}",
            answer,
            methods=["POST"],
            response_model=None,
            responses=JSON_ERRORS,
            openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}},
        )
    app.add_api_route(
        f"/{_LISTED}/models", endpoint.models, methods=["GET"], response_model=None, responses=JSON_ERRORS
    )
    app.add_api_route(
        f"/{_LISTED}/models/{{model:path}}",
        endpoint.model,
        methods=["GET"],
        response_model=None,
        include_in_schema=False,
    )
    app.add_api_route(
        f"/{_LISTED}/{{rest:path}}",
        endpoint.elsewhere,
        methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        response_model=None,
        include_in_schema=False,
    )
    app.add_exception_handler(500, _failed)
    for method, path, handler in page.routes():
        app.add_api_route(path, handler, methods=[method], response_model=None, include_in_schema=False)
    apart: dict[tuple[str, str], Any] = {
        ("POST", f"/{_LISTED}/{CHAT}"): Straight(endpoint.chat, failed=_failed),
    }
    if mounted is not None:
        from memory_rag.interfaces.mcp.server import PATH

        app.router.routes.append(Mount("/", mounted))
        apart |= {(method, PATH): mounted for method in ("GET", "POST", "DELETE")}
    entered: Any = _Parted(app, apart)
    if service.token is not None:
        entered = Entrance(entered, token=service.token, page=page.entrance)
    # The limits stand before the entrance: a token is not to be guessed at full speed.
    limited: Any = Limited(entered, service.limits)
    return _WithLifespan(SafeHeaders(Guard(limited, hosts=service.hosts, origins=service.origins)), app)


async def _failed(request: Request, _error: Exception) -> Response:
    """Answer where a fault of ours stopped an answer; the server's log has the fault."""
    if request.url.path.startswith(f"/{_LISTED}/"):
        return Response(error_body(FAULT, kind="memory_error"), status_code=500, media_type="application/json")
    return PlainTextResponse(FAULT, status_code=500)


def _mcp(service: Service) -> tuple[Any, Any]:
    """Return the app that serves ``/mcp`` and what has to run meanwhile; None and nothing without MCP."""

    @asynccontextmanager
    async def nothing() -> AsyncIterator[None]:
        yield

    if not service.has_mcp:
        return None, nothing
    from memory_rag.interfaces.mcp.server import http_app
    from memory_rag.interfaces.mcp.serving import open_server

    return http_app(open_server(service.memories.own))


class _Parted:
    """Hands what is asked most often to apps of its own: the framework's routes and wrappers take longer."""

    def __init__(self, app: FastAPI, apart: Mapping[tuple[str, str], Any]) -> None:
        """Take the apps by method and path."""
        self._app = app
        self._apart = apart

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        found = self._apart.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        await (self._app if found is None else found)(scope, receive, send)


class _WithLifespan:
    """Hands the server's start and stop to the inner app, and everything else to the outer."""

    def __init__(self, outer: Any, inner: FastAPI) -> None:
        self._outer = outer
        self.inner = inner

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await (self.inner if scope["type"] == "lifespan" else self._outer)(scope, receive, send)
