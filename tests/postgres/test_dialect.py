"""A statement of the store reads the same on PostgreSQL, and nothing in quotes is touched."""

from __future__ import annotations

import pytest

from memory_rag.postgres.dialect import in_postgres


@pytest.mark.parametrize(
    ("statement", "spoken"),
    [
        ("SELECT a FROM t WHERE b = ? AND c = ?", "SELECT a FROM t WHERE b = $1 AND c = $2"),
        ("SELECT ?1, ?2, ?1", "SELECT $1, $2, $1"),
        ("SELECT ?2, ?", "SELECT $2, $3"),
        ("SELECT '?', '?''?', ?", "SELECT '?', '?''?', $1"),
        ("SELECT 'IS ?' WHERE a IS ?", "SELECT 'IS ?' WHERE a IS NOT DISTINCT FROM $1"),
        ("SELECT a IS NOT ?", "SELECT a IS DISTINCT FROM $1"),
        ("SELECT a IS NOT NULL, b IS NULL", "SELECT a IS NOT NULL, b IS NULL"),
        ("SELECT a::text, 'x:y'", "SELECT a::text, 'x:y'"),
        (
            "INSERT INTO t VALUES (?) ON CONFLICT (a, b) DO NOTHING",
            "INSERT INTO t VALUES ($1) ON CONFLICT (owner, a, b) DO NOTHING",
        ),
        ("INSERT INTO t VALUES (?) ON CONFLICT DO NOTHING", "INSERT INTO t VALUES ($1) ON CONFLICT DO NOTHING"),
        (
            "SELECT seq FROM sqlite_sequence WHERE name = 'sqlite_sequence'",
            "SELECT seq FROM numbers WHERE name = 'sqlite_sequence'",
        ),
        (
            "SELECT 1 FROM a CROSS JOIN b USING (c) CROSS JOIN d",
            "SELECT 1 FROM a JOIN b USING (c) CROSS JOIN d",
        ),
        ("SELECT a IN (), a NOT IN ( ), 'IN ()'", "SELECT a = ANY ('{}'), a <> ALL ('{}'), 'IN ()'"),
        ("SELECT 100 % 7", "SELECT 100 % 7"),
    ],
)
def test_a_statement_is_put_into_its_words(statement: str, spoken: str) -> None:
    assert in_postgres(statement).statement == spoken


def test_named_values_take_their_places() -> None:
    spoken = in_postgres("UPDATE t SET a = :a, sha256 = :sha256, b = :a WHERE row = :row")

    assert spoken.statement == "UPDATE t SET a = $1, sha256 = $2, b = $1 WHERE row = $3"
    assert spoken.placed({"row": 3, "a": "x", "sha256": b"y", "unused": 0}) == ["x", b"y", 3]
