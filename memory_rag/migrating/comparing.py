"""Two memories compared row by row and byte by byte, and the first difference named."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from memory_rag.migrating.copying import Tell
from memory_rag.migrating.tables import Record, Tables, canonical, numbers, records
from memory_rag.store.snapshot import Snapshot
from memory_rag.turns import text_from_bytes


@dataclass(frozen=True, slots=True)
class Compared:
    """One table, or the vectors of one embedder, on both sides: rows, SHA-256 of all of them, the first difference."""

    name: str
    n_source: int
    n_target: int
    sha256_source: str
    sha256_target: str
    difference: str = ""

    @property
    def is_equal(self) -> bool:
        return not self.difference

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "rows": [self.n_source, self.n_target],
            "sha256": [self.sha256_source, self.sha256_target],
            "equal": self.is_equal,
            "difference": self.difference or None,
        }


@dataclass(slots=True)
class _Side:
    """The rows of one side as they come: how many, and the hash of them."""

    n: int = 0
    hash: Any = field(default_factory=hashlib.sha256)

    def take(self, record: Record | None) -> bytes | None:
        if record is None:
            return None
        data = canonical(record)
        self.n += 1
        self.hash.update(data)
        return data


def compare_tables(
    source: Snapshot, target: Snapshot, tables: Tables, *, n_turns: int, tell: Tell | None = None
) -> Iterator[Compared]:
    """Yield each table of two memories compared, and the last numbers that they gave.

    Every text of a turn is compared with its SHA-256 too.
    """
    for table, columns in tables.items():
        left, right = (records(one, table, columns) for one in (source, target))
        is_turns = table == "turns"
        if is_turns:
            left = _told(left, n_turns, tell)
        yield compare_rows(
            table, left, right, columns=tuple(columns), fault=_fault_of_turns(columns) if is_turns else _no_fault
        )
    given = (numbers(one, tables).items() for one in (source, target))
    yield compare_rows("numbers", *given, columns=("table", "last"))


def _no_fault(_record: Record) -> str:
    return ""


def compare_rows(
    name: str,
    source: Iterable[Record],
    target: Iterable[Record],
    *,
    columns: tuple[str, ...],
    fault: Callable[[Record], str] = _no_fault,
) -> Compared:
    """Compare rows that come in the same order; a row of the target that has a ``fault`` is a difference too."""
    left, right = _Side(), _Side()
    difference = ""
    for one, other in zip_longest(source, target):
        if left.take(one) != right.take(other) and not difference:
            difference = _difference(name, one, other, columns)
        if not difference and other is not None and (wrong := fault(other)):
            difference = f"{name}, {columns[0]} {_shown(other[0])}: {wrong}"
    return Compared(name, left.n, right.n, left.hash.hexdigest(), right.hash.hexdigest(), difference)


def _difference(name: str, one: Record | None, other: Record | None, columns: tuple[str, ...]) -> str:
    if one is None or other is None:
        where = "is only in the target" if one is None else "is missing in the target"
        record = other if one is None else one
        assert record is not None  # zip_longest ends with the longer of both
        return f"{name}, {columns[0]} {_shown(record[0])}: {where}"
    unlike = [column for column, a, b in zip(columns, one, other, strict=True) if canonical((a,)) != canonical((b,))]
    values = next((a, b) for a, b in zip(one, other, strict=True) if canonical((a,)) != canonical((b,)))
    told = " and ".join(map(_shown, values))
    return f"{name}, {columns[0]} {_shown(one[0])}: {', '.join(unlike)} differ ({told})"


def _shown(value: Any) -> str:
    if isinstance(value, bytes):
        try:
            return f"{text_from_bytes(value)[:40]!r}, {len(value):,} bytes"
        except UnicodeDecodeError:
            return f"{value[:16].hex()}…, {len(value):,} bytes"
    return f"{value!r:.60}"


def _fault_of_turns(columns: Mapping[str, str]) -> Callable[[Record], str]:
    names = list(columns)
    text, digest = names.index("text"), names.index("sha256")

    def fault(record: Record) -> str:
        is_sound = isinstance(record[text], bytes) and hashlib.sha256(record[text]).digest() == record[digest]
        return "" if is_sound else "its text doesn't have the SHA-256 it was stored with"

    return fault


def _told(rows: Iterator[Record], n_turns: int, tell: Tell | None) -> Iterator[Record]:
    for done, record in enumerate(rows):
        if tell is not None and done % 500 == 0:
            tell("comparing", done, n_turns)
        yield record
    if tell is not None:
        tell("comparing", n_turns, n_turns)
