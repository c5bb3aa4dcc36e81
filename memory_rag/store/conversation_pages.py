"""A conversation page by page, without reading the whole of it: it may hold a hundred thousand turns."""

from __future__ import annotations

from dataclasses import dataclass

from memory_rag.store.engine import Connections
from memory_rag.store.turn_rows import COLUMNS, can_be_id, turn_of
from memory_rag.turns import Turn


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """Some turns in spoken order, the place of the first of them (from 0), and how many turns there are in all."""

    turns: list[Turn]
    first: int
    n_turns: int


def page_of(
    connections: Connections, conversation_id: str, *, session_id: str | None = None, first: int, n: int
) -> ConversationPage:
    """Return up to n turns of a conversation, or of a session of it, from a place on.

    A place behind the end gives no turns; a conversation that isn't there has none at all.
    """
    if not can_be_id(conversation_id):
        return ConversationPage([], first, 0)
    where, values = _where(conversation_id, session_id)
    with connections.reading() as connection:
        (n_turns,) = connection.execute(f"SELECT count(*) FROM turns WHERE {where}", values).fetchone()
        # The rows first: an offset then walks the index, not the words.
        records = connection.execute(
            f"SELECT {COLUMNS} FROM turns WHERE row IN (SELECT row FROM turns WHERE {where} "
            "ORDER BY ordinal, row LIMIT ? OFFSET ?) ORDER BY ordinal, row",
            (*values, n, first),
        ).fetchall()
    return ConversationPage([turn_of(record) for record in records], first, int(n_turns))


def place_of(connections: Connections, turn: Turn, *, session_id: str | None = None) -> int:
    """Return how many turns of its conversation, or of a session of it, were said before a turn."""
    where, values = _where(turn.conversation_id, session_id)
    with connections.reading() as connection:
        (place,) = connection.execute(
            f"SELECT count(*) FROM turns WHERE {where} AND (ordinal, row) < "
            "(SELECT ordinal, row FROM turns WHERE turn_id = ?)",
            (*values, turn.turn_id),
        ).fetchone()
    return int(place)


def opening_of(connections: Connections, conversation_id: str, *, session_id: str) -> Turn | None:
    """Return what a session began with: the first thing that a user said in it, else its first turn; None if empty."""
    with connections.reading() as connection:
        for only in ("AND role = 'user' ", ""):
            record = connection.execute(
                f"SELECT {COLUMNS} FROM turns WHERE conversation_id = ? AND session_id = ? {only}"
                "ORDER BY ordinal, row LIMIT 1",
                (conversation_id, session_id),
            ).fetchone()
            if record is not None:
                return turn_of(record)
    return None


def _where(conversation_id: str, session_id: str | None) -> tuple[str, tuple[str, ...]]:
    if session_id is None:
        return "conversation_id = ?", (conversation_id,)
    return "conversation_id = ? AND session_id = ?", (conversation_id, session_id)
