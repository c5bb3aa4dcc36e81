"""Whether a server is well, as far as one owner's memory there goes; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from memory_rag.checkup import Check, Finding
from memory_rag.errors import StoreError
from memory_rag.postgres.extensions import BM25, VECTOR, Extensions
from memory_rag.postgres.known_answers import check_indexes
from memory_rag.postgres.large_indexes import LargeIndexes
from memory_rag.postgres.owner_checks import others_see_nothing, role
from memory_rag.postgres.replica import Replica
from memory_rag.postgres.table import SCHEMA
from memory_rag.retrieval.indexes import Indexes
from memory_rag.store.engine import Connection, Connections

if TYPE_CHECKING:
    from memory_rag.postgres.connections import PostgresConnections
    from memory_rag.postgres.turn_store import PostgresTurnStore

_SERVER: Final = (
    "SELECT current_setting('server_version'), current_setting('server_encoding'), current_setting('TimeZone'), "
    "current_setting('fsync'), current_setting('full_page_writes'), current_setting('data_checksums')"
)
# The setting is there once pgvector is loaded, which its first operator does.
_LOAD_VECTOR: Final = "SELECT '[1]'::vector <#> '[1]'::vector"
_GOES_ON: Final = (
    "SELECT EXISTS (SELECT 1 FROM pg_settings WHERE name = 'hnsw.iterative_scan' AND 'strict_order' = ANY (enumvals))"
)
_OFFERED: Final = "SELECT default_version FROM pg_available_extensions WHERE name = ?"
_NETWORK: Final = (
    "SELECT coalesce(host(inet_server_addr()), ''), "
    "coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false)"
)
_LOG: Final = (
    "SELECT count(*), coalesce(min(seq), 1), coalesce(max(seq), 0), "
    "coalesce((SELECT seq FROM numbers WHERE name = 'changes'), 0) FROM changes"
)
_INVALID: Final = (
    "SELECT format('%I.%I', nspname, relname) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid "
    "JOIN pg_namespace ON pg_namespace.oid = relnamespace "
    "WHERE nspname = ? AND NOT (indisvalid AND indisready) ORDER BY 1"
)
_PARTITIONS: Final = (
    "SELECT relname, (SELECT count(*) FROM pg_inherits WHERE inhparent = pg_class.oid) FROM pg_class "
    "JOIN pg_namespace ON pg_namespace.oid = relnamespace "
    "WHERE nspname = ? AND relkind IN ('r', 'p') AND NOT relispartition AND EXISTS "
    "(SELECT 1 FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'owner') ORDER BY relname"
)
_DEAD: Final = (
    "SELECT relname, n_live_tup, n_dead_tup FROM pg_stat_user_tables WHERE schemaname = ? "
    "ORDER BY n_dead_tup DESC LIMIT 1"
)
_AUTOVACUUM: Final = "SELECT current_setting('autovacuum') = 'on'"
_FAR_BEHIND: Final = 64 * 2**20
"""Bytes of the log: a busy server writes that many in seconds."""
_MANY_DEAD: Final = 10_000
_LOOPBACK: Final = ("", "127.0.0.1", "::1")
_SHOWN: Final = 3


def server_checks(store: PostgresTurnStore, indexes: Indexes, *, resident: int) -> dict[str, Check]:
    """Return the checks of a server, by name; up to ``resident`` turns, this process holds all of an owner's."""
    connections, extensions = store.connections, store.connections.extensions
    is_held = not isinstance(indexes, LargeIndexes)
    return {
        "numbers": lambda: [numbers(connections)],
        "owners": lambda: [others_see_nothing(connections)],
        "role": lambda: [role(connections)],
        "server": lambda: [server(connections)],
        "private": lambda: [network(connections)],
        "pgvector": lambda: [pgvector(connections, extensions)],
        "keyword": lambda: [keyword_engine(connections, extensions, is_held=is_held, resident=resident)],
        "indexes": lambda: server_indexes(connections),
        "partitions": lambda: [partitions(connections)],
        "replica": lambda: [] if connections.replica is None else [replica(connections.replica, primary=connections)],
        "vacuum": lambda: [dead_rows(connections)],
        "pooler": lambda: [pooler(connections)],
    }


def numbers(connections: Connections) -> Finding:
    """Check that no change is missing in the log, and that the next one gets the next number."""
    with connections.reading() as connection:
        n, first, last, given = connection.execute(_LOG).fetchone()
    if n == last - first + 1 and given == last:
        return Finding("numbers", "ok", f"{n:,} {'change' if n == 1 else 'changes'} logged without a gap")
    message = f"{n:,} changes are logged from {first:,} to {last:,}, and the last number given is {given:,}"
    return Finding(
        "numbers",
        "fail",
        f"{message}: a part of the log was lost or changed by hand",
        "put the database back from a backup of your server's own tools; other programs may have missed changes",
    )


