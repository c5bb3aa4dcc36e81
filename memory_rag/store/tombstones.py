"""What was forgotten stays forgotten: marks by which a turn from elsewhere is known again, and nothing else is.

A mark is an HMAC-SHA256 of where a turn came from: its source's name, its conversation there, its native id. The key
lies in the memory, so the mark says nothing to whoever doesn't have it. No hash of a text is kept, since a short text
can be guessed from its hash: a turn that came from nowhere, and may come back in an export of this memory, is known by
its id and the instant at which it was said.
"""

from __future__ import annotations

import hmac
import secrets
from functools import cached_property
from typing import Final

from memory_rag.store.engine import Connection
from memory_rag.store.turn_rows import instant
from memory_rag.turns import Turn

OWN_EXPORT: Final = "memory-rag"
"""The source's name that turns without a source have in an export of ours; their native id there is their turn id, a
colon, and digits of their text's hash."""
_KEY: Final = "tombstone key"
_TITLE: Final = "title"


class Tombstones:
    """The marks of one memory, within a transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @cached_property
    def _key(self) -> bytes | None:
        found = self._connection.execute("SELECT value FROM facts WHERE name = ?", (_KEY,)).fetchone()
        return None if found is None else bytes.fromhex(found[0])

    @property
    def any(self) -> bool:
        """Whether there are any; without, nobody needs to ask for one."""
        return self._key is not None

    def set_up(self, turn: Turn, *, now: int) -> None:
        """Let a stored turn not come back."""
        self._put(self._mark(*_origin(turn)), now)

    def set_up_title(self, conversation_id: str, *, now: int) -> None:
        """Let a conversation's title not come back."""
        self._put(self._mark(_TITLE, conversation_id), now)

    def holds(self, turn: Turn) -> bool:
        """Tell whether a turn that has a source was forgotten."""
        return self.any and turn.source is not None and self._is_there(self._mark(*_origin(turn)))

    def holds_title(self, conversation_id: str) -> bool:
        """Tell whether a conversation's title was forgotten."""
        return self.any and self._is_there(self._mark(_TITLE, conversation_id))

    def lift(self, turn: Turn) -> None:
        """Let a turn come back, and its conversation's title."""
        marks = [self._mark(*_origin(turn)), self._mark(_TITLE, turn.conversation_id)]
        self._connection.executemany("DELETE FROM tombstones WHERE mark = ?", [(mark,) for mark in marks])

    def _mark(self, *names: str) -> bytes:
        if self._key is None:
            self._key = secrets.token_bytes(32)
            self._connection.execute("INSERT INTO facts VALUES (?, ?)", (_KEY, self._key.hex()))
        # Ids have no NUL.
        return hmac.digest(self._key, "\0".join(names).encode("utf-8", "surrogatepass"), "sha256")

    def _put(self, mark: bytes, now: int) -> None:
        self._connection.execute("INSERT INTO tombstones VALUES (?, ?) ON CONFLICT DO NOTHING", (mark, now))

    def _is_there(self, mark: bytes) -> bool:
        return self._connection.execute("SELECT 1 FROM tombstones WHERE mark = ?", (mark,)).fetchone() is not None


def _origin(turn: Turn) -> tuple[str, ...]:
    source = turn.source
    if source is not None and source.name != OWN_EXPORT:
        return source.name, turn.conversation_id, source.native_id
    turn_id = turn.turn_id if source is None else source.native_id.rpartition(":")[0]
    return OWN_EXPORT, turn.conversation_id, turn_id, str(instant(turn.said_at))
