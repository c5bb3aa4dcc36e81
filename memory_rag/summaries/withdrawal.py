"""Taking out of summaries whatever could tell of a turn that was corrected or forgotten."""

from __future__ import annotations

from collections.abc import Sequence

from memory_rag.store.engine import Connection
from memory_rag.store.removal import in_parts


def withdraw(connection: Connection, rows: Sequence[int]) -> None:
    """Take out of every level what could tell of the turns at these rows, and mark what has to be made anew.

    A verbatim line goes if it cites such a turn; any other line goes if its summary stands for such a turn, since
    nobody knows what it was made of. Turns that are not stored any more are no longer covered.
    """
    for row in rows:
        block = connection.execute("SELECT summary FROM summary_turns WHERE row = ?", (row,)).fetchone()
        if block is None:
            continue
        wholes = connection.execute("SELECT whole FROM summary_parts WHERE part = ?", block).fetchall()
        for (number,) in (block, *wholes):
            _withdraw_from(connection, int(number), row)
    for part, marks in in_parts(rows):
        connection.execute(
            f"DELETE FROM summary_turns WHERE row IN ({marks}) "
            "AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.row = summary_turns.row)",
            part,
        )


def _withdraw_from(connection: Connection, number: int, row: int) -> None:
    connection.execute(
        "DELETE FROM summary_lines WHERE summary = ? AND (verbatim = 0 OR place IN "
        "(SELECT place FROM summary_citations WHERE summary = ? AND row = ?))",
        (number, number, row),
    )
    connection.execute(
        "DELETE FROM summary_citations WHERE summary = ? AND place NOT IN "
        "(SELECT place FROM summary_lines WHERE summary = ?)",
        (number, number),
    )
    # A focus is in the words of the person who gave it, and may name what is to be forgotten.
    connection.execute("UPDATE summaries SET is_stale = 1, focus = ? WHERE summary = ?", (b"", number))
