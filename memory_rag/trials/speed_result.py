"""How fast a memory is, as a result: this package's parts measured beside rank-bm25 and plain FAISS."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memory_rag.embedding.minilm import MiniLmEmbedder
from memory_rag.embedding.wordpiece import WordPiece
from memory_rag.evaluation.provenance import provenance
from memory_rag.evaluation.speed import speed_trial
from memory_rag.evaluation.speed_corpus import Corpus
from memory_rag.evaluation.speed_subjects import Repetitions, Subjects, Tell
from memory_rag.memory import Memory
from memory_rag.retrieval.faiss_indexes import FlatVectors
from memory_rag.retrieval.overlap import RankBm25


def speed_result(
    *, data: Path | None, scratch: Path, sizes: Sequence[int], often: Repetitions, seed: int, tell: Tell
) -> dict[str, Any]:
    """Measure everything, and return the result; ``data`` has the turns that are embedded, else they are invented."""
    load_before = os.getloadavg()[0]
    embedder, tokenizer = MiniLmEmbedder(), WordPiece()
    n_embedded = often.embedding_rounds * often.embedding_turns
    if data is None:
        texts = Corpus(seed=seed).texts_of_tokens(n_embedded, count=tokenizer.count)
    else:
        texts = _locomo_texts(data, scratch / "locomo", n_embedded, seed=seed)
    subjects = Subjects(
        open_memory=lambda folder, *, durability, embedder: Memory.open(
            folder, durability=durability, embedder=embedder
        ),
        rank_bm25=_rank_bm25,
        flat=_flat,
        embedder=embedder,
    )
    result = speed_trial(subjects, scratch=scratch, embedded=texts, sizes=sizes, often=often, seed=seed, tell=tell)
    tokens = [tokenizer.count(text) for text in texts]
    result["embedding"]["texts"] = {
        "of": "invented" if data is None else "locomo",
        "n": len(texts),
        "tokens_mean": float(np.mean(tokens)),
        "tokens_p95": float(np.percentile(tokens, 95)),
    }
    made = provenance(
        seed=seed,
        embedder=embedder.fingerprint,
        load_average_before=load_before,
        load_average_after=os.getloadavg()[0],
    )
    return {"provenance": made, "result": result}


def _rank_bm25(tokens: Any) -> Callable[[Any], object]:
    ranker = RankBm25(tokens)
    return lambda query: np.argsort(-ranker.scores(query), kind="stable")[:10]


def _flat(vectors: Any) -> Callable[..., object]:
    index = FlatVectors(vectors)
    return lambda query, *, k, threads: index.nearest(query[0], k=k, threads=threads)


def _locomo_texts(data: Path, scratch: Path, n: int, *, seed: int) -> list[str]:
    """Return n of LoCoMo's turns, drawn at random."""
    with Memory.open(scratch, embedder="none") as memory:
        memory.import_path(data / "locomo10.json")
        texts = [turn.searchable for turn in memory.turns()]
    return [texts[place] for place in np.random.default_rng(seed).choice(len(texts), n, replace=False)]
