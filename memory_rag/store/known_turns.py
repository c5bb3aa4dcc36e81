"""Which turns of a source are stored already, asked once for a conversation of which nothing is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from memory_rag.store.connections import Connection
from memory_rag.store.tombstones import OWN_EXPORT
from memory_rag.store.turn_rows import digest, instant
from memory_rag.turns import Source, Turn, text_bytes


@dataclass(slots=True)
class Known:
    """A stored turn of the same source, as far as it is needed to tell whether the source has changed."""

    row: int
    turn_id: str
    sha256: bytes
    recalled: bool
    session_id: str
    same_source: bool


@dataclass(slots=True)
class _Fresh:
    """A conversation, whether nothing of it was stored before, and if so the native ids of it that are by now."""

    source_name: str
    conversation_id: str
    is_new: bool
    native_ids: set[str] = field(default_factory=set)


@dataclass(slots=True)
class KnownTurns:
    """What one transaction knows of the turns that it is given."""

    connection: Connection
    _fresh: _Fresh | None = None

    def find(self, turn: Turn) -> Known | None:
        """Return the stored turn of the same source; None if there is none."""
        source = turn.source
        if source is None:
            return None
        if source.name == OWN_EXPORT and (own := self._own(turn, source)) is not None:
            return own
        if self._is_new(source, turn.conversation_id):
            return None
        raw = None if source.raw is None else text_bytes(source.raw)
        found = self.connection.execute(
            "SELECT row, turn_id, sha256, recalled, session_id, raw IS ? FROM turns "
            "WHERE source_name = ? AND conversation_id = ? AND source_id = ?",
            (raw, source.name, turn.conversation_id, source.native_id),
        ).fetchone()
        return None if found is None else _known(found)

    def _own(self, turn: Turn, source: Source) -> Known | None:
        """Return the turn without a source that an export of this very memory names, known by its id and time.

        One without a time is known by its words: two memories both have a ``t1``.
        """
        found = self.connection.execute(
            "SELECT row, turn_id, sha256, recalled, session_id, 1 FROM turns WHERE turn_id = ? AND conversation_id = ? "
            "AND source_name IS NULL AND said_at IS ? AND (said_at IS NOT NULL OR sha256 = ?)",
            (source.native_id.rpartition(":")[0], turn.conversation_id, instant(turn.said_at), digest(turn.text)),
        ).fetchone()
        return None if found is None else _known(found)

    def _is_new(self, source: Source, conversation_id: str) -> bool:
        """Whether a turn can't be there, since nothing of its conversation was: most of an import, asked for once."""
        fresh = self._fresh
        if fresh is None or (fresh.source_name, fresh.conversation_id) != (source.name, conversation_id):
            select = "SELECT 1 FROM turns WHERE source_name = ? AND conversation_id = ? LIMIT 1"
            stored = self.connection.execute(select, (source.name, conversation_id)).fetchone()
            fresh = self._fresh = _Fresh(source.name, conversation_id, stored is None)
        if not fresh.is_new:
            return False
        if source.native_id in fresh.native_ids:
            return False
        fresh.native_ids.add(source.native_id)
        return True


def _known(found: tuple[Any, ...]) -> Known:
    row, turn_id, sha256, recalled, session_id, same_source = found
    return Known(row, turn_id, sha256, bool(recalled), session_id, bool(same_source))
