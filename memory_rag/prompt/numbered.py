"""What is kept by number and named by a letter before it: ``p3``, ``d1``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from memory_rag.errors import SettingsError, UnknownTurnError
from memory_rag.store.engine import Connection

One = TypeVar("One")


def number_of(name: str, *, letter: str) -> int:
    """Return the number in a name such as ``p3``; -1, which nothing has, for what is no such name."""
    digits = name.removeprefix(letter)
    return int(digits) if name.startswith(letter) and digits.isascii() and digits.isdigit() else -1


def named(listed: Sequence[One], name: str, *, what: str, name_of: Callable[[One], str]) -> One:
    """Return the one of some that has a name.

    Raises:
        SettingsError: none has.
    """
    found = next((one for one in listed if name_of(one) == name), None)
    if found is None:
        known = ", ".join(map(name_of, listed)) or "none"
        raise SettingsError(f"no {what} {name!r}; {what}s are: {known}")
    return found


def stripped(text: str, *, what: str) -> str:
    """Return a text without space around it.

    Raises:
        SettingsError: nothing is left.
    """
    if not isinstance(text, str) or not any(one.isprintable() and not one.isspace() for one in text):
        raise SettingsError(f"{what} is a text with words in it, got {text!r}")
    return text.strip()


def refuse_unknown_turn(connection: Connection, turn_id: str | None) -> None:
    """Fail if a turn is named that isn't stored.

    Raises:
        UnknownTurnError: no turn has this id.
    """
    if turn_id is None:
        return
    if connection.execute("SELECT 1 FROM turns WHERE turn_id = ?", (turn_id,)).fetchone() is None:
        raise UnknownTurnError(f"no turn has the id {turn_id!r}; find ids with: memory-rag search")
