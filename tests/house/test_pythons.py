"""The wheel installs and does its main job on every Python that it names."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_demo_runs_after_a_plain_install(
    wheel: Path, run: Callable[..., str], tmp_path: Path, version: str
) -> None:
    fresh = tmp_path / "fresh"
    run(interpreter(version), "-m", "venv", fresh)
    run(fresh / "bin/python", "-m", "pip", "install", "--quiet", wheel)

    said = run(fresh / "bin/memory-rag", "demo", cwd=tmp_path, MEMORY_RAG_HOME=str(tmp_path / "home"))

    assert "4711-ZX" in said
    assert "price is 49 euro" in said


def interpreter(version: str) -> str:
    """Return the path of a Python of this version, or skip where there is none."""
    # pyenv puts a python3.x on the path that runs only when its version is asked for.
    environment = {**os.environ, "PYENV_VERSION": version}
    command = [f"python{version}", "-c", "import sys; print(sys.executable)"]
    try:
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"no Python {version} here")
