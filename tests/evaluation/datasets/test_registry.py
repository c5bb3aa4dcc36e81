"""Data sets by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import SettingsError
from memory_rag.evaluation.datasets.registry import DATASETS, load

MadeLines = Callable[[str, list[Any]], Path]


def test_every_data_set_is_there_with_its_options() -> None:
    assert {name: dataset.options for name, dataset in DATASETS.items()} == {
        "beam": ("unit",),
        "beir": ("unit", "split"),
        "chats": ("unit",),
        "locomo": ("unit",),
        "longmemeval": ("unit", "roles"),
        "own": ("unit", "n", "seed", "languages", "longer_than", "questions", "paraphraser", "progress"),
        "realtalk": ("unit",),
        "trec": ("unit", "queries", "qrels"),
    }


def test_a_data_set_is_loaded_by_its_name() -> None:
    assert load("chats", unit="session").unit == "session"
    assert load("own", [], n=0).documents == ()


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("lokomo", {}, "unknown data set 'lokomo'; there are: beam, beir, chats, locomo"),
        ("locomo", {"split": "test"}, "locomo has no option 'split'; it has: unit"),
        ("locomo", {}, "locomo needs a file to read; name it"),
        ("own", {}, "own needs a memory to read; name it"),
    ],
)
def test_what_cannot_be_loaded_is_said(name: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        load(name, **options)
