"""One POST, one answer: a request over HTTP that needs no stream is answered where it comes in.

For clients of the protocol before 2026-07-28 the SDK's own way makes two streams, a dispatcher and seven tasks for each
request, which takes longer than a search by keyword.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcp_types import DEFAULT_NEGOTIATED_VERSION, JSONRPCError, JSONRPCRequest, JSONRPCResponse
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

_JSON: Final = "application/json"
_VERSION: Final = "mcp-protocol-version"
_HANDSHAKE: Final = "initialize"

Answer = Callable[[JSONRPCRequest, str, Request], Awaitable[JSONRPCResponse | JSONRPCError]]
"""Answers a request in a version of the protocol."""


class Exchanges:
    """An ASGI app around the SDK's that answers each request of a client that shook hands by itself.

    What begins with a handshake, is no single request, or breaks a rule of HTTP is left to the SDK's, which answers in
    JSON, too. ``limited`` wraps an app so that it is given no body that is too large.
    """

    def __init__(self, app: Any, answer: Answer, *, path: str, limited: Callable[[Any], Any]) -> None:
        self._app = app
        self._answer = answer
        self._path = path
        self._limited = limited(self._exchange)

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
            answer = await self._answer(asked, request.headers.get(_VERSION, DEFAULT_NEGOTIATED_VERSION), request)
            told = answer.model_dump_json(by_alias=True, exclude_unset=True)
            await Response(told, media_type=_JSON)(scope, receive, send)


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
