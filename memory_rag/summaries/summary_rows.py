"""How a summary lies in the rows of its tables."""

from __future__ import annotations

from dataclasses import dataclass

from memory_rag.errors import StoreError
from memory_rag.store.engine import Connection
from memory_rag.summaries.summary import Kind, Level, Line, Summary
from memory_rag.turns import from_microseconds, text_bytes, text_from_bytes


@dataclass(frozen=True, slots=True)
class Stored:
    """A summary with what only the shelf knows of it.

    ``is_open``: turns may still be added to it. ``is_stale``: a turn of it was corrected or forgotten, what could tell
    of that is gone, and it waits to be made anew.
    """

    summary: Summary
    is_open: bool
    is_stale: bool


class StaleError(StoreError):
    """What a summary was made of has changed meanwhile."""


def put_line(connection: Connection, number: int, place: int, line: Line) -> None:
    connection.execute(
        "INSERT INTO summary_lines VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            number,
            place,
            line.kind.value,
            text_bytes(line.text),
            text_bytes(line.reason),
            text_bytes(line.speaker),
            int(line.verbatim),
        ),
    )
    for turn_id in line.turn_ids:
        found = connection.execute("SELECT row FROM turns WHERE turn_id = ?", (turn_id,)).fetchone()
        if found is None:
            # Without its words: this is told in the log of events, and the turn may have been forgotten.
            raise StaleError(f"a {line.kind.value} cites turn {turn_id!r}, which is not stored any more")
        connection.execute(
            "INSERT INTO summary_citations VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (number, place, found[0])
        )


def stored_summary(connection: Connection, number: int) -> Stored:
    conversation_id, level, made_by, made_at, focus, note, is_open, is_stale = connection.execute(
        "SELECT conversation_id, level, made_by, made_at, focus, note, is_open, is_stale FROM summaries "
        "WHERE summary = ?",
        (number,),
    ).fetchone()
    cited: dict[int, list[str]] = {}
    for place, turn_id in connection.execute(
        "SELECT place, turn_id FROM summary_citations JOIN turns USING (row) WHERE summary = ? ORDER BY ordinal, row",
        (number,),
    ):
        cited.setdefault(place, []).append(str(turn_id))
    lines = [
        Line(
            Kind(kind),
            text_from_bytes(text),
            tuple(cited[place]),
            reason=text_from_bytes(reason),
            speaker=text_from_bytes(speaker),
            verbatim=bool(verbatim),
        )
        for place, kind, text, reason, speaker, verbatim in connection.execute(
            "SELECT place, kind, text, reason, speaker, verbatim FROM summary_lines WHERE summary = ? ORDER BY place",
            (number,),
        )
        if place in cited
    ]
    blocks = parts_of(connection, number) or [number]
    n_turns = connection.execute(
        "SELECT count(*) FROM summary_turns WHERE summary = ? OR summary IN "
        "(SELECT part FROM summary_parts WHERE whole = ?)",
        (number, number),
    ).fetchone()[0]
    ends = (*_turn_ids(connection, blocks[0])[:1], *_turn_ids(connection, blocks[-1])[-1:])
    summary = Summary(
        conversation_id=str(conversation_id),
        level=Level(level),
        lines=tuple(lines),
        n_turns=int(n_turns),
        first_turn_id=ends[0] if ends else "",
        last_turn_id=ends[-1] if ends else "",
        made_by=str(made_by),
        made_at=from_microseconds(made_at),
        focus=text_from_bytes(focus),
        note=text_from_bytes(note),
        number=number,
    )
    return Stored(summary, bool(is_open), bool(is_stale))


def parts_of(connection: Connection, number: int) -> list[int]:
    return [
        int(part)
        for (part,) in connection.execute("SELECT part FROM summary_parts WHERE whole = ? ORDER BY part", (number,))
    ]


def rows_of(connection: Connection, number: int) -> list[int]:
    """Return the rows that a summary stands for, itself or through its parts, in spoken order."""
    return [
        int(row)
        for (row,) in connection.execute(
            "SELECT row FROM summary_turns JOIN turns USING (row) WHERE summary = ? OR summary IN "
            "(SELECT part FROM summary_parts WHERE whole = ?) ORDER BY ordinal, row",
            (number, number),
        )
    ]


def _turn_ids(connection: Connection, number: int) -> list[str]:
    """Return the ids of the turns of a summary of the lowest level, in spoken order."""
    return [
        str(turn_id)
        for (turn_id,) in connection.execute(
            "SELECT turn_id FROM summary_turns JOIN turns USING (row) WHERE summary = ? ORDER BY ordinal, row",
            (number,),
        )
    ]


def row_of(connection: Connection, turn_id: str) -> list[int]:
    return [int(row) for (row,) in connection.execute("SELECT row FROM turns WHERE turn_id = ?", (turn_id,))]
