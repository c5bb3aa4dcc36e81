"""Where the weights of a side come from."""

from __future__ import annotations

from pathlib import Path

from memory_rag.evaluation.report_shape import Weights
from memory_rag.evaluation.weights_origin import shipped_weights
from memory_rag.retrieval.signals import WEIGHTS
from memory_rag.retrieval.weights_file import read_weights
from memory_rag.settings import Settings


def weights_of(settings: Settings) -> tuple[dict[str, float], Weights]:
    """Return the weights that these settings name, and where they come from."""
    if not settings.weights:
        return dict(WEIGHTS), shipped_weights()
    found = read_weights(Path(settings.weights).expanduser())
    return dict(found.weights), {"source": "file", "fitted_on": list(found.fitted_on)}
