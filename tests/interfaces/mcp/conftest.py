"""A memory with a short talk in it, and a client of the official SDK that speaks with its server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import mcp
import pytest
from mcp_types import CallToolResult, TextContent

from memory_rag.interfaces.mcp.server import MemoryServer, memory_server
from memory_rag.interfaces.serving.live_memory import LiveMemory
from memory_rag.memory import Memory

Result = TypeVar("Result")

TALK = (
    ("Ebba", "user", "Vi kör 49 euro för första säsongen, inte ett öre mindre."),
    ("Assistant", "assistant", "Noted: 49 euro for the first season.\nI will remind you in autumn."),
    ("Ebba", "user", "And the workshop? I’d say the price is 45 euro, jar included. 🐝"),
    ("Assistant", "assistant", "Then the workshop costs 45 euro per person, jar included."),
)


@dataclass(frozen=True)
class Said:
    """What a tool answered: its words, its structured content, whether it is an error."""

    text: str
    data: Any
    is_error: bool


def said(result: CallToolResult) -> Said:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return Said(content.text, result.structured_content, result.is_error is True)


@dataclass(frozen=True)
class Talk:
    """A server in this process, and each call with a client of its own."""

    server: MemoryServer
    live: LiveMemory

    def __call__(self, tool: str, **arguments: Any) -> Said:
        async def call(client: mcp.Client) -> Said:
            return said(await client.call_tool(tool, arguments))

        return self.with_client(call)

    def with_client(self, do: Callable[[mcp.Client], Awaitable[Result]], *, mode: str = "auto") -> Result:
        async def talk() -> Result:
            async with mcp.Client(self.server, mode=mode) as client:
                return await do(client)

        return asyncio.run(talk())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a memory: four turns of a morning, t1 to t4."""
    folder = tmp_path / "home" / "main"
    start = datetime(2026, 4, 10, 8, 0, tzinfo=UTC)
    with Memory.open(folder, embedder="none", language="sv,en") as memory:
        for number, (speaker, role, text) in enumerate(TALK):
            memory.add(
                text,
                role=role,
                speaker=speaker,
                conversation_id="prices/2026",
                said_at=start + timedelta(minutes=number),
            )
    return folder


def live_in(folder: Path) -> LiveMemory:
    return LiveMemory(folder, lambda create: Memory.open(folder, embedder="none", create=create))


@pytest.fixture
def ask(folder: Path) -> Any:
    live = live_in(folder)
    yield Talk(memory_server(live), live)
    live.close()
