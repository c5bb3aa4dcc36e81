"""The names that a memory's turns use: of conversations, sessions and speakers."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.turns import text_bytes, text_from_bytes

Kind = Literal["conversation", "session", "speaker"]
_SELECT: Final[dict[Kind, str]] = {
    "conversation": "SELECT DISTINCT conversation_id FROM turns WHERE substr(conversation_id, 1, ?) = ?",
    "session": "SELECT DISTINCT session_id FROM turns WHERE substr(session_id, 1, ?) = ?",
    "speaker": "SELECT DISTINCT speaker FROM turns WHERE substr(speaker, 1, ?) = ?",
}


def names_used(folder: Path, kind: Kind, *, beginning: str = "", limit: int = 200) -> list[str]:
    """Return the names of a kind that begin so, in order of their letters, ``limit`` at most.

    Raises:
        NotAMemoryError: the folder holds no store.
    """
    asked = text_bytes(beginning) if kind == "speaker" else beginning
    statement = f"{_SELECT[kind]} ORDER BY 1 LIMIT ?"
    with SqliteTurnStore.opened(folder) as store, store.connections.reading() as connection:
        found = connection.execute(statement, (len(asked), asked, limit)).fetchall()
    return [text_from_bytes(name) if isinstance(name, bytes) else str(name) for (name,) in found]
