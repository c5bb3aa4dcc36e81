"""Every tool, resource and prompt by the SDK's own client, over stdin and stdout and over HTTP, from a real process."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent, TextResourceContents

from tests.interfaces.command_line import CommandLine

COMMAND = ["-m", "memory_rag", "mcp"]
TOOLS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("search_memory", {"query": "workshop euro"}, "hits"),
    ("get_turn", {"turn_id": "t1"}, "turn"),
    ("quote", {"text": "45 euro"}, "quotes"),
    ("verify_quotes", {"answer": 'Ebba said "jar included".'}, "verdicts"),
    ("add_turn", {"text": "Bina flyttar i maj.", "role": "user", "key": "k1"}, "turn"),
    ("correct_turn", {"turn_id": "t5", "text": "Bina flyttar i juni."}, "turn"),
    ("forget", {"turn_ids": ["t5"]}, "confirm"),
    ("get_summary", {}, "summaries"),
    ("memory_stats", {}, "n_turns"),
)


@pytest.fixture
def memory_rag(folder: Path) -> CommandLine:
    return CommandLine(folder.parent, {"MEMORY_RAG_HOME": str(folder.parent), "MEMORY_RAG_EMBEDDER": "none"})


@asynccontextmanager
async def clients(memory_rag: CommandLine, transport: str, n: int) -> AsyncIterator[list[mcp.Client]]:
    """Give n clients: over stdio each of a server of its own, over HTTP all of one."""
    environment = memory_rag.all_of_it()
    if transport == "stdio":
        given = StdioServerParameters(command=sys.executable, args=COMMAND, env=environment, cwd=Path.cwd())
        made = [mcp.Client(stdio_client(given)) for _ in range(n)]
        process = None
    else:
        process = subprocess.Popen(
            [sys.executable, *COMMAND, "--http", "--port", "0"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
        )
        assert process.stderr is not None
        url = re.search(rb"http://\S+/mcp", process.stderr.readline())
        assert url is not None
        made = [mcp.Client(streamable_http_client(url[0].decode())) for _ in range(n)]
    try:
        if n == 1:
            async with made[0] as one:
                yield [one]
        else:
            async with made[0] as one, made[1] as two:
                yield [one, two]
    finally:
        if process is not None:
            process.terminate()
            process.communicate()


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_all_that_is_offered_answers_typed_over_both(memory_rag: CommandLine, transport: str) -> None:
    async def talk() -> None:
        async with clients(memory_rag, transport, 1) as (client,):
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert list(listed) == [name for name, _arguments, _field in TOOLS]
            for name, arguments, field in TOOLS:
                found = await client.call_tool(name, arguments)
                assert found.is_error is not True, text_of(found)
                assert found.structured_content is not None
                assert field in found.structured_content, name
                typed = listed[name].output_schema or {}
                assert set(found.structured_content) <= set(typed["properties"]), name
                assert text_of(found)
            wrong = await client.call_tool("get_turn", {"turn_id": "t99"})
            assert (wrong.is_error, "no turn has the id 't99'" in text_of(wrong)) == (True, True)

            templates = {one.uri_template for one in (await client.list_resource_templates()).resource_templates}
            assert templates == {"memory://turns/{turn_id}", "memory://conversations/{conversation_id}"}
            assert [str(one.uri) for one in (await client.list_resources()).resources] == ["memory://summary"]
            for uri in ("memory://turns/t1", "memory://conversations/prices%2F2026", "memory://summary"):
                (content,) = (await client.read_resource(uri)).contents
                assert isinstance(content, TextResourceContents)
                assert content.text
            with pytest.raises(mcp.MCPError, match="t99"):
                await client.read_resource("memory://turns/t99")

            prompts = {one.name for one in (await client.list_prompts()).prompts}
            assert prompts == {"recall", "check-quotes"}
            recalled = await client.get_prompt("recall", {"question": "What is the workshop's price?"})
            assert "45 euro" in recalled.messages[0].content.text  # type: ignore[union-attr]
            checked = await client.get_prompt("check-quotes", {"text": 'She said "jar included".'})
            assert "verbatim" in checked.messages[0].content.text  # type: ignore[union-attr]

    asyncio.run(talk())


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_two_clients_write_at_once_and_both_find_all_of_it(memory_rag: CommandLine, transport: str) -> None:
    async def talk() -> list[bool]:
        async with clients(memory_rag, transport, 2) as (one, two):
            await asyncio.gather(
                *(
                    client.call_tool("add_turn", {"text": f"Punkt {n} av {who}.", "role": "user"})
                    for n in range(10)
                    for who, client in (("en", one), ("två", two))
                )
            )
            found = [
                (await client.call_tool("quote", {"text": f"Punkt {n} av {who}."})).structured_content
                for n in range(10)
                for who, client in (("två", one), ("en", two))
            ]
        return [one is not None and one["found"] for one in found]

    assert asyncio.run(talk()) == [True] * 20


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_call_that_is_given_up_and_huge_arguments_leave_the_server_answering(
    memory_rag: CommandLine, transport: str
) -> None:
    async def talk() -> tuple[list[str], int]:
        async with clients(memory_rag, transport, 1) as (client,):
            for _ in range(3):
                given_up = asyncio.create_task(client.call_tool("search_memory", {"query": "euro"}))
                await asyncio.sleep(0)
                given_up.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await given_up
            told = []
            for tool, arguments in (
                ("search_memory", {"query": "x" * 10_001}),
                ("quote", {"text": "y" * 200_000}),
                ("add_turn", {"text": "z" * 1_000_001, "role": "user"}),
                ("forget", {"turn_ids": ["t1"] * 201}),
                ("search_memory", {"query": "x", "k": 10**30}),
                ("search_memory", {"query": {"deep": [[[[]]]]}}),
            ):
                answer = await client.call_tool(tool, arguments)
                assert answer.is_error is True, tool
                told.append(text_of(answer))
            long = await client.call_tool("add_turn", {"text": "ord " * 200_000, "role": "user"})
            assert long.is_error is not True
            stats = (await client.call_tool("memory_stats", {})).structured_content
        return told, 0 if stats is None else stats["n_turns"]

    told, n_turns = asyncio.run(talk())

    assert all("was not called" in one for one in told)
    assert all(len(one) < 500 for one in told)
    assert n_turns == 5
