"""What other rows keep of forgotten turns: sources that quote them, blocks that stand for them, lists of ids."""

from __future__ import annotations

import json
from collections.abc import Iterable, Set
from typing import Final

from memory_rag.privacy.own_words import LONG, WORD, folded, telling_words, words_in
from memory_rag.store.connections import Connection
from memory_rag.store.removal import note_erasing
from memory_rag.turns import text_from_bytes

_UNREADABLE: Final = ('"compaction"', '"encrypted_content"', '"redacted_thinking"', '"signature"')
"""In a provider's block: a summary of everything before it, or what nobody here can read."""
_EXPORT_OF: Final = "export of "
_IN_A_ROW: Final = 3


def erase_quoting_sources(
    connection: Connection, conversation_ids: Iterable[str], said: Iterable[str], *, now: int
) -> list[str]:
    """Erase the source's JSON of turns that stay, where it quotes what was forgotten; return their ids.

    A reply may carry the whole message that it answers. It quotes if it has three words in a row of a forgotten text
    (or all of a shorter one) that its own turn's text has not.
    """
    forgotten = set[tuple[str, ...]]().union(*map(_in_a_row, said))
    erased: list[str] = []
    for conversation_id in sorted(set(conversation_ids)):
        for row, turn_id, text, blocks, raw in connection.execute(
            "SELECT row, turn_id, text, blocks, raw FROM turns WHERE conversation_id = ? AND raw IS NOT NULL "
            "ORDER BY row",
            (conversation_id,),
        ).fetchall():
            quoted = _in_a_row(_unescaped(text_from_bytes(raw)), forgotten) & forgotten
            if (
                quoted
                - _in_a_row(text_from_bytes(text), forgotten)
                - _in_a_row(text_from_bytes(blocks or b""), forgotten)
            ):
                connection.execute("UPDATE turns SET raw = NULL WHERE row = ?", (row,))
                connection.execute("INSERT OR IGNORE INTO erased VALUES (?, 'raw', ?)", (row, now))
                note_erasing(connection, [row], now=now)
                erased.append(turn_id)
    return erased


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
            if any(sign in text for sign in _UNREADABLE) or words_in(_unescaped(text)) & telling:
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
        ("level = 'hundred'", "SELECT summary FROM summary_turns"),
        ("level != 'hundred'", "SELECT whole FROM summary_parts"),
    ):
        empty = [
            (int(number),)
            for (number,) in connection.execute(
                f"SELECT summary FROM summaries WHERE {level} AND summary NOT IN ({stands_for})"
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


def _in_a_row(text: str, alike: Set[tuple[str, ...]] = frozenset()) -> set[tuple[str, ...]]:
    """Return every three words in a row of a text, folded; all words of a shorter one that has eight letters or more.

    With ``alike``, what is as long as any of these.
    """
    words = WORD.findall(folded(text))
    lengths = {len(one) for one in alike} or {min(len(words), _IN_A_ROW)}
    found = {tuple(words[at : at + n]) for n in lengths if n for at in range(len(words) - n + 1)}
    return {one for one in found if len(one) >= _IN_A_ROW or sum(map(len, one)) >= LONG}


def _unescaped(text: str) -> str:
    """Return JSON text with its escapes read (``\\u00f6`` as ``ö``); other text as it is."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        return text
