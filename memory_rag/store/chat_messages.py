"""Messages that came through the chat endpoint, known again when a client sends its history once more.

Their source is ``chat``; the id there is two digests, of the whole talk up to the message and of the message with the
one before it, 20 hex digits each, a colon between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Final

from memory_rag.store.engine import Connections
from memory_rag.turns import Role, from_microseconds

SOURCE: Final = "chat"
_NEWEST: Final = 50
_FETCH: Final = 500
_LOOKED_THROUGH: Final = 500
_KNOWN: Final = (
    "turn_id, conversation_id, role, substr(source_id, 1, 20), "
    "coalesce(said_at, (SELECT max(changed_at) FROM changes WHERE changes.row = turns.row)), "
    "(SELECT count(*) FROM (SELECT 1 FROM turns AS later WHERE later.conversation_id = "
    "turns.conversation_id AND later.ordinal > turns.ordinal LIMIT 2) AS counted)"
)
"""The columns of a :class:`KnownMessage`."""


@dataclass(frozen=True, slots=True)
class KnownMessage:
    """A stored message: its turn, its conversation, its role, and the digest of the talk up to it."""

    turn_id: str
    conversation_id: str
    role: Role
    chain: str
    stored_at: float
    """Seconds since 1970 UTC; 0 where the time isn't known."""
    n_later: int
    """How many turns of its conversation stand after it, 2 standing for more."""


class ChatMessages:
    """Looks messages of one memory up by their digests."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def of_pair(self, pair: str, *, conversation_id: str | None = None) -> list[KnownMessage]:
        """Return the messages that have this digest of themselves and the one before, the newest first, at most 50."""
        with self._connections.reading() as connection:
            records = connection.execute(
                f"SELECT {_KNOWN} FROM turns WHERE source_name = 'chat' AND substr(source_id, 22) = ?1 "
                "AND conversation_id = coalesce(?2, conversation_id) ORDER BY row DESC LIMIT ?3",
                (pair, conversation_id, _NEWEST),
            ).fetchall()
        return list(starmap(_known, records))

    def newest_answers(self, *, conversation_id: str | None = None) -> list[KnownMessage]:
        """Return the answers among the newest 500 turns of the memory, or of a conversation, the newest first."""
        with self._connections.reading() as connection:
            records = connection.execute(
                f"SELECT {_KNOWN} FROM (SELECT * FROM turns WHERE conversation_id = coalesce(?1, conversation_id) "
                "ORDER BY row DESC LIMIT ?2) AS turns WHERE source_name = 'chat' AND role = 'assistant' "
                "ORDER BY row DESC",
                (conversation_id, _LOOKED_THROUGH),
            ).fetchall()
        return list(starmap(_known, records))

    def chains_after(self, turn_id: str) -> Iterator[tuple[str, Role, str]]:
        """Yield (chain, role, turn id) of the messages right after a turn, up to the next thing that a user says."""
        with self._connections.reading() as connection:
            records = connection.execute(
                "SELECT substr(source_id, 1, 20), role, turn_id FROM turns WHERE source_name = 'chat' AND "
                "(conversation_id, ordinal) IN (SELECT t.conversation_id, t.ordinal FROM turns AS t JOIN turns AS of "
                "ON of.turn_id = ? AND t.conversation_id = of.conversation_id AND t.ordinal > of.ordinal "
                "ORDER BY t.ordinal LIMIT 8) ORDER BY ordinal",
                (turn_id,),
            ).fetchall()
        for chain, role, after in records:
            if role == Role.USER:
                return
            yield chain, Role(role), after

    def turn_ids(self, conversation_id: str, pairs: Sequence[str]) -> list[str]:
        """Return the ids of a conversation's turns that have these digests of themselves and the one before."""
        found: list[str] = []
        with self._connections.reading() as connection:
            for start in range(0, len(pairs), _FETCH):
                part = pairs[start : start + _FETCH]
                marks = ",".join("?" * len(part))
                found += [
                    turn_id
                    for (turn_id,) in connection.execute(
                        f"SELECT turn_id FROM turns WHERE source_name = 'chat' AND substr(source_id, 22) IN ({marks}) "
                        "AND conversation_id = ? ORDER BY row",
                        (*part, conversation_id),
                    )
                ]
        return found

    def newest_chain(self, conversation_id: str) -> str:
        """Return the digest of the talk up to a conversation's newest message; empty if it has none."""
        with self._connections.reading() as connection:
            found = connection.execute(
                "SELECT substr(source_id, 1, 20) FROM turns WHERE conversation_id = ? AND source_name = 'chat' "
                "ORDER BY ordinal DESC, row DESC LIMIT 1",
                (conversation_id,),
            ).fetchone()
        return "" if found is None else str(found[0])


def _known(turn_id: str, conversation_id: str, role: str, chain: str, at: int | None, later: int) -> KnownMessage:
    return KnownMessage(turn_id, conversation_id, Role(role), chain, from_microseconds(at or 0).timestamp(), later)
