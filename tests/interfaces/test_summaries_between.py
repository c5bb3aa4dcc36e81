"""With the setting ``summaries`` at ``off`` no program of ours summarises by itself; else each does after an answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_rag.interfaces.chat.session import ChatSession
from memory_rag.interfaces.endpoint.heard import Choice, Heard
from memory_rag.interfaces.endpoint.remembering import Remembering
from memory_rag.interfaces.endpoint.wishes import ChatWish
from memory_rag.interfaces.mcp.writing import WritingTools
from memory_rag.interfaces.serving.live_memory import LiveMemory
from memory_rag.memory import Memory

Talk = Callable[[Memory, int], None]


def by_chat(memory: Memory, n: int) -> None:
    session = ChatSession(memory, conversation_id="c", session_id="s")
    for number in range(n):
        session.hear(f"We decided on point {number}.")
        session.keep([f"Point {number} is noted."])


def by_endpoint(memory: Memory, n: int) -> None:
    remembering = Remembering()
    for number in range(n):
        body = {"model": "m", "messages": [{"role": "user", "content": f"We decided on point {number}."}]}
        exchange = remembering.hear(memory, body, ChatWish(conversation="c"))
        heard = Heard(is_stream=False)
        heard.choices[0] = Choice(text=[f"Point {number} is noted."])
        remembering.keep(memory, exchange, heard)
        remembering.done(exchange)


def by_mcp(memory: Memory, n: int) -> None:
    tools = WritingTools(LiveMemory(memory.folder, lambda create: memory))
    for number in range(2 * n):
        tools.add_turn(f"We decided on point {number}.", "user", conversation="c")


@pytest.mark.parametrize("talk", [by_chat, by_endpoint, by_mcp])
@pytest.mark.parametrize(("setting", "is_made"), [("off", False), ("chats", True), ("auto", True)])
def test_a_talk_is_summarised_by_itself_unless_that_is_off(
    tmp_path: Path, talk: Talk, setting: str, is_made: bool
) -> None:
    with Memory.open(tmp_path / "m", embedder="none", language="en", summaries=setting) as memory:
        talk(memory, 20)
        assert memory.summaries.wait(timeout_s=60)

        assert bool(memory.summaries.stored("c")) is is_made
        assert memory.summaries.summarise("c", keep_recent=0)


def test_a_program_of_ones_own_starts_nothing_unless_it_is_asked_to(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m", embedder="none", language="en") as memory:
        for number in range(40):
            memory.add(f"We decided on point {number}.", conversation_id="c")

        assert memory.summaries.wait(timeout_s=60)
        assert memory.summaries.stored("c") == []
