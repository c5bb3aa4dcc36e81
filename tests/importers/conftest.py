"""A file to import made in a line, and everything an import of it gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pytest

from memory_rag.importers import ImportOptions, ImportReport, open_import
from memory_rag.turns import Conversation, Turn, Withheld


@dataclass
class Imported:
    """What an import gave, in order, and its report when every turn is new."""

    report: ImportReport
    conversations: list[Conversation] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    withheld: list[str] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [turn.text for turn in self.turns]

    @property
    def keys(self) -> list[tuple[str, str, str]]:
        """What the store tells a known turn by."""
        return [(turn.source.name, turn.conversation_id, turn.source.native_id) for turn in self.turns if turn.source]

    @property
    def skipped(self) -> dict[str, int]:
        return {reason: found.count for reason, found in self.report.skipped.items()}

    @property
    def noted(self) -> dict[str, int]:
        return {reason: found.count for reason, found in self.report.noted.items()}


class ImportAll(Protocol):
    def __call__(self, path: Path, **wishes: Any) -> Imported: ...


def _import_all(path: Path, *, format: str | None = None, **wishes: Any) -> Imported:  # noqa: A002
    with open_import(path, format=format, options=ImportOptions(**wishes)) as opened:
        found = Imported(opened.report)
        for file in opened:
            for item in file:
                if isinstance(item, Conversation):
                    found.conversations.append(item)
                elif isinstance(item, Withheld):
                    found.withheld += item.native_ids
                else:
                    found.turns.append(item)
                    file.report.count_kept()
        opened.report.check()
        return found


@pytest.fixture(scope="session")
def import_all() -> ImportAll:
    """Import a path as a caller does who has stored nothing yet."""
    return _import_all


@pytest.fixture
def made(tmp_path: Path) -> Callable[[str, Any], Path]:
    """Write a file below a new folder: bytes and texts as they are, anything else as JSON."""

    def write(name: str, content: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
            path.write_bytes(text.encode())
        return path

    return write
