"""Fifty conversations in a language, each asked for once in its own words and once in others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.datasets.files_read import FilesRead

LANGUAGES: Final = ("sv", "nb")
KINDS: Final = ("same_words", "paraphrase")


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation: its turns as (role, text), in spoken order, and what a good summary of it would name."""

    talk_id: str
    turns: tuple[tuple[str, str], ...]
    subject_words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TalkQuestion:
    """A question that one conversation answers; ``frame`` and ``distractors`` are empty for the same words."""

    question_id: str
    talk_id: str
    kind: str
    text: str
    frame: str
    distractors: tuple[str, ...]
    among_five: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fifty:
    """A language's conversations by id, in file order, and their questions; ``sha256`` tells which files they were."""

    language: str
    talks: Mapping[str, Talk]
    questions: tuple[TalkQuestion, ...]
    sha256: str

    def of_kind(self, kind: str) -> list[TalkQuestion]:
        """Return the questions of a kind, in file order."""
        return [question for question in self.questions if question.kind == kind]


def read_fifty(folder: Path, *, language: str) -> Fifty:
    """Return a language's conversations and questions from a folder.

    Raises:
        ImportFormatError: a file that isn't there or is broken, or a question about a conversation that isn't there.
    """
    files = FilesRead(folder)
    talks: dict[str, Talk] = {}
    path = folder / f"conversations-{language}.jsonl"
    for number, row in files.json_lines(path):
        try:
            talk = Talk(
                row["id"], tuple((turn["role"], turn["text"]) for turn in row["turns"]), tuple(row["subject_words"])
            )
        except (KeyError, TypeError) as error:
            raise _broken(path, number, error) from error
        talks[talk.talk_id] = talk
    path = folder / f"questions-{language}.jsonl"
    questions = []
    for number, row in files.json_lines(path):
        try:
            question = _question(row)
        except (KeyError, TypeError) as error:
            raise _broken(path, number, error) from error
        unknown = {question.talk_id, *question.among_five} - talks.keys()
        if unknown:
            raise ImportFormatError(f"{path}, line {number}: no conversation {sorted(unknown)[0]!r} in {language!r}")
        questions.append(question)
    return Fifty(language, talks, tuple(questions), files.sha256)


def _question(row: Mapping[str, Any]) -> TalkQuestion:
    return TalkQuestion(
        question_id=row["id"],
        talk_id=row["conversation"],
        kind=row["kind"],
        text=row["text"],
        frame=row.get("frame", ""),
        distractors=tuple(row.get("distractors", ())),
        among_five=tuple(row["among_five"]),
    )


def _broken(path: Path, number: int, error: Exception) -> ImportFormatError:
    return ImportFormatError(f"{path}, line {number}: a field is missing or of another kind: {error}")
