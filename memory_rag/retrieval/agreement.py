"""Whether two keyword indexes of the same words are the same, however each of them came about."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.retrieval.turn_table import TurnTable

_SHOWN: Final = 3
_NOTHING: Final = (np.zeros(0, np.int32), np.zeros(0, np.int32))


def disagreement(one: KeywordIndex, other: KeywordIndex) -> str:
    """Say where two keyword indexes of the same words differ; "" if they don't.

    The numbers of entries and terms, which depend on how an index came about, don't count.
    """
    columns, others = _columns(one.table), _columns(other.table)
    for name in columns:
        if columns[name] != others[name]:
            return f"column {name}"
    if not np.array_equal(_lengths(one), _lengths(other)):
        return "the lengths of turns"
    ours, theirs = _living(one), _living(other)
    if ours.keys() != theirs.keys():
        some = sorted(ours.keys() ^ theirs.keys())[:_SHOWN]
        return f"{len(ours.keys() ^ theirs.keys()):,} terms, such as {', '.join(map(repr, some))}"
    unequal = [term for term in ours if ours[term] != theirs[term]]
    return f"the turns that hold {unequal[0]!r}" if unequal else ""


def _columns(table: TurnTable) -> dict[str, list[object]]:
    """Return the living turns' columns by name, in the order of their rows; names instead of their numbers."""
    living = table.living()[np.argsort(table.row[table.living()], kind="stable")]
    columns: dict[str, list[object]] = {
        name: table.column(name)[living].tolist()
        for name in (
            "row",
            "seq",
            "ordinal",
            "role",
            "said_at",
            "recalled",
            "asks",
            "first_person",
            "wishes",
            "tells_when",
            "fresh",
        )
    }
    columns["turn_id"] = [table.turn_ids[entry] for entry in living]
    for name, names in (
        ("conversation", table.conversations),
        ("session", table.sessions),
        ("speaker", table.speakers),
    ):
        columns[name] = [names.names[code] for code in table.column(name)[living].tolist()]
    return columns


def _lengths(index: KeywordIndex) -> np.ndarray[Any, Any]:
    living = index.table.living()
    order = np.argsort(index.table.row[living], kind="stable")
    lengths: np.ndarray[Any, Any] = index.bm25.lengths[living][order]
    return lengths


def _living(index: KeywordIndex) -> dict[str, bytes]:
    """Return each term with the rows and counts of the living turns that hold it; a term of none is left out."""
    postings = index.bm25.postings
    found: dict[str, bytes] = {}
    for term in postings.terms:
        entries, counts = postings.of(term) or _NOTHING
        alive = index.table.alive[entries]
        rows = index.table.row[entries][alive]
        if len(rows):
            order = np.argsort(rows, kind="stable")
            found[term] = rows[order].tobytes() + counts[alive][order].tobytes()
    return found
