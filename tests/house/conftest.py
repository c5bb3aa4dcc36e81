"""The project as it would be released: its tree, and the wheel that is built of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest

Run = Callable[..., str]


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout: the folder with pyproject.toml."""
    return Path(__file__).parents[2]


@pytest.fixture(scope="session")
def run() -> Run:
    """Run a command to its end and return what it printed; one that fails, fails the test with its words."""

    def run(*command: object, cwd: Path | None = None, **environment: str) -> str:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env={**os.environ, **environment},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode:
            pytest.fail(f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    return run


@pytest.fixture
def outcome_of(root: Path, tmp_path: Path) -> Callable[..., str]:
    """Run a test module under the project's own conftest, in another process; return what pytest said."""

    def outcome_of(module: str, **environment: str) -> str:
        shutil.copy(root / "tests" / "conftest.py", tmp_path)
        (tmp_path / "test_module.py").write_text(module, encoding="utf-8")
        outer = {name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_RAG_", "PYTEST_"))}
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path],
            env={**outer, **environment},
            capture_output=True,
            encoding="utf-8",
            check=False,
        ).stdout

    return outcome_of


@pytest.fixture(scope="session")
def wheel(root: Path, run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without network of a copy of the tree that also holds what must stay out of it.

    A copy, because setuptools leaves a build folder behind and packs what an earlier build left there.
    """
    tree = tmp_path_factory.mktemp("tree")
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(root / name, tree)
    leave_out = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in ("memory_rag", "tests"):
        shutil.copytree(root / name, tree / name, ignore=leave_out)
    for stray in ("tests/__init__.py", "eval/__init__.py", "notebooks/first.py", "indexes/main/turns.sqlite"):
        (tree / stray).parent.mkdir(parents=True, exist_ok=True)
        (tree / stray).write_text("", encoding="utf-8")

    built = tmp_path_factory.mktemp("wheel")
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "-w",
        built,
        tree,
    )
    (made,) = built.glob("*.whl")
    return made


@pytest.fixture(scope="session")
def metadata(wheel: Path) -> Message:
    """The wheel's METADATA, as an index shows it and pip reads it."""
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))
