"""Measure what summaries keep: ``python -m memory_rag.summaries --data PATH --out eval/results``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from memory_rag.errors import MemoryRagError
from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.datasets.registry import load
from memory_rag.evaluation.provenance import provenance, write_result
from memory_rag.evaluation.statistics import bootstrap_by_cluster
from memory_rag.summaries.audit import Kept
from memory_rag.summaries.extractive import ExtractiveSummarizer
from memory_rag.summaries.kept_trial import BATCH_TURNS, BlockKept, SentencesInOrder, blocks_kept, by_conversation
from memory_rag.summaries.opening import summarizer_named
from memory_rag.summaries.summary import WORD_LIMIT, Summarizer
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Turn

_PATHS = {"locomo": "locomo10.json", "beam": "beam/100K"}


def main(arguments: list[str] | None = None) -> int:
    """Summarise the evaluation data in blocks of 100 turns, write what is kept as JSON, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m memory_rag.summaries", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with locomo10.json and beam/100K")
    parser.add_argument("--out", type=Path, required=True, help="folder for summaries-<data set>.json")
    parser.add_argument("--sets", default="locomo,beam")
    parser.add_argument("--summarizer", help="one more, such as openai:MODEL; the turns are sent there")
    parser.add_argument("--words", type=int, default=WORD_LIMIT)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    try:
        for name in given.sets.split(","):
            if name not in _PATHS:
                parser.error(f"unknown data set {name!r}; a data set is one of: {', '.join(_PATHS)}")
            result = _measured(name, given)
            write_result(given.out / f"summaries-{name}.json", result)
            _print(name, result)
    except MemoryRagError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def _measured(name: str, given: argparse.Namespace) -> dict[str, Any]:
    benchmark = load(name, given.data / _PATHS[name])
    conversations: dict[str, list[Turn]] = {}
    for turn in benchmark.turns():
        conversations.setdefault(turn.conversation_id, []).append(turn)
    analyzer = Analyzer(("en",))
    extractive = ExtractiveSummarizer(analyzer)
    trials: list[tuple[str, Summarizer, int | None]] = [
        ("extractive, at once", extractive, None),
        (f"extractive, extended by {BATCH_TURNS} turns", extractive, BATCH_TURNS),
        ("first sentences", SentencesInOrder(analyzer, name="first sentences"), None),
        ("random sentences", SentencesInOrder(analyzer, name="random sentences", seed=given.seed), None),
    ]
    if given.summarizer:
        model = summarizer_named(given.summarizer, analyzer=lambda: analyzer)()
        trials.append((f"{given.summarizer}, extended by {BATCH_TURNS} turns", model, BATCH_TURNS))
    return {
        "dataset": {"name": name, "sha256": benchmark.sha256, "n_turns": sum(map(len, conversations.values()))},
        "summarizers": {
            label: _shares(
                blocks_kept(
                    conversations, summarizer, analyzer=analyzer, batch_turns=batch_turns, word_limit=given.words
                ),
                fingerprint=summarizer.fingerprint,
                evidence=_evidence(benchmark),
                seed=given.seed,
            )
            for label, summarizer, batch_turns in trials
        },
        "provenance": provenance(words=given.words, block_turns=100, seed=given.seed),
    }


def _evidence(benchmark: Benchmark) -> dict[str, set[str]]:
    """Return by conversation the turns that answer a question of the benchmark: no cue of ours chose these."""
    judged = {doc_id for grades in benchmark.qrels.values() for doc_id, grade in grades.items() if grade > 0}
    found: dict[str, set[str]] = {}
    for document in benchmark.documents:
        if document.doc_id in judged:
            found.setdefault(document.conversation_id, set()).update(turn.turn_id for turn in document.turns)
    return found


def _shares(
    blocks: Sequence[BlockKept], *, fingerprint: str, evidence: Mapping[str, Set[str]], seed: int
) -> dict[str, Any]:
    """Return by kind what is kept in all, and the mean of the conversations' shares with its interval."""
    shares: dict[str, Any] = {}
    cited = frozenset(one for block in blocks for one in block.cited)
    counted = by_conversation(blocks)
    counted["evidence turn cited"] = {name: Kept(len(own & cited), len(own)) for name, own in evidence.items()}
    for kind, own in counted.items():
        total = Kept(sum(kept.kept for kept in own.values()), sum(kept.of for kept in own.values()))
        known = {name: kept.share for name, kept in own.items()}
        values = [share for share in known.values() if share is not None]
        mean = bootstrap_by_cluster(values, clusters=list(known), seed=seed).as_json() if values else None
        shares[kind] = {"kept": total.kept, "of": total.of, "share": mean}
    n_words = [block.n_words for block in blocks]
    return {"fingerprint": fingerprint, "n_blocks": len(blocks), "most_words": max(n_words, default=0), "kept": shares}


def _print(name: str, result: dict[str, Any]) -> None:
    for label, found in result["summarizers"].items():
        told = [f"{kind} {one['share']['mean']:.3f}" for kind, one in found["kept"].items() if one["share"]]
        sys.stdout.write(f"{name}, {label}: {', '.join(told)}\n")


if __name__ == "__main__":
    sys.exit(main())
