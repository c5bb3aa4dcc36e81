"""Questions that somebody wrote down, with the turns that answer them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.benchmark import Dropped, Query
from memory_rag.evaluation.datasets.assembly import Judged
from memory_rag.evaluation.datasets.evidence_ids import NO_TURN, WITHOUT_EVIDENCE
from memory_rag.evaluation.datasets.files_read import FilesRead
from memory_rag.turns import Turn

FORM: Final = '{"query": "…", "turn_ids": ["t17"]} or: the question, a tab, and turn ids with spaces between them'


@dataclass(frozen=True, slots=True)
class Written:
    """A line of a question file. No turn ids say that nothing answers it; what isn't given is empty."""

    query: str
    turn_ids: tuple[str, ...]
    query_id: str
    category: str
    conversation_id: str


def read_written(files: FilesRead, path: Path) -> Iterator[Written]:
    """Yield the questions of a file; a question without an id has that of its line, ``q12``.

    A line is a JSON object with ``query`` and ``turn_ids``, and maybe ``query_id``, ``category`` and
    ``conversation_id``; or the question, a tab, and turn ids with spaces or commas between them.

    Raises:
        ImportFormatError: a line is neither.
    """
    for number, line in files.lines(path):
        if line.lstrip().startswith("{"):
            yield _from_json(line, number, path)
            continue
        query, tab, ids = line.partition("\t")
        if not tab or not query.strip():
            raise ImportFormatError(f"{path}, line {number}: {line[:40]!r} is no question; a line is {FORM}")
        yield Written(
            query.strip(), tuple(re.split(r"[\s,]+", ids.strip())) if ids.strip() else (), f"q{number}", "", ""
        )


def judged_written(
    written: Iterable[Written], turns: Iterable[Turn], *, category: str, dropped: Dropped
) -> Iterator[Judged]:
    """Yield written questions with their grades; ids of no turn are counted, and what is left without any.

    A question is about the conversation of its turns, about everything if they are of several. ``category`` is that of
    questions without one.
    """
    conversation_of = {turn.turn_id: turn.conversation_id for turn in turns}
    for asked in written:
        for turn_id in asked.turn_ids:
            if turn_id not in conversation_of:
                dropped.add(NO_TURN, f"{asked.query_id}: {turn_id}")
        grades = {turn_id: 1 for turn_id in asked.turn_ids if turn_id in conversation_of}
        if asked.turn_ids and not grades:
            dropped.add(WITHOUT_EVIDENCE, asked.query_id)
            continue
        of_turns = {conversation_of[turn_id] for turn_id in grades}
        about = asked.conversation_id or (of_turns.pop() if len(of_turns) == 1 else "")
        yield Judged(Query(asked.query_id, asked.query, about, asked.category or category), grades)


def written_line(judged: Judged) -> str:
    """Return a question as a line of a question file, so that what was made once can be asked again."""
    query = judged.query
    fields = {
        "query_id": query.query_id,
        "query": query.text,
        "turn_ids": list(judged.grades),
        "category": query.category,
        "conversation_id": query.conversation_id,
    }
    return json.dumps(fields, ensure_ascii=False) + "\n"


def _from_json(line: str, number: int, path: Path) -> Written:
    where = f"{path}, line {number}"
    try:
        fields: Mapping[str, Any] = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ImportFormatError(f"{where}: broken JSON: {error}") from error
    query, ids = fields.get("query"), fields.get("turn_ids")
    if not isinstance(query, str) or not query.strip():
        raise ImportFormatError(f"{where}: no 'query'; a line is {FORM}")
    if not isinstance(ids, list) or not all(isinstance(turn_id, str) for turn_id in ids):
        raise ImportFormatError(
            f"{where}: 'turn_ids' is {ids!r}; it is a list of turn ids, empty if nothing answers it"
        )
    return Written(
        query,
        tuple(dict.fromkeys(ids)),
        str(fields.get("query_id") or f"q{number}"),
        str(fields.get("category") or ""),
        str(fields.get("conversation_id") or ""),
    )
