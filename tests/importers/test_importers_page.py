"""docs/importers.md: its example is a package that works, and it names what there is."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_rag.importers import importers
from memory_rag.importers.formats import Importer
from memory_rag.importers.registry import ENTRY_POINTS
from memory_rag.memory import Memory
from memory_rag.turns import Role


@pytest.fixture(scope="module")
def page() -> str:
    return (Path(__file__).parents[2] / "docs/importers.md").read_text(encoding="utf-8")


def block(page: str, language: str) -> str:
    found = re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(found) == 1
    return str(found[0])


@pytest.fixture
def installed(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's example as an installed package."""
    group, entry = block(page, "toml").strip().split("\n")
    assert group == f'[project.entry-points."{ENTRY_POINTS}"]'
    (tmp_path / "chirp_importer.py").write_text(block(page, "python"), encoding="utf-8")
    info = tmp_path / "chirp_importer-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: chirp-importer\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\n{entry.replace(chr(34), '')}\n")
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("installed")
def test_the_example_reads_its_file_without_an_option(page: str, tmp_path: Path) -> None:
    path = tmp_path / "garden.chirp"
    path.write_text(block(page, "text") + "torn\n", encoding="utf-8")
    with Memory.open(tmp_path / "memory", embedder="none") as memory:
        report = memory.import_path(path)
        turns = list(memory.turns())

    assert [(turn.role, turn.speaker, turn.text) for turn in turns] == [
        (Role.USER, "Ebba", "The beans are up!"),
        (Role.ASSISTANT, "Nova", "Then water them tonight."),
        (Role.USER, "Ebba", "I will."),
    ]
    assert turns[0].said_at == datetime(2026, 5, 1, 6, 0, tzinfo=UTC)
    assert [file.format for file in report.files] == ["chirp"]
    assert {reason: found.count for reason, found in report.skipped.items()} == {"not four fields": 1}
    assert {reason: found.count for reason, found in report.noted.items()} == {"time not understood": 1}


@pytest.mark.usefixtures("installed")
def test_the_example_is_an_importer_by_its_types() -> None:
    example: Importer = importers()["chirp"]

    assert (example.name, getattr(example, "whole_conversations", False)) == ("chirp", True)
