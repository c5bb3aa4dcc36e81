"""What a client can attach: a turn, a conversation, the summary; and the prompts a person can start from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from memory_rag.errors import UnknownTurnError
from memory_rag.interfaces.mcp.overview import summaries_text, summarised_last
from memory_rag.interfaces.mcp.reading import ReadingTools
from memory_rag.interfaces.mcp.told import unknown_turn
from memory_rag.interfaces.mcp.wording import joined
from memory_rag.interfaces.serving.live_memory import LiveMemory
from memory_rag.prompt.fencing import Excerpt, fenced
from memory_rag.summaries.summary import Level, Summary
from memory_rag.turns import Span, Turn

if TYPE_CHECKING:
    from memory_rag.memory import Memory

TURN: Final = "memory://turns/{turn_id}"
CONVERSATION: Final = "memory://conversations/{conversation_id}"
SUMMARY: Final = "memory://summary"
_MOST_CHARS: Final = 200_000
"""Code points of one resource; a longer conversation is shown from its end."""
_SUMMARISED: Final = 10


class Resources:
    """The memory as documents, each fenced as data."""

    def __init__(self, live: LiveMemory) -> None:
        self._live = live

    def turn(self, turn_id: str) -> str:
        """One turn, word for word, with who said it and when."""
        memory = self._live.get()
        try:
            turn = memory.get(turn_id)
        except UnknownTurnError:
            raise unknown_turn(turn_id) from None
        return fenced([_whole(turn)], zone=memory.zone)

    def conversation(self, conversation_id: str) -> str:
        """A conversation in spoken order; of a long one the newest 200,000 characters."""
        memory = self._live.get()
        turns = [turn for turn in memory.turns(conversation_id=conversation_id) if turn.recalled]
        if not turns:
            raise UnknownTurnError(
                f"no conversation has the id {conversation_id!r}; memory_stats lists the newest, and every hit of "
                "search_memory names its own"
            )
        room, first = _MOST_CHARS, len(turns)
        while first > 0 and (room := room - len(turns[first - 1].text) - 100) >= 0:
            first -= 1
        first = min(first, len(turns) - 1)
        left_out = f"{first} earlier turns are not shown; search_memory finds them" if first else ""
        return joined(left_out, fenced([_whole(turn) for turn in turns[first:]], zone=memory.zone))

    def summary(self) -> str:
        """The summaries made last, of up to ten conversations, each line with its turns."""
        memory = self._live.get()
        shown = [one for name in summarised_last(memory, n=_SUMMARISED) for one in _coarsest(memory, name)]
        return summaries_text(shown) or "There is no summary yet; search_memory finds the turns themselves."


class Prompts:
    """What a person can start from: an answer out of the memory, and a check of what was quoted."""

    def __init__(self, tools: ReadingTools) -> None:
        self._tools = tools

    def recall(self, question: Annotated[str, Field(description="What you want to know of earlier talks.")]) -> str:
        """Answer a question from what was said before, with exact quotes."""
        found = self._tools.search_memory(question)
        return joined(
            f"Answer this from what was said earlier, and from nothing else: {question}",
            "Quote the words that settle it exactly, with their speaker, day and turn id. If what follows doesn't "
            "answer it, search again in other words with search_memory; if that doesn't either, say that it isn't in "
            "the memory.",
            found.text,
        )

    def check_quotes(
        self, text: Annotated[str, Field(description="The text whose quotations are to be checked.")]
    ) -> str:
        """Check every quotation in a text against what was really said, and mend it."""
        checked = self._tools.verify_quotes(text)
        return joined(
            "Here is a text, and what the memory says about each of its quotations. Give the text back with every "
            "quotation that is not verbatim replaced by the stored words, or without it where nothing like it was "
            "said; then list what you changed.",
            "<text>",
            [f"> {line}" for line in text.splitlines()],
            "</text>",
            checked.text,
        )


def _whole(turn: Turn) -> Excerpt:
    length = len(turn.text)
    return Excerpt(turn, Span(max(0, length - _MOST_CHARS), length))


def _coarsest(memory: Memory, conversation_id: str) -> list[Summary]:
    for level in (Level.LIFETIME, Level.THOUSAND, Level.HUNDRED):
        if found := memory.summaries.stored(conversation_id, level=level):
            return found[-1:]
    return []
