"""What a source no longer holds: stored turns amid those of a conversation that it gives now, and not among them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from memory_rag.store.engine import Connection


@dataclass(slots=True)
class Passage:
    """What was seen of one conversation of one source: its stored rows, and from where to where it reaches."""

    source_name: str
    conversation_id: str
    first: int | None = None
    last: int | None = None
    rows: set[int] = field(default_factory=set)

    def reach(self, ordinal: int) -> None:
        if self.first is None or ordinal < self.first:
            self.first = ordinal
        if self.last is None or ordinal > self.last:
            self.last = ordinal


@dataclass(slots=True)
class Vanishing:
    """Follows an import of whole conversations, one after the other, and marks what is gone of each at its end.

    What lies before the first or after the last turn that the source gives now is not gone but beyond this export: a
    part, an older one, or one that begins later.
    """

    connection: Connection
    now: int
    before_row: int
    """Rows from here on were stored by this import."""
    turn_ids: list[str] = field(default_factory=list)
    _any_marked: bool | None = None
    """None until it is asked for: of an add by itself nobody asks."""
    _passage: Passage | None = None

    def passage(self, source_name: str, conversation_id: str) -> Passage:
        """Return what was seen so far of a conversation; the one before it has ended."""
        passage = self._passage
        if passage is None or (passage.source_name, passage.conversation_id) != (source_name, conversation_id):
            self.end()
            passage = self._passage = Passage(source_name, conversation_id)
        return passage

    def came_back(self, row: int) -> None:
        """Take a mark away: the source has the turn."""
        if self._any_marked is None:
            self._any_marked = self.connection.execute("SELECT 1 FROM vanished LIMIT 1").fetchone() is not None
        if self._any_marked:
            self.connection.execute("DELETE FROM vanished WHERE row = ?", (row,))

    def end(self) -> None:
        """Mark what is gone of the conversation that was seen last."""
        passage, self._passage = self._passage, None
        if passage is None or not passage.rows or passage.first is None or passage.last is None:
            return
        for row, turn_id in self.connection.execute(
            "SELECT row, turn_id FROM turns WHERE source_name = ? AND conversation_id = ? AND ordinal > ? "
            "AND ordinal < ? AND row < ? AND row NOT IN (SELECT row FROM vanished)",
            (passage.source_name, passage.conversation_id, passage.first, passage.last, self.before_row),
        ).fetchall():
            if row not in passage.rows:
                self.connection.execute("INSERT INTO vanished VALUES (?, ?)", (row, self.now))
                self._any_marked = True
                self.turn_ids.append(turn_id)


def note_export(
    connection: Connection, *, source_name: str, account: str, conversation_ids: Iterable[str], latest: int, now: int
) -> list[str]:
    """Remember which conversations an account's export holds, and mark those of its last one that are gone.

    ``latest`` is the instant of the last thing said in it, in microseconds: an older export says nothing of what is
    gone. The ids of the turns that are marked are returned.
    """
    name = f"export of {source_name} {account}"
    # What is not stored, or was forgotten, can't vanish, and nothing is to be known of it.
    stored = connection.execute("SELECT DISTINCT conversation_id FROM turns WHERE source_name = ?", (source_name,))
    present = set(conversation_ids) & {str(conversation_id) for (conversation_id,) in stored}
    found = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    before: dict[str, Any] = json.loads(found[0]) if found else {"latest": latest, "conversations": []}
    if latest < before["latest"]:
        return []
    marked: list[str] = []
    for conversation_id in sorted(set(before["conversations"]) - present):
        for row, turn_id in connection.execute(
            "SELECT row, turn_id FROM turns WHERE source_name = ? AND conversation_id = ? "
            "AND row NOT IN (SELECT row FROM vanished) ORDER BY row",
            (source_name, conversation_id),
        ).fetchall():
            connection.execute("INSERT INTO vanished VALUES (?, ?)", (row, now))
            marked.append(turn_id)
    value = json.dumps({"latest": latest, "conversations": sorted(present)}, ensure_ascii=False)
    connection.execute(
        "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", (name, value)
    )
    return marked
