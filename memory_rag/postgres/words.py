"""Words on the server: the analyzer's terms of each turn, and an owner's turns that share the most with a question.

They are candidates, and no score of theirs is shown: pg_textsearch weighs a word by how rare it is among all owners
together, which is neither right for one of them nor anybody else's business.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memory_rag.postgres.migrations import MAKING_ALONE
from memory_rag.postgres.parts import WHOLE, Part
from memory_rag.postgres.still_said import said_at, said_in
from memory_rag.postgres.table import SCHEMA, number_of_maker
from memory_rag.store.engine import Connection, Connections
from memory_rag.turns import Turn, text_bytes

WISH: Final = "a lasting wish"
"""A term of turns that state one, by which they are found; none of the analyzer's has a space."""
_INDEX: Final = "words_by_bm25"
_TERMS_A_PART: Final = 5000
"""A document of PostgreSQL's text search takes a megabyte at most."""
_LONGEST_TERM: Final = 100


@dataclass(frozen=True, slots=True)
class Analyzed:
    """A turn as it was analyzed: its row, and its terms in their order, one that comes twice twice."""

    row: int
    turn: Turn
    terms: Sequence[str]


class ServerWords:
    """The terms of one owner's turns by one analyzer."""

    def __init__(self, connections: Connections, *, fingerprint: str, by_bm25: bool) -> None:
        """Look for an analyzer's with pg_textsearch's index if ``by_bm25``, else through all of the owner's."""
        self._connections = connections
        self._made_by = number_of_maker(fingerprint)
        self._by_bm25 = by_bm25

    def set_up(self) -> None:
        """Make the index, if there is to be one and nobody has made it yet."""
        if not self._by_bm25:
            return
        with self._connections.writing() as connection:
            looked_up = "SELECT 1 FROM pg_indexes WHERE schemaname = ? AND indexname = ?"
            if connection.execute(looked_up, (SCHEMA, _INDEX)).fetchone() is None:
                connection.execute(MAKING_ALONE)
                connection.execute(
                    f"CREATE INDEX IF NOT EXISTS {_INDEX} ON words USING bm25 (terms) WITH (text_config = 'simple')"
                )

    def clear(self) -> None:
        """Forget all terms of this owner's turns, whichever analyzer made them."""
        with self._connections.writing() as connection:
            connection.execute("DELETE FROM words")

    def pending(self, *, limit: int, first: int = 0) -> list[int]:
        """Return the rows of turns without terms, oldest first, from row ``first`` on."""
        with self._connections.reading() as connection:
            found = connection.execute(
                "SELECT row FROM turns WHERE row >= ? AND NOT EXISTS (SELECT 1 FROM words WHERE words.row = turns.row "
                f"AND words.made_by = {self._made_by}) ORDER BY row LIMIT ?",
                (first, limit),
            ).fetchall()
        return [int(row) for (row,) in found]

    def put(self, analyzed: Sequence[Analyzed]) -> int:
        """Keep the terms of turns that still say what was analyzed, and return of how many."""
        with self._connections.writing() as connection:
            said = said_at(connection, [one.row for one in analyzed])
            kept = [one for one in analyzed if said.get(one.row) == said_in(one.turn)]
            connection.execute(
                f"DELETE FROM words WHERE made_by = {self._made_by} AND row = ANY(?::bigint[])",
                ([one.row for one in kept],),
            )
            connection.executemany(
                f"INSERT INTO words VALUES (?, {self._made_by}, ?, ?)",
                [(one.row, part, terms) for one in kept for part, terms in enumerate(_parts(one.terms))],
            )
        return len(kept)

    def best(self, terms: Sequence[str], *, n: int, part: Part = WHOLE) -> list[int]:
        """Return the rows of the n turns of a part that share the most with these terms, best first.

        Only such as share one.
        """
        asked = [_written(term) for term in dict.fromkeys(terms)]
        if not asked:
            return []
        with self._connections.reading() as connection:
            return self._best(connection, asked, n, part)

    def _best(self, connection: Connection, asked: list[str], n: int, part: Part) -> list[int]:
        if self._by_bm25:
            query = " ".join(asked)
            distance = f"terms <@> to_bm25query(?1, '{SCHEMA}.{_INDEX}')"
        else:
            query = " | ".join(asked)
            distance = "-ts_rank_cd(to_tsvector('simple', terms), to_tsquery('simple', ?1), 1)"
        # Lower is better in both, and 0 is no match.
        within, values = part.rows(first=2)
        wanted = n
        while True:
            found = connection.execute(
                f"SELECT row FROM (SELECT row, {distance} AS distance FROM words "
                f"WHERE made_by = {self._made_by}{within} "
                f"ORDER BY {distance}, row LIMIT {wanted}) AS nearest WHERE distance < 0 ORDER BY distance, row",
                [query, *values],
            ).fetchall()
            rows = list(dict.fromkeys(int(row) for (row,) in found))
            # Of a long turn, more than one part may be among them.
            if len(rows) >= n or len(found) < wanted:
                return rows[:n]
            wanted *= 4


def _parts(terms: Sequence[str]) -> Iterator[str]:
    """Yield the terms as documents; a turn without any has one that is empty."""
    written = [_written(term) for term in terms]
    for start in range(0, max(1, len(written)), _TERMS_A_PART):
        yield " ".join(written[start : start + _TERMS_A_PART])


def _written(term: str) -> str:
    """Return a term as one word of PostgreSQL's parser, which would take ``4711-zx`` apart and drop ``c++``."""
    data = text_bytes(term)
    return f"x{data.hex()}" if len(data) <= _LONGEST_TERM else f"y{hashlib.sha256(data).hexdigest()}"


def read_terms(written: str) -> bytes:
    """Return the terms of a document as they were before they were written as words of PostgreSQL's parser."""
    return b" ".join(bytes.fromhex(one[1:]) for one in written.split())
