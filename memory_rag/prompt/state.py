"""The running task's state: a small JSON object that goes along in every prompt and is never dropped."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from memory_rag.errors import SettingsError
from memory_rag.prompt.merge_patch import merge_patch
from memory_rag.prompt.message_parts import Json
from memory_rag.store.engine import Connection, Connections
from memory_rag.turns import text_bytes, text_from_bytes, to_microseconds

LARGEST_BYTES: Final = 4096
"""A state over this is refused: it is paid for in every prompt."""
_NAME: Final = "task"


class TaskState:
    """The state of one memory, kept in it. Paths name fields with dots: ``goal``, ``customer.name``."""

    def __init__(
        self, connections: Connections, *, clock: Callable[[], datetime], largest_bytes: int = LARGEST_BYTES
    ) -> None:
        self._connections = connections
        self._clock = clock
        self._largest_bytes = largest_bytes

    def get(self) -> Json:
        """Return the whole state; an empty object if nothing was set."""
        with self._connections.reading() as connection:
            return _read(connection)

    def set(self, path: str, value: Any) -> Json:
        """Set a field to a JSON value, making the objects on the way, and return the whole state.

        Raises:
            SettingsError: no path, a value that JSON can't write, a state that would be too large, or a field on the
                way that is no object.
        """
        names = _names(path)

        def change(state: Json) -> Json:
            inner = state
            for at, name in enumerate(names[:-1]):
                found = inner.setdefault(name, {})
                if not isinstance(found, dict):
                    where = ".".join(names[: at + 1])
                    raise SettingsError(f"{where} in the state is {found!r}, no object; unset it first: {where}")
                inner = found
            inner[names[-1]] = value
            return state

        return self._change(change)

    def append(self, field: str, entry: Any) -> Json:
        """Add an entry that isn't there yet to the list under a field, made if there is none; return the whole state.

        Raises:
            SettingsError: the field holds something else, or the state would be too large.
        """

        def change(state: Json) -> Json:
            entries = state.setdefault(field, [])
            if not isinstance(entries, list):
                raise SettingsError(f"{field} in the state is {entries!r:.80}, no list; unset it first: {field}")
            # True is 1 to Python, and not to JSON.
            if _written(entry) not in map(_written, entries):
                entries.append(entry)
            return state

        return self._change(change)

    def unset(self, path: str) -> Json:
        """Take a field away and return the whole state.

        Raises:
            SettingsError: there is no such field.
        """
        names = _names(path)

        def change(state: Json) -> Json:
            inner: Any = state
            for name in names[:-1]:
                inner = inner.get(name) if isinstance(inner, dict) else None
            if not isinstance(inner, dict) or names[-1] not in inner:
                fields = ", ".join(state) or "nothing"
                raise SettingsError(f"the state has no {path!r}; it has: {fields}")
            del inner[names[-1]]
            return state

        return self._change(change)

    def merge(self, patch: Json) -> Json:
        """Lay a merge patch (RFC 7396) over the state, and return the whole of it; null takes a field away.

        Raises:
            SettingsError: the patch is no object, or the state would be too large.
        """
        if not isinstance(patch, dict):
            raise SettingsError(f"a merge patch of the state is a JSON object, got {patch!r:.80}")

        def change(state: Json) -> Json:
            merged: Json = merge_patch(state, patch)
            return merged

        return self._change(change)

    def clear(self) -> None:
        """Take everything away."""
        self._change(lambda _state: {})

    def _change(self, change: Callable[[Json], Json]) -> Json:
        with self._connections.writing() as connection:
            try:
                changed = json.loads(_written(change(_read(connection))))
                state: Json = self._connections.screen.value(changed, what="the state")
                written = text_bytes(_written(state))
            except (TypeError, ValueError) as error:
                raise SettingsError(f"the state holds what JSON can write, nothing else ({error})") from error
            except RecursionError:
                raise SettingsError(
                    "the state is a small object, and this is nested hundreds deep; flatten it"
                ) from None
            if len(written) > self._largest_bytes:
                raise SettingsError(
                    f"the state would have {len(written):,} bytes, {len(written) - self._largest_bytes:,} over its "
                    f"limit of {self._largest_bytes:,}; it goes along in every prompt, so keep what is long in a turn "
                    "or a pinned file"
                )
            connection.execute(
                "INSERT INTO state VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value, "
                "changed_at = excluded.changed_at",
                (_NAME, written, to_microseconds(self._clock())),
            )
        return state


def _read(connection: Connection) -> Json:
    found = connection.execute("SELECT value FROM state WHERE name = ?", (_NAME,)).fetchone()
    state: Json = {} if found is None else json.loads(text_from_bytes(found[0]))
    return state


def _written(value: Any) -> str:
    """Return a value's JSON.

    Raises:
        TypeError: something in it JSON can't write so that it comes back the same.
        ValueError: it has a number that is none, or itself in it.
    """
    _refuse_other_names(value)
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _refuse_other_names(value: Any) -> None:
    """Refuse names of fields that are no texts: JSON would make texts of them, and two of them one."""
    if isinstance(value, dict):
        for name in value:
            if not isinstance(name, str):
                raise TypeError(f"the name of a field is a text, got {name!r}")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        _refuse_other_names(inner)


def _names(path: str) -> list[str]:
    names = path.split(".")
    if not all(names):
        raise SettingsError(
            f"{path!r} names no field of the state; a path is names with dots between, as customer.name"
        )
    return names
