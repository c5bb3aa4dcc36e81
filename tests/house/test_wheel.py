"""What a person gets who installs memory_rag: all of the package and nothing beside it."""

from __future__ import annotations

import hashlib
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest

NOT_SHIPPED = {"__pycache__", ".mypy_cache", ".ruff_cache"}


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


def test_every_file_of_the_package_is_in_the_wheel_and_nothing_else_is(root: Path, names: set[str]) -> None:
    tree = {
        path.relative_to(root).as_posix()
        for path in (root / "memory_rag").rglob("*")
        if path.is_file() and NOT_SHIPPED.isdisjoint(path.parts)
    }
    shipped = {name for name in names if ".dist-info/" not in name}

    assert shipped == tree


def test_the_wheel_has_the_type_marker_the_tokenizer_the_network_and_the_sample(names: set[str]) -> None:
    assert {
        "memory_rag/py.typed",
        "memory_rag/embedding/tokenizer.json",
        "memory_rag/embedding/minilm.onnx",
        "memory_rag/embedding/minilm_signed.onnx",
        "memory_rag/embedding/minilm_probe.onnx",
        "memory_rag/sample/history.jsonl",
        "memory_rag/sample/questions.json",
    } <= names


def test_the_wheel_carries_the_licence_and_the_notice(names: set[str]) -> None:
    licences = {Path(name).name for name in names if ".dist-info/licenses/" in name}

    assert licences == {"LICENSE", "NOTICE"}


def test_the_tokenizer_is_the_file_that_the_notice_names(root: Path) -> None:
    tokenizer = (root / "memory_rag/embedding/tokenizer.json").read_bytes()

    sha256 = hashlib.sha256(tokenizer).hexdigest()
    assert sha256 == "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
    assert sha256 in (root / "NOTICE").read_text(encoding="utf-8")


def test_the_wheel_says_who_may_install_it_and_how_it_is_called(wheel: Path, metadata: Message) -> None:
    with ZipFile(wheel) as archive:
        (scripts,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        entry_points = archive.read(scripts).decode()

    assert metadata["Name"] == "memory-rag"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert set(metadata["Requires-Python"].split(",")) == {">=3.11", "<3.14"}
    assert "memory-rag = memory_rag.interfaces.cli:main" in entry_points


def test_the_wheel_runs_on_every_machine(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
