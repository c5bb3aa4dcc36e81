"""A command loads what it needs and no more: the start is most of the time that a search takes."""

from __future__ import annotations

import re

import pytest

from tests.interfaces.command_line import CommandLine

MODELS = {"faiss", "onnxruntime", "tokenizers", "openai", "rank_bm25", "rapidfuzz", "torch"}
LOADED = re.compile(r"^import time:.*\|\s+(\S+)$", re.MULTILINE)


def loaded(memory_rag: CommandLine, *words: str) -> set[str]:
    """Return the packages that a process of its own loads for a command line."""
    ran = memory_rag.process(*words, PYTHONPROFILEIMPORTTIME="1")
    assert ran.code == 0, ran.err
    return {name.partition(".")[0] for name in LOADED.findall(ran.err)}


@pytest.mark.usefixtures("talk")
def test_a_keyword_search_loads_no_model_no_table_and_no_checker_of_types(memory_rag: CommandLine) -> None:
    modules = loaded(memory_rag, "search", "säsongen", "--mode", "keyword", "--json")

    assert {"memory_rag", "numpy", "typer"} <= modules
    assert modules & (MODELS | {"rich", "pydantic"}) == set()


def test_help_and_version_load_no_numbers(memory_rag: CommandLine) -> None:
    assert loaded(memory_rag, "--help") & (MODELS | {"rich", "pydantic", "numpy"}) == set()
    assert loaded(memory_rag, "--version") & (MODELS | {"rich", "pydantic", "numpy"}) == set()
