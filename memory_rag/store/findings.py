"""What a screen found in stored turns, beside their rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from memory_rag.store.engine import Connection, Connections
from memory_rag.store.screening import IN_TEXT, Counts, Finding
from memory_rag.turns import Span

_FETCH: Final = 500
OFF_RECORD_FACT: Final = "off record since"
"""The name of the fact that a store takes no turns."""


def put_findings(connection: Connection, row: int, findings: Iterable[Finding]) -> None:
    """Write down what was found in a turn that is stored in the same transaction."""
    connection.executemany(
        "INSERT INTO findings (row, place, span_start, span_end, kind, action) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (row, one.place, one.span and one.span.start, one.span and one.span.end, one.kind, one.action)
            for one in findings
        ],
    )


def replace_findings(
    connection: Connection, row: int, findings: Iterable[Finding], *, only_text: bool = False, only: str | None = None
) -> None:
    """Write down what is found in a turn now, in place of what was: all, that in its text, that of one action."""
    connection.execute(
        "DELETE FROM findings WHERE row = ? AND place = coalesce(?, place) AND action = coalesce(?, action)",
        (row, IN_TEXT if only_text else None, only),
    )
    put_findings(connection, row, findings)


class Findings:
    """What was found in the turns of one store, and whether it takes turns at all."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def of(self, turn_ids: Sequence[str]) -> dict[str, tuple[Finding, ...]]:
        """Return what was found in these turns, by turn id and place; a turn in which nothing was is left out."""
        found: dict[str, list[Finding]] = {}
        with self._connections.reading() as connection:
            for start in range(0, len(turn_ids), _FETCH):
                part = list(turn_ids[start : start + _FETCH])
                for turn_id, place, begin, end, kind, action in connection.execute(
                    "SELECT turn_id, place, span_start, span_end, kind, action FROM findings JOIN turns USING (row) "
                    f"WHERE turn_id IN ({','.join('?' * len(part))}) "
                    "ORDER BY row, place = 'text' DESC, span_start, kind",
                    part,
                ):
                    span = None if begin is None else Span(begin, end)
                    found.setdefault(turn_id, []).append(Finding(kind, action, place, span))
        return {turn_id: tuple(all_of_it) for turn_id, all_of_it in found.items()}

    def counts(self) -> Counts:
        """Return how often what was found, by kind and what was done with it."""
        with self._connections.reading() as connection:
            return {
                (str(kind), str(action)): int(n)
                for kind, action, n in connection.execute(
                    "SELECT kind, action, count(*) FROM findings GROUP BY kind, action ORDER BY kind, action"
                )
            }

    def n_turns(self) -> int:
        """Return in how many turns something was found."""
        with self._connections.reading() as connection:
            return int(connection.execute("SELECT count(DISTINCT row) FROM findings").fetchone()[0])


def off_record_since(connection: Connection) -> str | None:
    """Return since when a store takes no turns, as ISO 8601; None if it takes them."""
    found = connection.execute("SELECT value FROM facts WHERE name = ?", (OFF_RECORD_FACT,)).fetchone()
    return None if found is None else str(found[0])


def set_off_record(connection: Connection, since: str | None) -> None:
    """Let a store take no turns from now on; None: take them again."""
    if since is None:
        connection.execute("DELETE FROM facts WHERE name = ?", (OFF_RECORD_FACT,))
        return
    connection.execute("INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (OFF_RECORD_FACT, since))
