"""A turn's new text, speaker or time, in its row; what it was before is kept beside it, or erased."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from memory_rag.store.engine import Connection
from memory_rag.store.inserting import log
from memory_rag.store.removal import note_erasing
from memory_rag.store.turn_rows import instant, row_values
from memory_rag.turns import Block, Turn, text_bytes, text_from_bytes


@dataclass(frozen=True, slots=True)
class Correction:
    """What is to be put right; None is what stays."""

    text: str | None = None
    speaker: str | None = None
    said_at: datetime | None = None

    def of(self, old: Turn) -> Turn:
        """Return a turn put right."""
        return replace(
            old,
            text=old.text if self.text is None else self.text,
            speaker=old.speaker if self.speaker is None else self.speaker,
            said_at=old.said_at if self.said_at is None else self.said_at,
            said_at_text=old.said_at_text if self.said_at is None else None,
            indexed=old.indexed if self.text is None else None,
        )


def keep_and_correct(connection: Connection, row: int, old: Turn, correction: Correction, *, now: int) -> Turn:
    """Put a turn right and keep what it was as an earlier version."""
    new = correction.of(old)
    seq = log(connection, "correct", row, now)
    connection.execute(
        "INSERT INTO versions VALUES (?, ?, ?, ?, ?)",
        (row, seq, text_bytes(old.text), text_bytes(old.speaker), instant(old.said_at)),
    )
    _write(connection, row, new)
    return new


def erase_and_correct(
    connection: Connection,
    row: int,
    old: Turn,
    correction: Correction,
    *,
    tells: Callable[[str], bool] | None = None,
    now: int,
) -> Turn:
    """Put a turn right and erase what it was: these words, its source's JSON, and the answer that a provider gave.

    Earlier versions and blocks go too if one of their texts ``tells`` what is erased; by default, if it holds it.
    """
    tells = tells or _holding(old, correction)
    source = None if old.source is None else replace(old.source, raw=None)
    blocks = tuple(block for block in old.blocks if not tells(_words_of(block)))
    new = replace(correction.of(old), source=source, blocks=blocks)
    for seq, text, speaker in connection.execute(
        "SELECT replaced_by, text, speaker FROM versions WHERE row = ?", (row,)
    ).fetchall():
        if tells(text_from_bytes(text)) or tells(text_from_bytes(speaker)):
            connection.execute("DELETE FROM versions WHERE row = ? AND replaced_by = ?", (row, seq))
    connection.execute("DELETE FROM returned_blocks WHERE row = ?", (row,))
    connection.execute(
        "INSERT INTO erased VALUES (?, 'version', ?) "
        "ON CONFLICT (row) DO UPDATE SET what = excluded.what, erased_at = excluded.erased_at",
        (row, now),
    )
    log(connection, "correct", row, now)
    _write(connection, row, new)
    note_erasing(connection, [row], now=now)
    return new


def _holding(old: Turn, correction: Correction) -> Callable[[str], bool]:
    wrong = [
        was
        for was, now in ((old.text, correction.text), (old.speaker, correction.speaker))
        if was and now is not None and was not in now
    ]
    return lambda text: any(words in text for words in wrong)


def _words_of(block: Block) -> str:
    return f"{block.caption} {json.dumps(block.data, ensure_ascii=False)}"


def _write(connection: Connection, row: int, turn: Turn) -> None:
    values = row_values(turn)
    names = ("text", "sha256", "speaker", "said_at", "said_at_text", "blocks", "raw", "indexed_start", "indexed_end")
    connection.execute(
        f"UPDATE turns SET {', '.join(f'{name} = :{name}' for name in names)} WHERE row = :row",
        {"row": row, **{name: values[name] for name in names}},
    )
