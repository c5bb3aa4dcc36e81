"""What other rows keep of forgotten turns: sources that quote them, blocks that stand for them, lists of ids."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence, Set
from typing import Final

from memory_rag.privacy.byte_search import ByteSearch
from memory_rag.privacy.own_words import telling_words, words_in
from memory_rag.privacy.phrases import Phrases
from memory_rag.privacy.retold import unescaped
from memory_rag.privacy.spellings import PIECE, pieces
from memory_rag.store.engine import Connection
from memory_rag.store.removal import note_erasing
from memory_rag.store.row_pages import row_pages
from memory_rag.turns import text_bytes, text_from_bytes

_UNREADABLE: Final = ('"compaction"', '"encrypted_content"', '"redacted_thinking"', '"signature"')
"""In a provider's block: a summary of everything before it, or what nobody here can read."""
_EXPORT_OF: Final = "export of "


def erase_quoting_sources(
    connection: Connection, said: Sequence[str], *, conversation_ids: Set[str], now: int
) -> list[str]:
    """Erase the source's JSON of turns that stay, where it quotes what was forgotten; return their ids.

    A reply may carry the whole message that it answers. In one of these conversations it quotes if it has three words
    in a row of a forgotten text (or all of a shorter one that nobody else says) that its own turn's text has not;
    elsewhere, where the same words stand by chance more often, if it has 24 characters in a row as well.
    """
    if connection.execute("SELECT 1 FROM turns WHERE source_name IS NOT NULL LIMIT 1").fetchone() is None:
        # Told by an index, where a look for sources' JSON goes through all turns.
        return []
    forgotten = Phrases(connection, said)
    long_pieces = _Pieces(said)
    erased: list[str] = []
    columns = ("row", "turn_id", "conversation_id", "raw")
    for rows in row_pages(connection, "turns", columns, where="raw IS NOT NULL"):
        for row, turn_id, conversation_id, raw in rows:
            if (conversation_id in conversation_ids or long_pieces.are_in(raw)) and _quotes(
                connection, row, raw, forgotten
            ):
                erased.append(turn_id)
                note_erasing(connection, [row], now=now)
    ids = [(turn_id,) for turn_id in erased]
    connection.executemany(
        # Without the WHERE of a SELECT, SQLite would take ON for a part of a join.
        f"INSERT INTO erased (row, what, erased_at) SELECT row, 'raw', {int(now)} FROM turns WHERE turn_id = ? "
        "ON CONFLICT DO NOTHING",
        ids,
    )
    connection.executemany("UPDATE turns SET raw = NULL WHERE turn_id = ?", ids)
    return erased


class _Pieces:
    """Pieces of 24 characters of some texts, as JSON writes them."""

    def __init__(self, texts: Iterable[str]) -> None:
        whole = dict.fromkeys(piece for text in texts for piece in pieces(text) if len(piece) == PIECE)
        written = {json.dumps(piece, ensure_ascii=plain)[1:-1] for piece in whole for plain in (True, False)}
        self._search = ByteSearch(sorted({text_bytes(one).lower() for one in written}))

    def are_in(self, data: bytes) -> bool:
        """Tell whether some bytes hold any of them, whatever the case of their ASCII letters."""
        return any(True for _found in self._search.found_in(data.lower()))


def _quotes(connection: Connection, row: int, raw: bytes, forgotten: Phrases) -> bool:
    quoted = forgotten.in_text(unescaped(text_from_bytes(raw)))
    if not quoted:
        return False
    (texts,) = connection.execute("SELECT text, blocks FROM turns WHERE row = ?", (row,)).fetchall()
    return bool(quoted.difference(*(forgotten.in_text(text_from_bytes(text or b"")) for text in texts)))


def drop_answers_after(
    connection: Connection, first_ordinals: Iterable[tuple[str, int]], said: Iterable[str], *, now: int
) -> int:
    """Drop what a provider wants back, of answers after a forgotten turn, if it may tell of it; return how many.

    ``first_ordinals`` are (conversation, where its first forgotten turn stood). A compaction stands for everything
    before it; what is encrypted or signed can't be read here, so it goes too.
    """
    telling = set[str]().union(*map(telling_words, said))
    n_dropped = 0
    for conversation_id, ordinal in first_ordinals:
        for row, content in connection.execute(
            "SELECT row, content FROM returned_blocks JOIN turns USING (row) "
            "WHERE conversation_id = ? AND ordinal >= ?",
            (conversation_id, ordinal),
        ).fetchall():
            text = text_from_bytes(content)
            if any(sign in text for sign in _UNREADABLE) or words_in(unescaped(text)) & telling:
                connection.execute("DELETE FROM returned_blocks WHERE row = ?", (row,))
                note_erasing(connection, [row], now=now)
                n_dropped += 1
    return n_dropped


def drop_gone_conversations(connection: Connection, gone: Set[str]) -> None:
    """Take conversations without a turn out of the lists of what accounts' exports held, and their summaries away."""
    for name, value in connection.execute(
        "SELECT name, value FROM facts WHERE name LIKE ?", (f"{_EXPORT_OF}%",)
    ).fetchall():
        export = json.loads(value)
        left = [one for one in export["conversations"] if one not in gone]
        if not left:
            connection.execute("DELETE FROM facts WHERE name = ?", (name,))
        elif left != export["conversations"]:
            written = json.dumps({**export, "conversations": left}, ensure_ascii=False)
            connection.execute("UPDATE facts SET value = ? WHERE name = ?", (written, name))
    for conversation_id in sorted(gone):
        connection.execute("DELETE FROM summary_claims WHERE conversation_id = ?", (conversation_id,))
    drop_empty_summaries(connection)


def drop_empty_summaries(connection: Connection) -> None:
    """Take away summaries that stand for no turn any more, and those of a higher level that were made of them alone."""
    for level, stands_for in (
        ("level = 'hundred'", "SELECT 1 FROM summary_turns WHERE summary_turns.summary = summaries.summary"),
        ("level != 'hundred'", "SELECT 1 FROM summary_parts WHERE summary_parts.whole = summaries.summary"),
    ):
        empty = [
            (int(number),)
            for (number,) in connection.execute(
                f"SELECT summary FROM summaries WHERE {level} AND NOT EXISTS ({stands_for})"
            ).fetchall()
        ]
        for table, column in (
            ("summaries", "summary"),
            ("summary_lines", "summary"),
            ("summary_citations", "summary"),
            ("summary_parts", "part"),
            ("summary_parts", "whole"),
        ):
            connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", empty)
