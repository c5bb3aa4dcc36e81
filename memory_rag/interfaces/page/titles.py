"""What conversations are called, and the list from which one is chosen."""

from __future__ import annotations

from typing import Final

from memory_rag.interfaces.page.asked import Asked
from memory_rag.talks.talk import Unit

_LISTED: Final = 300


def title_of(asked: Asked, conversation_id: str) -> str:
    """Return a conversation's title, else its id."""
    return asked.memory.talks.shelf.titles([conversation_id]).get(conversation_id) or conversation_id


def conversations(asked: Asked, chosen: str = "") -> list[tuple[str, str]]:
    """Return the id and title of the conversations that were last spoken in, newest first, and of the chosen one."""
    newest = asked.memory.talks.shelf.newest(Unit.CONVERSATION, n=_LISTED)
    found = [(one.talk.conversation_id, one.title or one.talk.conversation_id) for one in newest]
    if chosen and chosen not in dict(found):
        found.insert(0, (chosen, title_of(asked, chosen)))
    return found
