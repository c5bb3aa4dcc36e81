"""The fifty conversations and their questions, as they lie in ``eval/fifty/``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memory_rag.evaluation.datasets.fifty import LANGUAGES, Talk, TalkQuestion, read_fifty

__all__ = ["FOLDER", "LANGUAGES", "Talk", "lines_of", "read_questions", "read_talks"]
FOLDER = Path(__file__).parents[2] / "eval" / "fifty"


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSONL file, in order."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_talks(language: str) -> Mapping[str, Talk]:
    """Return a language's fifty conversations by id, in file order."""
    return read_fifty(FOLDER, language=language).talks


def read_questions(language: str, *, kind: str) -> list[TalkQuestion]:
    """Return a language's fifty questions of a kind: ``same_words`` or ``paraphrase``."""
    return read_fifty(FOLDER, language=language).of_kind(kind)
