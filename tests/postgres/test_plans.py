"""What is asked about many turns at once is answered by an index or in one pass, never by a pass for each row.

PostgreSQL makes such passes of ``NOT IN (SELECT …)`` once the list is larger than the memory that a query gets: 300,000
turns of one owner are enough, and a removal takes hours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import memory_rag
from memory_rag.store.removal import IS_EMPTY
from tests.postgres.conftest import Open

LONG = {"turns", "changes", "versions", "summary_turns", "summary_citations", "events", "vectors", "words"}


def test_conversations_without_turns_are_found_by_their_index(open_store: Open) -> None:
    with open_store().connections.reading() as connection:
        plan = connection.execute(f"EXPLAIN DELETE FROM conversations WHERE {IS_EMPTY}").fetchall()

    told = "\n".join(line for (line,) in plan)
    assert "Anti Join" in told
    assert "SubPlan" not in told


def _lists(source: str) -> Iterator[str]:
    """Yield the tables of which a statement in a module asks whether something is not among all their rows."""
    joined = re.sub(r'"\s*\n\s*f?"', "", source)
    for found in re.finditer(r"NOT IN \(SELECT \w+ FROM (\w+)\)", joined):
        yield found[1]


def test_no_statement_asks_whether_something_is_not_in_all_of_a_long_table() -> None:
    modules = sorted(Path(memory_rag.__file__).parent.rglob("*.py"))
    asked = [(path.name, table) for path in modules for table in _lists(path.read_text("utf-8")) if table in LONG]

    assert asked == []


def test_such_a_statement_is_seen() -> None:
    source = '"DELETE FROM conversations WHERE conversation_id NOT IN "\n    f"(SELECT conversation_id FROM turns)"'

    assert list(_lists(source)) == ["turns"]
