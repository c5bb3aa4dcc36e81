"""What SQLite keeps has its table on a server, column by column, and goes with what it was made of."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from psycopg.conninfo import conninfo_to_dict

from memory_rag.errors import TurnError
from memory_rag.postgres.beside_steps import NUMBERED
from memory_rag.postgres.turn_store import PostgresTurnStore
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.summaries.summary import Kind, Line
from memory_rag.talks.shelf import TalkShelf
from memory_rag.talks.talk import TalkId, TalkSummary
from memory_rag.talks.window_shelf import WindowShelf
from memory_rag.talks.windows import Side, Window
from tests.postgres.conftest import Open, Say
from tests.postgres_server import PostgresServer

AT = datetime(2026, 5, 4, tzinfo=UTC)
VECTOR = np.array([[0.6, 0.8]], np.float32)
SUMMARY = "INSERT INTO talk_summaries (conversation_id, unit, session_id, made_by, made_at, n_turns, last_row) VALUES "
WINDOW = (
    "INSERT INTO talk_windows (conversation_id, session_id, fingerprint, side, place, first_row, last_row, n_turns, "
    "vectors) VALUES (?, ?, 'small', 'all', 0, 1, 1, 1, ?)"
)


def test_every_table_of_sqlites_is_there_with_its_columns_and_then_the_owner(
    open_store: Open, postgres: PostgresServer, postgres_url: str, tmp_path: Path
) -> None:
    SqliteTurnStore(tmp_path / "memory").close()
    open_store()
    file = sqlite3.connect(tmp_path / "memory" / "turns.sqlite")
    names = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    wanted = {
        name: [column for _, column, *_ in file.execute(f"PRAGMA table_info({name})")]
        for name in names
        if not name.startswith("sqlite_") and name != "migrations"
    }
    file.close()

    found = postgres.as_superuser(
        "SELECT table_name, array_agg(column_name::text ORDER BY ordinal_position) FROM information_schema.columns "
        "WHERE table_schema = 'memory_rag' GROUP BY table_name",
        database=str(conninfo_to_dict(postgres_url)["dbname"]),
    )

    there = {name: columns for name, columns in found if name in wanted}
    assert there == {name: [*columns, "owner"] for name, columns in wanted.items()}


def _made(store: PostgresTurnStore, table: str) -> list[tuple[object, ...]]:
    with store.connections.reading() as connection:
        return connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()


@pytest.fixture
def store(open_store: Open, said: Say) -> PostgresTurnStore:
    """Two sessions of a conversation and another conversation, each with a summary and a window."""
    store = open_store()
    store.append(
        [
            said("of the first", turn_id="a", session_id="one"),
            said("of the second", turn_id="b", session_id="two"),
            said("elsewhere", turn_id="c", conversation_id="other", session_id="one"),
        ]
    )
    with store.connections.writing() as connection:
        for conversation, unit, session in (
            ("c", "session", "one"),
            ("c", "session", "two"),
            ("c", "conversation", ""),
            ("other", "session", "one"),
        ):
            values = (conversation, unit, session, "us", 1, 1, 1)
            number = connection.execute(f"{SUMMARY} (?, ?, ?, ?, ?, ?, ?)", values).lastrowid
            connection.execute(
                "INSERT INTO talk_lines VALUES (?, 0, 'point', ?, ?, ?, 0, '[]')", (number, b"words", b"", b"")
            )
            connection.execute("INSERT INTO talk_vectors VALUES (?, 'small', ?)", (number, b"\0\0\0\0"))
            if session:
                connection.execute(WINDOW, (conversation, session, b"\0\0\0\0"))
    return store


@pytest.mark.parametrize("how", ["removed", "text", "speaker", "recalled", "session"])
def test_what_was_made_of_a_talk_goes_when_one_of_its_turns_does(store: PostgresTurnStore, how: str) -> None:
    with store.connections.writing() as connection:
        match how:
            case "removed":
                connection.execute("DELETE FROM turns WHERE turn_id = 'a'")
            case "text" | "speaker":
                connection.execute(f"UPDATE turns SET {how} = ? WHERE turn_id = 'a'", (b"another",))
            case "recalled":
                connection.execute("UPDATE turns SET recalled = 0 WHERE turn_id = 'a'")
            case "session":
                connection.execute("UPDATE turns SET session_id = 'three' WHERE turn_id = 'a'")

    stay = [2, 4]
    assert [row[:4] for row in _made(store, "talk_summaries")] == [
        (2, "c", "session", "two"),
        (4, "other", "session", "one"),
    ]
    assert [row[0] for row in _made(store, "talk_lines")] == [row[0] for row in _made(store, "talk_vectors")] == stay
    # Who spoke is in no vector.
    sessions = [("c", "two"), ("other", "one")]
    assert [row[1:3] for row in _made(store, "talk_windows")] == [
        *([("c", "one")] if how == "speaker" else []),
        *sessions,
    ]


def test_what_a_turn_keeps_of_its_words_keeps_what_was_made_of_them(store: PostgresTurnStore) -> None:
    with store.connections.writing() as connection:
        connection.execute("UPDATE turns SET ordinal = ordinal + 1, text = text, raw = ? WHERE turn_id = 'a'", (b"{}",))

    assert (len(_made(store, "talk_summaries")), len(_made(store, "talk_windows"))) == (4, 3)


def test_whatever_names_its_turns_can_have_a_talk_is_summarised_and_embedded(open_store: Open, said: Say) -> None:
    store = open_store()
    noise = "".join(chr(0x4E00 + (i * i * 7919) % 20000) for i in range(1000))
    conversation = next(
        name for name in (noise[:n] for n in range(900, 0, -1)) if _is_stored(store, said, name, session=noise)
    )
    talk = TalkId(conversation, noise)
    shelf, windows = TalkShelf(store.connections), WindowShelf(store.connections)
    line = Line(Kind.POINT, "words", ("long",))
    window = Window(Side.ALL, 0, 1, 1, 1, "words")

    made = shelf.install(TalkSummary(talk, (line,), "us", AT, 1), last_row=1, seq=store.last_seq)
    assert windows.put(talk, "small", [(window, VECTOR)], present=[window], seq=store.last_seq)

    assert len(conversation) > 700
    assert shelf.of(talk) == made
    assert [one.talk for one in windows.read("small", 2)] == [talk]
    assert shelf.install(replace(made, made_by="you"), last_row=1, seq=store.last_seq).number == 2
    assert shelf.numbers() == [2]


def _is_stored(store: PostgresTurnStore, say: Say, conversation: str, *, session: str) -> bool:
    try:
        store.add(say("words", turn_id="long", conversation_id=conversation, session_id=session))
    except TurnError:
        return False
    return True


@pytest.mark.parametrize("table", NUMBERED)
def test_no_number_is_given_twice_whoever_is_there_beside(
    open_store: Open, postgres: PostgresServer, table: str
) -> None:
    ada, bo = open_store("ada"), open_store("bo")

    def numbers(store: PostgresTurnStore, n: int, *, discard: bool = False) -> list[int]:
        with store.connections.writing(discard=discard) as connection:
            return [connection.execute(f"SELECT memory_rag.next_number('{table}')").fetchone()[0] for _ in range(n)]

    assert numbers(ada, 2) == [1, 2]
    assert numbers(bo, 1) == [1]
    assert numbers(ada, 2, discard=True) == [3, 4]
    assert numbers(ada, 1) == [3]
    assert numbers(open_store("ada"), 1) == [4]
