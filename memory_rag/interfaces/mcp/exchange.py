"""One POST, one answer: a request over HTTP that needs no stream is answered where it comes in.

For clients of the protocol before 2026-07-28 the SDK's own way makes two streams, a dispatcher and seven tasks for each
request, which takes longer than a search by keyword.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from mcp.server.connection import Connection
from mcp.server.runner import serve_one
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.message import MessageMetadata, ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    DEFAULT_NEGOTIATED_VERSION,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    ProgressToken,
    RequestId,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

_LOG: Final = logging.getLogger(__name__)
_JSON: Final = "application/json"
_VERSION: Final = "mcp-protocol-version"
_HANDSHAKE: Final = "initialize"
_NOT_ASKED_BACK: Final = TransportContext(kind="streamable-http", can_send_request=False)


class Exchanges:
    """An ASGI app around the SDK's that answers each request of a client that shook hands by itself.

    What begins with a handshake, is no single request, or breaks a rule of HTTP is left to the SDK's, which answers in
    JSON, too. ``server`` is the SDK's inner one; a body of more than ``largest_body`` bytes is refused.
    """

    def __init__(self, app: Any, server: Any, *, path: str, largest_body: int) -> None:
        self._app = app
        self._server = server
        self._path = path
        self._limited = RequestBodyLimitMiddleware(self._exchange, largest_body)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        is_ours = scope["type"] == "http" and scope["path"] == self._path and scope["method"] == "POST"
        await (self._limited if is_ours else self._app)(scope, receive, send)

    async def _exchange(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        try:
            body = await request.body()
        except ClientDisconnect:
            return
        asked = _asked(body) if _is_plain(request) else None
        if asked is None:
            await self._app(scope, _again(body, receive), send)
        else:
            answer = await self._answer(asked, request)
            told = answer.model_dump_json(by_alias=True, exclude_unset=True)
            await Response(told, media_type=_JSON)(scope, receive, send)

    async def _answer(self, asked: JSONRPCRequest, request: Request) -> JSONRPCResponse | JSONRPCError:
        version = request.headers.get(_VERSION, DEFAULT_NEGOTIATED_VERSION)
        try:
            result = await serve_one(
                self._server,
                _Exchange(asked.id, ServerMessageMetadata(request_context=request)),
                asked.method,
                asked.params,
                connection=Connection.from_envelope(version, None, None),
                lifespan_state={},
            )
        except MCPError as error:
            fault = error.error
        except ValidationError:
            fault = ErrorData(code=INVALID_PARAMS, message="Invalid request parameters", data="")
        except Exception:
            _LOG.exception("the request %r failed", asked.method)
            fault = ErrorData(code=INTERNAL_ERROR, message="Internal server error")
        else:
            return JSONRPCResponse(jsonrpc="2.0", id=asked.id, result=result)
        return JSONRPCError(jsonrpc="2.0", id=asked.id, error=fault)


@dataclass(slots=True)
class _Exchange:
    """What the SDK asks of a request on its way: nobody can be asked back, and nothing is told before the answer."""

    request_id: RequestId
    message_metadata: MessageMetadata
    transport: TransportContext = _NOT_ASKED_BACK
    progress_token: ProgressToken | None = None
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    can_send_request: bool = False

    async def send_raw_request(self, method: str, params: Mapping[str, Any] | None, opts: Any = None) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: Any = None) -> None:
        return None

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        return None


def _is_plain(request: Request) -> bool:
    """Tell whether a request sends and takes JSON, in a version of the protocol that shakes hands."""
    headers = request.headers
    taken = [kind.partition(";")[0].strip().lower() for kind in headers.get("accept", "").split(",")]
    return (
        headers.get(_VERSION, DEFAULT_NEGOTIATED_VERSION) in HANDSHAKE_PROTOCOL_VERSIONS
        and headers.get("content-type", "").partition(";")[0].strip() == _JSON
        and any(kind in (_JSON, "application/*", "*/*") for kind in taken)
    )


def _asked(body: bytes) -> JSONRPCRequest | None:
    """Return the one request that a body holds; None for a handshake, and for anything else."""
    try:
        asked = JSONRPCRequest.model_validate_json(body, by_name=False)
    except ValidationError:
        return None
    return None if asked.method == _HANDSHAKE else asked


def _again(body: bytes, receive: Any) -> Any:
    """Return what gives a body that was read once more, and then what comes after it."""
    is_given = False

    async def given() -> Any:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return given
