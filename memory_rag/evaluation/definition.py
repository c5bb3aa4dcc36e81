"""What a benchmark is run on and how: the definitions in the package, and TOML files of your own."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, cast

from memory_rag.errors import SettingsError
from memory_rag.evaluation.benchmark import Benchmark, Unit
from memory_rag.evaluation.datasets.assembly import UNITS
from memory_rag.evaluation.datasets.registry import DATASETS

FOLDER: Final = Path(__file__).with_name("definitions")
_PATHS: Final = frozenset({"queries", "qrels", "questions"})


@dataclass(frozen=True, slots=True)
class Definition:
    """A benchmark's data set, unit, cutoff and depth; ``options`` go to the data set's loader.

    ``groups`` are categories that are also reported together, under a name of their own.
    ``sha256`` names the data that the definition is about; other data run under their own name. ``data`` is where they
    lie, if a file of one's own says so.
    """

    name: str
    dataset: str
    about: str = ""
    unit: Unit = "turn"
    k: int = 10
    depth: int = 100
    data: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sha256: Mapping[str, str] = field(default_factory=dict)

    def named(self, benchmark: Benchmark, data: Path | None) -> Benchmark:
        """Return the benchmark under the name of its data: the one listed for their digest, else that of the file."""
        known = {digest: name for name, digest in self.sha256.items()}
        if benchmark.sha256 in known:
            return replace(benchmark, name=known[benchmark.sha256])
        if data is None:
            return benchmark
        own = data.resolve().stem or self.dataset
        name = own if own.casefold().startswith(self.dataset) else f"{self.dataset}-{own}"
        if name in self.sha256:
            name = f"{name}-{benchmark.sha256[:8]}"
        return replace(benchmark, name=name)


def definitions() -> dict[str, Definition]:
    """Return the definitions in the package, by name."""
    return {path.stem: _read(path) for path in sorted(FOLDER.glob("*.toml"))}


def definition_of(name_or_path: str) -> Definition:
    """Return the definition with this name, or the one in a TOML file.

    Raises:
        SettingsError: there is none, or the file isn't a definition.
    """
    if name_or_path.endswith(".toml") or "/" in name_or_path:
        return _read(Path(name_or_path))
    known = definitions()
    if name_or_path not in known:
        raise SettingsError(
            f"unknown benchmark {name_or_path!r}; there are: {', '.join(known)}; or name a TOML file with a definition"
        )
    return known[name_or_path]


def _read(path: Path) -> Definition:
    try:
        value = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path} can't be read as a benchmark's definition: {error}") from error
    kinds: dict[str, type] = {
        "dataset": str,
        "about": str,
        "unit": str,
        "k": int,
        "depth": int,
        "data": str,
        "options": dict,
        "groups": dict,
        "sha256": dict,
    }
    for name, given in value.items():
        if name not in kinds:
            raise SettingsError(f"{path}: a definition has no {name!r}; it has: {', '.join(kinds)}")
        if not isinstance(given, kinds[name]) or isinstance(given, bool):
            raise SettingsError(f"{path}: {name} is a {kinds[name].__name__}, got {given!r}")
    if value.get("dataset") not in DATASETS:
        raise SettingsError(f"{path}: dataset is one of: {', '.join(DATASETS)}; got {value.get('dataset')!r}")
    if value.get("unit", "turn") not in UNITS:
        raise SettingsError(f"{path}: unit is one of: {', '.join(UNITS)}; got {value['unit']!r}")
    for name, listed in value.get("groups", {}).items():
        if not isinstance(listed, list) or not all(isinstance(category, str) for category in listed):
            raise SettingsError(f"{path}: group {name!r} is a list of categories, got {listed!r}")
    for name in ("k", "depth"):
        if value.get(name, 1) < 1:
            raise SettingsError(f"{path}: {name} must be at least 1, got {value[name]}")
    here = path.parent
    if "data" in value:
        value["data"] = here / Path(value["data"]).expanduser()
    value["options"] = {
        name: here / given if name in _PATHS else given for name, given in value.get("options", {}).items()
    }
    taken = {spec.name for spec in fields(Definition)}
    return Definition(name=path.stem, **cast(Any, {name: given for name, given in value.items() if name in taken}))
