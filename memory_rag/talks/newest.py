"""When each talk was last spoken in: grouped once, then kept in step with the log of changes."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from memory_rag.store.engine import Connection, Connections
from memory_rag.talks.talk import TalkId, Unit

HEARD: Final = "recalled = 1 AND role IN ('user', 'assistant')"
"""Which turns a talk is made of."""
_TRIES: Final = 5
_UNKNOWN: Final = -1


@dataclass(slots=True)
class Times:
    """The turns of a talk: how many, when the first and the last were said (in microseconds), the row stored last."""

    n_turns: int = 0
    first: int | None = None
    last: int | None = None
    last_row: int = 0

    def take(self, n_turns: int, first: int | None, last: int | None, last_row: int) -> None:
        """Count more turns."""
        self.n_turns += n_turns
        if first is not None:
            self.first = first if self.first is None else min(self.first, first)
        if last is not None:
            self.last = last if self.last is None else max(self.last, last)
        self.last_row = max(self.last_row, last_row)


class TalkTimes:
    """The times of every session and conversation. Safe for threads.

    All turns are looked at when it is first asked, and after one was corrected or removed; else those that were added.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._lock = threading.Lock()
        self._seq = -1
        self._times: dict[Unit, dict[TalkId, Times]] = {}

    def newest(self, unit: Unit, *, n: int, without: Iterable[TalkId] = ()) -> list[tuple[TalkId, Times]]:
        """Return the talks last spoken in, newest first; those without a known time come by when they were stored."""
        left_out = frozenset(without)
        with self._lock:
            self._catch_up()
            found = (one for one in self._times[unit].items() if one[0] not in left_out)
            return heapq.nlargest(n, found, key=_when)

    def _catch_up(self) -> None:
        with self._connections.reading() as connection:
            last = _last_seq(connection)
            if last == self._seq:
                return
            if self._seq < 0 or last < self._seq or self._has_other_changes(connection):
                self._start_over(connection, last)
            else:
                self._take(
                    connection,
                    "SELECT conversation_id, session_id, 1, said_at, said_at, row FROM changes JOIN turns USING (row) "
                    f"WHERE seq > ? AND seq <= ? AND {HEARD}",
                    (self._seq, last),
                )
                self._seq = last

    def _has_other_changes(self, connection: Connection) -> bool:
        found = connection.execute("SELECT 1 FROM changes WHERE seq > ? AND kind != 'add' LIMIT 1", (self._seq,))
        return found.fetchone() is not None

    def _start_over(self, connection: Connection, last: int) -> None:
        """Look at all turns; once more if something was stored meanwhile, which may or may not be among them."""
        for _try in range(_TRIES):
            self._times = {Unit.SESSION: {}, Unit.CONVERSATION: {}}
            self._take(
                connection,
                "SELECT conversation_id, session_id, count(*), min(said_at), max(said_at), max(row) FROM turns "
                f"WHERE {HEARD} GROUP BY conversation_id, session_id",
                (),
            )
            before, last = last, _last_seq(connection)
            if before == last:
                self._seq = last
                return
        # Written to all the time: what was counted does for now.
        self._seq = -1

    def _take(self, connection: Connection, query: str, values: tuple[int, ...]) -> None:
        sessions, conversations = self._times[Unit.SESSION], self._times[Unit.CONVERSATION]
        for conversation_id, session_id, *counted in connection.execute(query, values):
            sessions.setdefault(TalkId(conversation_id, session_id), Times()).take(*counted)
            conversations.setdefault(TalkId(conversation_id, None), Times()).take(*counted)


def _when(one: tuple[TalkId, Times]) -> tuple[int, int]:
    times = one[1]
    return _UNKNOWN if times.last is None else times.last, times.last_row


def _last_seq(connection: Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(seq), 0) FROM changes").fetchone()[0])
