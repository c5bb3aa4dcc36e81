"""A server on this machine answers this machine, and nobody who comes through another name or page."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memory_rag.interfaces.serving.guard import Guard, Message, Receive, Scope, Send

TOKEN = "kV3-hemlig-och-lång-nog"
ASKED = [(b"host", b"127.0.0.1:8765")]


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"hello"})


def answered(guard: Guard, headers: list[tuple[bytes, bytes]], *, kind: str = "http") -> list[Message]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": f"{kind}.connect"}

    asyncio.run(guard({"type": kind, "headers": headers}, receive, send))
    return sent


def status(guard: Guard, *headers: tuple[bytes, bytes]) -> int:
    return int(answered(guard, list(headers))[0]["status"])


@pytest.mark.parametrize("host", [b"127.0.0.1:8765", b"localhost:1", b"LOCALHOST", b"[::1]:8765", b"[::1]"])
def test_this_machine_is_answered_by_any_of_its_names(host: bytes) -> None:
    assert status(Guard(hello), (b"host", host)) == 200


@pytest.mark.parametrize(
    "hosts",
    [
        [],
        [b""],
        [b"evil.example"],
        [b"evil.example:8765"],
        [b"127.0.0.1.evil.example"],
        [b"localhost@evil.example"],
        [b"127.0.0.1", b"evil.example"],
        [b"[::1"],
        [b"\xff\xfe"],
        [b":8765"],
    ],
)
def test_any_other_name_is_refused_as_misdirected(hosts: list[bytes]) -> None:
    assert status(Guard(hello), *((b"host", host) for host in hosts)) == 421


def test_a_page_may_ask_the_host_that_it_came_from_and_no_other() -> None:
    guard = Guard(hello, origins=["http://localhost:6274/"])

    assert status(guard, *ASKED, (b"origin", b"http://127.0.0.1:8765")) == 200
    assert status(guard, *ASKED, (b"origin", b"http://localhost:6274")) == 200
    for other in (b"http://localhost:3000", b"https://evil.example", b"null", b"http://127.0.0.1:8765.evil.example"):
        assert status(guard, *ASKED, (b"origin", other)) == 403


def test_with_a_token_only_who_has_it_is_answered() -> None:
    guard = Guard(hello, token=TOKEN)
    right = f"Bearer {TOKEN}".encode()

    assert status(guard, *ASKED, (b"authorization", right)) == 200
    assert status(guard, *ASKED, (b"Authorization", right.replace(b"Bearer", b"bearer"))) == 200
    for wrong in (b"", b"Bearer", b"Bearer ", right[:-1], right + b"x", f"Basic {TOKEN}".encode(), TOKEN.encode()):
        assert status(guard, *ASKED, (b"authorization", wrong)) == 401
    assert status(guard, *ASKED) == 401
    assert status(guard, *ASKED, (b"authorization", right), (b"authorization", right)) == 401


def test_a_refusal_says_why_and_never_the_token() -> None:
    start, body = answered(Guard(hello, token=TOKEN), ASKED)

    assert (b"www-authenticate", b"Bearer") in start["headers"]
    assert body["body"] == b'{"error": "this needs the header Authorization: Bearer, with the server\'s token"}'


def test_a_server_with_a_name_of_its_own_answers_to_it() -> None:
    guard = Guard(hello, hosts=["memory.lan", "box.lan:9000"])

    assert status(guard, (b"host", b"memory.lan:8765")) == 200
    assert status(guard, (b"host", b"box.lan:9000")) == 200
    assert status(guard, (b"host", b"box.lan:9001")) == 421
    assert status(guard, (b"host", b"localhost")) == 421


def test_a_websocket_is_closed_by_the_same_rules_and_what_is_no_request_passes() -> None:
    (closed,) = answered(Guard(hello), [(b"host", b"evil.example")], kind="websocket")

    assert (closed["type"], closed["code"]) == ("websocket.close", 1008)
    passed: list[Any] = answered(Guard(hello), [], kind="lifespan")
    assert passed == []
