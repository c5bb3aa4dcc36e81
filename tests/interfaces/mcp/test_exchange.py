"""Requests over HTTP that need no stream: each is answered as the SDK's own app answers it, and past its machinery."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from memory_rag.interfaces.mcp.exchange import Exchanges
from memory_rag.interfaces.mcp.server import LARGEST_BODY, PATH, http_app, memory_server
from memory_rag.interfaces.serving.app import Service, app_of
from memory_rag.interfaces.serving.memories import Memories
from tests.interfaces.mcp.conftest import live_in

JSON = "application/json"
BOTH = f"{JSON}, text/event-stream"
PLAIN = {"Accept": BOTH, "Content-Type": JSON}


def call(method: str, params: dict[str, Any] | None = None, **other: Any) -> bytes:
    asked = {"jsonrpc": "2.0", "id": 7, "method": method, **({} if params is None else {"params": params}), **other}
    return json.dumps(asked).encode()


def tool(name: str, **arguments: Any) -> bytes:
    return call("tools/call", {"name": name, "arguments": arguments})


SHAKEN = call(
    "initialize",
    {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
)
ASKED: dict[str, bytes] = {
    "a search": tool("search_memory", query="workshop euro"),
    "a search by nothing": tool("search_memory", query=""),
    "arguments that it doesn't take": tool("search_memory", query="euro", speeker="Ebba"),
    "a turn that isn't there": tool("get_turn", turn_id="t99"),
    "a tool that isn't there": tool("remember"),
    "a tool without a name": call("tools/call", {"arguments": {}}),
    "a list": call("tools/list"),
    "a resource": call("resources/read", {"uri": "memory://turns/t1"}),
    "a resource that isn't there": call("resources/read", {"uri": "memory://turns/t99"}),
    "a prompt": call("prompts/get", {"name": "recall", "arguments": {"question": "the price"}}),
    "a method that isn't there": call("tools/forget"),
    "a ping with an id in words": call("ping", id="a"),
    "progress that is asked for": call(
        "tools/call", {"name": "memory_stats", "arguments": {}, "_meta": {"progressToken": 1}}
    ),
}
LEFT: dict[str, tuple[bytes, dict[str, str]]] = {
    "a handshake": (SHAKEN, PLAIN),
    "news": (b'{"jsonrpc": "2.0", "method": "notifications/initialized"}', PLAIN),
    "no JSON": (b"{", PLAIN),
    "two at once": (b"[" + call("ping") + b"," + call("ping") + b"]", PLAIN),
    "an id that is none": (call("ping", id=None), PLAIN),
    "an answer": (b'{"jsonrpc": "2.0", "id": 1, "result": {}}', PLAIN),
    "who takes no JSON": (call("ping"), {**PLAIN, "Accept": "text/event-stream"}),
    "who sends a form": (call("ping"), {**PLAIN, "Content-Type": "text/plain"}),
    "a version that is none": (call("ping"), {**PLAIN, "MCP-Protocol-Version": "1999-01-01"}),
    "more than is taken": (b'"' + b"x" * LARGEST_BODY + b'"', PLAIN),
}


def answers(folder: Path, asked: list[tuple[bytes, dict[str, str]]]) -> list[list[tuple[int, str, Any]]]:
    """Return what the SDK's own app answers, and what ours does: status, kind, and the body, read if it is JSON."""
    live = live_in(folder)
    app, running = http_app(memory_server(live))
    assert isinstance(app, Exchanges)

    async def ask() -> list[list[tuple[int, str, Any]]]:
        told = []
        async with running():
            for one in (app._app, app):
                transport = httpx2.ASGITransport(one)
                async with httpx2.AsyncClient(transport=transport, base_url="http://memory.test") as http:
                    said = [await http.post(PATH, content=body, headers=headers) for body, headers in asked]
                told.append([(one.status_code, one.headers.get("content-type", ""), read(one)) for one in said])
        return told

    try:
        return asyncio.run(ask())
    finally:
        live.close()


def read(answer: httpx2.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        return answer.text


def test_a_request_is_answered_as_the_sdk_answers_it(folder: Path) -> None:
    theirs, ours = answers(folder, [(body, PLAIN) for body in ASKED.values()])

    for name, one, other in zip(ASKED, theirs, ours, strict=True):
        assert other == one, name
    assert all(status == 200 and kind == JSON for status, kind, _body in ours)
    assert "45 euro" in ours[0][2]["result"]["content"][0]["text"]


def test_what_is_no_single_request_is_left_to_the_sdk(folder: Path) -> None:
    theirs, ours = answers(folder, list(LEFT.values()))

    for name, one, other in zip(LEFT, theirs, ours, strict=True):
        assert other == one, name
    assert [status for status, _kind, _body in ours] == [200, 202, 400, 400, 202, 202, 406, 400, 400, 413]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_each_version_that_shakes_hands_is_answered_without_a_stream(folder: Path, version: str) -> None:
    live = live_in(folder)
    app, _running = http_app(memory_server(live))

    async def ask() -> httpx2.Response:
        # Not running: the SDK's own way would fail.
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://memory.test") as http:
            headers = {**PLAIN, "MCP-Protocol-Version": version}
            return await http.post(PATH, content=tool("quote", text="45 euro"), headers=headers)

    answer = asyncio.run(ask())
    live.close()

    assert (answer.status_code, answer.json()["id"], answer.json()["result"]["isError"]) == (200, 7, False)


def test_a_client_that_goes_away_in_the_middle_of_its_request_is_not_answered(folder: Path) -> None:
    live = live_in(folder)
    app, _running = http_app(memory_server(live))
    headers = [(name.lower().encode(), value.encode()) for name, value in PLAIN.items()]
    scope = {"type": "http", "method": "POST", "path": PATH, "headers": headers, "query_string": b""}
    coming = [{"type": "http.request", "body": b'{"json', "more_body": True}, {"type": "http.disconnect"}]
    sent: list[Any] = []

    async def receive() -> Any:
        return coming.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    live.close()

    assert sent == []


def test_the_server_of_all_answers_a_tool_without_looking_through_its_routes(folder: Path) -> None:
    live = live_in(folder)
    app = app_of(Service(Memories(live, name="m")))

    async def ask() -> tuple[httpx2.Response, httpx2.Response]:
        # The framework isn't started, and so could serve nothing.
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
            found = await http.post(PATH, content=tool("quote", text="45 euro"), headers=PLAIN)
            foreign = await http.post(PATH, content=call("ping"), headers={**PLAIN, "Host": "evil.example"})
            return found, foreign

    found, foreign = asyncio.run(ask())
    live.close()

    assert (found.status_code, found.json()["result"]["isError"]) == (200, False)
    assert foreign.status_code == 421
