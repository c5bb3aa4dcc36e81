"""Where the summaries of talks lie: tables of the memory itself, cleared by it when a turn goes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memory_rag.embedding.embedder import Vectors
from memory_rag.store.engine import Connection, Connections
from memory_rag.summaries.screened_lines import screened_lines
from memory_rag.summaries.summary import Kind, Line
from memory_rag.summaries.summary_rows import StaleError
from memory_rag.talks.newest import HEARD, TalkTimes
from memory_rag.talks.shelf_version import shelf_version
from memory_rag.talks.talk import Talk, TalkId, TalkSummary, Unit
from memory_rag.turns import from_microseconds, text_bytes, text_from_bytes, to_microseconds

_FETCH = 500
_HEAD = "talk, conversation_id, session_id, unit, made_by, made_at, n_turns"


@dataclass(frozen=True, slots=True)
class Sitting:
    """A session as the store has it: how many turns count, and the last row of them; what its summary was made of."""

    talk: TalkId
    n_turns: int
    last_row: int
    told_turns: int = 0
    told_row: int = 0
    told_by: str = ""


class TalkShelf:
    """The summaries of talks. A correction or removal of a turn takes those of its talks with it, in its transaction.

    That is done by the tables' own triggers: whichever process forgets a turn, no summary outlives it.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._times = TalkTimes(connections)

    # -- reading

    def of(self, talk: TalkId) -> TalkSummary | None:
        """Return a talk's summary; None if it has none."""
        with self._connections.reading() as connection:
            found = connection.execute(
                f"SELECT {_HEAD} FROM talk_summaries WHERE conversation_id = ? AND unit = ? AND session_id = ?",
                _key(talk),
            ).fetchone()
            return None if found is None else _summary(connection, found)

    @property
    def has_any(self) -> bool:
        """Whether any talk has a summary."""
        with self._connections.reading() as connection:
            return connection.execute("SELECT 1 FROM talk_summaries LIMIT 1").fetchone() is not None

    def version(self) -> tuple[int, int]:
        """Return what changes when summaries do."""
        return shelf_version(self._connections, "talk_summaries", number="talk")

    def numbers(self) -> list[int]:
        """Return the number of every summary; one that is made anew has another."""
        with self._connections.reading() as connection:
            return [int(n) for (n,) in connection.execute("SELECT talk FROM talk_summaries ORDER BY talk")]

    def numbered(self, numbers: Sequence[int]) -> list[TalkSummary]:
        """Return the summaries of these numbers that are still there, by number."""
        found: list[TalkSummary] = []
        with self._connections.reading() as connection:
            for start in range(0, len(numbers), _FETCH):
                part = [int(number) for number in numbers[start : start + _FETCH]]
                marks = ",".join("?" * len(part))
                heads = connection.execute(
                    f"SELECT {_HEAD} FROM talk_summaries WHERE talk IN ({marks}) ORDER BY talk", part
                ).fetchall()
                found += [_summary(connection, head) for head in heads]
        return found

    def sittings(self, conversation_id: str) -> list[Sitting]:
        """Return a conversation's sessions in spoken order; turns of the system and of tools don't count."""
        with self._connections.reading() as connection:
            return [
                Sitting(TalkId(conversation_id, str(session_id)), *rest)
                for session_id, *rest in connection.execute(
                    "SELECT s.session_id, s.n, s.last, coalesce(t.n_turns, 0), coalesce(t.last_row, 0), "
                    "coalesce(t.made_by, '') FROM (SELECT session_id, count(*) AS n, max(row) AS last, min(ordinal) AS "
                    f"first FROM turns WHERE conversation_id = ? AND {HEARD} GROUP BY session_id) AS s "
                    "LEFT JOIN talk_summaries AS t ON t.conversation_id = ? AND t.unit = 'session' "
                    "AND t.session_id = s.session_id ORDER BY s.first",
                    (conversation_id, conversation_id),
                )
            ]

    def rows_after(self, talk: TalkId, row: int) -> list[int]:
        """Return the rows of a talk's turns that were stored after a row, in spoken order."""
        only, values = ("", ()) if talk.session_id is None else (" AND session_id = ?", (talk.session_id,))
        with self._connections.reading() as connection:
            return [
                int(found)
                for (found,) in connection.execute(
                    f"SELECT row FROM turns WHERE conversation_id = ?{only} AND row > ? AND {HEARD} "
                    "ORDER BY ordinal, row",
                    (talk.conversation_id, *values, row),
                )
            ]

    def titles(self, conversation_ids: Iterable[str]) -> dict[str, str]:
        """Return the titles of those of these conversations that have one."""
        with self._connections.reading() as connection:
            found = {
                one: connection.execute("SELECT title FROM conversations WHERE conversation_id = ?", (one,)).fetchone()
                for one in set(conversation_ids)
            }
        return {one: text_from_bytes(row[0]) for one, row in found.items() if row is not None and row[0]}

    def newest(self, unit: Unit, *, n: int, without: Iterable[TalkId] = ()) -> list[Talk]:
        """Return the talks last spoken in, newest first; those without a known time come by when they were stored."""
        found = self._times.newest(unit, n=n, without=without)
        titles = self.titles(talk.conversation_id for talk, _times in found)
        return [
            Talk(talk, titles.get(talk.conversation_id, ""), times.n_turns, _instant(times.first), _instant(times.last))
            for talk, times in found
        ]

    # -- writing

    def install(self, summary: TalkSummary, *, last_row: int, seq: int) -> TalkSummary:
        """Store a talk's summary in place of the one before, and return it with its number.

        ``last_row`` is the last row it was made of; ``seq`` the store's change up to which turns were read.

        Raises:
            StaleError: a turn was corrected or removed since, or somebody wrote one by hand.
        """
        lines = screened_lines(summary.lines, self._connections.screen)
        with self._connections.writing() as connection:
            changed = connection.execute(
                "SELECT 1 FROM changes WHERE seq > ? AND kind != 'add' LIMIT 1", (seq,)
            ).fetchone()
            if changed is not None:
                raise StaleError("turns were corrected or removed while a summary was made; it is made anew later")
            connection.execute(
                "DELETE FROM talk_summaries WHERE conversation_id = ? AND unit = ? AND session_id = ?",
                _key(summary.talk),
            )
            number = int(
                connection.execute(
                    "INSERT INTO talk_summaries (conversation_id, unit, session_id, made_by, made_at, n_turns, "
                    "last_row) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (*_key(summary.talk), summary.made_by, to_microseconds(summary.made_at), summary.n_turns, last_row),
                ).lastrowid
                or 0
            )
            connection.executemany(
                "INSERT INTO talk_lines VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [_line_row(number, place, line) for place, line in enumerate(lines)],
            )
        return TalkSummary(summary.talk, lines, summary.made_by, summary.made_at, summary.n_turns, number=number)

    def remove(self, talk: TalkId) -> bool:
        """Remove a talk's summary, and tell whether it had one."""
        with self._connections.writing() as connection:
            return bool(
                connection.execute(
                    "DELETE FROM talk_summaries WHERE conversation_id = ? AND unit = ? AND session_id = ?", _key(talk)
                ).rowcount
            )

    # -- vectors

    def vectors(self, fingerprint: str, dim: int, *, after: int = 0) -> dict[int, Vectors]:
        """Return the vectors of summaries with a number over ``after``, a row for each of its texts, by number."""
        with self._connections.reading() as connection:
            return {
                int(number): np.frombuffer(data, "<f4").reshape(-1, dim).astype(np.float32)
                for number, data in connection.execute(
                    "SELECT talk, vectors FROM talk_vectors WHERE fingerprint = ? AND talk > ? ORDER BY talk",
                    (fingerprint, after),
                )
                if len(data) % (4 * dim) == 0
            }

    def put_vectors(self, fingerprint: str, vectors: dict[int, Vectors]) -> None:
        """Store the vectors of summaries, of those that are still there."""
        with self._connections.writing() as connection:
            connection.executemany(
                "INSERT INTO talk_vectors (talk, fingerprint, vectors) SELECT talk, ?, ? FROM talk_summaries "
                "WHERE talk = ? ON CONFLICT (talk, fingerprint) DO UPDATE SET vectors = excluded.vectors",
                [(fingerprint, rows.astype("<f4").tobytes(), number) for number, rows in vectors.items()],
            )

    def keep_vectors(self, fingerprint: str) -> None:
        """Delete the vectors of summaries that another embedder made."""
        with self._connections.writing() as connection:
            connection.execute("DELETE FROM talk_vectors WHERE fingerprint != ?", (fingerprint,))


