"""A server of ours on a free port of this machine, before a model that says what a test tells it to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openai
import pytest

from memory_rag.interfaces.endpoint.upstream import Upstream
from memory_rag.interfaces.serving.app import Service, app_of
from memory_rag.interfaces.serving.live_memory import LiveMemory
from memory_rag.interfaces.serving.memories import Memories
from memory_rag.memory import Memory
from memory_rag.turns import Turn
from tests.interfaces.serving.served import opened, serving
from tests.model_server import ModelServer, model_server


@dataclass
class Served:
    """The server, the model behind it, and the memory that it keeps."""

    url: str
    model: ModelServer
    live: LiveMemory
    home: Path
    clients: list[openai.OpenAI] = field(default_factory=list)

    def client(self, **options: Any) -> openai.OpenAI:
        made = openai.OpenAI(**{"base_url": f"{self.url}/v1", "api_key": "sk-client", "max_retries": 0, **options})
        self.clients.append(made)
        return made

    @property
    def memory(self) -> Memory:
        return self.live.get(create=True)

    @property
    def turns(self) -> list[Turn]:
        return list(self.memory.turns())

    @property
    def told(self) -> list[tuple[str, str]]:
        """(role, text) of every stored turn."""
        return [(turn.role.value, turn.text) for turn in self.turns]

    def sent(self, index: int = -1) -> list[dict[str, Any]]:
        """The messages that the model was sent."""
        messages: list[dict[str, Any]] = self.model.requests[index]["messages"]
        return messages


@contextmanager
def served_in(home: Path, **wishes: Any) -> Iterator[Served]:
    live = opened(home, "main")
    memories = Memories(live, name="main", home=home, opened=lambda name: opened(home, name))
    key = wishes.pop("key", None)
    with model_server() as model:
        service = Service(memories, Upstream(model.url, key=key), has_mcp=False, **wishes)
        with serving(app_of(service)) as url:
            made = Served(url, model, live, home)
            try:
                yield made
            finally:
                for client in made.clients:
                    client.close()
                memories.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with served_in(tmp_path / "home") as made:
        yield made
