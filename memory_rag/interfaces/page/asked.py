"""A browser's request: its fields, its language, its form's mark; and what is drawn for it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memory_rag.errors import QueryError
from memory_rag.interfaces.page.texts import Texts

if TYPE_CHECKING:
    from memory_rag.interfaces.serving.live_memory import LiveMemory
    from memory_rag.memory import Memory


class StaleFormError(QueryError):
    """A form that this process didn't make."""


class ToldError(QueryError):
    """What was sent can't be used; the message is in the reader's language already."""


@dataclass(frozen=True)
class Asked:
    """What was asked: a path below the memory's own, its fields (each a list of values), and of which memory."""

    path: str
    fields: Mapping[str, list[str]]
    texts: Texts
    live: LiveMemory
    memory_name: str

    @cached_property
    def memory(self) -> Memory:
        """The memory, the same one until the answer is drawn.

        Raises:
            NotAMemoryError: nothing is stored yet.
        """
        return self.live.get()

    def one(self, name: str, default: str = "") -> str:
        return self.fields.get(name, [default])[-1].strip()

    def exact(self, name: str) -> str:
        """Return a value as it was sent: an id may begin or end with a space."""
        return self.fields.get(name, [""])[-1]

    def text(self, name: str) -> str:
        """Return a text area's value as it was typed, line ends as they are stored."""
        return self.exact(name).replace("\r\n", "\n")

    def all(self, name: str) -> list[str]:
        return [value for value in self.fields.get(name, []) if value]

    def number(self, name: str, *, default: int, least: int = 0, most: int = 1_000_000) -> int:
        """Return a whole number; the default for anything that is none."""
        value = self.one(name)
        if not (value.isascii() and value.isdigit() and len(value) < 10):
            return default
        return max(least, min(most, int(value)))

    def when(self, instant: datetime | None) -> str:
        """Return an instant for a reader, in the memory's zone."""
        if instant is None:
            return self.texts.tell("time_unknown")
        return instant.astimezone(self.memory.zone).strftime("%Y-%m-%d %H:%M")

    def day(self, instant: datetime | None) -> str:
        return self.when(instant)[:10] if instant is not None else self.texts.tell("time_unknown")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A template and its values; or where to go on (``to``, a path below the memory's own)."""

    template: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    to: str = ""
    status: int = 200


def digest_of(shown: Iterable[str]) -> str:
    """Return a digest of what was shown, by which a form tells that nothing else is changed by it."""
    return hashlib.sha256("\0".join(shown).encode("utf-8", "surrogatepass")).hexdigest()[:32]


class FormMark:
    """The mark in every form of this process (CSRF): another site's page can't read it, so it can't send one."""

    def __init__(self, secret: bytes) -> None:
        self.value = hmac.digest(secret, b"form", "sha256").hex()

    def check(self, given: str) -> None:
        """Refuse a form without the mark.

        Raises:
            StaleFormError: the server was started anew since, or another site sent it.
        """
        if not hmac.compare_digest(given.encode("utf-8", "replace"), self.value.encode()):
            raise StaleFormError("this form is from before the server was started; go back, reload, and send it again")
