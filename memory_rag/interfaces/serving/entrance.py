"""The token at the door: programs send it with each request, a browser once, for a cookie."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qs, quote

COOKIE: Final = "memory_rag_door"
ENTER: Final = "/enter"
TOKEN_HEADER: Final = b"x-memory-token"
_LARGEST: Final = 4096
_KEPT_S: Final = 30 * 24 * 3600

App = Callable[[Any, Any, Any], Awaitable[None]]
Page = Callable[[str, bool, str], bytes]
"""Draws the page that asks for the token: where to go after it, whether a wrong one was just given, and which languages
are asked for (``Accept-Language``)."""


class Entrance:
    """An ASGI app around another that lets in whoever has the token: as bearer, in ``X-Memory-Token``, or a cookie.

    The cookie holds a code made of the token and of a secret of this process, so that it is worth nothing after a
    restart and doesn't tell the token.
    """

    def __init__(self, app: App, *, token: str, page: Page) -> None:
        self._app = app
        self._token = token.encode()
        self._page = page
        self._code = hmac.digest(secrets.token_bytes(32), self._token, "sha256").hex()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or _is_dress(scope) or self._is_let_in(scope["headers"]):
            await self._app(scope, receive, send)
        elif scope["path"] == ENTER and scope["method"] == "POST":
            await self._enter(_accepted(scope["headers"]), receive, send)
        elif scope["method"] in ("GET", "HEAD") and not scope["path"].startswith(("/v1/", "/mcp")):
            where = scope["path"] + ("?" + scope["query_string"].decode("latin-1") if scope["query_string"] else "")
            await _page(
                send, 401, self._page("/" if scope["path"] == ENTER else where, False, _accepted(scope["headers"]))
            )
        else:
            body = b'{"error": {"message": "this needs the token: Authorization: Bearer, or X-Memory-Token", '
            body += b'"type": "authentication_error", "param": null, "code": null}}'
            await _answer(send, 401, body, b"application/json", [(b"www-authenticate", b"Bearer")])

    def _is_let_in(self, headers: list[tuple[bytes, bytes]]) -> bool:
        for name, value in headers:
            name = name.lower()
            if name == TOKEN_HEADER and hmac.compare_digest(value, self._token):
                return True
            if name == b"authorization":
                scheme, _, token = value.partition(b" ")
                if scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token):
                    return True
            if name == b"cookie" and hmac.compare_digest(_cookie(value).encode(), self._code.encode()):
                return True
        return False

    async def _enter(self, accepted: str, receive: Any, send: Any) -> None:
        body = b""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            if len(body) > _LARGEST or not message.get("more_body"):
                break
        given = parse_qs(body[:_LARGEST].decode("latin-1"), keep_blank_values=True)
        where = given.get("next", ["/"])[0]
        # Only a place on this server: "//elsewhere" would be another.
        where = where if where.startswith("/") and not where.startswith(("//", "/\\")) else "/"
        if not hmac.compare_digest(given.get("token", [""])[0].strip().encode(), self._token):
            await _page(send, 403, self._page(where, True, accepted))
            return
        cookie = f"{COOKIE}={self._code}; Path=/; HttpOnly; SameSite=Strict; Max-Age={_KEPT_S}"
        headers = [(b"location", quote(where, safe="/?&=%+-_.~:;,@").encode()), (b"set-cookie", cookie.encode())]
        await _answer(send, 303, b"", b"text/plain", headers)


def _is_dress(scope: Any) -> bool:
    """Tell whether a request is for the style, the script or the icon of a page: the entrance's own needs them too."""
    return scope["method"] in ("GET", "HEAD") and scope["path"].startswith("/static/")


def _accepted(headers: list[tuple[bytes, bytes]]) -> str:
    return next((value.decode("latin-1") for name, value in headers if name.lower() == b"accept-language"), "")


def _cookie(header: bytes) -> str:
    try:
        found = SimpleCookie(header.decode("latin-1")).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


async def _page(send: Any, status: int, html: bytes) -> None:
    await _answer(send, status, html, b"text/html; charset=utf-8", [])


async def _answer(send: Any, status: int, body: bytes, kind: bytes, more: list[tuple[bytes, bytes]]) -> None:
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
