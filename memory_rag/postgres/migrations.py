"""The tables on a server, as named steps that are applied in order and recorded.

The columns are those of SQLite's tables, in the same order, and then the owner, which a transaction names and no
statement does. Every key begins with it, so that the tables can be split by a hash of it: over partitions here, over
servers elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Protocol

from memory_rag.errors import NewerFormatError, NotAMemoryError
from memory_rag.postgres import beside_steps
from memory_rag.postgres.table import NAME, SCHEMA, Table, cleared_with

MAKING_ALONE: Final = f"SELECT pg_advisory_xact_lock({0x6D656D5F726167})"
"""Whoever makes tables or indexes holds this lock until the end of the transaction."""
_THERE: Final = "SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'migrations'"


class Executes(Protocol):
    """A connection, whose transaction makes the tables."""

    def execute(self, statement: str, values: tuple[Any, ...] = ..., /) -> Any: ...


NUMBERED: Final = ("turns", "changes", "vectors", *beside_steps.NUMBERED)
"""The tables whose rows are numbered, each owner's from 1 on."""


def m001_numbers() -> Iterator[Table | str]:
    """Numbers that come in the order of commits and leave no gap; see :mod:`memory_rag.postgres.connections`.

    The last of each is kept in a row that a writer locks, and within its transaction in a setting, which goes back with
    a rollback, to a savepoint too. A row updated ten thousand times in one transaction would be read through as many
    dead copies.
    """
    last = f"nullif(current_setting('{SCHEMA}.last_' || {{}}, true), '')::bigint"
    yield Table("numbers_kept", 'name text COLLATE "C" NOT NULL, seq bigint NOT NULL DEFAULT 0', "name")
    yield (
        f"CREATE VIEW {SCHEMA}.numbers WITH (security_invoker = true) AS "
        f"SELECT name, coalesce({last.format('name')}, seq) AS seq, owner FROM {SCHEMA}.numbers_kept"
    )
    yield (
        f"CREATE FUNCTION {SCHEMA}.next_number(what text) RETURNS bigint LANGUAGE plpgsql AS $$\n"
        f"DECLARE number bigint := {last.format('what')};\n"
        "BEGIN\n"
        "  IF number IS NULL THEN\n"
        f"    SELECT seq INTO STRICT number FROM {SCHEMA}.numbers_kept WHERE name = what;\n"
        "  END IF;\n"
        "  number := number + 1;\n"
        f"  PERFORM set_config('{SCHEMA}.last_' || what, number::text, true),\n"
        f"          set_config('{SCHEMA}.last_number', number::text, true);\n"
        "  RETURN number;\n"
        "END $$"
    )


