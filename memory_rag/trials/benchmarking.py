"""A benchmark in one call: what ``memory-rag bench run`` does, for a program or a notebook."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from memory_rag.errors import SettingsError
from memory_rag.evaluation.at_hand import FOLDER, data_at_hand
from memory_rag.evaluation.benchmark_report import BenchmarkReport
from memory_rag.evaluation.datasets.registry import DATASETS, load
from memory_rag.evaluation.definition import Definition, definition_of
from memory_rag.evaluation.page_file import write_page
from memory_rag.evaluation.pools import limited, pools_named
from memory_rag.evaluation.runner import Trial, measures_up_to
from memory_rag.memory import Memory
from memory_rag.settings import ALL_RESIDENT
from memory_rag.trials.contest import Side, Telling
from memory_rag.trials.query_vectors import RememberingEmbedder
from memory_rag.trials.running import RETRIEVERS, chosen, refuse_leaks, run_trial
from memory_rag.trials.weights_named import weights_of
from memory_rag.trials.work_folder import benchmark_memory, default_work_folder, remembering

if TYPE_CHECKING:
    from memory_rag.evaluation.benchmark import Benchmark
    from memory_rag.evaluation.runner import Progress


def run_benchmark(
    name: str,
    *,
    data: str | Path | None = None,
    memory: Memory | None = None,
    retrievers: Sequence[str] = RETRIEVERS,
    pool: str = "both",
    k: int | None = None,
    limit: int | None = None,
    n: int | None = None,
    questions: str | Path | Mapping[str, Sequence[str]] | None = None,
    embedder: str | None = None,
    seed: int = 0,
    work: str | Path | None = None,
    out: str | Path | None = None,
    force: bool = False,
    progress: Progress | None = None,
    note: Callable[[str], None] = lambda _text: None,
) -> BenchmarkReport:
    """Ask every retriever every question of a benchmark, and return how they did.

    ``name`` is one of :func:`memory_rag.benchmarks`, or a TOML file with a definition; ``data`` is where its data lie,
    if it isn't in the folder ``MEMORY_RAG_DATA``. ``own`` takes an open ``memory`` instead: ``n`` questions are made
    from its turns, and ``questions`` are asked too: a file, or your questions, each with the ids of the turns that
    answer it. ``limit`` asks only so many, evenly chosen. What is embedded is kept in the folder ``work`` (beside your
    memories if it isn't named). ``out`` is a folder for the report, its page and TREC's runs and judgements.

    Raises:
        SettingsError: an unknown benchmark, retriever or pool, or data missing or not wanted.
        ImportFormatError: the data are not what they should be.
        QueryError: ids or order alone find the evidence (``force`` asks all the same), or nothing can be measured.
        EmbedderError: the embedder can't be loaded or reached.
    """
    definition, pools = definition_of(name), pools_named(pool)
    wanted = chosen(",".join(retrievers))
    measures, compared = measures_up_to(k or definition.k)
    folder = default_work_folder() if work is None else Path(work)
    longer_than = (k or definition.k) if "conversation" in pools else 0
    with ExitStack() as opened:
        own = {"n": n, "questions": None if questions is None else _file_of(questions, opened)}
        benchmark = _benchmark(definition, data, memory, {**own, "seed": seed, "longer_than": longer_than})
        refuse_leaks(benchmark, force=force, note=note)
        asked = limited(benchmark, limit)
        side = _side(opened, asked, memory, folder, embedder=embedder)
        trial = Trial(
            asked,
            pools,
            depth=definition.depth,
            measures=measures,
            compared=compared,
            groups=definition.groups,
            seed=seed,
        )
        report = run_trial(trial, side, retrievers=wanted, telling=Telling(progress=progress, note=note))
    if out is not None:
        trial.write(Path(out), report)
        write_page(Path(out), report, note=note)
    return BenchmarkReport(report, {query.query_id: query.text for query in asked.answerable()})


def _file_of(questions: str | Path | Mapping[str, Sequence[str]], opened: ExitStack) -> Path:
    """Return questions as a file, written for as long as they are asked."""
    if not isinstance(questions, Mapping):
        return Path(questions)
    folder = Path(opened.enter_context(TemporaryDirectory(prefix="memory-rag-questions-")))
    lines = [json.dumps({"query": query, "turn_ids": list(turn_ids)}) + "\n" for query, turn_ids in questions.items()]
    file = folder / "questions.jsonl"
    file.write_text("".join(lines), encoding="utf-8")
    return file


def _benchmark(
    definition: Definition, data: str | Path | None, memory: Memory | None, own: dict[str, Any]
) -> Benchmark:
    takes = DATASETS[definition.dataset].takes
    path = data_at_hand(definition) if data is None else Path(data)
    if takes == "memory":
        if memory is None or data is not None:
            raise SettingsError(f"{definition.name} asks a memory of yours and takes no data; give memory=")
        memory.indexes.catch_up()
        given = {key: value for key, value in own.items() if value is not None}
        options = {**definition.options, "unit": definition.unit, "languages": memory.indexes.languages(), **given}
        return replace(load("own", list(memory.turns()), **options), name=f"own-{memory.name}")
    if memory is not None or own["n"] is not None or own["questions"] is not None:
        raise SettingsError(
            f"{definition.name} has its own turns and questions; memory=, n= and questions= are for own"
        )
    if path is None and takes != "nothing":
        raise SettingsError(
            f"{definition.name} needs its data: name the {takes} with data=, or set {FOLDER} to the folder it lies in"
        )
    return definition.named(load(definition.dataset, path, **{**definition.options, "unit": definition.unit}), path)


def _side(opened: ExitStack, benchmark: Benchmark, memory: Memory | None, work: Path, *, embedder: str | None) -> Side:
    """Return the memory that is asked, with its embedder; one that is opened here is closed at the end."""
    if memory is None:
        settings, remembered = remembering(work, embedder=embedder)
        memory = opened.enter_context(benchmark_memory(benchmark, work, settings=settings, embedder=remembered))
    else:
        if embedder is not None:
            raise SettingsError("a memory of yours is asked with its own embedder; open it with another one instead")
        settings, dense = memory.settings, memory.indexes.dense()
        remembered = None if dense is None else RememberingEmbedder(dense.embedder, work)
        memory = opened.enter_context(memory.opened_with(remembered, resident=ALL_RESIDENT))
    weights, origin = weights_of(settings)
    return Side(memory=memory, embedder=remembered, weights=weights, origin=origin)
