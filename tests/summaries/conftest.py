"""A talk to summarise, and what reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Role, Turn
from tests.model_server import ModelServer
from tests.model_server import model_server as serve

START = datetime(2026, 4, 10, 8, 0, tzinfo=UTC)
Talk = Callable[..., list[Turn]]


@pytest.fixture
def analyzer() -> Analyzer:
    return Analyzer(("en", "sv", "nb"))


@pytest.fixture
def talk() -> Talk:
    """Return a function that makes turns t1, t2 … of (speaker, text); whoever is called Assistant is a model."""

    def made(*said: tuple[str, str], first: int = 1, conversation_id: str = "c") -> list[Turn]:
        return [
            Turn(
                turn_id=f"t{number}",
                conversation_id=conversation_id,
                session_id="s",
                ordinal=number - 1,
                role=Role.ASSISTANT if speaker == "Assistant" else Role.USER,
                speaker=speaker,
                text=text,
                said_at=START + timedelta(minutes=number),
            )
            for number, (speaker, text) in enumerate(said, start=first)
        ]

    return made


@pytest.fixture
def model_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A chat model's server of this test's own."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serve() as server:
        yield server
