"""Where summaries lie: tables of the memory itself, beside the turns that they cite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from memory_rag.store.engine import Connection
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.summaries.claims import Claims
from memory_rag.summaries.screened_lines import screened_lines
from memory_rag.summaries.summary import Level, Summary
from memory_rag.summaries.summary_rows import (
    StaleError,
    Stored,
    parts_of,
    put_line,
    row_of,
    rows_of,
    stored_summary,
)
from memory_rag.summaries.withdrawal import withdraw
from memory_rag.turns import Turn, text_bytes, to_microseconds

_COVERED: Final = "SELECT 1 FROM summary_turns WHERE summary_turns.row = turns.row"
_FOLLOWED: Final = "summaries follow"
_FOLLOWED_EVERY: Final = 10_000
"""Changes after which it is written down how far was followed, also where there was nothing to do."""


class Standing(NamedTuple):
    """The store's change at which lines were last taken out, as it is written down, and the store's last change."""

    followed: int
    last_seq: int


class Shelf:
    """The summaries of one memory. Every method is one transaction; none waits for a model."""

    def __init__(self, store: TurnWriter, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._connections = store.connections
        self.claims = Claims(self._connections, clock=clock)
        self._followed = 0
        self._known: dict[int, tuple[tuple[int, ...], Stored]] = {}
        """What was read, each with what would be another if it had changed."""

    # -- reading

    def stored(self, conversation_id: str, level: Level) -> list[Stored]:
        """Return a conversation's summaries of a level, in spoken order."""
        return self._found("conversation_id = ? AND level = ?", conversation_id, level.value)

    def open_one(self, conversation_id: str, level: Level) -> Stored | None:
        """Return the summary of a level to which more may be added; None if the last one is closed."""
        found = self._found("conversation_id = ? AND level = ? AND is_open = 1", conversation_id, level.value)
        return found[-1] if found else None

    def stale(self, conversation_id: str) -> list[Stored]:
        """Return the summaries that have to be made anew, those of 100 turns first."""
        found = self._found("conversation_id = ? AND is_stale = 1", conversation_id)
        return sorted(found, key=lambda one: one.summary.level is not Level.HUNDRED)

    def closed_outside(self, conversation_id: str, level: Level) -> list[Stored]:
        """Return the closed summaries of 100 turns that none of a higher level stands for, in spoken order."""
        return self._found(
            "conversation_id = ? AND level = 'hundred' AND is_open = 0 AND summary NOT IN "
            "(SELECT part FROM summary_parts JOIN summaries AS higher ON higher.summary = whole "
            "WHERE higher.level = ?)",
            conversation_id,
            level.value,
        )

    def _found(self, where: str, *values: str) -> list[Stored]:
        followed = self.followed
        with self._connections.reading() as connection:
            keys = connection.execute(
                f"SELECT summary, made_at, is_open, is_stale, {followed} FROM summaries WHERE {where} ORDER BY summary",
                values,
            ).fetchall()
            for key in keys:
                if key[0] not in self._known or self._known[key[0]][0] != key:
                    self._known[key[0]] = key, stored_summary(connection, key[0])
            return [self._known[key[0]][1] for key in keys]

    @property
    def followed(self) -> int:
        """The store's change at which lines were last taken out."""
        return self._standing().followed

    def _standing(self) -> Standing:
        with self._connections.reading() as connection:
            followed, last_seq = connection.execute(
                "SELECT (SELECT value FROM facts WHERE name = ?), (SELECT max(seq) FROM changes)", (_FOLLOWED,)
            ).fetchone()
        return Standing(int(followed or 0), int(last_seq or 0))

    def state(self, conversation_id: str) -> tuple[tuple[int, int], ...]:
        """Return (number, when it was made in microseconds) of every summary of a conversation: tells what changed."""
        with self._connections.reading() as connection:
            return tuple(
                connection.execute(
                    "SELECT summary, made_at FROM summaries WHERE conversation_id = ? ORDER BY summary",
                    (conversation_id,),
                )
            )

    def first_added(self, conversation_id: str, *, after_seq: int) -> tuple[int, int | None]:
        """Return the store's last change, and the lowest ordinal of the turns that were added after a change."""
        with self._connections.reading() as connection:
            last = connection.execute("SELECT coalesce(max(seq), 0) FROM changes").fetchone()[0]
            lowest = connection.execute(
                # In this order: otherwise every turn of the conversation would be looked up among the changes.
                "SELECT min(ordinal) FROM changes CROSS JOIN turns USING (row) WHERE seq > ? AND conversation_id = ?",
                (after_seq, conversation_id),
            ).fetchone()[0]
        return int(last), None if lowest is None else int(lowest)

    def parts(self, number: int) -> list[int]:
        """Return the numbers of the summaries that one of a higher level was made of, in spoken order."""
        with self._connections.reading() as connection:
            return parts_of(connection, number)

    def turns_of(self, number: int) -> list[Turn]:
        """Return the turns that a summary stands for, those that are still stored, in spoken order."""
        with self._connections.reading() as connection:
            rows = rows_of(connection, number)
        turns = self._store.turns_at(rows)
        return [turns[row] for row in rows if row in turns]

    def uncovered(self, conversation_id: str) -> list[Turn]:
        """Return the turns of a conversation that no summary stands for, in spoken order."""
        with self._connections.reading() as connection:
            rows = [
                int(row)
                for (row,) in connection.execute(
                    f"SELECT row FROM turns WHERE conversation_id = ? AND NOT EXISTS ({_COVERED}) "
                    "ORDER BY ordinal, row",
                    (conversation_id,),
                )
            ]
        turns = self._store.turns_at(rows)
        return [turns[row] for row in rows if row in turns]

    def covered_up_to(self, conversation_id: str, numbers: Sequence[int] | None = None) -> tuple[int, int] | None:
        """Return the ordinal up to which every turn is covered, and how many turns that are; None if the first isn't.

        By the summaries of these numbers, or by all.
        """
        with self._connections.reading() as connection:
            only = "" if numbers is None else f" AND summary IN ({','.join('?' * len(numbers))})"
            given = () if numbers is None else tuple(numbers)
            found = connection.execute(
                f"SELECT ordinal FROM turns WHERE conversation_id = ? AND NOT EXISTS ({_COVERED}{only}) "
                "ORDER BY ordinal, row LIMIT 1",
                (conversation_id, *given),
            ).fetchone()
            before = "" if found is None else " AND ordinal < ?"
            end = connection.execute(
                f"SELECT max(ordinal), count(*) FROM turns WHERE conversation_id = ?{before}",
                (conversation_id, *(() if found is None else (found[0],))),
            ).fetchone()
        return None if end[0] is None else (int(end[0]), int(end[1]))

    # -- writing

    def install(
        self,
        summary: Summary,
        *,
        turns: Sequence[Turn] = (),
        parts: Sequence[int] = (),
        closes: bool = False,
        seq: int,
    ) -> int:
        """Store a summary that newly stands for these turns, or for these summaries, and return its number.

        One with a number takes the place of its earlier state. ``seq`` is the store's change up to which the turns
        were read.

        Raises:
            StaleError: another process took over meanwhile, or a turn was corrected, forgotten or covered since.
        """
        with self._connections.writing() as connection:
            self._refuse_if_stale(connection, summary, turns, parts, seq)
            values = (
                summary.conversation_id,
                summary.level.value,
                summary.made_by,
                to_microseconds(summary.made_at),
                text_bytes(self._connections.screen.text(summary.focus, what="the focus of a summary")),
                text_bytes(summary.note),
                int(not closes),
            )
            number = summary.number
            if number:
                connection.execute(
                    "UPDATE summaries SET conversation_id = ?, level = ?, made_by = ?, made_at = ?, focus = ?, "
                    "note = ?, is_open = ?, is_stale = 0 WHERE summary = ?",
                    (*values, number),
                )
                connection.execute("DELETE FROM summary_lines WHERE summary = ?", (number,))
                connection.execute("DELETE FROM summary_citations WHERE summary = ?", (number,))
            else:
                number = int(
                    connection.execute(
                        "INSERT INTO summaries (conversation_id, level, made_by, made_at, focus, note, is_open, "
                        "is_stale) VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
                        values,
                    ).lastrowid
                    or 0
                )
            for place, line in enumerate(screened_lines(summary.lines, self._connections.screen)):
                put_line(connection, number, place, line)
            connection.executemany(
                "INSERT INTO summary_turns (row, summary) SELECT row, ? FROM turns WHERE turn_id = ?",
                [(number, turn.turn_id) for turn in turns],
            )
            connection.executemany("INSERT INTO summary_parts VALUES (?, ?)", [(number, part) for part in parts])
            return number

    def close_block(self, number: int) -> None:
        """Let no more turns be added to a summary."""
        with self._connections.writing() as connection:
            connection.execute("UPDATE summaries SET is_open = 0 WHERE summary = ?", (number,))

    def _refuse_if_stale(
        self, connection: Connection, summary: Summary, turns: Sequence[Turn], parts: Sequence[int], seq: int
    ) -> None:
        if not self.claims.are_ours(connection, summary.conversation_id):
            raise StaleError(f"another process took over the summary of {summary.conversation_id!r}; it makes it now")
        rows = {row for turn in turns for row in row_of(connection, turn.turn_id)}
        are_gone = len(rows) < len(turns)
        if summary.number:
            rows |= set(rows_of(connection, summary.number))
        made_of = rows.union(*(rows_of(connection, part) for part in parts))
        # What was removed is no longer among the rows of anything.
        are_gone |= (
            connection.execute("SELECT 1 FROM changes WHERE seq > ? AND kind = 'remove' LIMIT 1", (seq,)).fetchone()
            is not None
        )
        changed = {
            int(row) for (row,) in connection.execute("SELECT row FROM changes WHERE seq > ? AND kind != 'add'", (seq,))
        }
        taken = (
            summary.level is Level.HUNDRED
            and connection.execute(
                f"SELECT count(*) FROM summary_turns WHERE row IN ({','.join('?' * len(rows))}) AND summary != ?",
                (*rows, summary.number),
            ).fetchone()[0]
        )
        if changed & made_of or are_gone or taken:
            raise StaleError(f"turns of {summary.conversation_id!r} changed while their summary was made; make it anew")

    def follow(self) -> Standing:
        """Take out what could tell of turns that were corrected or forgotten since; it is made anew later.

        Returns how far was followed then.
        """
        standing = self._standing()
        followed = max(standing.followed, self._followed)
        if followed >= standing.last_seq:
            return standing
        with self._connections.reading() as connection:
            only_adds = connection.execute(
                "SELECT 1 FROM changes WHERE seq > ? AND kind != 'add' LIMIT 1", (followed,)
            ).fetchone()
        if only_adds is None and standing.last_seq - standing.followed < _FOLLOWED_EVERY:
            # A prompt follows at every turn, and a write would cost it more than all the rest.
            self._followed = standing.last_seq
            return standing
        with self._connections.writing() as connection:
            last = int(connection.execute("SELECT coalesce(max(seq), 0) FROM changes").fetchone()[0])
            changed = connection.execute(
                "SELECT DISTINCT row FROM changes WHERE seq > ? AND kind != 'add'", (followed,)
            ).fetchall()
            withdraw(connection, [int(row) for (row,) in changed])
            connection.execute(
                "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (_FOLLOWED, str(last)),
            )
        return Standing(last, last)