def m002_turns_and_changes() -> Iterator[Table | str]:
    """Turns with their earlier versions, the change log, conversations, and settings of the memory.

    Texts are bytea (UTF-8, surrogates passed through): a text of PostgreSQL holds no NUL and no lone surrogate.
    """
    yield Table(
        "turns",
        """row bigint NOT NULL,
            turn_id text COLLATE "C" NOT NULL,
            conversation_id text COLLATE "C" NOT NULL,
            session_id text COLLATE "C" NOT NULL,
            ordinal bigint NOT NULL,
            role text COLLATE "C" NOT NULL,
            speaker bytea NOT NULL,
            text bytea NOT NULL,
            sha256 bytea NOT NULL,
            said_at bigint,
            said_at_text bytea,
            blocks bytea,
            source_name text COLLATE "C",
            source_id text COLLATE "C",
            raw bytea,
            recalled smallint NOT NULL,
            indexed_start bigint,
            indexed_end bigint""",
        "row",
        (
            "CREATE UNIQUE INDEX turns_by_id ON turns (turn_id)",
            "CREATE UNIQUE INDEX turns_by_source ON turns (source_name, conversation_id, source_id) "
            "WHERE source_name IS NOT NULL",
            "CREATE INDEX turns_by_conversation ON turns (conversation_id, ordinal)",
            "CREATE INDEX turns_by_chat_pair ON turns (substr(source_id, 22)) WHERE source_name = 'chat'",
        ),
    )
    # Their numbers are given by whoever stores them.
    yield (
        f"CREATE FUNCTION {SCHEMA}.note_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN\n"
        f"  PERFORM set_config('{SCHEMA}.last_turns', greatest(NEW.row,\n"
        f"    (SELECT seq FROM {SCHEMA}.numbers WHERE name = 'turns'))::text, true);\n"
        "  RETURN NULL;\n"
        "END $$"
    )
    yield (
        f"CREATE TRIGGER turn_stored AFTER INSERT ON {SCHEMA}.turns FOR EACH ROW EXECUTE FUNCTION {SCHEMA}.note_row()"
    )
    yield (
        f"CREATE FUNCTION {SCHEMA}.instr(bytea, bytea) RETURNS integer "
        "LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN position($2 IN $1)"
    )
    yield Table(
        "versions",
        "row bigint NOT NULL, replaced_by bigint NOT NULL, text bytea NOT NULL, speaker bytea NOT NULL, said_at bigint",
        "row, replaced_by",
    )
    yield Table("conversations", 'conversation_id text COLLATE "C" NOT NULL, title bytea NOT NULL', "conversation_id")
    yield Table(
        "changes",
        f"""seq bigint NOT NULL DEFAULT {SCHEMA}.next_number('changes'),
            kind text COLLATE "C" NOT NULL CHECK (kind IN ('add', 'correct', 'remove')),
            row bigint NOT NULL,
            changed_at bigint NOT NULL""",
        "seq",
    )
    yield Table("facts", 'name text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL', "name")
    yield Table("vanished", "row bigint NOT NULL, noticed_at bigint NOT NULL", "row")


def m003_forgetting_and_findings() -> Iterator[Table | str]:
    """What must not come back, what was erased of turns that stay, what is secret or personal in turns."""
    yield Table(
        "returned_blocks", 'row bigint NOT NULL, provider text COLLATE "C" NOT NULL, content bytea NOT NULL', "row"
    )
    yield Table("tombstones", "mark bytea NOT NULL, set_at bigint NOT NULL", "mark")
    yield Table("erasing", "row bigint NOT NULL, since bigint NOT NULL, files_done bigint NOT NULL", "row")
    yield Table("erased", 'row bigint NOT NULL, what text COLLATE "C" NOT NULL, erased_at bigint NOT NULL', "row")
    yield Table(
        "findings",
        """row bigint NOT NULL,
            place text COLLATE "C" NOT NULL,
            span_start bigint,
            span_end bigint,
            kind text COLLATE "C" NOT NULL,
            action text COLLATE "C" NOT NULL""",
        indexes=("CREATE INDEX findings_by_row ON findings (row)",),
    )
    yield from cleared_with(
        "turns",
        by="forget_findings",
        deletes=f"DELETE FROM {SCHEMA}.findings WHERE owner = OLD.owner AND row = OLD.row;",
    )


