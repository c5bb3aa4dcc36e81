"""The reader of fifty conversations says what is wrong with a file and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.datasets.fifty import Talk, TalkQuestion, read_fifty

TALK = {"id": "sv01", "subject_words": ["te"], "turns": [{"role": "user", "text": "Te?"}]}
QUESTION = {"id": "q1", "conversation": "sv01", "kind": "same_words", "text": "Te?", "among_five": ["sv01"]}


def written(folder: Path, talks: list[Any], questions: list[Any]) -> Path:
    for name, rows in (("conversations", talks), ("questions", questions)):
        text = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
        (folder / f"{name}-sv.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_conversations_and_questions_are_read(tmp_path: Path) -> None:
    fifty = read_fifty(written(tmp_path, [TALK], [QUESTION]), language="sv")

    assert fifty.talks == {"sv01": Talk("sv01", (("user", "Te?"),), ("te",))}
    assert fifty.of_kind("same_words") == [TalkQuestion("q1", "sv01", "same_words", "Te?", "", (), ("sv01",))]
    assert fifty.of_kind("paraphrase") == []


@pytest.mark.parametrize(
    ("talks", "questions", "said"),
    [
        ([{"id": "sv01"}], [], r"conversations-sv\.jsonl, line 1: a field is missing or of another kind: 'turns'"),
        ([TALK], [{**QUESTION, "among_five": 5}], r"questions-sv\.jsonl, line 1: a field is missing"),
        ([TALK], [QUESTION, {**QUESTION, "conversation": "sv02"}], r"line 2: no conversation 'sv02' in 'sv'"),
        (["{"], [], r"line 1: broken JSON"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, talks: list[Any], questions: list[Any], said: str) -> None:
    with pytest.raises(ImportFormatError, match=said):
        read_fifty(written(tmp_path, talks, questions), language="sv")


def test_a_folder_without_the_files_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImportFormatError, match=r"conversations-nb\.jsonl: can't be read"):
        read_fifty(tmp_path, language="nb")
