"""The MCP app may live inside another: one process then serves it beside a page and other endpoints."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import mcp
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from memory_rag.interfaces.mcp.server import http_app, memory_server
from memory_rag.interfaces.serving.guard import Guard
from tests.interfaces.mcp.conftest import live_in, said


def test_it_is_mounted_beside_other_routes_under_one_guard(folder: Path) -> None:
    live = live_in(folder)
    inner, running = http_app(memory_server(live))

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with running():
            yield

    async def page(_request: Request) -> PlainTextResponse:
        return PlainTextResponse("a page")

    outer = Starlette(routes=[Route("/", page), Mount("/", inner)], lifespan=lifespan)
    guarded = Guard(outer, hosts=["memory.test"])

    async def talk() -> list[object]:
        transport = httpx2.ASGITransport(guarded)
        async with (
            outer.router.lifespan_context(outer),
            httpx2.AsyncClient(transport=transport, base_url="http://memory.test") as http,
        ):
            async with mcp.Client(streamable_http_client("http://memory.test/mcp", http_client=http)) as client:
                found = said(await client.call_tool("quote", {"text": "inte ett öre mindre"}))
            elsewhere = await http.get("/", headers={"Host": "evil.example"})
            return [(await http.get("/")).text, found.data["found"], elsewhere.status_code]

    assert asyncio.run(talk()) == ["a page", True, 421]
    live.close()
