"""Joined conversations of the evaluation data, and how well their joints are heard with an embedder."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from memory_rag.embedding.embedder import Embedder
from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.datasets.fifty import Fifty
from memory_rag.summaries.opening import MeaningVectors
from memory_rag.summaries.subject_trial import Joined, heard, in_a_row, joined_pieces
from memory_rag.text.analyzer import Analyzer
from memory_rag.trials.fifty import turns_of
from memory_rag.trials.known_texts import KnownTexts
from memory_rag.turns import Turn, printable

DRIFTS: Final = (0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1)
"""Settings that are tried, beside the one that holds."""
_N_JOINED: Final = 12
_N_PIECES: Final = 8
_LENGTHS: Final = (8, 20)
_SAMPLE: Final = 256


def joined_of_benchmark(benchmark: Benchmark, *, seed: int) -> list[Joined]:
    """Return twelve runs of eight pieces, each of 8 to 20 turns of one session."""
    conversations: dict[str, list[Turn]] = {}
    for turn in benchmark.turns():
        conversations.setdefault(turn.conversation_id, []).append(turn)
    return joined_pieces(conversations, n_joined=_N_JOINED, n_pieces=_N_PIECES, lengths=_LENGTHS, seed=seed)


def joined_of_fifty(fifty: Fifty, *, seed: int) -> list[Joined]:
    """Return the fifty conversations, each whole, in two orders drawn at random, ten in a run."""
    drawn = random.Random(seed)
    talks = [list(turns_of([talk])) for talk in fifty.talks.values()]
    runs: list[Joined] = []
    for _ in range(2):
        drawn.shuffle(talks)
        runs += [in_a_row(talks[start : start + 10]) for start in range(0, len(talks), 10)]
    return runs


def subjects_heard(
    joined: Mapping[str, Sequence[Joined]],
    *,
    embedder: Embedder,
    drift: float,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, dict[str, Any]]:
    """Return by set and drift how many joints were heard and how many new subjects told."""
    known = KnownTexts(embedder)
    drifts = sorted({*DRIFTS, drift})
    found: dict[str, dict[str, Any]] = {}
    for name, runs in joined.items():
        texts = list(dict.fromkeys(printable(turn.text) for run in runs for turn in run.turns))
        sample = texts[:: max(1, -(-len(texts) // _SAMPLE))]
        vectors_of = MeaningVectors(lambda: known, analyzer=lambda: Analyzer(("en",)), sample=partial(list, sample))
        own: dict[str, Any] = {}
        for done, least in enumerate(drifts, start=1):
            own[str(least)] = asdict(heard(runs, vectors_of=vectors_of, least=least))
            if progress is not None:
                progress(f"{embedder.fingerprint.partition(':')[0]}, {name}", done, len(drifts))
        found[name] = own
    return found
