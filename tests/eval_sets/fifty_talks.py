"""The fifty conversations and their questions, as they lie in ``eval/fifty/``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "eval" / "fifty"
LANGUAGES = ("sv", "nb")


@dataclass(frozen=True)
class Talk:
    """One conversation: its turns as (role, text), in spoken order, and what a good summary of it would name."""

    talk_id: str
    turns: tuple[tuple[str, str], ...]
    subject_words: tuple[str, ...]


@dataclass(frozen=True)
class TalkQuestion:
    """A question that one conversation answers; ``frame`` and ``distractors`` are empty for the same words."""

    question_id: str
    talk_id: str
    kind: str
    text: str
    frame: str
    distractors: tuple[str, ...]
    among_five: tuple[str, ...]


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSONL file, in order."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_talks(language: str) -> dict[str, Talk]:
    """Return a language's fifty conversations by id, in file order."""
    return {
        row["id"]: Talk(
            talk_id=row["id"],
            turns=tuple((turn["role"], turn["text"]) for turn in row["turns"]),
            subject_words=tuple(row["subject_words"]),
        )
        for row in lines_of(FOLDER / f"conversations-{language}.jsonl")
    }


def read_questions(language: str, *, kind: str) -> list[TalkQuestion]:
    """Return a language's fifty questions of a kind: ``same_words`` or ``paraphrase``."""
    return [
        TalkQuestion(
            question_id=row["id"],
            talk_id=row["conversation"],
            kind=row["kind"],
            text=row["text"],
            frame=row.get("frame", ""),
            distractors=tuple(row.get("distractors", ())),
            among_five=tuple(row["among_five"]),
        )
        for row in lines_of(FOLDER / f"questions-{language}.jsonl")
        if row["kind"] == kind
    ]
