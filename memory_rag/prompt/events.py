"""The log of what was done to prompts: when, what, tokens before and after, which model, what it cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from memory_rag.errors import RefusedError, SettingsError
from memory_rag.store.engine import Connections
from memory_rag.turns import from_microseconds, text_bytes, text_from_bytes, to_microseconds


class EventKind(StrEnum):
    """What an event tells of."""

    ANSWER = "answer"
    CLEARED_TOOL_USES = "cleared-tool-uses"
    CLEARED_THINKING = "cleared-thinking"
    COMPACTION = "compaction"
    RETRIEVAL = "retrieval"
    SUMMARY = "summary"
    WARNING = "warning"

    @classmethod
    def parse(cls, value: str) -> EventKind:
        """Return the kind named.

        Raises:
            SettingsError: it is none.
        """
        try:
            return cls(value)
        except ValueError:
            raise SettingsError(f"unknown kind of event {value!r}; a kind is one of: {', '.join(cls)}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One entry of the log; None is what has no meaning for its kind or isn't known.

    ``number`` is 0 before it is logged. ``cost`` is in the currency of the price that was set; ``details`` are the
    rest, without words of turns: those are in the turns that it names.
    """

    kind: EventKind
    happened_at: datetime
    number: int = 0
    conversation_id: str | None = None
    turn_id: str | None = None
    model: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    cost: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs for each million tokens: read, and written."""

    read: float
    written: float

    def of(self, *, n_read: int, n_written: int) -> float:
        return (n_read * self.read + n_written * self.written) / 1_000_000


_COLUMNS: Final = (
    "event, kind, happened_at, conversation_id, turn_id, model, tokens_before, tokens_after, cost, details"
)
_ALL: Final = 2**62


class EventLog:
    """The events of one memory, kept in it."""

    def __init__(self, connections: Connections, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._connections = connections
        self._clock = clock

    def log(
        self,
        kind: EventKind,
        *,
        conversation_id: str | None = None,
        turn_id: str | None = None,
        model: str | None = None,
        tokens_before: int | None = None,
        tokens_after: int | None = None,
        cost: float | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> Event:
        """Write down what happened now, and return it with its number.

        Raises:
            StoreError: it can't be written.
        """
        now = self._clock()
        try:
            told = self._connections.screen.value(dict(details or {}), what="the event")
        except RefusedError:
            # Not the reason either: it names the rule, whose words are not to be stored.
            told = {"refused": "a rule of this memory keeps the details out"}
        written = (
            kind.value,
            to_microseconds(now),
            conversation_id,
            turn_id,
            model,
            tokens_before,
            tokens_after,
            cost,
            text_bytes(json.dumps(told, ensure_ascii=False)),
        )
        with self._connections.writing() as connection:
            cursor = connection.execute(
                "INSERT INTO events (kind, happened_at, conversation_id, turn_id, model, tokens_before, tokens_after, "
                "cost, details) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                written,
            )
            number = int(cursor.lastrowid or 0)
        return self._of((number, *written))

    def record(
        self,
        kind: str,
        *,
        conversation_id: str | None = None,
        model: str | None = None,
        tokens_before: int | None = None,
        tokens_after: int | None = None,
        **details: Any,
    ) -> None:
        """Write down what another part of the memory tells, such as a ``summary`` or a ``warning``.

        Raises:
            SettingsError: the kind is none.
        """
        self.log(
            EventKind.parse(kind),
            conversation_id=conversation_id,
            model=model,
            tokens_before=tokens_before,
            tokens_after=tokens_after,
            details=details,
        )

    def events(
        self,
        *,
        kind: EventKind | None = None,
        conversation_id: str | None = None,
        newest: int | None = None,
    ) -> list[Event]:
        """Return what was logged, oldest first: all of it, of one kind or conversation, or the newest so many."""
        told: list[str] = []
        values: list[object] = []
        for column, value in (("kind", kind), ("conversation_id", conversation_id)):
            if value is not None:
                told.append(f"{column} = ?")
                values.append(str(value))
        where = f"WHERE {' AND '.join(told)} " if told else ""
        with self._connections.reading() as connection:
            records = connection.execute(
                f"SELECT {_COLUMNS} FROM events {where}ORDER BY event DESC LIMIT ?",
                (*values, _ALL if newest is None else newest),
            ).fetchall()
        return [self._of(record) for record in reversed(records)]

    @staticmethod
    def _of(record: tuple[Any, ...]) -> Event:
        number, kind, at, conversation_id, turn_id, model, before, after, cost, details = record
        return Event(
            kind=EventKind(kind),
            happened_at=from_microseconds(at),
            number=number,
            conversation_id=conversation_id,
            turn_id=turn_id,
            model=model,
            tokens_before=before,
            tokens_after=after,
            cost=cost,
            details=json.loads(text_from_bytes(details)),
        )
