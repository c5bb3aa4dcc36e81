"""Where the vectors of whole talks lie: a table of the memory itself, cleared by it when a turn goes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from memory_rag.embedding.embedder import Vectors
from memory_rag.store.engine import Connections
from memory_rag.talks.newest import HEARD
from memory_rag.talks.shelf_version import shelf_version
from memory_rag.talks.talk import TalkId
from memory_rag.talks.windows import Side, Window

_NUMBER: Final = '"window"'
"""A word of the language itself on PostgreSQL."""


@dataclass(frozen=True, slots=True)
class Uncovered:
    """A session of which ``n_waiting`` turns are in no window; ``is_over`` if something else was said after it."""

    talk: TalkId
    n_waiting: int
    is_over: bool


@dataclass(frozen=True, slots=True)
class StoredWindow:
    """The vectors of a window, with its number: one that is made anew has another."""

    number: int
    talk: TalkId
    side: Side
    vectors: Vectors


class WindowShelf:
    """The vectors of sessions as a whole. A correction or removal of a turn takes those of its session with it.

    That is done by the table's own triggers, in the same transaction, as with summaries.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def uncovered(self, fingerprint: str, *, conversation_id: str | None = None) -> list[Uncovered]:
        """Return the sessions with turns that are in no window of an embedder, the one last spoken in first."""
        only, values = ("", ()) if conversation_id is None else (" AND conversation_id = ?", (conversation_id,))
        with self._connections.reading() as connection:
            found = connection.execute(
                f"SELECT s.conversation_id, s.session_id, s.n - coalesce(w.n, 0), s.last < (SELECT max(row) FROM turns "
                f"WHERE {HEARD}) FROM (SELECT conversation_id, "
                f"session_id, count(*) AS n, max(row) AS last FROM turns WHERE {HEARD}{only} "
                "GROUP BY conversation_id, session_id) AS s LEFT JOIN (SELECT conversation_id, session_id, "
                "sum(n_turns) AS n FROM talk_windows WHERE fingerprint = ? AND side = 'all' "
                "GROUP BY conversation_id, session_id) AS w ON w.conversation_id = s.conversation_id AND "
                "w.session_id = s.session_id WHERE s.n != coalesce(w.n, 0) ORDER BY s.last DESC",
                (*values, fingerprint),
            ).fetchall()
        return [Uncovered(TalkId(str(name), str(session)), int(n), bool(over)) for name, session, n, over in found]

    def keys(self, talk: TalkId, fingerprint: str) -> set[tuple[str, int, int, int, int]]:
        """Return the keys of a session's windows."""
        with self._connections.reading() as connection:
            return {
                (str(side), int(place), int(first), int(last), int(n))
                for side, place, first, last, n in connection.execute(
                    "SELECT side, place, first_row, last_row, n_turns FROM talk_windows "
                    "WHERE conversation_id = ? AND session_id = ? AND fingerprint = ?",
                    (talk.conversation_id, talk.session_id, fingerprint),
                )
            }

    def put(
        self,
        talk: TalkId,
        fingerprint: str,
        made: Sequence[tuple[Window, Vectors]],
        *,
        present: Iterable[Window],
        seq: int,
    ) -> bool:
        """Store windows of a session in place of those that are not ``present`` any more, and tell whether it was done.

        It isn't where a turn of the memory was corrected or removed after its change ``seq``: they are made anew then.
        """
        stay = {window.key for window in present} - {window.key for window, _ in made}
        own = (talk.conversation_id, talk.session_id, fingerprint)
        with self._connections.writing() as connection:
            if connection.execute("SELECT 1 FROM changes WHERE seq > ? AND kind != 'add' LIMIT 1", (seq,)).fetchone():
                return False
            there = connection.execute(
                f"SELECT {_NUMBER}, side, place, first_row, last_row, n_turns FROM talk_windows "
                "WHERE conversation_id = ? AND session_id = ? AND fingerprint = ?",
                own,
            ).fetchall()
            gone = [(number,) for number, *key in there if tuple(key) not in stay]
            connection.executemany(f"DELETE FROM talk_windows WHERE {_NUMBER} = ?", gone)
            connection.executemany(
                "INSERT INTO talk_windows (conversation_id, session_id, fingerprint, side, place, first_row, last_row, "
                "n_turns, vectors) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(*own, *window.key, vectors.astype("<f4").tobytes()) for window, vectors in made],
            )
        return True

    def version(self) -> tuple[int, int]:
        """Return what changes when windows do, of any embedder."""
        return shelf_version(self._connections, "talk_windows", number=_NUMBER)

    def numbers(self, fingerprint: str) -> set[int]:
        """Return the numbers of all windows of an embedder."""
        with self._connections.reading() as connection:
            found = connection.execute(f"SELECT {_NUMBER} FROM talk_windows WHERE fingerprint = ?", (fingerprint,))
            return {int(number) for (number,) in found}

    def read(self, fingerprint: str, dim: int, *, after: int = 0) -> list[StoredWindow]:
        """Return the windows of an embedder with a number over ``after``, by number."""
        with self._connections.reading() as connection:
            return [
                StoredWindow(
                    int(number),
                    TalkId(str(conversation_id), str(session_id)),
                    Side(side),
                    np.frombuffer(data, "<f4").reshape(-1, dim).astype(np.float32),
                )
                for number, conversation_id, session_id, side, data in connection.execute(
                    f"SELECT {_NUMBER}, conversation_id, session_id, side, vectors FROM talk_windows "
                    f"WHERE fingerprint = ? AND {_NUMBER} > ? ORDER BY {_NUMBER}",
                    (fingerprint, after),
                )
                if len(data) % (4 * dim) == 0
            ]

    def keep(self, fingerprint: str) -> None:
        """Delete the windows that another embedder made."""
        with self._connections.writing() as connection:
            connection.execute("DELETE FROM talk_windows WHERE fingerprint != ?", (fingerprint,))
