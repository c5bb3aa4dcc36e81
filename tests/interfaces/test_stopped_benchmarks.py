"""A run that is killed while it ranks goes on where it was, to the same result."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from memory_rag.evaluation.report_file import by_pool, read_report
from tests.trials.made_talks import locomo_file

pytestmark = pytest.mark.slow


def test_a_killed_run_is_taken_up_and_ends_with_the_same_report(tmp_path: Path) -> None:
    data = locomo_file(tmp_path, n_turns=450)
    undisturbed = _run(data, tmp_path, "alone", work="other")
    assert undisturbed.wait() == 0

    killed = _run(data, tmp_path, "out", work="work")
    stopped = tmp_path / "work" / "stopped"
    # Some retrievers are done by then, others aren't begun.
    while killed.poll() is None and not list(stopped.glob("*/conversation-hybrid.jsonl")):
        time.sleep(0.002)
    seen = sum(path.read_bytes().count(b"\n") for path in stopped.glob("*/*.jsonl"))
    os.kill(killed.pid, signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    assert not (tmp_path / "out").exists()

    resumed = _run(data, tmp_path, "out", work="work")
    assert resumed.wait() == 0
    said = re.search(r"([\d,]+) rankings of a run that was stopped are taken up", (tmp_path / "stderr").read_text())
    assert said is not None
    # Two baselines and keyword in both pools, 450 questions each.
    assert int(said[1].replace(",", "")) >= max(seen, 6 * 450)
    assert list(stopped.iterdir()) == []
    assert _without_times(tmp_path / "out") == _without_times(tmp_path / "alone")
    for path in sorted((tmp_path / "alone" / "runs").iterdir()):
        assert (tmp_path / "out" / "runs" / path.name).read_bytes() == path.read_bytes(), path.name


def _run(data: Path, folder: Path, out: str, *, work: str) -> subprocess.Popen[bytes]:
    words = ["bench", "run", "locomo", "--data", str(data), "--out", str(folder / out), "--work", str(folder / work)]
    environment = {**os.environ, "MEMORY_RAG_HOME": str(folder / "home"), "MEMORY_RAG_EMBEDDER": "none"}
    with (folder / "stderr").open("wb") as stderr:
        return subprocess.Popen(
            [sys.executable, "-m", "memory_rag", *words], env=environment, stdout=subprocess.DEVNULL, stderr=stderr
        )


def _without_times(folder: Path) -> list[Any]:
    reports = json.loads(json.dumps(by_pool(read_report(folder / "report.json"))))
    for report in reports:
        del report["provenance"]["made_at"]
        for retriever in report["retrievers"].values():
            assert (retriever.pop("latency_ms") is None) == retriever["bound"]
    return list(reports)
