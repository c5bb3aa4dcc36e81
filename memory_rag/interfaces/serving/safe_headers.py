"""Headers by which a browser does nothing with a page of ours but show it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Not no-referrer: a browser then sends "Origin: null" with forms, and the guard could not tell our own.
_HEADERS: Final = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)

App = Callable[[Any, Any, Any], Awaitable[None]]


class SafeHeaders:
    """An ASGI app around another that adds them to every answer, and lets nobody keep a page but its own files."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                named = {name.lower() for name, _value in given}
                given += [pair for pair in _HEADERS if pair[0] not in named]
                if b"cache-control" not in named:
                    given.append((b"cache-control", b"no-store"))
                message = {**message, "headers": given}
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)