def _instant(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else from_microseconds(microseconds)


def _key(talk: TalkId) -> tuple[str, str, str]:
    return talk.conversation_id, talk.unit.value, talk.session_id or ""


def _line_row(number: int, place: int, line: Line) -> tuple[object, ...]:
    turn_ids = json.dumps(line.turn_ids, ensure_ascii=False)
    words = (text_bytes(line.text), text_bytes(line.reason), text_bytes(line.speaker))
    return number, place, line.kind.value, *words, int(line.verbatim), turn_ids


def _summary(connection: Connection, head: tuple[object, ...]) -> TalkSummary:
    number, conversation_id, session_id, unit, made_by, made_at, n_turns = head
    lines = [
        Line(
            Kind(kind),
            text_from_bytes(text),
            tuple(json.loads(turn_ids)),
            reason=text_from_bytes(reason),
            speaker=text_from_bytes(speaker),
            verbatim=bool(verbatim),
        )
        for kind, text, reason, speaker, verbatim, turn_ids in connection.execute(
            "SELECT kind, text, reason, speaker, verbatim, turn_ids FROM talk_lines WHERE talk = ? ORDER BY place",
            (number,),
        )
    ]
    return TalkSummary(
        TalkId(str(conversation_id), None if unit == Unit.CONVERSATION else str(session_id)),
        tuple(lines),
        str(made_by),
        from_microseconds(int(str(made_at))),
        int(str(n_turns)),
        number=int(str(number)),
    )
