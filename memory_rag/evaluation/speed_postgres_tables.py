"""The tables of a memory on a PostgreSQL server: its times beside a folder's, its bytes, and those of many turns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from memory_rag.evaluation.markdown import amount, markdown_table

SPEED_POSTGRES_TABLES: Final = ("speed-postgres", "speed-postgres-space", "postgres-sizing")
_WAYS: Final = {"sqlite": "a folder", "held": "server, held in the process", "on the server": "server, left there"}
_KINDS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "words": ("words, with their log and indexes", ()),
    "vectors": ("vectors (float32) and their keys", ("vectors", "vectors, indexes")),
    "hnsw": ("index of vectors (HNSW, halfvec)", ("vectors, hnsw",)),
    "terms": ("terms and their keys", ("words", "words, indexes")),
    "bm25": ("index of terms (BM25)", ("words, bm25",)),
}
"""What a turn takes, in words, and which tables and indexes that is; the first is all that is none of the others."""
_SIZES: Final = (1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
_MEMORY_OF_NODE: Final = 256 * 10**9
_DISK_OF_NODE: Final = 4 * 10**12
_FILLED: Final = 0.7
"""Of a node's memory and disk, what is planned with."""


def speed_postgres_tables(found: Mapping[str, Any]) -> dict[str, str]:
    """Return the tables by name."""
    return {"speed-postgres": _times(found), "speed-postgres-space": _space(found), "postgres-sizing": _sizing(found)}


def _times(found: Mapping[str, Any]) -> str:
    result, measured = found["result"], found["provenance"]["settings"]["amount"]
    add = result["add"]
    rows = [
        ("hybrid search", *(_ms(result["hybrid"][way]) for way in _WAYS)),
        ("opening an owner's memory, to its first answer", *(_ms(result["open"][way]) for way in _WAYS)),
        (
            "add, durable against a killed process",
            _ms(add["sqlite"]),
            "as below",
            "as below",
        ),
        ("add, durable against a power cut", _ms(add["sqlite full"]), _ms(add["held"]), "the same"),
    ]
    if large := result["large"]:
        rows.append((f"hybrid search of one owner's {large['n_turns']:,} turns", "–", "–", _ms(large["on the server"])))
    table = markdown_table(("median, 95th percentile (ms)", *_WAYS.values()), rows)
    server = result["server"]
    versions = ", ".join(f"{name} {server[name]}" for name in ("vector", "pg_textsearch") if name in server)
    return (
        f"{table}\n\n{measured['n_owners'] * measured['n_turns']:,} turns of {measured['n_owners']} owners; "
        f"{result['hybrid']['held']['n']} questions, each asked once of each; {add['held']['n']} adds. One statement "
        f"there and back takes {amount(add['a round trip']['median_ms'])} ms. PostgreSQL {server['server_version']}, "
        f"{versions}, shared_buffers {server['shared_buffers']}, fsync {server['fsync']}, on the machine of the client."
    )


def _space(found: Mapping[str, Any]) -> str:
    *_, now = found["result"]["sizes"]
    by_kind = _bytes_by_kind(now)
    rows = [(told, amount(by_kind[kind])) for kind, (told, _parts) in _KINDS.items()]
    rows += [("all", amount(sum(by_kind.values()))), ("the same memories in folders (SQLite)", amount(now["sqlite"]))]
    table = markdown_table(("on disk", "bytes a turn"), rows)
    return f"{table}\n\n{now['n_turns']:,} turns of {amount(now['text'])} bytes of text each, vectors of 384 numbers."


def _sizing(found: Mapping[str, Any]) -> str:
    first, *_, last = found["result"]["sizes"] * 2 if len(found["result"]["sizes"]) == 1 else found["result"]["sizes"]
    by_kind = _bytes_by_kind(first)
    whole = sum(by_kind.values())
    rows = []
    for n_turns in _SIZES:
        searched = n_turns * (by_kind["hnsw"] + by_kind["bm25"])
        disk = n_turns * whole
        nodes = max(1, math.ceil(searched / (_FILLED * _MEMORY_OF_NODE)), math.ceil(disk / (_FILLED * _DISK_OF_NODE)))
        parts = (n_turns * size for size in by_kind.values())
        rows.append((f"{n_turns:,}", *(_told(part) for part in (*parts, disk, searched)), str(nodes)))
    table = markdown_table(
        ("turns", "words", "vectors", "HNSW", "terms", "BM25", "disk", "memory for both indexes", "nodes"), rows
    )
    measured = sum(_bytes_by_kind(last).values())
    return (
        f"{table}\n\n**A calculation**, from the {amount(whole)} bytes a turn that were measured at "
        f"{first['n_turns']:,} turns. Checked by a run at {last['n_turns']:,}: the calculation says "
        f"{_told(last['n_turns'] * whole)}, it took {_told(last['n_turns'] * measured)} "
        f"({100 * (whole / measured - 1):+.1f} %). Nothing larger was run. A node has {_told(_MEMORY_OF_NODE)} of "
        f"memory and {_told(_DISK_OF_NODE)} of disk here, {_FILLED:.0%} of them used; replicas and backups come "
        f"on top. A turn has {amount(last['text'])} bytes of text and one vector of 384 numbers."
    )


def _bytes_by_kind(sizes: Mapping[str, Any]) -> dict[str, float]:
    kinds = dict.fromkeys(_KINDS, 0.0)
    for part, size in sizes["postgres"].items():
        kind = next((kind for kind, (_told_as, parts) in _KINDS.items() if part in parts), "words")
        kinds[kind] += size
    return kinds


def _ms(timing: Mapping[str, Any]) -> str:
    return f"{amount(timing['median_ms'])}, {amount(timing['p95_ms'])}"


def _told(size: float) -> str:
    """Return bytes as GB or TB of 10^9 and 10^12."""
    return f"{amount(size / 10**12)} TB" if size >= 10**12 else f"{amount(size / 10**9)} GB"
