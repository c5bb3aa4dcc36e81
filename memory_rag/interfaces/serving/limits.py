"""How large and how many requests may be, so that one client can't stop the others."""

from __future__ import annotations

import json
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import anyio
from starlette.exceptions import HTTPException

Message = Any
App = Callable[[Any, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]

LARGEST_BODY: Final = 64 * 1024 * 1024
"""Bytes of a chat request; clients send images as text in it."""
LARGEST_FORM: Final = 1024 * 1024
LARGEST_UPLOAD: Final = 1_000_000_000
"""Bytes that are taken from a browser at all; the page keeps fewer, and can only say so once it has read them."""
_CLIENTS: Final = 1024
_LONGEST_LENGTH: Final = 20
"""Digits; Python refuses to read thousands of them."""


@dataclass(frozen=True, slots=True)
class Limits:
    """``per_second`` requests of one address on average, ``burst`` at once, ``at_once`` being answered, of all.

    ``patience_s`` is how long the next bytes of a body are waited for.
    """

    per_second: float = 1000.0
    burst: int = 2000
    at_once: int = 512
    largest_body: int = LARGEST_BODY
    largest_form: int = LARGEST_FORM
    patience_s: float = 30.0
    largest_upload: int = LARGEST_UPLOAD

    def of(self, path: str) -> int:
        """Return how many bytes a request to a path may have."""
        if path.startswith(("/v1/", "/mcp")):
            return self.largest_body
        return self.largest_upload if path.endswith("/import") else self.largest_form


class Limited:
    """An ASGI app around another that refuses what is too large (413), slow (408), fast (429) or much (503)."""

    def __init__(self, app: App, limits: Limits, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._limits = limits
        self._clock = clock
        self._at_once = 0
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if not self._may(str((scope.get("client") or ("",))[0])):
            await _refuse(send, 429, "too many requests at once; wait a second", retry_after="1")
            return
        if self._at_once >= self._limits.at_once:
            await _refuse(send, 503, "too many requests are being answered; try again soon", retry_after="1")
            return
        most = self._limits.of(scope["path"])
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not declared.isdigit() or len(declared) > _LONGEST_LENGTH or int(declared) > most:
            await _refuse(send, 413, f"the request is larger than {most:,} bytes")
            return
        self._at_once += 1
        try:
            await self._counted(scope, receive, send, most)
        finally:
            self._at_once -= 1

    async def _counted(self, scope: Any, receive: Any, send: Any, most: int) -> None:
        """Answer a request whose body is counted as it comes: a chunked one doesn't say its length."""
        n_bytes, more = 0, True

        async def counted() -> Message:
            nonlocal n_bytes, more
            message: Message = None
            # After the body, a client that waits for a long answer is waited for as long.
            with anyio.move_on_after(self._limits.patience_s if more else math.inf):
                message = await receive()
            if message is None:
                raise HTTPException(408, "the rest of the request didn't come in time")
            if message["type"] == "http.request":
                n_bytes, more = n_bytes + len(message.get("body", b"")), bool(message.get("more_body"))
                if n_bytes > most:
                    # Raised where the body is read, and answered by the framework there.
                    raise HTTPException(413, f"the request is larger than {most:,} bytes")
            return message

        has_begun = False

        async def noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, counted, noted)
        except HTTPException as refusal:
            # Raised where no framework stands around who reads the body.
            if has_begun:
                raise
            await _refuse(send, refusal.status_code, refusal.detail)

    def _may(self, client: str) -> bool:
        """Tell whether an address may ask once more now, and count it."""
        now = self._clock()
        left, then = self._left.pop(client, (float(self._limits.burst), now))
        left = min(float(self._limits.burst), left + (now - then) * self._limits.per_second)
        allowed = left >= 1
        self._left[client] = (left - 1 if allowed else left, now)
        while len(self._left) > _CLIENTS:
            self._left.popitem(last=False)
        return allowed


async def _refuse(send: Any, status: int, message: str, *, retry_after: str = "") -> None:
    body = json.dumps({"error": {"message": message, "type": "limit", "param": None, "code": None}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if retry_after:
        headers.append((b"retry-after", retry_after.encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
