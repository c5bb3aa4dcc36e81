"""What a tool has to tell: its typed answer, and the words in which a model reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from memory_rag.errors import MemoryRagError, UnknownTurnError
from memory_rag.interfaces.mcp.results import Answer

Result = TypeVar("Result", bound=Answer)


@dataclass(frozen=True, slots=True)
class Told(Generic[Result]):
    """A typed answer and its text; words of the memory stand in the text fenced and attributed."""

    result: Result
    text: str


class AskError(MemoryRagError):
    """A client asked for what can't be; the message says what it can do instead."""


def unknown_turn(turn_id: str) -> UnknownTurnError:
    """Return the error for an id that no turn has, in words for somebody who has tools and no command line."""
    return UnknownTurnError(
        f"no turn has the id {turn_id!r}; it may have been forgotten. Ids such as t17 come from search_memory and "
        "quote: look it up there again"
    )
