"""BEAM: long chats of a person and a model, with questions on ten abilities (Tavakoli et al., ICLR 2026)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.benchmark import Benchmark, Dropped, Query, Unit
from memory_rag.evaluation.datasets.assembly import Judged, Reading, benchmark_of
from memory_rag.evaluation.datasets.evidence_ids import WITHOUT_EVIDENCE, TurnsByNativeId, leaves
from memory_rag.evaluation.datasets.files_read import FilesRead
from memory_rag.evaluation.datasets.imported import Talk, talks_in
from memory_rag.importers.beam import BeamImporter
from memory_rag.turns import Turn

UNANSWERABLE: Final = "abstention"
"""The ability whose questions nothing in the chat answers."""
_SIZE: Final = re.compile(r"\d+[KM]")
# What its authors ask of a chat that they cut has what is left of it as its history (their spelling).
_CHATS: Final = ("chat_trunecated.json", "chat.json")
# The data set's repository has the second, other copies the first.
_QUESTIONS: Final = ("probing_questions.json", "probing_questions/probing_questions.json")


def load(path: Path, *, unit: Unit = "turn") -> Benchmark:
    """Return BEAM from a folder of numbered chats, such as ``100K``.

    Of a chat that its authors cut, ``chat_trunecated.json`` is read, as their own code does.

    A turn's id is ``beam-<size>-<chat>/<message id>``, a query's ``beam-<size>-<chat>/<ability>/<place>``. The
    questions on abstention are kept without judgements, since the right answer is "not found"; any other question
    without evidence is left out and counted. A message id that two messages have is no evidence: it could be either.

    Raises:
        ImportFormatError: the folder holds no such chats, or a chat lacks a file.
    """
    files, dropped = FilesRead(path), Dropped()
    turns: list[Turn] = []
    asked: list[Judged] = []
    n_questions = 0
    for folder in _chats(path, dropped=dropped):
        chat = files.source(_history(folder))
        (talk,) = talks_in(chat, importer=BeamImporter(), dropped=dropped)
        questions = _questions(folder, files)
        n_questions += sum(map(len, questions.values()))
        turns += talk.turns
        asked += _judged(talk, questions, dropped=dropped)
    answerable = sum(bool(judged.grades) for judged in asked)
    denominators = {
        "questions in the files": n_questions,
        "with evidence": answerable,
        "abstention": len(asked) - answerable,
    }
    return benchmark_of(Reading("beam", files.sha256, turns, asked, dropped, denominators), unit=unit)


def _chats(path: Path, *, dropped: Dropped) -> list[Path]:
    if not path.is_dir():
        raise ImportFormatError(f"{path} is no folder; BEAM is a folder of numbered chats such as 100K/1/chat.json")
    folders = sorted(found for found in path.iterdir() if found.is_dir())
    chats = [folder for folder in folders if folder.name.isdecimal()]
    if not chats:
        sizes = [folder.name for folder in folders if _SIZE.fullmatch(folder.name)]
        hint = f"; name one of its sizes: {', '.join(sizes)}" if sizes else ""
        raise ImportFormatError(f"{path} holds no numbered BEAM chats such as 1/chat.json{hint}")
    for folder in folders:
        if folder not in chats:
            dropped.add("folder that is no numbered chat", folder.name)
    return sorted(chats, key=lambda folder: int(folder.name))


def _history(folder: Path) -> Path:
    return next((folder / name for name in _CHATS if (folder / name).is_file()), folder / _CHATS[-1])


def _questions(folder: Path, files: FilesRead) -> dict[str, list[Any]]:
    found = next((folder / name for name in _QUESTIONS if (folder / name).is_file()), None)
    if found is None:
        raise ImportFormatError(f"{folder} has no {_QUESTIONS[0]}")
    questions = files.json(found)
    if not isinstance(questions, dict) or not all(isinstance(listed, list) for listed in questions.values()):
        raise ImportFormatError(f"{found} is no object of abilities with lists of questions")
    return questions


def _judged(talk: Talk, questions: dict[str, list[Any]], *, dropped: Dropped) -> Iterator[Judged]:
    known = TurnsByNativeId.of(talk.turns)
    for ability, listed in questions.items():
        for place, entry in enumerate(listed, start=1):
            query_id = f"{talk.conversation_id}/{ability}/{place}"
            if not isinstance(entry, dict) or not isinstance(entry.get("question"), str):
                raise ImportFormatError(f"{query_id} of BEAM has no 'question'")
            query = Query(query_id, entry["question"], talk.conversation_id, ability)
            if ability == UNANSWERABLE:
                yield Judged(query, {})
                continue
            ids = map(str, leaves(entry.get("source_chat_ids")))
            grades = known.evidence(ids, where=query_id, dropped=dropped)
            if grades:
                yield Judged(query, grades)
            else:
                dropped.add(WITHOUT_EVIDENCE, query_id)
