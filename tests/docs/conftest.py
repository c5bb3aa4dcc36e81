"""The world of the documentation, made once and put back for each test."""

from __future__ import annotations

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
