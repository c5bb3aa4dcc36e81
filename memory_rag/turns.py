"""What is stored and found: turns, their blocks, and spans of their text."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Self

from memory_rag.errors import TurnError


class Role(StrEnum):
    """Who speaks, as chat APIs name it."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"

    @classmethod
    def parse(cls, value: str) -> Self:
        """Return the role named; ``developer`` is a system role, ``function`` a tool role.

        Raises:
            TurnError: the name is none of these.
        """
        if isinstance(value, cls):
            return value
        named = {"developer": "system", "function": "tool", "human": "user"}.get(value.lower(), value.lower())
        try:
            return cls(named)
        except ValueError:
            allowed = ", ".join(role.value for role in cls)
            raise TurnError(f"unknown role {value!r}; a role is one of: {allowed}") from None


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points, ``text[start:end]``."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"a span needs 0 <= start <= end, got [{self.start}, {self.end})")

    def of(self, text: str) -> str:
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Block:
    """One content block as the source wrote it: an image, a tool call, a tool result, thinking.

    ``kind`` is one of ``image``, ``attachment``, ``tool_call``, ``tool_result``, ``thinking`` or the source's
    own word; ``data`` is the source's JSON object, unchanged. ``caption`` holds the words by which the block
    can be found (an image's caption, a file's name); they are searched, but they are not part of the text.
    """

    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a turn came from: the importer's name, the id it has there, and its JSON as read there."""

    name: str
    native_id: str
    raw: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance, verbatim.

    ``text`` is never changed by the library: what goes in comes out, code point by code point. ``turn_id`` may
    be empty for a turn that is not stored yet; the store then gives it one (``t17``). ``said_at`` is an instant
    with a zone, or None when the source does not tell; ``said_at_text`` keeps the time as the source wrote it.
    ``recalled`` is False for what is stored and shown but left out of search unless asked for: tool traffic,
    hidden context, abandoned branches. ``indexed`` narrows what the indexes read to a span of the text (a
    generator's mark at the end of a message is stored, but it is not something that was said).
    """

    turn_id: str
    conversation_id: str
    session_id: str
    ordinal: int
    role: Role
    speaker: str
    text: str
    said_at: datetime | None = None
    said_at_text: str | None = None
    blocks: tuple[Block, ...] = ()
    source: Source | None = None
    recalled: bool = True
    indexed: Span | None = None

    def __post_init__(self) -> None:
        if self.said_at is not None and self.said_at.tzinfo is None:
            raise TurnError(
                f"said_at {self.said_at.isoformat(sep=' ')} has no time zone; give one, "
                "for example datetime(..., tzinfo=timezone.utc)"
            )

    @property
    def sha256(self) -> str:
        """SHA-256 of the text's bytes (UTF-8, lone surrogates passed through), as 64 hex digits."""
        return hashlib.sha256(text_bytes(self.text)).hexdigest()

    @property
    def searchable(self) -> str:
        """The words the indexes read: the text, or its ``indexed`` span, and after it the blocks' captions.

        A position in it below the end of the text part is ``indexed.start`` (or 0) away from the text's own.
        """
        said = self.text if self.indexed is None else self.indexed.of(self.text)
        shown = "".join(f" [shared {block.kind}: {block.caption}]" for block in self.blocks if block.caption)
        return said + shown

    def span_in_text(self, searched: Span) -> Span:
        """Map a span of ``searchable`` to the text; a span among the captions maps to the whole text."""
        n = len(self.text)
        if self.indexed is None and searched.start < searched.end <= n:
            return searched
        start, end = (0, n) if self.indexed is None else (self.indexed.start, self.indexed.end)
        if searched.start >= end - start:
            return Span(0, n)
        return Span(start + searched.start, min(start + searched.end, end))


def text_bytes(text: str) -> bytes:
    """Return the bytes that are stored for a text: UTF-8 in which lone surrogates pass through."""
    return text.encode("utf-8", "surrogatepass")


def text_from_bytes(data: bytes) -> str:
    """Return the text whose stored bytes these are; the inverse of :func:`text_bytes`."""
    return data.decode("utf-8", "surrogatepass")


def printable(text: str) -> str:
    """Return the text as a terminal, a tokenizer or an HTTP body can take it: lone surrogates and NUL as U+FFFD."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "\ufffd")


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_microseconds(instant: datetime) -> int:
    """Return an instant as whole microseconds since 1970 UTC; integers compare as instants do, texts don't."""
    delta = instant.astimezone(UTC) - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def from_microseconds(value: int) -> datetime:
    """Return the UTC instant that is this many microseconds after 1970."""
    return _EPOCH + timedelta(0, *divmod(value, 1_000_000))


@dataclass(frozen=True, slots=True)
class Withheld:
    """Messages that a source still has but shows no more, such as other branches: never new, and out of recall."""

    source_name: str
    conversation_id: str
    native_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is known of a conversation beside its turns: the title that its source gave it."""

    conversation_id: str
    title: str = ""
