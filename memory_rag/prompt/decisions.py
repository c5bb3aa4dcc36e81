"""The decision log: what was decided and why. A summary drops the reason first, so it is kept apart from summaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from memory_rag.prompt.numbered import named, number_of, refuse_unknown_turn, stripped
from memory_rag.store.engine import Connections
from memory_rag.turns import from_microseconds, text_bytes, text_from_bytes, to_microseconds


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided, its reason, and the turn in which it was, if that is known."""

    decision_id: str
    text: str
    because: str
    turn_id: str | None
    decided_at: datetime


class Decisions:
    """The decisions of one memory."""

    def __init__(self, connections: Connections, *, clock: Callable[[], datetime]) -> None:
        self._connections = connections
        self._clock = clock

    def add(self, text: str, *, because: str, turn_id: str | None = None) -> Decision:
        """Write down a decision with its reason, and return it.

        Raises:
            SettingsError: there are no words in it, or in its reason.
            UnknownTurnError: no turn has this id.
            RefusedError: a rule of the memory keeps it out.
        """
        screen = self._connections.screen
        decided = screen.text(stripped(text, what="a decision"), what="the decision")
        reason = screen.text(stripped(because, what="the reason of a decision"), what="the reason")
        at = self._clock()
        with self._connections.writing() as connection:
            refuse_unknown_turn(connection, turn_id)
            cursor = connection.execute(
                "INSERT INTO decisions (text, because, turn_id, decided_at) VALUES (?, ?, ?, ?)",
                (text_bytes(decided), text_bytes(reason), turn_id, to_microseconds(at)),
            )
            number = cursor.lastrowid
        return Decision(f"d{number}", decided, reason, turn_id, from_microseconds(to_microseconds(at)))

    def remove(self, decision_id: str) -> Decision:
        """Take a decision out of the log and return what it was.

        Raises:
            SettingsError: there is no such decision.
        """
        found = named(self.all(), decision_id, what="decision", name_of=lambda one: one.decision_id)
        with self._connections.writing() as connection:
            connection.execute("DELETE FROM decisions WHERE decision = ?", (number_of(decision_id, letter="d"),))
        return found

    def all(self) -> list[Decision]:
        """Return the decisions in the order in which they were written down."""
        with self._connections.reading() as connection:
            return [
                Decision(f"d{number}", text_from_bytes(text), text_from_bytes(because), turn_id, from_microseconds(at))
                for number, text, because, turn_id, at in connection.execute(
                    "SELECT decision, text, because, turn_id, decided_at FROM decisions ORDER BY decision"
                )
            ]


def as_markdown(decisions: Sequence[Decision], *, zone: tzinfo = UTC) -> str:
    """Return decisions as a Markdown page, oldest first, one heading each."""
    parts = ["# Decisions\n"]
    for one in decisions:
        day = one.decided_at.astimezone(zone).date().isoformat()
        turn = f" ({one.turn_id})" if one.turn_id else ""
        parts.append(f"## {_line(one.text)}\n\n{day}, {one.decision_id}{turn}\n\n**Because** {one.because}\n")
    return "\n".join(parts)


def _line(text: str) -> str:
    return " ".join(text.split())
