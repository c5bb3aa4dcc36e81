"""Pinned preferences: sentences that are in every prompt, word for word, until they are taken off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from memory_rag.prompt.numbered import named, number_of, refuse_unknown_turn, stripped
from memory_rag.store.engine import Connections
from memory_rag.turns import from_microseconds, text_bytes, text_from_bytes, to_microseconds


@dataclass(frozen=True, slots=True)
class Pin:
    """A preference; ``turn_id`` is the turn in which it was stated, if it was pinned from one."""

    pin_id: str
    text: str
    turn_id: str | None
    pinned_at: datetime


class Pins:
    """The preferences pinned in one memory."""

    def __init__(self, connections: Connections, *, clock: Callable[[], datetime]) -> None:
        self._connections = connections
        self._clock = clock

    def add(self, text: str, *, turn_id: str | None = None) -> Pin:
        """Pin a preference and return it; one that is pinned already is returned as it is.

        Raises:
            SettingsError: there are no words in it.
            UnknownTurnError: no turn has this id.
            RefusedError: a rule of the memory keeps it out.
        """
        text = self._connections.screen.text(stripped(text, what="a preference"), what="the preference")
        words = text_bytes(text)
        with self._connections.writing() as connection:
            refuse_unknown_turn(connection, turn_id)
            known = connection.execute("SELECT pin FROM pins WHERE text = ?", (words,)).fetchone()
            if known is None:
                connection.execute(
                    "INSERT INTO pins (text, turn_id, pinned_at) VALUES (?, ?, ?)",
                    (words, turn_id, to_microseconds(self._clock())),
                )
        return next(pin for pin in self.all() if text_bytes(pin.text) == words)

    def remove(self, pin_id: str) -> Pin:
        """Take a pin off and return what it was.

        Raises:
            SettingsError: there is no such pin.
        """
        found = named(self.all(), pin_id, what="pin", name_of=lambda pin: pin.pin_id)
        with self._connections.writing() as connection:
            connection.execute("DELETE FROM pins WHERE pin = ?", (number_of(pin_id, letter="p"),))
        return found

    def all(self) -> list[Pin]:
        """Return the pins in the order in which they were set."""
        with self._connections.reading() as connection:
            return [
                Pin(f"p{number}", text_from_bytes(text), turn_id, from_microseconds(at))
                for number, text, turn_id, at in connection.execute(
                    "SELECT pin, text, turn_id, pinned_at FROM pins ORDER BY pin"
                )
            ]
