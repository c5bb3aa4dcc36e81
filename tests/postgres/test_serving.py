"""What serves a memory on a server: one owner's, through the page, the endpoint and MCP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import mcp
import pytest

from memory_rag.errors import NotAMemoryError
from memory_rag.interfaces.cli.mcp_serving import live_memory
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.endpoint.upstream import Upstream
from memory_rag.interfaces.mcp.overview import OverviewTools
from memory_rag.interfaces.mcp.reading import ReadingTools
from memory_rag.interfaces.mcp.writing import WritingTools
from memory_rag.interfaces.serving.app import Service, app_of
from memory_rag.interfaces.serving.live_memory import LiveMemory
from memory_rag.interfaces.serving.memories import Memories
from memory_rag.memory import Memory
from tests.interfaces.command_line import CommandLine
from tests.interfaces.mcp.test_processes import called, stdio
from tests.interfaces.serving.served import get, post, serving
from tests.model_server import ModelServer, model_server


@pytest.fixture
def place(postgres_url: str, request: pytest.FixtureRequest) -> Place:
    return Place(postgres_url, owner=f"served {request.node.name}"[:200], embedder="none")


@pytest.fixture
def live(place: Place) -> Iterator[LiveMemory]:
    live = live_memory(place, pending_limit=0)
    yield live
    live.close()


@dataclass
class Served:
    """The URL of a server of ours, and the model behind it."""

    url: str
    model: ModelServer

    def say(self, text: str, *, model: str = "m", **headers: str) -> int:
        body = {"model": model, "messages": [{"role": "user", "content": text}]}
        return post(f"{self.url}/v1/chat/completions", json=body, headers=headers).status_code


@pytest.fixture
def served(live: LiveMemory, place: Place) -> Iterator[Served]:
    memories = Memories(live, name=place.title)
    with model_server() as model, serving(app_of(Service(memories, Upstream(model.url), has_mcp=False))) as url:
        yield Served(url, model)


def test_a_chat_is_stored_for_the_owner_and_nobody_else(
    served: Served, live: LiveMemory, postgres_url: str, place: Place
) -> None:
    assert served.say("The first season costs 49 euro.") == 200

    assert [turn.text for turn in live.get().turns()][:1] == ["The first season costs 49 euro."]
    with Memory.open(postgres_url, owner=f"{place.owner} 2", embedder="none") as other:
        assert len(other) == 0


def test_no_other_memory_can_be_named(served: Served, live: LiveMemory, place: Place) -> None:
    assert served.say("Hej.", model="m::main") == 404
    assert served.say("Hej.", **{"x-memory-name": "main"}) == 404
    assert get(f"{served.url}/memory/main/").status_code == 404
    assert [one["id"] for one in json.loads(get(f"{served.url}/v1/models").text)["data"]] == ["small"]
    with pytest.raises(NotAMemoryError, match=f"the one it serves is {place.owner}, and no other"):
        Memories(live, name=place.title).get("main")


def test_the_page_says_where_the_words_are_and_not_by_which_password(
    served: Served, live: LiveMemory, postgres_url: str
) -> None:
    live.get(create=True).add("The first season costs 49 euro.")

    about, listed = get(f"{served.url}/about").text, get(f"{served.url}/memories").text

    place = live.place.replace("'", "&#39;")
    assert f"<code>{place}</code>" in about
    assert f"kept at {place}." in about
    assert "This server shows one owner’s memory, and no other." in listed
    assert "Nothing is stored yet" not in listed
    assert postgres_url not in about + listed
    assert "stays on the machine" not in about + listed


def test_where_nothing_is_stored_yet_the_page_and_the_tools_say_so_and_make_no_memory(
    served: Served, live: LiveMemory, place: Place
) -> None:
    assert "Nothing is stored yet" in get(served.url).text
    with pytest.raises(NotAMemoryError, match=r"nothing is stored yet: postgresql://.* The tool add_turn makes one"):
        ReadingTools(live).search_memory("season")
    assert not place.exists


def test_the_tools_write_read_and_count(live: LiveMemory, place: Place) -> None:
    added = WritingTools(live).add_turn("The first season costs 49 euro.", role="user", speaker="Ebba").result

    assert (added.turn.turn_id, place.exists) == ("t1", True)
    assert [hit.turn_id for hit in ReadingTools(live).search_memory("what costs a season?").result.hits] == ["t1"]
    assert OverviewTools(live).memory_stats().result.n_turns == 1


def test_two_clients_over_stdio_share_one_owners_memory(place: Place, postgres_url: str, tmp_path: Path) -> None:
    environment = {"MEMORY_RAG_HOME": str(tmp_path), "MEMORY_RAG_EMBEDDER": "none", "MEMORY_RAG_MEMORY": postgres_url}
    line = CommandLine(tmp_path, {**environment, "MEMORY_RAG_OWNER": str(place.owner)})

    async def talk() -> tuple[str, str, str]:
        async with mcp.Client(stdio(line)) as one, mcp.Client(stdio(line)) as two:
            before = await called(one, "quote", text="Ökna gård")
            await called(one, "add_turn", text="Bina bor på Ökna gård. 東京 🐝", role="user")
            found = await called(two, "quote", text="Bina bor på Ökna gård. 東京 🐝")
            return before.text, found.data["quotes"][0]["text"], (await called(two, "memory_stats")).text

    before, quoted, stats = asyncio.run(talk())

    assert "nothing is stored yet: postgresql://" in before
    assert quoted == "Bina bor på Ökna gård. 東京 🐝"
    assert stats.startswith("1 turn in 1 conversation")
    assert list(tmp_path.iterdir()) == []
