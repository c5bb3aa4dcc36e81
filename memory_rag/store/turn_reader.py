"""Reading turns out of the tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Final

from memory_rag.errors import UnknownTurnError
from memory_rag.store.engine import Connection, Connections
from memory_rag.store.turn_rows import COLUMNS, can_be_id, turn_of
from memory_rag.store.turn_store import Change
from memory_rag.turns import Conversation, Turn, from_microseconds, text_bytes, text_from_bytes

_FETCH: Final = 500
_ALL: Final = 2**62
_AMID: Final = 64
"""Turns whose surroundings one statement looks up; SQLite takes 500 parts of a statement."""


class TurnReader:
    """What can be asked of a store without changing it."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @property
    def connections(self) -> Connections:
        """What the other tables of the same memory are read and written through."""
        return self._connections

    @property
    def last_seq(self) -> int:
        """The number of the newest change; 0 for a store in which nothing ever happened."""
        with self._connections.reading() as connection:
            return int(connection.execute("SELECT coalesce(max(seq), 0) FROM changes").fetchone()[0])

    def fact(self, name: str) -> str | None:
        with self._connections.reading() as connection:
            found = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if found is None else str(found[0])

    def __len__(self) -> int:
        with self._connections.reading() as connection:
            return int(connection.execute("SELECT count(*) FROM turns").fetchone()[0])

    def get(self, turn_ids: Sequence[str]) -> list[Turn]:
        """Return the turns with these ids, in this order.

        Raises:
            UnknownTurnError: no turn has one of them.
        """
        found: dict[str, Turn] = {}
        asked = [turn_id for turn_id in dict.fromkeys(turn_ids) if can_be_id(turn_id)]
        with self._connections.reading() as connection:
            for start in range(0, len(asked), _FETCH):
                part = asked[start : start + _FETCH]
                marks = ",".join("?" * len(part))
                for record in connection.execute(f"SELECT {COLUMNS} FROM turns WHERE turn_id IN ({marks})", part):
                    found[record[1]] = turn_of(record)
        for turn_id in turn_ids:
            if turn_id not in found:
                raise self._unknown(turn_id)
        return [found[turn_id] for turn_id in turn_ids]

    def row_of(self, turn_id: str) -> int:
        """Return the number under which the indexes know a turn.

        Raises:
            UnknownTurnError: no turn has this id.
        """
        with self._connections.reading() as connection:
            return self._one(connection, turn_id)[0]

    def rows_of(self, turn_ids: Sequence[str]) -> list[int]:
        """Return the numbers under which the indexes know these turns, ascending; ids of no turn have none."""
        rows: list[int] = []
        possible = [turn_id for turn_id in turn_ids if can_be_id(turn_id)]
        with self._connections.reading() as connection:
            for start in range(0, len(possible), _FETCH):
                part = possible[start : start + _FETCH]
                marks = ",".join("?" * len(part))
                rows += [
                    row for (row,) in connection.execute(f"SELECT row FROM turns WHERE turn_id IN ({marks})", part)
                ]
        return sorted(set(rows))

    def turns_at(self, rows: Sequence[int]) -> dict[int, Turn]:
        """Return the turns at these row numbers; a row whose turn is gone is left out."""
        found: dict[int, Turn] = {}
        with self._connections.reading() as connection:
            for start in range(0, len(rows), _FETCH):
                part = [int(row) for row in rows[start : start + _FETCH]]
                marks = ",".join("?" * len(part))
                records = connection.execute(f"SELECT {COLUMNS} FROM turns WHERE row IN ({marks})", part).fetchall()
                found.update((record[0], turn_of(record)) for record in records)
        return found

    def earlier_versions(self, turn_id: str) -> list[Turn]:
        """Return what a turn was before each correction that kept it, oldest first; empty if it wasn't corrected.

        Raises:
            UnknownTurnError: no turn has this id.
        """
        with self._connections.reading() as connection:
            row, turn = self._one(connection, turn_id)
            return _versions(connection, row, turn)

    def versions(self) -> list[Turn]:
        """Return what every corrected turn was before, as far as that was kept, by turn; oldest first."""
        with self._connections.reading() as connection:
            corrected = connection.execute(
                f"SELECT {COLUMNS} FROM turns WHERE row IN (SELECT row FROM versions) ORDER BY row"
            ).fetchall()
            return [version for record in corrected for version in _versions(connection, record[0], turn_of(record))]

    def corrected_at(self, turn_ids: Sequence[str]) -> dict[str, datetime]:
        """Return when each of these turns was last given other words, speaker or time; others are left out."""
        found: dict[str, datetime] = {}
        with self._connections.reading() as connection:
            for turn_id in turn_ids:
                (last,) = connection.execute(
                    "SELECT max(at) FROM (SELECT changed_at AS at FROM versions JOIN turns USING (row) "
                    "JOIN changes ON seq = replaced_by WHERE turn_id = ?1 UNION ALL "
                    "SELECT erased_at FROM erased JOIN turns USING (row) WHERE turn_id = ?1 AND what = 'version') "
                    "AS corrected",
                    (turn_id,),
                ).fetchone()
                if last is not None:
                    found[turn_id] = from_microseconds(last)
        return found

    def scan(self, *, conversation_id: str | None = None) -> Iterator[tuple[int, Turn]]:
        """Yield (row, turn): a conversation in spoken order, or everything in stored order."""
        where, order = "", "row"
        values: tuple[str, ...] = ()
        if conversation_id is not None:
            if not can_be_id(conversation_id):
                return
            where, order, values = "WHERE conversation_id = ?", "ordinal, row", (conversation_id,)
        # A cursor of its own connection state: the caller may write between two turns.
        with self._connections.reading() as connection:
            rows = [r[0] for r in connection.execute(f"SELECT row FROM turns {where} ORDER BY {order}", values)]
        for start in range(0, len(rows), _FETCH):
            part = rows[start : start + _FETCH]
            turns = self.turns_at(part)
            yield from ((row, turns[row]) for row in part if row in turns)

    def newest(self, conversation_id: str, *, n: int, after: int = -1) -> list[Turn]:
        """Return the newest n turns of a conversation with an ordinal over ``after``, in spoken order."""
        with self._connections.reading() as connection:
            records = connection.execute(
                f"SELECT {COLUMNS} FROM turns WHERE conversation_id = ? AND ordinal > ? "
                "ORDER BY ordinal DESC, row DESC LIMIT ?",
                (conversation_id, after, n),
            ).fetchall()
        return [turn_of(record) for record in reversed(records)]

    def newest_turn(self) -> Turn | None:
        """Return the turn that was stored last; None if there is none."""
        with self._connections.reading() as connection:
            record = connection.execute(f"SELECT {COLUMNS} FROM turns ORDER BY row DESC LIMIT 1").fetchone()
        return None if record is None else turn_of(record)

    def corrected_turns(self) -> list[str]:
        """Return the ids of the turns of which an earlier version is kept, in the order in which they were stored."""
        with self._connections.reading() as connection:
            return [
                str(turn_id)
                for (turn_id,) in connection.execute(
                    "SELECT turn_id FROM turns WHERE row IN (SELECT row FROM versions) ORDER BY row"
                )
            ]

    def count_between(self, conversation_id: str, *, after: int, before: int, up_to: int) -> int:
        """Count the recalled turns of a conversation with an ordinal between two others, no further than ``up_to``."""
        with self._connections.reading() as connection:
            found = connection.execute(
                "SELECT count(*) FROM (SELECT 1 FROM turns WHERE conversation_id = ? AND ordinal > ? AND ordinal < ? "
                "AND recalled = 1 LIMIT ?) AS counted",
                (conversation_id, after, before, up_to),
            ).fetchone()
        return int(found[0])

    def vanished(self) -> dict[str, datetime]:
        """Return the turns that their source held no more when it was imported again, and when that was noticed."""
        with self._connections.reading() as connection:
            return {
                turn_id: from_microseconds(noticed_at)
                for turn_id, noticed_at in connection.execute(
                    "SELECT turn_id, noticed_at FROM vanished JOIN turns USING (row) ORDER BY row"
                )
            }

    def containing(self, text: str) -> Iterator[tuple[int, Turn]]:
        """Yield (row, turn) of those whose stored text holds these exact code points, in stored order."""
        with self._connections.reading() as connection:
            # instr on BLOBs compares bytes; LIKE on a trigram table loses two-character words in SQLite 3.40.
            rows = [
                r[0]
                for r in connection.execute(
                    "SELECT row FROM turns WHERE instr(text, ?) > 0 ORDER BY row", (text_bytes(text),)
                )
            ]
        for start in range(0, len(rows), _FETCH):
            part = rows[start : start + _FETCH]
            turns = self.turns_at(part)
            yield from ((row, turns[row]) for row in part if row in turns)

    def changes_since(self, seq: int, *, limit: int | None = None) -> list[Change]:
        """Return the changes after this one, oldest first, or as many of them as the limit says."""
        with self._connections.reading() as connection:
            return [
                Change(*record)
                for record in connection.execute(
                    "SELECT seq, kind, row, changed_at FROM changes WHERE seq > ? ORDER BY seq LIMIT ?",
                    (seq, _ALL if limit is None else limit),
                )
            ]

    def conversations(self) -> list[Conversation]:
        """Return every conversation that has turns, with the title its source gave it, by id."""
        with self._connections.reading() as connection:
            return [
                Conversation(record[0], text_from_bytes(record[1] or b""))
                for record in connection.execute(
                    "SELECT DISTINCT turns.conversation_id, title FROM turns LEFT JOIN conversations "
                    "USING (conversation_id) ORDER BY turns.conversation_id"
                )
            ]

    def neighbours(self, turn_id: str, *, before: int, after: int) -> list[Turn]:
        """Return a turn amid the turns said just before and after it in its conversation, in spoken order.

        Raises:
            UnknownTurnError: no turn has this id.
        """
        found = self.surroundings({turn_id: before}, after=after).get(turn_id)
        if found is None:
            raise self._unknown(turn_id)
        return found

    def surroundings(self, before: Mapping[str, int], *, after: int) -> dict[str, list[Turn]]:
        """Return turns, by id, each amid those said just before and after it in its conversation, in spoken order.

        ``before`` says of each how many turns before it are wanted. Ids of no turn are left out.
        """
        found: dict[str, list[Turn]] = {}
        asked = [turn_id for turn_id in before if can_be_id(turn_id)]
        with self._connections.reading() as connection:
            for start in range(0, len(asked), _AMID):
                part = asked[start : start + _AMID]
                marks = ",".join("?" * len(part))
                own = connection.execute(f"SELECT {COLUMNS} FROM turns WHERE turn_id IN ({marks})", part).fetchall()
                values: list[object] = []
                for record in own:
                    key = record[2], record[4], record[0]
                    values += [*key, before[record[1]], *key, after]
                amid = [[record] for record in own]
                for beside in connection.execute(_beside(len(own)), values) if own else ():
                    amid[beside[0]].append(beside[1:])
                for record, records in zip(own, amid, strict=True):
                    records.sort(key=lambda one: (one[4], one[0]))
                    found[record[1]] = list(map(turn_of, records))
        return found

    def check(self) -> list[str]:
        """Return what is wrong with the store, a line each: the engine's own check, each text against its SHA-256."""
        with self._connections.reading() as connection:
            problems = self._faults(connection)
            for turn_id, text, digest in connection.execute("SELECT turn_id, text, sha256 FROM turns"):
                # A flipped byte may make another kind of value of it.
                if not isinstance(text, bytes) or hashlib.sha256(text).digest() != digest:
                    problems.append(f"turn {turn_id}: its text doesn't have the SHA-256 it was stored with")
        return problems

    def _faults(self, connection: Connection) -> list[str]:
        """Return what the engine itself finds wrong with its tables."""
        return []

    def _one(self, connection: Connection, turn_id: str) -> tuple[int, Turn]:
        record = None
        if can_be_id(turn_id):
            record = connection.execute(f"SELECT {COLUMNS} FROM turns WHERE turn_id = ?", (turn_id,)).fetchone()
        if record is None:
            raise self._unknown(turn_id)
        return record[0], turn_of(record)

    def _unknown(self, turn_id: str) -> UnknownTurnError:
        return UnknownTurnError(
            f"no turn has the id {turn_id!r} in {self._connections.place}; find ids with: memory-rag search"
        )


@lru_cache(maxsize=_AMID)
def _beside(n: int) -> str:
    """Return what looks up the turns before and after n turns, by (conversation, ordinal, row, how many) of each.

    The first column is the turn's number: a statement for each of them takes three times as long.
    """
    sides = (("<", " DESC"), (">", ""))
    return " UNION ALL ".join(
        f"SELECT * FROM (SELECT {at} AS amid, {COLUMNS} FROM turns WHERE conversation_id = ? "
        f"AND (ordinal, row) {beyond} (?, ?) ORDER BY ordinal{way}, row{way} LIMIT ?) AS side_{at}_{number}"
        for at in range(n)
        for number, (beyond, way) in enumerate(sides)
    )


def _versions(connection: Connection, row: int, turn: Turn) -> list[Turn]:
    return [
        replace(
            turn,
            text=text_from_bytes(text),
            speaker=text_from_bytes(speaker),
            said_at=None if said_at is None else from_microseconds(said_at),
            said_at_text=None,
            indexed=None,
        )
        for text, speaker, said_at in connection.execute(
            "SELECT text, speaker, said_at FROM versions WHERE row = ? ORDER BY replaced_by", (row,)
        )
    ]
