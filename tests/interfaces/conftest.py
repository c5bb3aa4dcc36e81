"""A command line over a home of its own, and a memory with a short talk in it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_rag.memory import Memory
from memory_rag.turns import Block, Source
from tests.interfaces.command_line import CommandLine

TALK = (
    ("Ebba", "user", "Vi kör 49 euro för första säsongen, inte ett öre mindre."),
    ("Assistant", "assistant", "Noted: 49 euro for the first season.\nI will remind you in autumn."),
    ("Ebba", "user", "And the workshop? I’d say the price is 45 euro, jar included."),
    ("Assistant", "assistant", "Then the workshop costs 45 euro per person, jar included."),
)


@pytest.fixture
def memory_rag(tmp_path: Path) -> CommandLine:
    """The command line, with a home that nobody else has and without an embedder."""
    home = tmp_path / "home"
    return CommandLine(home, {"MEMORY_RAG_HOME": str(home), "MEMORY_RAG_EMBEDDER": "none", "COLUMNS": "80"})


@pytest.fixture
def talk(memory_rag: CommandLine) -> Path:
    """The folder of the memory ``main``: four turns of a morning, t1 to t4, and a tool call that isn't recalled."""
    folder = memory_rag.home / "main"
    start = datetime(2026, 4, 10, 8, 0, tzinfo=UTC)
    with Memory.open(folder, embedder="none", language="sv,en") as memory:
        for number, (speaker, role, text) in enumerate(TALK):
            memory.add(
                text,
                role=role,
                speaker=speaker,
                conversation_id="pricing",
                said_at=start + timedelta(minutes=number),
                source=Source("notes", f"n{number}", '{"words": "kept as they came: ö"}'),
            )
        memory.add(
            "",
            role="tool",
            speaker="calendar",
            conversation_id="pricing",
            said_at=start + timedelta(minutes=9),
            blocks=[Block("tool_call", {"name": "remind", "when": "autumn"}, "remind me in autumn")],
            recalled=False,
        )
    return folder
