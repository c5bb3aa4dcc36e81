"""Data sets in BEIR's folders: documents without a conversation, queries, judgements (Thakur et al., NeurIPS 2021)."""

from __future__ import annotations

from pathlib import Path

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.benchmark import Benchmark, Dropped, Unit
from memory_rag.evaluation.datasets.assembly import Reading, benchmark_of
from memory_rag.evaluation.datasets.files_read import FilesRead
from memory_rag.evaluation.datasets.judgements import judged_queries, read_judgements, read_queries
from memory_rag.evaluation.datasets.turn_files import turns_in

_USUAL_SPLIT = "test"


def load(path: Path, *, unit: Unit = "turn", split: str | None = None) -> Benchmark:
    """Return a folder with ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/<split>.tsv``.

    Documents and queries keep their ids; the text of a document is its title, a space and its text, as BEIR's own code
    has it. All documents are in one conversation with a session each, so both pools are the same. Without ``split`` it
    is ``test``, or the only one there is.

    Raises:
        ImportFormatError: a file is missing or isn't BEIR's, or the split has to be named.
    """
    if not path.is_dir():
        raise ImportFormatError(f"{path} is no folder; BEIR's have corpus.jsonl, queries.jsonl and qrels/")
    name = f"beir-{path.resolve().name}"
    judgements = _judgements(path, split)
    files, dropped = FilesRead(path), Dropped()
    turns = turns_in(files, path / "corpus.jsonl", conversation_id=name, dropped=dropped)
    qrels = read_judgements(files, judgements, dropped=dropped)
    known = {turn.turn_id for turn in turns}
    queries = read_queries(files, path / "queries.jsonl", conversation_id=name)
    judged = judged_queries(queries, qrels, known=known, dropped=dropped)
    answerable = sum(bool(found.grades) for found in judged)
    denominators = {f"judged in {judgements.name}": len(qrels), "with a relevant document": answerable}
    return benchmark_of(Reading(name, files.sha256, turns, judged, dropped, denominators), unit=unit)


def _judgements(path: Path, split: str | None) -> Path:
    there = {file.stem: file for file in sorted((path / "qrels").glob("*.tsv"))}
    if not there:
        raise ImportFormatError(f"{path} has no qrels/*.tsv")
    wanted = split or (next(iter(there)) if len(there) == 1 else _USUAL_SPLIT)
    if wanted not in there:
        raise ImportFormatError(f"{path} has no split {wanted!r}; name one of: {', '.join(there)}")
    return there[wanted]
