"""The connection to the endpoint that answers, without a server of ours in front."""

from __future__ import annotations

import asyncio

import pytest

from memory_rag.interfaces.endpoint.upstream import KEPT_S, Upstream

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def asked_twice(*, kept_s: float, closes: bool = False) -> tuple[int, list[bytes]]:
    """Return how many connections two requests made, and the two answers.

    With ``closes`` the upstream closes a connection after its answer, without having said so.
    """
    connections: list[asyncio.Task[None] | None] = []
    answered = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(asyncio.current_task())
        while await reader.readline():
            await reader.readuntil(b"\r\n\r\n")
            writer.write(_ANSWER)
            await writer.drain()
            if closes:
                break
            answered.set()
        writer.close()
        await writer.wait_closed()
        answered.set()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        upstream = Upstream(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", kept_s=kept_s)
        answers = []
        for _ in range(2):
            reply = await upstream.ask("GET", "models", headers=())
            answers.append(b"".join([piece async for piece in reply.pieces()]))
            await reply.close()
            await answered.wait()
            answered.clear()
        await upstream.close()
        await asyncio.gather(*(one for one in connections if one is not None))
    return len(connections), answers


@pytest.mark.parametrize(("kept_s", "n_connections"), [(KEPT_S, 1), (0.0, 2)])
def test_a_connection_is_kept_for_the_next_request(kept_s: float, n_connections: int) -> None:
    assert asyncio.run(asked_twice(kept_s=kept_s)) == (n_connections, [b"ok", b"ok"])


def test_a_connection_that_the_upstream_closed_meanwhile_is_not_used() -> None:
    assert asyncio.run(asked_twice(kept_s=KEPT_S, closes=True)) == (2, [b"ok", b"ok"])
