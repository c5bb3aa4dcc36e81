"""New turns into the tables, in one transaction: each in a row of its own, and numbered as a change."""

from __future__ import annotations

import time
from typing import Final

from memory_rag.errors import TurnError
from memory_rag.store.engine import Connection
from memory_rag.store.findings import OFF_RECORD_FACT, put_findings
from memory_rag.store.new_turn import placed
from memory_rag.store.screening import OFF_RECORD, Finding, Screened
from memory_rag.store.turn_rows import STORED, check_ids, stored_values
from memory_rag.store.turn_store import NEXT
from memory_rag.turns import Turn

_INSERTED: Final = ("row", "turn_id", *STORED)
_INSERT: Final = (
    f"INSERT INTO turns ({', '.join(_INSERTED)}) VALUES ({', '.join('?' * len(_INSERTED))}) "
    "ON CONFLICT (turn_id) DO NOTHING"
)
_BEGINNING: Final = (
    "SELECT (SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'turns'), "
    "(SELECT value FROM facts WHERE name = ?)"
)
"""The row of the next turn, and since when none is taken."""
_LOG_ADDED: Final = (
    "INSERT INTO changes (kind, row, changed_at) "
    "SELECT 'add', row, ? FROM turns WHERE row >= ? AND row < ? ORDER BY row"
)
_LOGGED_AT_ONCE: Final = 1000


class Inserting:
    """The rows that one transaction adds."""

    # A chat makes one for each turn.
    __slots__ = ("_connection", "_first_unlogged", "_next_row", "first_row", "is_off_record", "now")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        row, off_record_since = connection.execute(_BEGINNING, (OFF_RECORD_FACT,)).fetchone()
        self.now = time.time_ns() // 1000
        """Microseconds since 1970, as all changes of the transaction are dated."""
        self.first_row = self._first_unlogged = self._next_row = int(row)
        """The row of the first turn that it adds."""
        self.is_off_record = off_record_since is not None

    def refusal(self, screened: Screened) -> str:
        """Return why a turn is not to be stored; empty if it is."""
        return OFF_RECORD if self.is_off_record else screened.refusal

    def add(self, turn: Turn, findings: tuple[Finding, ...] = ()) -> Turn:
        """Store a turn that isn't there and return it with its id and ordinal.

        Raises:
            TurnError: an id that can't be an id, or that another turn has.
        """
        check_ids(turn)
        ordinal = turn.ordinal
        if ordinal == NEXT:
            select = "SELECT coalesce(max(ordinal), -1) + 1 FROM turns WHERE conversation_id = ?"
            ordinal = self._connection.execute(select, (turn.conversation_id,)).fetchone()[0]
        stored = placed(turn, turn_id=turn.turn_id or self._next_id, ordinal=ordinal)
        turn_id = self.put(stored, findings, is_named=bool(turn.turn_id))
        self.log_added()
        return stored if turn_id == stored.turn_id else placed(stored, turn_id=turn_id, ordinal=ordinal)

    @property
    def _next_id(self) -> str:
        return f"t{self._next_row}"

    def put(self, turn: Turn, findings: tuple[Finding, ...], *, is_named: bool) -> str:
        """Store a turn with checked ids and return its own; one without, or not ``is_named``, gets the next free.

        Its change is numbered by :meth:`log_added`.
        """
        values = stored_values(turn)
        row, turn_id = self._next_row, turn.turn_id or self._next_id
        if not self._connection.execute(_INSERT, (row, turn_id, *values)).rowcount:
            if is_named:
                raise TurnError(
                    f"a turn with the id {turn_id!r} is stored already; leave turn_id empty to get a new one, "
                    "or correct the stored turn"
                )
            turn_id = f"t{row}-{self.now}"
            self._connection.execute(_INSERT, (row, turn_id, *values))
        if findings:
            put_findings(self._connection, row, findings)
        self._next_row += 1
        if self._next_row - self._first_unlogged >= _LOGGED_AT_ONCE:
            self.log_added()
        return turn_id

    def log_added(self) -> None:
        """Number the additions that aren't numbered yet; every other change comes after them."""
        first, self._first_unlogged = self._first_unlogged, self._next_row
        if first + 1 == self._next_row:
            log(self._connection, "add", first, self.now)
        elif first < self._next_row:
            self._connection.execute(_LOG_ADDED, (self.now, first, self._next_row))


def log(connection: Connection, kind: str, row: int, now: int) -> int:
    """Number a change, and return its number."""
    cursor = connection.execute("INSERT INTO changes (kind, row, changed_at) VALUES (?, ?, ?)", (kind, row, now))
    return int(cursor.lastrowid or 0)
