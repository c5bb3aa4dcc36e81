"""Who may talk to a server on this machine: nobody through another name, another page, or without the token."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any, Final

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
_REFUSED: Final = 1008
"""The code with which a websocket is closed by policy (RFC 6455, 7.4.1)."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not answered: the HTTP status and a sentence."""

    status: int
    why: str


class Guard:
    """An ASGI app around another that answers only whom it may.

    ``Host`` must be one of ``hosts`` (``name``, with any port, or ``name:port``; loopback names if none are given): a
    page whose name was pointed at this machine comes with its own. ``Origin``, where a browser sends one, must be the
    host that is asked, or one of ``origins`` (such as ``http://localhost:6274``). With a ``token``, every request needs
    ``Authorization: Bearer <token>``.
    """

    def __init__(
        self, app: App, *, hosts: Iterable[str] = LOOPBACK, origins: Iterable[str] = (), token: str | None = None
    ) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)
        self._token = None if token is None else token.encode("utf-8")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self.refusal(scope["headers"]) if scope["type"] in ("http", "websocket") else None
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": _REFUSED, "reason": refusal.why})
        else:
            await _answer(refusal, send)

    def refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> Refusal | None:
        """Return why a request with these headers isn't answered; None if it is."""
        named: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            named.setdefault(name.lower(), []).append(value)
        hosts = [value.decode("latin-1").lower() for value in named.get(b"host", [])]
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return Refusal(421, f"this server isn't {', '.join(hosts) or 'nameless'}; name it with --allow-host")
        origins = [value.decode("latin-1").lower() for value in named.get(b"origin", [])]
        if any(origin not in self._origins and origin.partition("://")[2] != hosts[0] for origin in origins):
            return Refusal(403, f"a page of {', '.join(origins)} may not ask; let it with --allow-origin")
        if self._token is not None and not self._holds_token(named.get(b"authorization", [])):
            return Refusal(401, "this needs the header Authorization: Bearer, with the server's token")
        return None

    def _is_ours(self, host: str) -> bool:
        name = host[: host.rindex(":")] if ":" in host.rpartition("]")[2] else host
        return host in self._hosts or name in self._hosts

    def _holds_token(self, given: list[bytes]) -> bool:
        scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token or b"")


async def _answer(refusal: Refusal, send: Send) -> None:
    body = json.dumps({"error": refusal.why}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
