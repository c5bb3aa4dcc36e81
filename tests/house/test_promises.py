"""Each promise of the README names a test that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

_ROW = re.compile(r"\| (?P<promise>[^|]+) \| (?P<tests>(?:`[^`|]+`(?:, )?)+) \|")


def promises(readme: str) -> dict[str, list[str]]:
    """Return the tests that each promise names, as ``file`` or ``file::test``."""
    section = readme.partition("## What it promises\n")[2].partition("\n## ")[0]
    return {
        found["promise"]: re.findall(r"`([^`]+)`", found["tests"])
        for found in (_ROW.fullmatch(line.strip()) for line in section.splitlines())
        if found is not None
    }


def problems(root: Path, named: str) -> list[str]:
    """Return what is wrong with a test that is named."""
    path, _, name = named.partition("::")
    if not (root / path).is_file():
        return [f"there is no {path}"]
    parsed = ast.walk(ast.parse((root / path).read_text(encoding="utf-8")))
    functions = [node.name for node in parsed if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    if not functions:
        return [f"{path} holds no test"]
    return [f"{path} holds no {name}"] if name and name not in functions else []


def test_every_promise_names_tests_that_exist(root: Path) -> None:
    promised = promises((root / "README.md").read_text(encoding="utf-8"))

    assert len(promised) >= 13
    assert [problem for tests in promised.values() for test in tests for problem in problems(root, test)] == []


def test_every_row_of_the_table_is_read(root: Path) -> None:
    readme = (root / "README.md").read_text(encoding="utf-8")
    section = readme.partition("## What it promises\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]

    assert len(rows) - 2 == len(promises(readme))


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("tests/house/test_promises.py", []),
        ("tests/house/test_promises.py::test_every_row_of_the_table_is_read", []),
        ("tests/house/test_promises.py::test_nothing", ["tests/house/test_promises.py holds no test_nothing"]),
        ("tests/house/test_absent.py", ["there is no tests/house/test_absent.py"]),
        ("tests/model_server.py", ["tests/model_server.py holds no test"]),
    ],
)
def test_a_test_that_isnt_there_is_noticed(root: Path, named: str, problem: list[str]) -> None:
    assert problems(root, named) == problem
