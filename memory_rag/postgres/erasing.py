"""What a server keeps of removed rows, and what can be done about it through SQL.

PostgreSQL writes nothing over. A deleted row stays in its table as a dead one until VACUUM takes it out, with its
entries in the indexes; its bytes then lie in the free space of a page until another row is written there, and
pg_textsearch's index goes on to hold its terms. ``VACUUM FULL`` writes a table and its indexes anew, into new files,
and shuts everybody out of it meanwhile. Beside the tables the planner keeps samples of values, which ANALYZE takes
anew.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from memory_rag.postgres.connections import PostgresConnections
from memory_rag.postgres.known_answers import remake, words_indexes
from memory_rag.postgres.table import SCHEMA
from memory_rag.postgres.transaction import Upkeep
from memory_rag.postgres.words import read_terms
from memory_rag.store.erasing import Aftermath, Cell
from memory_rag.store.whole import select_all

_AGAIN_AFTER_S: Final = 0.05
_SHOWN: Final = 3
_PART: Final = "SELECT relname, relispartition FROM pg_class WHERE oid = (SELECT tableoid FROM numbers_kept LIMIT 1)"
_THERE: Final = "SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p')"
_DEAD: Final = (
    "SELECT pg_class.relname, stats.n_dead_tup FROM pg_class "
    "JOIN pg_stat_all_tables AS stats ON stats.relid IN (pg_class.oid, reltoastrelid) "
    "WHERE pg_class.oid = ANY($1::regclass[]) AND stats.n_dead_tup > 0 ORDER BY 1"
)
_PLAIN: Final = "VACUUM (INDEX_CLEANUP ON, ANALYZE)"
_FULL: Final = "VACUUM (FULL, ANALYZE)"
_SAMPLES: Final = "pg_catalog.pg_statistic"
_MADE: Final = ("vectors", "words")
_BEYOND: Final = (
    "the write-ahead log, its archive and replicas' copies of it: they hold rows as they were written, until they are "
    "recycled or deleted",
    "backups of the server, and its own log of statements",
    "blocks that the server's file system gave free, and memory that it hasn't overwritten yet",
)
_FREE_SPACE: Final = (
    "free space in the tables' files: bytes of removed rows lie there until other rows are written over them; to have "
    "the files written anew, which shuts others out meanwhile: memory-rag forget --rewrite"
)

_TERMS: Final = (
    "pages of the index of words: terms of removed turns lie there, though it finds no turn by them, until it is made "
    "anew, as memory-rag forget --rewrite does"
)
_SAMPLED: Final = "samples of values that the planner keeps, until the server's own vacuum comes by"


class PostgresEraser:
    """Takes one owner's dead rows out of the tables."""

    def __init__(self, connections: PostgresConnections) -> None:
        self._connections = connections
        self._done: tuple[str, ...] = ()
        self._beyond: tuple[str, ...] = (_FREE_SPACE, _TERMS, _SAMPLED, *_BEYOND)

    def overwrite(self, *, timeout_s: float, anew: bool = False) -> str:
        """Vacuum the tables, the owner's partitions where there are some; with ``anew`` write their files anew, too.

        Returns why dead rows may be left: another transaction still sees them, or our role may not vacuum.
        """
        tables = self._tables()
        deadline = time.monotonic() + timeout_s
        with self._connections.upkeep(timeout_s=timeout_s) as upkeep:
            if upkeep.execute("SELECT current_setting('track_counts')") != [("on",)]:
                return "the server counts no dead rows (track_counts is off), so that nobody can tell when none is left"
            while why := self._vacuumed(upkeep, tables, _PLAIN) or _dead_rows(upkeep, tables):
                if time.monotonic() >= deadline or upkeep.warnings:
                    return why
                time.sleep(_AGAIN_AFTER_S)
            if anew and (why := self._vacuumed(upkeep, tables, _FULL)):
                return why
            # Theirs who own the database; for others the old samples stay until the server's own vacuum comes by.
            samples_are_gone = not self._vacuumed(upkeep, [_SAMPLES], _FULL if anew else _PLAIN)
        words = words_indexes(self._connections)
        if anew:
            # VACUUM FULL made them anew, but who has used one before would go on with the old one.
            remake(self._connections, words)
        self._done = (
            f"VACUUM took the dead rows out of {len(tables)} tables, and their entries out of indexes; none is left",
            *([f"the files of these {len(tables)} tables and their indexes were written anew"] if anew else ()),
            *(["the planner's samples were taken anew"] if samples_are_gone else ()),
        )
        left = {_FREE_SPACE: not anew, _TERMS: bool(words) and not anew, _SAMPLED: not samples_are_gone}
        self._beyond = (*(what for what, is_left in left.items() if is_left), *_BEYOND)
        return ""

    def rows(self) -> Iterator[Sequence[Cell]]:
        with self._connections.reading() as connection:
            tables = self._connections.catalogue.tables(connection)
        with self._connections.snapshot() as snapshot:
            for table, columns in tables.items():
                if table in _MADE:
                    continue
                names = tuple(columns)
                for number, record in enumerate(snapshot.rows(select_all(table, columns)), start=1):
                    yield _cells(table, names, record, number)
            for row, terms in snapshot.rows("SELECT row, terms FROM words ORDER BY row, part"):
                yield [Cell(f"words.terms, turn {row}", read_terms(terms))]
            for row, vector in snapshot.rows("SELECT row, embedding FROM vectors ORDER BY space, row, span_start"):
                yield [Cell(f"vectors.embedding, turn {row}", _float32(vector).astype("<f4").tobytes())]

    def words(self) -> Iterator[str]:
        with self._connections.reading() as connection:
            for (name,) in connection.execute("SELECT name FROM vector_spaces").fetchall():
                yield str(name)

    def vectors(self) -> Iterator[tuple[Sequence[int], npt.NDArray[np.float32]]]:
        with self._connections.snapshot() as snapshot:
            for (space,) in list(snapshot.rows("SELECT DISTINCT space FROM vectors ORDER BY space")):
                found = list(snapshot.rows("SELECT row, embedding FROM vectors WHERE space = ? ORDER BY row", (space,)))
                yield [int(row) for row, _ in found], np.stack([_float32(vector) for _, vector in found])

    @property
    def aftermath(self) -> Aftermath:
        return Aftermath(self._done, self._beyond)

    def _tables(self) -> list[str]:
        """Return what is to be vacuumed: each table, or the part of it in which the owner's rows are."""
        with self._connections.reading() as connection:
            names = self._connections.catalogue.tables(connection)
            (part, is_part), *_ = connection.execute(_PART).fetchall() or [("", False)]
        suffix = str(part).removeprefix("numbers_kept") if is_part else ""
        with self._connections.upkeep(timeout_s=1) as upkeep:
            there = {str(name) for (name,) in upkeep.execute(_THERE, (SCHEMA,))}
        return [f"{SCHEMA}.{name + suffix if name + suffix in there else name}" for name in names]

    def _vacuumed(self, upkeep: Upkeep, tables: Sequence[str], how: str) -> str:
        """Vacuum tables, and return why one of them was passed over; empty if none was."""
        upkeep.warnings.clear()
        upkeep.execute(f"{how} {', '.join(tables)}")
        if not upkeep.warnings:
            return ""
        return f"VACUUM was refused ({upkeep.warnings[0]}); let the role that owns the tables run: {how} {tables[0]} …"


def _dead_rows(upkeep: Upkeep, tables: Sequence[str]) -> str:
    """Return which tables have dead rows that VACUUM had to leave; empty if none has."""
    found = upkeep.execute(_DEAD, (list(tables),))
    if not found:
        return ""
    told = ", ".join(f"{n:,} in {table}" for table, n in found[:_SHOWN])
    return f"another transaction still sees an older state, so dead rows are left on the server: {told}"


def _cells(table: str, names: Sequence[str], record: Sequence[Any], number: int) -> list[Cell]:
    return [
        Cell(f"{table}.{name}, row {number}", value if isinstance(value, bytes) else str(value).encode())
        for name, value in zip(names, record, strict=True)
        if isinstance(value, bytes | str)
    ]


def _float32(vector: Any) -> npt.NDArray[np.float32]:
    numbers: npt.NDArray[np.float32] = vector.to_numpy().astype(np.float32, copy=False)
    return numbers
