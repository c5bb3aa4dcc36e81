"""Many clients of one server: what it adds to a chat, how many chats stream at once, how many searches it answers.

The clients are httpx's, in one loop, and no load tool's: each word of each stream is compared with what is stored
afterwards, a chat's next request is made of the answer before it, and two cores have no room for a heavier client.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from memory_rag.evaluation.speed_timing import Timing

if TYPE_CHECKING:
    import httpx2

Tell = Callable[[str, int, int], None]
TIMEOUT_S: Final = 120.0
_MCP_HEADERS: Final = {"Accept": "application/json, text/event-stream"}


@dataclass(frozen=True, slots=True)
class Streamed:
    """An answer as it came: its words, and the seconds to its first byte and to its end."""

    text: str
    first_s: float
    all_s: float


@dataclass(slots=True)
class Chat:
    """A client that sends its whole history with every message; ``said`` are (role, text) that must be stored."""

    questions: Sequence[str]
    said: list[tuple[str, str]] = field(default_factory=list)
    answers: list[Streamed] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Searched:
    """How many searches were answered in how long, each by how long it took in seconds, and how many failed."""

    seconds: float
    took: Sequence[float]
    n_failed: int

    def as_json(self) -> dict[str, Any]:
        timing = Timing.of(self.took).as_json() if self.took else {}
        return {"per_second": len(self.took) / self.seconds, "n_failed": self.n_failed, **timing}


async def streamed(client: httpx2.AsyncClient, url: str, messages: Sequence[dict[str, str]]) -> Streamed:
    """Ask a chat endpoint and read its stream."""
    began = time.perf_counter()
    first = 0.0
    body = b""
    asked = {"model": "scripted", "messages": list(messages), "stream": True}
    async with client.stream("POST", f"{url}/chat/completions", json=asked) as answer:
        answer.raise_for_status()
        async for piece in answer.aiter_bytes():
            first = first or time.perf_counter() - began
            body += piece
    return Streamed(words_of(body), first, time.perf_counter() - began)


def words_of(body: bytes) -> str:
    """Return what a stream of server-sent events says."""
    words = []
    for line in body.decode("utf-8").splitlines():
        if line.startswith("data: {"):
            words.append(json.loads(line[6:])["choices"][0]["delta"].get("content") or "")
    return "".join(words)


async def added_to_a_chat(
    client: httpx2.AsyncClient, *, straight: str, through: str, questions: Sequence[str], tell: Tell
) -> dict[str, Any]:
    """Time first bytes of a model asked straight and through the server, one question at a time."""
    seconds: dict[str, list[float]] = {"straight": [], "through": []}
    for number, question in enumerate(questions, 1):
        for way, url in (("straight", straight), ("through", through)):
            seconds[way].append((await streamed(client, url, [{"role": "user", "content": question}])).first_s)
            # A person reads an answer before the next question.
            await asyncio.sleep(0.3)
        tell("one chat", number, len(questions))
    added = [through - straight for through, straight in zip(seconds["through"], seconds["straight"], strict=True)]
    return {
        "straight": Timing.of(seconds["straight"]).as_json(),
        "through": Timing.of(seconds["through"]).as_json(),
        "added": Timing.of(added).as_json(),
    }


async def chats_at_once(client: httpx2.AsyncClient, url: str, chats: Sequence[Chat], *, tell: Tell) -> dict[str, Any]:
    """Let every chat go through its questions, all at once; what they said and heard stands in them afterwards."""
    n_done = 0

    async def talk(chat: Chat) -> None:
        nonlocal n_done
        for question in chat.questions:
            chat.said.append(("user", question))
            messages = [{"role": role, "content": text} for role, text in chat.said]
            answer = await streamed(client, url, messages)
            chat.answers.append(answer)
            chat.said.append(("assistant", answer.text))
            n_done += 1
            tell("chats at once", n_done, sum(len(one.questions) for one in chats))

    began = time.perf_counter()
    await asyncio.gather(*(talk(chat) for chat in chats))
    answers = [answer for chat in chats for answer in chat.answers]
    return {
        "n_chats": len(chats),
        "n_answers": len(answers),
        "seconds": time.perf_counter() - began,
        "first_byte": Timing.of([answer.first_s for answer in answers]).as_json(),
        "whole": Timing.of([answer.all_s for answer in answers]).as_json(),
    }


async def searches_at_once(
    search: Callable[[str], Awaitable[bool]], questions: Iterator[str], *, clients: int, seconds: float
) -> Searched:
    """Let clients search, each as soon as it has its answer, for some seconds; no question is asked twice.

    ``search`` tells whether it was answered.
    """
    took: list[float] = []
    n_failed = 0
    began = time.perf_counter()

    async def ask() -> None:
        nonlocal n_failed
        while (now := time.perf_counter()) - began < seconds:
            if await search(next(questions)):
                took.append(time.perf_counter() - now)
            else:
                n_failed += 1

    await asyncio.gather(*(ask() for _ in range(clients)))
    return Searched(time.perf_counter() - began, took, n_failed)


def by_mcp(client: httpx2.AsyncClient, url: str, *, mode: str) -> Callable[[str], Awaitable[bool]]:
    """Return a search by the MCP tool, in a mode."""

    async def search(question: str) -> bool:
        called = {"name": "search_memory", "arguments": {"query": question, "mode": mode, "k": 10}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
        answer = await client.post(f"{url}/mcp", json=body, headers=_MCP_HEADERS)
        return answer.status_code == 200 and '"isError":true' not in answer.text

    return search


def by_page(client: httpx2.AsyncClient, url: str) -> Callable[[str], Awaitable[bool]]:
    """Return a search on the page, hybrid, its list of hits alone as the page's own script asks for it."""

    async def search(question: str) -> bool:
        answer = await client.get(f"{url}/search", params={"q": question, "part": "1"})
        return answer.status_code == 200

    return search
