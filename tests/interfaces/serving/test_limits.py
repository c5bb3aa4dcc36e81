"""One client can't stop the others."""

from __future__ import annotations

import asyncio
from typing import Any

from memory_rag.interfaces.serving.limits import Limited, Limits


def ask(app: Limited, *, client: str = "1.1.1.1", path: str = "/", headers: Any = ()) -> int:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": path, "client": (client, 1), "headers": list(headers)}
    asyncio.run(app(scope, receive, send))
    return int(sent[0]["status"])


async def fine(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})


def test_an_address_that_asks_too_fast_waits_and_others_do_not() -> None:
    now = [0.0]
    app = Limited(fine, Limits(per_second=2, burst=3), clock=lambda: now[0])

    assert [ask(app) for _ in range(4)] == [200, 200, 200, 429]
    assert ask(app, client="2.2.2.2") == 200
    now[0] = 0.5
    assert [ask(app), ask(app)] == [200, 429]


def test_a_declared_length_over_the_limit_is_refused_before_anything_is_read() -> None:
    app = Limited(fine, Limits(largest_body=10, largest_form=5))

    assert ask(app, path="/v1/chat/completions", headers=[(b"content-length", b"10")]) == 200
    assert ask(app, path="/v1/chat/completions", headers=[(b"content-length", b"11")]) == 413
    assert ask(app, path="/pin", headers=[(b"content-length", b"6")]) == 413
    assert ask(app, path="/pin", headers=[(b"content-length", b"x")]) == 413


def test_no_more_are_answered_at_once_than_the_limit() -> None:
    async def more(scope: Any, _receive: Any, send: Any) -> None:
        inner: list[Any] = []

        async def noted(message: Any) -> None:
            inner.append(message)

        await app({**scope, "client": ("2.2.2.2", 1)}, _receive, noted)
        await send(inner[0])

    app = Limited(more, Limits(at_once=1))

    assert ask(app) == 503
