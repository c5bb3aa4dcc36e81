"""Anybody's judgements: a TREC qrels file, queries, and turns in JSON Lines."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.benchmark import Benchmark, Dropped, Unit
from memory_rag.evaluation.datasets.assembly import Reading, benchmark_of
from memory_rag.evaluation.datasets.files_read import FilesRead
from memory_rag.evaluation.datasets.judgements import judged_queries, read_judgements, read_queries
from memory_rag.evaluation.datasets.turn_files import turns_in

_TURNS: Final = ("turns.jsonl", "corpus.jsonl")
_QUERIES: Final = ("queries.tsv", "queries.jsonl")
_QRELS: Final = ("qrels.txt", "qrels.trec", "qrels.tsv", "qrels")


def load(path: Path, *, unit: Unit = "turn", queries: Path | None = None, qrels: Path | None = None) -> Benchmark:
    """Return a folder with ``turns.jsonl``, ``queries.tsv`` (or ``.jsonl``) and ``qrels.txt``; or the file of turns,
    with the other two named.

    Turns are our own export (``memory-rag export``), judged by their turn ids, or objects with ``id`` and ``text``. A
    query that names no conversation is about all of them.

    Raises:
        ImportFormatError: a file is missing or can't be read.
    """
    root = path if path.is_dir() else path.parent
    files, dropped = FilesRead(root), Dropped()
    turns_file = _found(root, _TURNS, "turns") if path.is_dir() else path
    queries_file = queries or _found(root, _QUERIES, "queries")
    qrels_file = qrels or _found(root, _QRELS, "judgements")
    name = f"trec-{root.resolve().name}"
    turns = turns_in(files, turns_file, conversation_id=name, dropped=dropped)
    conversations = {turn.conversation_id for turn in turns}
    about_all = next(iter(conversations)) if len(conversations) == 1 else ""
    judgements = read_judgements(files, qrels_file, dropped=dropped)
    judged = judged_queries(
        read_queries(files, queries_file, conversation_id=about_all),
        judgements,
        known={turn.turn_id for turn in turns},
        dropped=dropped,
    )
    answerable = sum(bool(found.grades) for found in judged)
    denominators = {f"judged in {qrels_file.name}": len(judgements), "with a relevant turn": answerable}
    return benchmark_of(Reading(name, files.sha256, turns, judged, dropped, denominators), unit=unit)


def _found(folder: Path, names: tuple[str, ...], what: str) -> Path:
    there = [folder / name for name in names if (folder / name).is_file()]
    if len(there) != 1:
        problem = f"no file of {what}" if not there else f"{len(there)} files of {what}"
        raise ImportFormatError(f"{folder} has {problem}; it should be one of {', '.join(names)}, or named")
    return there[0]
