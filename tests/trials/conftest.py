from __future__ import annotations

from pathlib import Path

import pytest

from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.datasets.registry import load
from tests.trials.made_talks import locomo_file


@pytest.fixture
def talks(tmp_path: Path) -> Benchmark:
    """Three talks of 36 turns, 36 questions."""
    return load("locomo", locomo_file(tmp_path))
