"""The generic questions' mean vectors by the pinned models, so that no start has to embed the questions.

That took 50 ms with MiniLM and half a second with e5. A mean goes with one model file and one list of questions, and
is used for no other. ``python -m memory_rag.embedding.generic_means`` makes those of the installed models anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memory_rag.embedding.embedder import Vectors

MEANS_FILE: Final = Path(__file__).with_name("generic_means.json")
Mean = NDArray[np.float64]


def shipped_mean(*, model_sha256: str, questions: Sequence[str]) -> Mean | None:
    """Return the mean of these questions' vectors, shape (dim,); None if it isn't known for them and this model."""
    for made in _shipped():
        if made["model_sha256"] == model_sha256 and made["questions"] == list(questions):
            return np.array(made["mean"], np.float64)
    return None


def mean_of(questions: Sequence[str], *, embed_queries: Callable[[Sequence[str]], Vectors]) -> Mean:
    """Return the mean of these questions' vectors, shape (dim,); not normalised."""
    mean: Mean = embed_queries(questions).mean(axis=0, dtype=np.float64)
    return mean


def _shipped() -> list[dict[str, Any]]:
    shipped: list[dict[str, Any]] = json.loads(MEANS_FILE.read_text(encoding="utf-8"))
    return shipped


def _make() -> None:
    from memory_rag.embedding import e5, minilm, minilm_network
    from memory_rag.embedding.generic_questions import ENGLISH, GENERIC_QUESTIONS
    from memory_rag.errors import MissingExtraError

    lines = []
    for sha256, embedder, questions in (
        (minilm_network.GRAPH_SHA256, minilm.MiniLmEmbedder, ENGLISH),
        (e5.MODEL_SHA256, e5.E5Embedder, GENERIC_QUESTIONS),
    ):
        try:
            mean = mean_of(questions, embed_queries=embedder().embed_queries)
        except MissingExtraError:
            known = [made for made in _shipped() if made["model_sha256"] == sha256]
        else:
            known = [{"model_sha256": sha256, "questions": questions, "mean": mean.tolist()}]
        lines += [json.dumps(made, ensure_ascii=False) for made in known]
    MEANS_FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    _make()
