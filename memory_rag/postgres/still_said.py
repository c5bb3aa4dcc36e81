"""Whether a turn still says what something was made of: it may be corrected or removed while it is being embedded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from memory_rag.store.engine import Connection
from memory_rag.store.turn_rows import row_values
from memory_rag.turns import Turn

_WORDS: Final = ("sha256", "speaker", "blocks", "indexed_start", "indexed_end")

Said = tuple[Any, ...]


def said_in(turn: Turn) -> Said:
    """Return what a turn says, as :func:`said_at` returns it of a stored one."""
    values = row_values(turn)
    return tuple(values[name] for name in _WORDS)


def said_at(connection: Connection, rows: Sequence[int]) -> dict[int, Said]:
    """Return what the turns at these rows say now; those that are gone are left out."""
    found = connection.execute(
        f"SELECT row, {', '.join(_WORDS)} FROM turns WHERE row = ANY(?::bigint[])", (list(rows),)
    ).fetchall()
    return {int(row): tuple(words) for row, *words in found}