def server(connections: Connections) -> Finding:
    """Tell the server's version, and check that it keeps every letter, and what it said it has kept."""
    with connections.reading() as connection:
        version, encoding, zone, syncs, whole_pages, checksums = connection.execute(_SERVER).fetchone()
    pages = "pages have checksums" if checksums == "on" else "pages have no checksums"
    message = (
        f"PostgreSQL {version}, {encoding}, {pages}; its time zone is {zone}, instants are kept in UTC whatever it is"
    )
    if encoding != "UTF8":
        remedy = "move to a database that is made with: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
        return Finding("server", "warn", f"{message}; ids and names beyond {encoding} can't be stored", remedy)
    off = [name for name, value in (("fsync", syncs), ("full_page_writes", whole_pages)) if value != "on"]
    if off:
        named = " and ".join(off)
        message += f"; {named} is off: a crash of the machine may lose or damage what was acknowledged"
        return Finding("server", "warn", message, f"switch {named} on in postgresql.conf")
    return Finding("server", "ok", message)


def network(connections: Connections) -> Finding:
    """Check that words don't go over a network for others to read."""
    with connections.reading() as connection:
        address, is_encrypted = connection.execute(_NETWORK).fetchone()
    if is_encrypted:
        return Finding("private", "ok", "the connection is encrypted")
    if address in _LOOPBACK:
        return Finding("private", "ok", "the connection doesn't leave this machine")
    return Finding(
        "private",
        "warn",
        f"words go to {address} unencrypted",
        "let the server speak TLS, and end the URL with ?sslmode=verify-full",
    )


def pgvector(connections: Connections, extensions: Extensions) -> Finding:
    """Check that pgvector goes on looking where a filter leaves too few."""
    with connections.reading() as connection:
        connection.execute(_LOAD_VECTOR).fetchall()
        (goes_on,) = connection.execute(_GOES_ON).fetchone()
        newer = _newer(connection, VECTOR, extensions)
    told = f"pgvector {extensions.versions[VECTOR]}{newer}"
    if goes_on:
        return Finding("pgvector", "ok", f"{told}; a filtered search goes on until it has enough (hnsw.iterative_scan)")
    return Finding(
        "pgvector",
        "fail",
        f"{told}, as it is loaded, has no hnsw.iterative_scan: a filtered search loses rows",
        "install 0.8 or later on the server, start it anew, then run in this database: ALTER EXTENSION vector UPDATE",
    )


def keyword_engine(connections: Connections, extensions: Extensions, *, is_held: bool, resident: int) -> Finding:
    """Tell which engine names the candidates of keyword search, and why that one."""
    with connections.reading() as connection:
        newer = _newer(connection, BM25, extensions)
        is_offered = connection.execute(_OFFERED, (BM25,)).fetchone() is not None
    if extensions.has_bm25:
        engine = f"pg_textsearch {extensions.versions[BM25]}{newer} by BM25"
        why = remedy = ""
    else:
        engine = "PostgreSQL's own tsvector by ts_rank_cd, which goes through all of the owner's turns"
        why = ", since this database has no pg_textsearch"
        remedy = (
            "let shared_preload_libraries name pg_textsearch, start the server anew, and let a superuser run in this "
            "database: CREATE EXTENSION pg_textsearch"
        )
        remedy = remedy if is_offered else f"install pg_textsearch on the server; then {remedy}"
    if is_held:
        held = f"BM25 of this process, which holds up to {resident:,} turns"
        return Finding("keyword", "ok", f"{held}; for more, candidates are named by {engine}{why}")
    message = f"candidates are named by {engine}{why}"
    return Finding("keyword", "warn" if remedy else "ok", message, remedy)


