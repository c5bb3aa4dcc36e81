"""What is done for a request before the upstream is asked, counted: statements, transactions, threads, bytes sent."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory_rag.interfaces.endpoint.remembering import Exchange, Remembering
from memory_rag.interfaces.endpoint.upstream import Upstream
from memory_rag.interfaces.endpoint.wishes import ChatWish
from memory_rag.interfaces.serving.app import Service, app_of
from memory_rag.interfaces.serving.memories import Memories
from memory_rag.memory import Memory
from memory_rag.prompt.events import EventKind
from tests.end_to_end.hashed_words import HashedWords
from tests.interfaces.serving.served import opened, post, serving, until

_MOST_STATEMENTS = 50


@contextmanager
def threads_begun() -> Iterator[list[str]]:
    """The names of the threads that begin meanwhile."""
    begun: list[str] = []

    def note(*_event: object) -> None:
        sys.setprofile(None)
        begun.append(threading.current_thread().name)

    threading.setprofile(note)
    try:
        yield begun
    finally:
        threading.setprofile(None)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "m", embedder=HashedWords(), language="en") as made:
        for n in range(40):
            made.add(f"The boat number {n} is moored in harbour {n % 5}", conversation_id=f"trip {n % 4}")
        made.embed()
        yield made


def heard(memory: Memory, question: str, *, remembering: Remembering | None = None) -> Exchange:
    body = {"model": "small", "messages": [{"role": "user", "content": question}]}
    return (remembering or Remembering()).hear(memory, body, ChatWish())


def statements(memory: Memory, question: str) -> list[str]:
    """Return what SQLite was asked for one request, by its thread."""
    told: list[str] = []
    with memory.store.connections.reading() as connection:
        assert isinstance(connection, sqlite3.Connection)
        connection.set_trace_callback(told.append)
        heard(memory, question)
        connection.set_trace_callback(None)
    return told


def test_statements_do_not_grow_with_what_is_found(memory: Memory) -> None:
    heard(memory, "What did I say about the boat in harbour 1?")
    one = statements(memory, "What did I say about the boat number 17?")
    found = heard(memory, "What did I say about the boats in the harbour?")
    many = statements(memory, "What did I say about the boat in the harbour?")

    assert len(found.quoted) > 5
    assert len(many) == len(one) <= _MOST_STATEMENTS


def test_only_the_words_said_are_written_before_the_upstream_is_asked(memory: Memory) -> None:
    heard(memory, "What did I say about the boat in harbour 1?")
    told = statements(memory, "What did I say about the boat number 17?")

    written = [one.partition("(")[0].strip() for one in told if not one.startswith("SELECT")]
    assert written == ["BEGIN IMMEDIATE", "INSERT INTO turns", "INSERT INTO changes", "COMMIT"]


def test_what_was_retrieved_is_logged_once_afterwards(memory: Memory) -> None:
    remembering = Remembering()
    exchange = heard(memory, "What did I say about the boat number 17?", remembering=remembering)
    before = memory.prompt.events.events(kind=EventKind.RETRIEVAL)
    for _ in range(2):
        remembering.log(exchange)

    (event,) = memory.prompt.events.events(kind=EventKind.RETRIEVAL)
    assert before == []
    assert tuple(event.details["quoted"]) == exchange.quoted != ()


def test_one_thread_is_begun_for_all_requests(memory: Memory) -> None:
    memory.search("harbour")
    with threads_begun() as begun:
        for n in range(5):
            heard(memory, f"What did I say about the boat number {n}?")

    assert [name.rstrip("_0") for name in begun] == ["embedding a question"]


def test_the_log_is_written_where_the_upstream_gives_no_answer(tmp_path: Path) -> None:
    live = opened(tmp_path, "main")
    live.get(create=True).add("The boat lies in Bergen", conversation_id="trip")
    nobody = Upstream("http://127.0.0.1:9")
    memories = Memories(live, name="main", home=tmp_path)
    with serving(app_of(Service(memories, nobody, has_mcp=False))) as url:
        body = {"model": "small", "messages": [{"role": "user", "content": "Where did I say that the boat lies?"}]}
        answer = post(f"{url}/v1/chat/completions", json=body)
        until(lambda: len(live.get().prompt.events.events(kind=EventKind.RETRIEVAL)) == 1)
    memories.close()

    assert answer.status_code == 502


def test_a_body_goes_out_whole_with_its_length(tmp_path: Path) -> None:
    told: list[object] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        told.append(await reader.readexactly(9))
        told.append(sorted(line.lower() for line in head.split(b"\r\n")[1:] if line))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        await writer.drain()
        writer.close()

    async def ask() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            upstream = Upstream(f"http://127.0.0.1:{port}/v1", key="sk-1")
            reply = await upstream.ask(
                "POST",
                "chat/completions",
                headers=[(b"Content-Type", b"application/json"), (b"Content-Length", b"4"), (b"Accept", b"a/b")],
                body=b'{"a": 12}',
            )
            told.append(b"".join([piece async for piece in reply.pieces()]))
            await reply.close()
            await upstream.close()
            told.append(f"host: 127.0.0.1:{port}".encode())

    asyncio.run(ask())

    host = told.pop()
    body, head, answer = told
    assert (body, answer) == (b'{"a": 12}', b"ok")
    assert isinstance(head, list)
    assert [line for line in head if not line.startswith(b"user-agent: python-httpx2/")] == [
        b"accept-encoding: identity",
        b"accept: a/b",
        b"authorization: bearer sk-1",
        b"connection: keep-alive",
        b"content-length: 9",
        b"content-type: application/json",
        host,
    ]
