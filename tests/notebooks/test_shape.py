"""The notebooks are kept as they are read: numbered, without outputs, and with nothing in them but calls."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
ALLOWED = {"memory_rag", "pathlib", "tempfile"}


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def code(path: Path) -> Iterator[ast.stmt]:
    for cell in read(path)["cells"]:
        if cell["cell_type"] == "code":
            yield from ast.parse(source(cell), path.name).body


def prose(path: Path) -> str:
    return "\n".join(source(cell) for cell in read(path)["cells"] if cell["cell_type"] == "markdown")


def test_they_are_numbered_from_one_without_a_gap() -> None:
    assert [path.name[:3] for path in NOTEBOOKS] == ["01-", "02-", "03-", "04-", "05-", "06-"]


def test_the_readme_of_the_folder_names_each() -> None:
    told = (FOLDER / "README.md").read_text(encoding="utf-8")

    assert [path.name for path in NOTEBOOKS if f"({path.name})" not in told] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stripped(path: Path) -> None:
    cells = [cell for cell in read(path)["cells"] if cell["cell_type"] == "code"]

    assert [cell["id"] for cell in cells if cell["outputs"] or cell["execution_count"] is not None] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_nothing_of_the_machine_that_ran_it_is_kept(path: Path) -> None:
    notebook = read(path)

    assert notebook["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert [cell["id"] for cell in notebook["cells"] if cell["metadata"]] == []
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert path.read_text(encoding="utf-8").endswith("}\n")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_begins_with_its_number_and_leads_to_another(path: Path) -> None:
    cells = read(path)["cells"]

    assert source(cells[0]).startswith(f"# {int(path.name[:2])}. ")
    assert re.search(r"\]\(0\d-[\w-]+\.ipynb\)$", source(cells[-1]).strip())


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_memory_rag_alone_is_imported(path: Path) -> None:
    imported = set[str]()
    for statement in code(path):
        for node in ast.walk(statement):
            if isinstance(node, ast.Import):
                imported |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").partition(".")[0])

    assert imported - ALLOWED == set()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_logic_lives_in_it(path: Path) -> None:
    plain = (ast.Import, ast.ImportFrom, ast.Assign, ast.Expr)
    deep = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp, ast.IfExp)

    statements = list(code(path))
    assert [ast.unparse(one) for one in statements if not isinstance(one, plain)] == []
    assert [ast.unparse(one) for one in statements if any(isinstance(node, deep) for node in ast.walk(one))] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_link_leads_to_a_file(path: Path) -> None:
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", prose(path))]

    assert [link for link in links if "://" not in link and not (FOLDER / link).exists()] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_command_that_it_names_exists(path: Path) -> None:
    from memory_rag.interfaces.cli.app import COMMANDS

    named = re.findall(r"`memory-rag ([a-z-]+)", prose(path))
    assert named
    assert [name for name in named if name not in COMMANDS] == []