def server_indexes(connections: Connections) -> Iterator[Finding]:
    """Check that every index is valid, and that those of words and vectors find turns that are known to be there."""
    with connections.reading() as connection:
        invalid = [str(name) for (name,) in connection.execute(_INVALID, (SCHEMA,)).fetchall()]
    if invalid:
        more = f" and {len(invalid) - _SHOWN:,} more" if len(invalid) > _SHOWN else ""
        message = f"not valid, and not used by the server: {', '.join(invalid[:_SHOWN])}{more}"
        yield Finding("indexes", "fail", message, f"make each anew with: REINDEX INDEX {invalid[0]}")
    checked = [one for one in check_indexes(connections) if one.n_asked]
    for one in checked:
        if not one.is_right:
            yield Finding(
                "indexes",
                "fail",
                f"{one.index} finds {one.n_found:,} of {one.n_asked:,} turns by what is said in them",
                # Not REINDEX: sessions that have used it would go on with the old one.
                f"the next who opens a memory makes it anew, after: DROP INDEX {SCHEMA}.{one.index}",
            )
    if not invalid and all(one.is_right for one in checked):
        asked = "; ".join(f"{one.index} finds {one.n_found:,} of {one.n_asked:,}" for one in checked)
        message = (
            f"all valid, and asked for newest turns: {asked}"
            if asked
            else "all valid; none has anything to be asked for"
        )
        yield Finding("indexes", "ok", message)


def partitions(connections: Connections) -> Finding:
    """Tell into how many parts the tables are split, and check that all of them are split alike."""
    with connections.reading() as connection:
        found = {str(table): int(n) for table, n in connection.execute(_PARTITIONS, (SCHEMA,)).fetchall()}
    counts = set(found.values())
    if counts == {0}:
        return Finding("partitions", "ok", "tables are whole, not split by owner")
    if len(counts) == 1:
        return Finding("partitions", "ok", f"every table is split by owner into {counts.pop():,}")
    told = ", ".join(f"{table} into {n:,}" for table, n in found.items())
    remedy = "move every owner into a new database with: memory-rag migrate FROM TO"
    return Finding("partitions", "warn", f"tables are split unlike each other: {told}", remedy)


def replica(followed: Replica, *, primary: PostgresConnections) -> Finding:
    """Check that the replica follows, and how far it is behind; where it is, the primary is read instead."""
    instead = "everything is read on the primary meanwhile"
    try:
        stands = followed.standing(primary=primary)
    except StoreError as error:
        remedy = "start it, or correct the setting replica"
        return Finding("replica", "warn", f"can't be read: {error}; {instead}", remedy)
    if not stands.follows:
        remedy = "if it took over, name it with --memory, and a replica of it in the setting replica"
        return Finding("replica", "warn", f"follows nobody any more; {instead}", remedy)
    told = f"lacks {stands.n_changes_behind:,} changes of this owner's, and {stands.n_bytes_behind:,} bytes of the log"
    if stands.n_bytes_behind > _FAR_BEHIND:
        return Finding("replica", "warn", f"{told}; {instead}", "look at pg_stat_replication on the primary")
    return Finding("replica", "ok", told if stands.n_bytes_behind else "follows, and lacks nothing")


def dead_rows(connections: Connections) -> Finding:
    """Check that old states of rows, which hold forgotten words, are cleared away."""
    with connections.reading() as connection:
        (is_on,) = connection.execute(_AUTOVACUUM).fetchone()
        most = connection.execute(_DEAD, (SCHEMA,)).fetchone()
    table, live, dead = most if most is not None else ("", 0, 0)
    told = f"most dead rows: {dead:,} beside {live:,} live ones in {table}" if dead else "no dead rows"
    if not is_on:
        message = f"autovacuum is off; {told}"
        return Finding("vacuum", "warn", message, "switch autovacuum on in postgresql.conf, or run VACUUM by a timer")
    if dead > max(_MANY_DEAD, live):
        message = f"{told}: autovacuum doesn't keep up, or an old transaction is open"
        return Finding(
            "vacuum", "warn", message, f"end what is idle in a transaction, then run: VACUUM {SCHEMA}.{table}"
        )
    return Finding("vacuum", "ok", f"autovacuum is on; {told}")


def pooler(connections: PostgresConnections) -> Finding:
    """Tell whether a pooler stands between: each transaction is then on another connection of its own."""
    with connections.reading() as connection:
        (answers,) = connection.execute("SELECT pg_backend_pid()").fetchone()
        is_told_of = answers == connection.told_pid
    if is_told_of:
        return Finding("pooler", "ok", "no pooler stands between")
    return Finding(
        "pooler",
        "ok",
        "a pooler stands between; whose a transaction is goes with it, so that is well. PgBouncer before 1.21 doesn't "
        "keep prepared statements: there, max_prepared_statements has to be over 0",
    )


def _newer(connection: Connection, name: str, extensions: Extensions) -> str:
    offered = connection.execute(_OFFERED, (name,)).fetchone()
    used = extensions.versions.get(name)
    return f" (the server has {offered[0]})" if used and offered is not None and offered[0] != used else ""
