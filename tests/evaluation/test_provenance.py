"""A result says what it was made with, and is written so that two of them can be compared."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import pytest

from memory_rag import __version__
from memory_rag.evaluation.provenance import provenance, write_result


def test_it_names_versions_machine_time_and_settings() -> None:
    made = provenance(seed=7, embedder="minilm")

    assert made["settings"] == {"seed": 7, "embedder": "minilm"}
    assert made["python"] == platform.python_version()
    assert made["versions"]["memory-rag"] == __version__
    assert made["versions"]["numpy"] == version("numpy")
    assert {"faiss-cpu", "onnxruntime", "rank-bm25"} <= made["versions"].keys()
    assert made["machine"]["cores"] == os.cpu_count()
    assert made["commit"]
    assert datetime.fromisoformat(made["made_at"]).tzinfo is not None


def test_the_commit_is_the_packages_own_wherever_it_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = provenance()["commit"]
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
    for words in (("init", "--quiet"), (*author, "commit", "--quiet", "--allow-empty", "-m", "somebody else's")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)

    assert provenance()["commit"] == own


def test_it_names_no_folder_and_no_user_of_this_machine() -> None:
    written = json.dumps(provenance())

    assert str(Path.home()) not in written
    assert str(Path.cwd()) not in written


def test_a_result_is_written_with_its_names_in_order_and_its_words_readable(tmp_path: Path) -> None:
    path = tmp_path / "results" / "trial.json"

    write_result(path, {"b": 1, "a": "å"})

    assert path.read_text(encoding="utf-8") == '{\n "a": "å",\n "b": 1\n}\n'
