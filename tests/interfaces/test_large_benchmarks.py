"""A benchmark of the size of LongMemEval-S runs in the memory of a small machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memory_rag.evaluation.report_file import by_pool, read_report
from tests.evaluation.datasets.haystacks import Size, write_haystacks

RUN = """
import sys
from memory_rag.interfaces.cli import main
from tests.peak import peak_bytes
try:
    main()
finally:
    print("peak", peak_bytes(), file=sys.stderr)
"""


@pytest.mark.slow
def test_500_questions_over_250000_turns_take_less_than_4_gb(tmp_path: Path) -> None:
    data = tmp_path / "longmemeval_s.json"
    write_haystacks(data, Size())
    words = ["bench", "run", "longmemeval", "--data", str(data), "--out", str(tmp_path / "out"), "--embedder", "none"]

    ran = subprocess.run(
        [sys.executable, "-c", RUN, *words],
        env={**os.environ, "MEMORY_RAG_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
        timeout=3600,
    )

    assert ran.returncode == 0, ran.stderr
    assert int(ran.stderr.split("peak ")[-1]) < 4 * 10**9
    own, memory = by_pool(read_report(tmp_path / "out" / "report.json"))
    assert (own["dataset"]["n_queries"], own["dataset"]["n_turns"]) == (470, 250_000)
    assert set(own["retrievers"]) == {"overlap", "rank-bm25", "keyword", "hybrid", "hybrid-cv", "random", "oracle"}
    assert [point["n_conversations"] for point in memory["pool_sizes"]["keyword"]] == [1, 5, 50, 500]
