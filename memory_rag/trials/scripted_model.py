"""A chat model for measurements: it answers at once or at a pace, in words that its question decides."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

ANSWERED: Final = 12
"""Pieces that an answer is streamed in."""
_LARGEST: Final = 16 * 1024 * 1024


def answer_to(said: str) -> list[str]:
    """Return the pieces of the answer to a user's message, by the mark in brackets at its end: ``… [c7 m2]``."""
    mark = said.rpartition("[")[2].rstrip("]")
    return [f"Answer to {mark}:", *(f" word {number} of {mark}," for number in range(ANSWERED - 2)), " and no more."]


@asynccontextmanager
async def scripted_model(*, pace_s: float = 0.0) -> AsyncIterator[str]:
    """Serve a model on a free port of this machine until the end, and give its URL; between two pieces it waits."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (asked := await _request(reader)) is not None:
                await _stream(writer, answer_to(_last_words(asked)), pace_s=pace_s)
        except (ConnectionError, asyncio.IncompleteReadError):
            # Whoever asked went away.
            return
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=_LARGEST, backlog=512)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/v1"


async def _request(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """Return a request's JSON body; None if nothing more comes."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    lengths = [line.partition(b":")[2] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    body: dict[str, Any] = json.loads(await reader.readexactly(int(lengths[0])))
    return body


def _last_words(asked: dict[str, Any]) -> str:
    content: str = asked["messages"][-1]["content"]
    return content


async def _stream(writer: asyncio.StreamWriter, pieces: Sequence[str], *, pace_s: float) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    events: list[dict[str, Any]] = [{"delta": {"content": piece}, "finish_reason": None} for piece in pieces]
    for number, event in enumerate([*events, {"delta": {}, "finish_reason": "stop"}]):
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
        data = f"data: {json.dumps({**chunk, 'choices': [{'index': 0, **event}]})}\n\n".encode()
        if pace_s and number:
            await asyncio.sleep(pace_s)
        writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await writer.drain()
    writer.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
    await writer.drain()
