"""Words that stand in a memory's files though no forgotten turn is left: others' own, and the library's."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from memory_rag.privacy.beside import texts_beside
from memory_rag.store.connections import Connection
from memory_rag.summaries.summary import Kind, Level
from memory_rag.turns import Role, text_from_bytes

_OF_FILES: Final = (
    "SQLite format 3",
    "{'descr': '<i8', 'fortran_order': False, 'shape': (), }",
    "seq n_turns analyzer embedder kind data caption made_by languages conversation session",
    "turns.sqlite vectors derived keyword.npz manifest.json .lock",
)
_BY_ALL: Final = 200


def said_by_others(connection: Connection) -> Iterator[str]:
    """Yield every text of the stored turns and their earlier versions, with ids, sources and blocks; some at a time."""
    cursor = connection.execute(
        "SELECT turn_id, conversation_id, session_id, speaker, text, said_at_text, blocks, source_name, source_id, raw "
        "FROM turns"
    )
    while rows := cursor.fetchmany(_BY_ALL):
        yield "\n".join(_text(value) for row in rows for value in row)
    cursor = connection.execute("SELECT text, speaker FROM versions")
    while rows := cursor.fetchmany(_BY_ALL):
        yield "\n".join(_text(value) for row in rows for value in row)


def words_of_the_house(connection: Connection, folder: Path) -> Iterator[str]:
    """Yield the words that the library itself writes: names of tables and columns, kinds, notes of its own."""
    yield from _OF_FILES
    yield " ".join((*Role, *Kind, *Level))
    for select in (
        "SELECT name FROM sqlite_master UNION ALL SELECT sql FROM sqlite_master WHERE sql IS NOT NULL",
        "SELECT name || ' ' || applied_at FROM migrations",
        "SELECT DISTINCT kind FROM events",
        "SELECT made_by FROM summaries UNION SELECT level FROM summaries UNION SELECT note FROM summaries",
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
    yield from (path.stem for path in (folder / "vectors").glob("*.ids"))
    for path in sorted((folder / "derived").glob("*.npz")):
        with suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
            yield "\n".join(archive.namelist())


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
