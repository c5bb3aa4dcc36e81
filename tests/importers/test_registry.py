"""Other packages bring importers by an entry point, and a bad one says whose it is."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import Distribution, EntryPoint, distributions
from pathlib import Path

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.importers import importers
from memory_rag.importers.formats import Detection, ImportOptions, Item
from memory_rag.importers.registry import ENTRY_POINTS, detections
from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import SourceFile

MODULE = """
from memory_rag.importers.formats import Detection, ImportOptions, Item

class DiaryImporter:
    name = "diary"
    def detect(self, sample):
        return Detection(self.name, 0.4 * sample.head.startswith("Dear diary"), "a greeting")
    def read(self, source, options):
        yield from ()

class LocomoAgain(DiaryImporter):
    name = "locomo"

diary = DiaryImporter()
again = LocomoAgain()
nameless = object()
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path with a package that brings importers."""
    (tmp_path / "a_diary_package.py").write_text(MODULE)
    info = tmp_path / "a_diary_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: a-diary-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\ndiary = a_diary_package:diary\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def entry(value: str) -> EntryPoint:
    return EntryPoint("diary", value, ENTRY_POINTS)


def test_an_installed_package_brings_its_importer(installed: Path) -> None:
    (package,) = distributions(path=[str(installed)])
    assert isinstance(package, Distribution)
    known = importers()
    assert known["diary"].name == "diary"
    assert list(known)[-1] == "diary"
    beginning = Sample(installed / "x.txt", "text", head="Dear diary, today")
    assert detections(beginning, known) == [Detection("diary", 0.4, "a greeting")]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("a_diary_package:again", "brings an importer named 'locomo', which there is already"),
        ("a_diary_package:nameless", "is no importer that can be used: AttributeError"),
        ("a_diary_package:missing", "is no importer that can be used: AttributeError"),
        ("no_such_package:diary", "is no importer that can be used: ModuleNotFoundError"),
    ],
)
@pytest.mark.usefixtures("installed")
def test_an_importer_that_cannot_be_used_is_named(value: str, why: str) -> None:
    with pytest.raises(ImportFormatError, match=why) as refused:
        importers(others=[entry(value)])
    assert value in str(refused.value)


def test_an_importer_that_fails_when_it_looks_at_a_file_is_named() -> None:
    class Failing:
        name = "failing"

        def detect(self, sample: Sample) -> Detection:
            raise KeyError("x")

        def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
            yield from ()

    beginning = Sample(Path("x.txt"), "text", head="x")
    with pytest.raises(
        ImportFormatError, match=r"the importer 'failing' fails when it looks at x\.txt \(KeyError: 'x'\)"
    ):
        detections(beginning, {"failing": Failing()})
