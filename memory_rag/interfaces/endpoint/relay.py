"""A request sent on and its answer handed back as it comes; whoever goes away stops the upstream too."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import anyio

from memory_rag.interfaces.endpoint.heard import Heard
from memory_rag.interfaces.endpoint.upstream import Headers, NoAnswerError, Reply, Upstream

Scope = Any
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Keep = Callable[[Heard, str], None]

GONE: Final = "whoever asked went away"
_BROKE_OFF: Final = "the upstream broke off"
_BESIDE_AFTER_S: Final = 0.05
"""An upstream that answers at once has its first words handed back first: two threads would take turns."""


@dataclass
class Relay:
    """An ASGI response: the upstream's status, headers and bytes as they are, with ``added`` headers of ours.

    ``keep`` is called once in a thread with what was heard and why it was cut off (empty if it wasn't), before the end
    is handed back: who sees the end may ask on at once. It isn't called if there was no answer; ``done`` always is.
    ``beside`` is work that nobody waits for, and that raises nothing: it is begun in a thread when the request is on
    its way, and done in any case, by ``keep`` where that comes before it.
    """

    upstream: Upstream
    path: str
    headers: Headers
    body: bytes
    method: str = "POST"
    keep: Keep | None = None
    beside: Callable[[], None] | None = None
    done: Callable[[], None] = lambda: None
    added: Sequence[tuple[str, str]] = ()
    sends_key: bool = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with anyio.create_task_group() as tasks:

                async def watch() -> None:
                    while (await receive())["type"] != "http.disconnect":
                        pass
                    tasks.cancel_scope.cancel()

                tasks.start_soon(watch)
                tasks.start_soon(self._soon_beside)
                await self._hand_back(send)
                tasks.cancel_scope.cancel()
        finally:
            try:
                with anyio.CancelScope(shield=True):
                    await self._done_beside()
            finally:
                self.done()

    async def _soon_beside(self) -> None:
        await anyio.sleep(_BESIDE_AFTER_S)
        await self._done_beside()

    async def _done_beside(self) -> None:
        """Do once, in a thread, what is done beside."""
        beside, self.beside = self.beside, None
        if beside is not None:
            await anyio.to_thread.run_sync(beside)

    async def _hand_back(self, send: Send) -> None:
        try:
            reply = await self.upstream.ask(
                self.method, self.path, headers=self.headers, body=self.body, sends_key=self.sends_key
            )
        except NoAnswerError as error:
            status = 504 if error.is_late else 502
            await send_error(send, status, str(error), kind="upstream_error", added=self.added)
            return
        heard = Heard(is_stream=reply.kind == "text/event-stream")
        cut_off = GONE
        try:
            cut_off = await self._pass_on(reply, heard, send)
        finally:
            with anyio.CancelScope(shield=True):
                await reply.close()
                if cut_off:
                    await self._kept(reply, heard, cut_off)

    async def _pass_on(self, reply: Reply, heard: Heard, send: Send) -> str:
        """Hand an answer back, and return why it ended early; empty if it came whole, and then it is kept already."""
        own = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in self.added]
        await send({"type": "http.response.start", "status": reply.status, "headers": [*reply.headers, *own]})
        held = b""
        try:
            async for piece in reply.pieces():
                heard.feed(piece)
                if heard.is_done or not piece:
                    # The end is held back until what was said is stored.
                    held += piece
                    continue
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except NoAnswerError:
            heard.end()
            await self._kept(reply, heard, heard.failed or ("" if heard.is_done else _BROKE_OFF))
            if held:
                await send({"type": "http.response.body", "body": held, "more_body": True})
            # Without an end: the client has to see that this wasn't all, as it would have seen it there.
            return ""
        heard.end()
        await self._kept(reply, heard, heard.failed or ("" if heard.is_done else _BROKE_OFF))
        await send({"type": "http.response.body", "body": held, "more_body": False})
        return ""

    async def _kept(self, reply: Reply, heard: Heard, cut_off: str) -> None:
        keep, self.keep = self.keep, None
        if keep is None or reply.status >= 300:
            return
        heard.end()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(keep, heard, cut_off)
        self.beside = None


async def send_error(
    send: Send, status: int, message: str, *, kind: str, added: Sequence[tuple[str, str]] = ()
) -> None:
    """Answer with an error of the shape that OpenAI's clients read."""
    body = error_body(message, kind=kind)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers += [(name.encode("latin-1"), value.encode("latin-1")) for name, value in added]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def error_body(message: str, *, kind: str) -> bytes:
    error = {"message": message, "type": kind, "param": None, "code": None}
    return json.dumps({"error": error}).encode()
