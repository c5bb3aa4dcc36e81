"""A memory moved whole: every table, then the vectors, then the proof that both are the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memory_rag.errors import StoreError
from memory_rag.migrating.comparing import Compared, compare_tables
from memory_rag.migrating.copying import Copying, Note, Tell, counts, empty, noted_in
from memory_rag.migrating.ends import End
from memory_rag.migrating.tables import Tables, mark, refuse_other_tables, tables_of
from memory_rag.migrating.vectors import compare_vectors, copy_vectors
from memory_rag.retrieval.vector_spaces import Contents
from memory_rag.store.snapshot import Snapshot
from memory_rag.store.turn_rows import COLUMNS, turn_of
from memory_rag.store.whole import is_untouched


@dataclass(frozen=True, slots=True)
class Migrated:
    """What was moved from where to where, and both sides compared after it.

    ``n_before`` are the turns that an earlier run, which was stopped, had copied.
    """

    source: str
    target: str
    n_turns: int
    n_before: int
    compared: tuple[Compared, ...]

    @property
    def is_equal(self) -> bool:
        """Whether every row and vector of both sides is the same to the last byte."""
        return all(one.is_equal for one in self.compared)

    def as_json(self) -> dict[str, Any]:
        return {
            "from": self.source,
            "to": self.target,
            "turns": self.n_turns,
            "copied_before": self.n_before,
            "equal": self.is_equal,
            "compared": [one.as_json() for one in self.compared],
        }


def migrate(source: End, target: End, *, anew: bool = False, tell: Tell | None = None) -> Migrated:
    """Copy a memory into one that holds nothing, and compare the two.

    A run that was stopped is taken up by the next, behind what was committed; with ``anew`` what it copied is removed
    first. A target that turns out unlike its source stays marked as unfinished. ``tell`` hears of the progress.

    Raises:
        StoreError: the target holds something else, or the source was changed since the beginning; what is at the
            source stays as it is in any case.
    """
    tables = _tables_of_both(source, target)
    if noted_in(source.store.connections) is not None:
        raise StoreError(f"{source.place} is itself not whole: a migration into it was stopped; finish that first")
    with source.store.connections.snapshot() as state:
        note = _note(target, mark(state, tables), tables, anew=anew)
        n_turns, n_before = len(source.store), note.done.get("turns", 0)
        copying = Copying(state, target.store.connections, tables, note)
        copying.begin()
        copying.run(n_turns=n_turns, tell=tell)
        contents = _contents(state)
        copy_vectors(source.spaces, target.spaces, contents, tell=tell)
        done = _compared(source, target, state, tables, contents, n_turns=n_turns, n_before=n_before, tell=tell)
    _refuse_changed(source, tables, note.mark)
    if done.is_equal:
        copying.finish()
    return done


def compare(source: End, target: End, *, tell: Tell | None = None) -> Migrated:
    """Compare two memories row by row and byte by byte; nothing is changed.

    Raises:
        StoreError: one of them can't be read.
    """
    tables = _tables_of_both(source, target)
    with source.store.connections.snapshot() as state:
        n_turns = len(source.store)
        contents = _contents(state)
        return _compared(source, target, state, tables, contents, n_turns=n_turns, n_before=n_turns, tell=tell)


def rows_to_copy(source: End) -> Mapping[str, int]:
    """Return how many rows of each table would be copied; those without any are left out."""
    tables = tables_of(source.store.connections)
    return {table: n for table, n in counts(source.store.connections, tables).items() if n}


def _tables_of_both(source: End, target: End) -> Tables:
    if source.place == target.place:
        raise StoreError(f"source and target are both {source.place}; name two memories")
    tables = tables_of(source.store.connections)
    refuse_other_tables(tables, tables_of(target.store.connections), place=target.place)
    return tables


def _note(target: End, state: str, tables: Tables, *, anew: bool) -> Note:
    """Return how far the target is, after making sure that it may be filled."""
    connections = target.store.connections
    note = noted_in(connections)
    if note is not None and anew:
        empty(connections, tables)
        target.spaces.delete()
        note = None
    if note is None:
        if not is_untouched(connections) or counts(connections, tables)["facts"]:
            raise StoreError(
                f"{target.place} holds a memory already ({len(target.store):,} turns), and nothing was copied; "
                "name a place that holds nothing yet, or compare the two with: memory-rag migrate FROM TO --check"
            )
        return Note(state)
    if note.mark != state:
        raise StoreError(
            f"the memory was changed since its migration to {target.place} began, and nothing more was copied; "
            "begin anew with: memory-rag migrate FROM TO --anew"
        )
    there = {table: n for table, n in counts(connections, tables).items() if n}
    if there != {table: n for table, n in note.done.items() if n}:
        raise StoreError(
            f"{target.place} was changed by somebody else while its migration was stopped, and nothing more was "
            "copied; begin anew with: memory-rag migrate FROM TO --anew (it removes what is there)"
        )
    return note


def _refuse_changed(source: End, tables: Tables, state: str) -> None:
    with source.store.connections.snapshot() as now:
        if mark(now, tables) != state:
            raise StoreError(
                f"{source.place} was changed while it was being copied, so the copy lacks what came "
                "since; stop who writes to it, then begin anew with: memory-rag migrate FROM TO --anew"
            )


def _contents(state: Snapshot) -> Contents:
    records = state.rows(f"SELECT {COLUMNS} FROM turns ORDER BY row")
    return Contents((record[0], turn_of(record)) for record in records)


def _compared(
    source: End,
    target: End,
    state: Snapshot,
    tables: Tables,
    contents: Contents,
    *,
    n_turns: int,
    n_before: int,
    tell: Tell | None,
) -> Migrated:
    with target.store.connections.snapshot() as other:
        compared = list(compare_tables(state, other, tables, n_turns=n_turns, tell=tell))
    compared += compare_vectors(source.spaces, target.spaces, contents, tell=tell)
    places = source.place, target.place
    return Migrated(*places, n_turns, n_before, tuple(compared))
