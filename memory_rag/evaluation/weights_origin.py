"""Where weights come from, and whether they have seen the data that they are measured on."""

from __future__ import annotations

from typing import Final

from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.report_shape import Weights
from memory_rag.evaluation.seen_questions import are_seen

LOCOMO: Final = "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
BEAM_100K: Final = "d17c9516f65ea2b028c8bf52d83f10507b86cb249a4bf90e5a06f6b582c09d39"
"""As the loaders tell them."""


def shipped_weights() -> Weights:
    """Return the origin of the weights that ``Memory`` ships: round numbers, set after seeing totals on these data."""
    return {"source": "shipped", "fitted_on": [LOCOMO, BEAM_100K]}


def is_in_sample(weights: Weights | None, *, benchmark: Benchmark) -> bool:
    """Tell whether weights have seen the data of a benchmark: the very files, or questions of what they were set on.

    Cross-validated weights have not, though they come from the same file: those that rank a question were fitted
    without its conversation.
    """
    if weights is None or weights["source"] == "cv":
        return False
    return any(sha256 == benchmark.sha256 or are_seen(benchmark, fitted_on=sha256) for sha256 in weights["fitted_on"])
