"""Files of a data set made in a line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Made = Callable[[str, Any], Path]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Write a file below a new folder: texts as they are, anything else as JSON."""

    def write(name: str, content: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        path.write_bytes(text.encode("utf-8"))
        return path

    return write


@pytest.fixture
def made_lines(made: Made) -> Callable[[str, list[Any]], Path]:
    """Write a JSON Lines file below a new folder."""

    def write(name: str, rows: list[Any]) -> Path:
        return made(name, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))

    return write
