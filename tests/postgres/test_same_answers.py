"""What is asked of the tables beside the store itself is answered as SQLite answers it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_rag.store.chat_messages import ChatMessages
from memory_rag.store.conversation_pages import opening_of, page_of, place_of
from memory_rag.store.engine import Connections
from memory_rag.store.names_used import names_used_in
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.turns import Role, Source, Turn
from tests.postgres.conftest import Open, Say

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
Ask = Callable[[Connections, TurnWriter], Any]


@pytest.fixture
def both(open_store: Open, tmp_path: Path, said: Say) -> Iterator[list[tuple[Connections, TurnWriter]]]:
    """The same turns in SQLite and in PostgreSQL."""
    sqlite, postgres = SqliteTurnStore(tmp_path / "memory"), open_store()
    for store in (sqlite, postgres):
        store.append(_talk(said))
    yield [(sqlite.connections, sqlite), (postgres.connections, postgres)]
    sqlite.close()


def _talk(said: Say) -> list[Turn]:
    """Messages as a chat client gives them: a digest of the talk so far, and one of the last two messages."""
    return [
        said(
            f"{number}",
            conversation_id="cd"[number % 3 == 0],
            session_id=f"s{number // 10}",
            role=Role.USER if number % 2 else Role.ASSISTANT,
            ordinal=100 - number if number % 5 == 0 else number,
            source=Source("chat", f"{number:020}:{number % 7:020}") if number % 4 else None,
            said_at=NOON + timedelta(minutes=number),
        )
        for number in range(40)
    ]


ASKED: dict[str, Ask] = {
    "a page": lambda at, _: page_of(at, "c", first=3, n=7),
    "a page of a session": lambda at, _: page_of(at, "c", session_id="s1", first=0, n=50),
    "a page behind the end": lambda at, _: page_of(at, "c", first=300, n=7),
    "a page of nothing": lambda at, _: page_of(at, "nobody", first=0, n=7),
    "places": lambda at, store: [place_of(at, turn) for _, turn in store.scan(conversation_id="d")],
    "openings": lambda at, _: [opening_of(at, "c", session_id=f"s{number}") for number in range(6)],
    "of a pair": lambda at, _: [ChatMessages(at).of_pair(f"{number:020}") for number in range(8)],
    "of a pair in one": lambda at, _: ChatMessages(at).of_pair(f"{1:020}", conversation_id="c"),
    "chains": lambda at, store: [list(ChatMessages(at).chains_after(turn.turn_id)) for _, turn in store.scan()],
    "ids": lambda at, _: ChatMessages(at).turn_ids("c", [f"{number:020}" for number in range(3)]),
    "chain": lambda at, _: [ChatMessages(at).newest_chain(name) for name in ("c", "d", "nobody")],
    "names": lambda _, store: [
        names_used_in(store, "session", beginning=word, limit=3) for word in ("", "s", "s3", "S")
    ],
    "speakers": lambda _, store: names_used_in(store, "speaker", beginning="us"),
    "changes": lambda _, store: [(one.seq, one.kind, one.row) for one in store.changes_since(7, limit=9)],
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED.keys())
def test_both_engines_answer_alike(both: list[tuple[Connections, TurnWriter]], ask: Ask) -> None:
    sqlite, postgres = (ask(connections, store) for connections, store in both)

    assert postgres == sqlite
