"""Off the record: a memory that takes no turns until it is told to take them again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from memory_rag.store.turn_writer import TurnWriter


@dataclass(frozen=True, slots=True)
class OffRecord:
    """The switch of one memory; it is kept with its turns and holds for every process."""

    store: TurnWriter
    clock: Callable[[], datetime]

    @property
    def since(self) -> datetime | None:
        """Since when no turn is stored; None if turns are."""
        since = self.store.off_record_since
        return None if since is None else datetime.fromisoformat(since)

    def on(self) -> datetime:
        """Store no turn from now on, and return since when; what was switched on earlier stays on since then."""
        self.store.set_off_record(self.clock().astimezone(UTC).isoformat(timespec="seconds"))
        return self.since or self.clock()

    def off(self) -> bool:
        """Store turns again, and tell whether they weren't."""
        was_on = self.since is not None
        self.store.set_off_record(None)
        return was_on
