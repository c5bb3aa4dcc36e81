"""What stands at every door of the store: it may mark a turn, take something out of it, or keep it out.

The store knows what a screen does, not how: rules are in :mod:`memory_rag.privacy`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple, Protocol, Self

from memory_rag.turns import Span, Turn

OFF_RECORD: Final = "this memory is off the record"
IN_TEXT, IN_BLOCKS, IN_SOURCE = "text", "blocks", "source"
PLACES: Final = (IN_TEXT, IN_BLOCKS, IN_SOURCE)
"""Where in a turn something was found: its text, its blocks, or the JSON of its source."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something secret or personal in a turn: its kind, and whether it was tagged (``tag``) or taken out (``redact``).

    ``span`` is its place in the stored text, of what was taken out that of the placeholder; None outside the text.
    """

    kind: str
    action: str
    place: str = IN_TEXT
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Unstored(Turn):
    """A turn that was not stored, as it was given: its ``turn_id`` is empty, and ``reason`` says why.

    Not a word of it is on the disk.
    """

    reason: str = ""

    @classmethod
    def of(cls, turn: Turn, reason: str) -> Self:
        given = {spec.name: getattr(turn, spec.name) for spec in fields(Turn)}
        return cls(**{**given, "turn_id": ""}, reason=reason)


class Screened(NamedTuple):
    """A turn as it may be stored, and what was found in it; with a ``refusal``, why it may not be."""

    turn: Turn
    findings: tuple[Finding, ...] = ()
    refusal: str = ""


class Screen(Protocol):
    """Looks at everything before it is stored; the same text always gets the same answer."""

    @property
    def lets_all_in(self) -> bool:
        """Whether it never keeps a turn out as a whole."""

    def turn(self, turn: Turn) -> Screened:
        """Return a turn as it may be stored."""

    def text(self, text: str, *, what: str) -> str:
        """Return a text as it may be stored; ``what`` names it in an error.

        Raises:
            RefusedError: it may not be stored at all.
        """

    def value(self, value: Any, *, what: str) -> Any:
        """Return a JSON value as it may be stored.

        Raises:
            RefusedError: it may not be stored at all.
        """

    def with_actions(self, wish: str) -> Screen:
        """Return this screen with other actions, such as ``tag`` or ``phone=redact``.

        Raises:
            SettingsError: an unknown kind or action.
        """


class OpenDoor:
    """The screen of a store that has none: everything goes in as it is."""

    lets_all_in = True

    def turn(self, turn: Turn) -> Screened:
        return Screened(turn)

    def text(self, text: str, *, what: str) -> str:
        return text

    def value(self, value: Any, *, what: str) -> Any:
        return value

    def with_actions(self, wish: str) -> Screen:
        return self


Counts = Mapping[tuple[str, str], int]
"""How often by (kind, action)."""
