"""Words that stand in a memory's files though no forgotten turn is left: others' own, and the library's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from memory_rag.privacy.beside import texts_beside
from memory_rag.store.engine import Connection
from memory_rag.store.row_pages import row_pages
from memory_rag.summaries.summary import Kind, Level
from memory_rag.turns import Role, text_from_bytes

_OF_TURNS: Final = (
    "turn_id",
    "conversation_id",
    "session_id",
    "speaker",
    "text",
    "said_at_text",
    "blocks",
    "source_name",
    "source_id",
    "raw",
)


def said_by_others(connection: Connection) -> Iterator[str]:
    """Yield every text of the stored turns and their earlier versions, with ids, sources and blocks; some at a time."""
    for rows in row_pages(connection, "turns", _OF_TURNS):
        yield "\n".join(_text(value) for row in rows for value in row)
    for rows in row_pages(connection, "versions", ("text", "speaker"), key=("row", "replaced_by")):
        yield "\n".join(_text(value) for row in rows for value in row)


def words_of_the_house(connection: Connection) -> Iterator[str]:
    """Yield the words that the library itself writes into its rows: kinds, levels, notes of its own."""
    yield " ".join((*Role, *Kind, *Level))
    for select in (
        "SELECT DISTINCT kind FROM events",
        "SELECT made_by FROM summaries UNION SELECT level FROM summaries",
        "SELECT DISTINCT note FROM summaries",
        "SELECT DISTINCT kind || ' ' || action || ' ' || place FROM findings",
        "SELECT made_by FROM talk_summaries UNION SELECT fingerprint FROM talk_vectors UNION "
        "SELECT fingerprint || side FROM talk_windows",
        "SELECT claimant FROM summary_claims",
        "SELECT scope FROM retention",
        "SELECT provider FROM returned_blocks",
    ):
        yield "\n".join(_text(value) for (value,) in connection.execute(select))
    for (details,) in connection.execute("SELECT details FROM events"):
        yield "\n".join(json.loads(text_from_bytes(details)))


def names_given(connection: Connection) -> Iterator[tuple[str, str]]:
    """Yield (what it is, its words) of what was named apart from anything that was said, and stays for its own sake."""
    for what, select in (
        # Not what accounts' exports held: ids of conversations, which may be gone.
        ("a fact about the memory", "SELECT name || ' ' || value FROM facts WHERE name NOT LIKE 'export of %'"),
        ("a model", "SELECT DISTINCT model FROM events WHERE model IS NOT NULL ORDER BY model"),
        ("a pinned file", "SELECT path FROM pinned_files ORDER BY path"),
        ("a rule of retention", "SELECT name FROM retention ORDER BY name"),
    ):
        for (value,) in connection.execute(select):
            yield what, _text(value)


def written_beside(connection: Connection) -> Iterator[str]:
    """Yield what was written down apart from the turns: pins, decisions, state, titles."""
    yield from texts_beside(connection)


def _text(value: object) -> str:
    if isinstance(value, bytes):
        with suppress(UnicodeDecodeError):
            return text_from_bytes(value)
        return ""
    return "" if value is None else str(value)
