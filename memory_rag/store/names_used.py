"""The names that a memory's turns use: of conversations, sessions and speakers."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.store.turn_reader import TurnReader
from memory_rag.turns import text_bytes, text_from_bytes

Kind = Literal["conversation", "session", "speaker"]
_COLUMN: Final[dict[Kind, str]] = {"conversation": "conversation_id", "session": "session_id", "speaker": "speaker"}


def names_used(folder: Path, kind: Kind, *, beginning: str = "", limit: int = 200) -> list[str]:
    """Return the names of a kind that begin so, in order of their letters, ``limit`` at most.

    Raises:
        NotAMemoryError: the folder holds no store.
    """
    with SqliteTurnStore.opened(folder) as store:
        return names_used_in(store, kind, beginning=beginning, limit=limit)


def names_used_in(store: TurnReader, kind: Kind, *, beginning: str = "", limit: int = 200) -> list[str]:
    """Return these names of a store that is open."""
    asked = text_bytes(beginning) if kind == "speaker" else beginning
    name = _COLUMN[kind]
    with store.connections.reading() as connection:
        found = connection.execute(
            f"SELECT DISTINCT {name} FROM turns WHERE substr({name}, 1, CAST(? AS INTEGER)) = ? ORDER BY 1 LIMIT ?",
            (len(asked), asked, limit),
        ).fetchall()
    return [text_from_bytes(one) if isinstance(one, bytes) else str(one) for (one,) in found]
