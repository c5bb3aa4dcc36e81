"""The world of the documentation, made once and put back for each test; and its site, built once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.world import World


@pytest.fixture(scope="session")
def made_world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("documented") / "you")


@pytest.fixture
def world(made_world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A person's home folder with a memory in it, as the working folder."""
    made_world.again()
    monkeypatch.chdir(made_world.folder)
    return made_world


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, built strictly and without a word of complaint."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=Path(__file__).parents[2],
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "NO_MKDOCS_2_WARNING": "1", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (built.returncode, built.stderr.strip()) == (0, "")
    return folder