def m004_made_of_turns() -> Iterator[Table | str]:
    """Vectors and words of turns, which go when their turn does or its words change; needs pgvector.

    ``space`` tells the embedder, see :mod:`memory_rag.postgres.vectors`; each space has an index of its own, and
    ``vector_spaces`` has its name.
    ``content`` is the key of the words that were embedded, and ``number`` grows, so that others find what is new.
    ``terms`` are those of the analyzer ``made_by``, see :mod:`memory_rag.postgres.words`; a long turn has more than one
    ``part``.
    """
    yield Table(
        "vectors",
        f"""row bigint NOT NULL,
            space bigint NOT NULL,
            content bigint NOT NULL,
            span_start bigint NOT NULL,
            span_end bigint NOT NULL,
            number bigint NOT NULL DEFAULT {SCHEMA}.next_number('vectors'),
            embedding vector NOT NULL""",
        "space, row, span_start",
        ("CREATE INDEX vectors_by_row ON vectors (row)", "CREATE INDEX vectors_by_number ON vectors (space, number)"),
    )
    yield Table("vector_spaces", f"space bigint NOT NULL, name {NAME} NOT NULL, dim bigint NOT NULL", "space")
    yield Table(
        "words",
        "row bigint NOT NULL, made_by bigint NOT NULL, part bigint NOT NULL, terms text NOT NULL",
        "made_by, row, part",
        ("CREATE INDEX words_by_row ON words (row)",),
    )
    yield (
        f"CREATE FUNCTION {SCHEMA}.forget_made() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN\n"
        f"  DELETE FROM {SCHEMA}.vectors WHERE owner = OLD.owner AND row = OLD.row;\n"
        f"  DELETE FROM {SCHEMA}.words WHERE owner = OLD.owner AND row = OLD.row;\n"
        "  RETURN NULL;\n"
        "END $$"
    )
    yield (
        f"CREATE TRIGGER made_of_it_gone AFTER DELETE ON {SCHEMA}.turns "
        f"FOR EACH ROW EXECUTE FUNCTION {SCHEMA}.forget_made()"
    )
    said = "speaker, text, blocks, indexed_start, indexed_end"
    old, new = (", ".join(f"{age}.{name}" for name in said.split(", ")) for age in ("OLD", "NEW"))
    yield (
        f"CREATE TRIGGER made_of_it_outdated AFTER UPDATE OF {said} ON {SCHEMA}.turns FOR EACH ROW "
        f"WHEN (({old}) IS DISTINCT FROM ({new})) EXECUTE FUNCTION {SCHEMA}.forget_made()"
    )


STEPS: Final = (
    m001_numbers,
    m002_turns_and_changes,
    m003_forgetting_and_findings,
    m004_made_of_turns,
    *beside_steps.STEPS,
)


def migrate(connection: Executes, *, place: str, create: bool, n_partitions: int = 0) -> None:
    """Bring the tables to the present format within a transaction of the caller's.

    With ``n_partitions`` the tables of a new database are split into as many each, by a hash of their rows' owner;
    later tables follow the first.

    Raises:
        NotAMemoryError: there are no tables and ``create`` is False.
        NewerFormatError: the server holds a step that this release doesn't know.
    """
    if len(_applied(connection, place=place)) == len(STEPS):
        return
    connection.execute(MAKING_ALONE)
    # Another process may have made them between the look above and this lock.
    applied = _applied(connection, place=place)
    if not applied and not create:
        raise NotAMemoryError(f"{place} holds no memory (the database has no schema {SCHEMA})")
    if applied:
        n_partitions = _n_partitions(connection)
    else:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        connection.execute(
            f'CREATE TABLE {SCHEMA}.migrations (name text COLLATE "C" PRIMARY KEY, applied_at timestamptz NOT NULL '
            "DEFAULT now())"
        )
    for step in STEPS[len(applied) :]:
        for made in step():
            for statement in [made] if isinstance(made, str) else made.statements(n_partitions=n_partitions):
                connection.execute(statement)
        connection.execute(f"INSERT INTO {SCHEMA}.migrations (name) VALUES ($1)", (step.__name__,))


def _applied(connection: Executes, *, place: str) -> list[str]:
    """Return the names of the steps that made the tables, in order; none for a new database.

    Raises:
        NewerFormatError: the server holds a step that this release doesn't know.
    """
    # Not to_regclass: within a transaction it says of a table that somebody else has made since what it said before.
    if connection.execute(_THERE, (SCHEMA,)).fetchone() is None:
        return []
    applied = [str(name) for (name,) in connection.execute(f"SELECT name FROM {SCHEMA}.migrations ORDER BY name")]
    unknown = [name for name in applied if name not in {step.__name__ for step in STEPS}]
    if unknown:
        raise NewerFormatError(
            f"{place} was written by a later release of memory_rag (it has {', '.join(unknown)}); "
            "nothing was changed; install that release or a later one to open it"
        )
    return applied


def _n_partitions(connection: Executes) -> int:
    counted = f"SELECT count(*) FROM pg_inherits WHERE inhparent = '{SCHEMA}.numbers_kept'::regclass"
    return int(connection.execute(counted).fetchone()[0])
