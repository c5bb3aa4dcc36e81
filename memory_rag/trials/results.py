"""Trials on the evaluation data as results: what came out, on which data, made with what."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from memory_rag.embedding.catalogue import open_embedder
from memory_rag.evaluation.asking import Labelled, asking_trial
from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.datasets.fifty import LANGUAGES, read_fifty
from memory_rag.evaluation.datasets.registry import load
from memory_rag.evaluation.not_found import K, not_found_trial
from memory_rag.evaluation.provenance import provenance
from memory_rag.evaluation.recall_tables import SETS
from memory_rag.memory import Memory
from memory_rag.prompt.asking_for_details import need_of_details
from memory_rag.retrieval.signals import WEIGHTS
from memory_rag.settings import Settings
from memory_rag.talks.ranking import WEIGHTS as TALK_WEIGHTS
from memory_rag.trials.fifty import fifty_trial
from memory_rag.trials.labelled_secrets import labelled_secrets
from memory_rag.trials.new_subjects import joined_of_benchmark, joined_of_fifty, subjects_heard

Tell = Callable[[str, int, int], None]
PATHS: Final[Mapping[str, str]] = {"locomo": "locomo10.json", "beam": "beam/100K"}
"""Where each data set lies in the folder of evaluation data."""


def not_found_result(memory: Memory, name: str, benchmark: Benchmark, *, tell: Tell) -> dict[str, Any]:
    """Return how many questions without an answer are rightly empty; the memory holds the benchmark's turns."""
    embedder = memory.indexes.embedder
    return {
        "dataset": {
            "name": name,
            "sha256": benchmark.sha256,
            "n_questions": len(benchmark.queries),
            "n_turns": len(memory),
            "dropped": benchmark.dropped.as_json(),
        },
        "provenance": provenance(
            embedder=embedder.fingerprint if embedder else None,
            weights=dict(WEIGHTS),
            k=K,
            languages=list(memory.indexes.languages()),
        ),
        "result": not_found_trial(
            lambda text, within: memory.search(text, k=K, within=within, floor=False),
            benchmark,
            progress=lambda done, total: tell("not found", done, total),
        ),
    }


def asking_result(labels: Sequence[Path]) -> dict[str, Any]:
    """Return how well it is told whether somebody asks for what was said before, on files of labelled utterances."""
    labelled = Labelled.read(labels)
    return {
        "dataset": {"name": "ask-details", "sha256": labelled.sha256, "n_questions": len(labelled.utterances)},
        "provenance": provenance(languages=[]),
        "result": asking_trial(labelled.utterances, need_of=lambda text: need_of_details(text, languages=()).value),
    }


def fifty_result(folder: Path, *, embedders: Sequence[str], tell: Tell) -> dict[str, Any]:
    """Return which of fifty conversations a question is found to be about, and which of five, by embedder."""
    sets = [read_fifty(folder, language=language) for language in LANGUAGES]
    opened = {name: open_embedder(name) for name in embedders}
    return {
        "dataset": {
            "name": "fifty",
            "sha256": _together(one.sha256 for one in sets),
            "n_questions": sum(len(one.questions) for one in sets),
            "n_turns": sum(len(talk.turns) for one in sets for talk in one.talks.values()),
        },
        "provenance": provenance(
            embedders={name: embedder.fingerprint for name, embedder in opened.items()},
            weights=dict(WEIGHTS),
            talk_weights=dict(TALK_WEIGHTS),
        ),
        "result": {
            name: {one.language: fifty_trial(one, embedder=embedder, progress=tell) for one in sets}
            for name, embedder in opened.items()
        },
    }


def subjects_result(data: Path, *, fifty: Path, embedders: Sequence[str], seed: int, tell: Tell) -> dict[str, Any]:
    """Return how well a new subject is heard where conversations are joined, by embedder and set."""
    benchmarks = {name: load(name, data / path) for name, path in PATHS.items()}
    fifties = [read_fifty(fifty, language=language) for language in LANGUAGES]
    joined = {name: joined_of_benchmark(one, seed=seed) for name, one in benchmarks.items()}
    joined |= {f"fifty-{one.language}": joined_of_fifty(one, seed=seed) for one in fifties}
    opened = {name: open_embedder(name) for name in embedders}
    drift = Settings().summary_drift
    return {
        "dataset": {
            "name": "joined",
            "sha256": _together([*(one.sha256 for one in benchmarks.values()), *(one.sha256 for one in fifties)]),
        },
        "provenance": provenance(
            embedders={name: embedder.fingerprint for name, embedder in opened.items()}, drift=drift, seed=seed
        ),
        "result": {
            name: subjects_heard(joined, embedder=embedder, drift=drift, progress=tell)
            for name, embedder in opened.items()
        },
    }


def secrets_result(examples: str, *, data: Path | None) -> dict[str, Any]:
    """Return how well secrets are found in the texts that a module puts together, and what is found in data sets."""
    paths = {} if data is None else {name: data / path for name, path in PATHS.items()}
    found = labelled_secrets(examples, {SETS[name]: load(name, path) for name, path in paths.items()})
    return {"provenance": provenance(), **found}


def _together(digests: Iterable[str]) -> str:
    """Return the SHA-256 of several files' digests, one after the other."""
    return hashlib.sha256("".join(digests).encode()).hexdigest()
