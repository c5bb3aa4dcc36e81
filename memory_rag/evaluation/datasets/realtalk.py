"""REALTALK: ten chats of two people over three weeks, with questions on them (Lee et al., arXiv 2502.13270)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.benchmark import Benchmark, Dropped, Query, Unit
from memory_rag.evaluation.datasets.assembly import Judged, Reading, benchmark_of
from memory_rag.evaluation.datasets.evidence_ids import WITHOUT_EVIDENCE, TurnsByNativeId, category_named, dialogue_ids
from memory_rag.evaluation.datasets.files_read import FilesRead
from memory_rag.importers.identity import DistinctIds
from memory_rag.importers.messages import as_list, as_object
from memory_rag.turns import Block, Role, Source, Turn

CATEGORIES: Final = {1: "1 multi-hop", 2: "2 temporal", 3: "3 commonsense"}

_SESSION: Final = re.compile(r"session_(\d{1,9})")
_TIME: Final = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4}), (\d{1,2}):(\d{2}):(\d{2})")


def load(path: Path, *, unit: Unit = "turn") -> Benchmark:
    """Return REALTALK from its folder ``data`` of ``Chat_*.json``, or from one of these files.

    A conversation is named after its file, a turn ``<conversation>/<dia_id>``. Both speakers are people. About 135
    evidence ids name no turn; they are counted, and so are the questions that are left without any. A chat's questions
    may use a name that nobody in it has; ``denominators`` says how many name a speaker.

    Raises:
        ImportFormatError: no file there is a chat of REALTALK.
    """
    files, dropped = FilesRead(path), Dropped()
    turns: list[Turn] = []
    asked: list[Judged] = []
    n_questions = 0
    for file in _chats(path):
        chat = files.json(file)
        if not _is_chat(chat):
            if file == path:
                raise ImportFormatError(f"{path} is not REALTALK: it has no 'qa' list, or no numbered sessions")
            dropped.add("file that is no chat", file.name)
            continue
        said = list(_turns(chat, file.stem, dropped=dropped))
        turns += said
        n_questions += len(chat["qa"])
        asked += _judged(chat["qa"], file.stem, said, dropped=dropped)
    if not turns:
        raise ImportFormatError(f"{path} holds no chat of REALTALK; it should be the folder with Chat_1_*.json")
    people: dict[str, set[str]] = {}
    for turn in turns:
        people.setdefault(turn.conversation_id, set()).add(turn.speaker)
    denominators = {
        "questions in the files": n_questions,
        "with evidence": len(asked),
        "with evidence, naming a speaker": sum(_names_one(j.query, people[j.query.conversation_id]) for j in asked),
    }
    return benchmark_of(Reading("realtalk", files.sha256, turns, asked, dropped, denominators), unit=unit)


def _chats(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(path.glob("*.json"), key=lambda file: ([int(n) for n in re.findall(r"\d+", file.stem)], file.stem))


def _is_chat(chat: Any) -> bool:
    fields = as_object(chat)
    return isinstance(fields.get("qa"), list) and any(_SESSION.fullmatch(key) for key in fields)


def _turns(chat: dict[str, Any], conversation_id: str, *, dropped: Dropped) -> Iterator[Turn]:
    ids = DistinctIds()
    ordinal = 0
    for session in sorted(filter(_SESSION.fullmatch, chat), key=lambda key: int(key.removeprefix("session_"))):
        for at, message in enumerate(as_list(chat[session]), start=1):
            where = f"{conversation_id}/{session}[{at}]"
            fields = as_object(message)
            text = next((fields[key] for key in ("clean_text", "text") if isinstance(fields.get(key), str)), None)
            if text is None:
                dropped.add("message left out: no text", where)
                continue
            given = str(fields.get("dia_id") or f"{session}:{at}")
            native_id = ids.distinct(given)
            if native_id != given:
                dropped.add("message kept, but: dia_id repeated, numbered", where)
            written = fields.get("date_time")
            said_at = _instant(str(written))
            if said_at is None:
                dropped.add("message kept, but: time not understood", where)
            caption = str(fields.get("blip_caption") or "")
            yield Turn(
                turn_id=f"{conversation_id}/{native_id}",
                conversation_id=conversation_id,
                session_id=f"{conversation_id}/{session}",
                ordinal=ordinal,
                role=Role.USER,
                speaker=str(fields.get("speaker", "")),
                text=text,
                said_at=said_at,
                said_at_text=None if written is None else str(written),
                blocks=(Block("image", caption=caption),) if caption or fields.get("img_url") else (),
                source=Source("realtalk", native_id),
            )
            ordinal += 1


def _judged(questions: list[Any], conversation_id: str, said: list[Turn], *, dropped: Dropped) -> Iterator[Judged]:
    known = TurnsByNativeId.of(said)
    for place, question in enumerate(questions, start=1):
        query_id = f"{conversation_id}/q{place}"
        fields = as_object(question)
        if not isinstance(fields.get("question"), str):
            raise ImportFormatError(f"{query_id} of REALTALK has no 'question'")
        ids = dialogue_ids(fields.get("evidence"), where=query_id, dropped=dropped)
        grades = known.evidence(ids, where=query_id, dropped=dropped)
        if not grades:
            dropped.add(WITHOUT_EVIDENCE, query_id)
            continue
        named = category_named(fields.get("category", ""), CATEGORIES)
        yield Judged(Query(query_id, fields["question"], conversation_id, named), grades)


def _names_one(query: Query, people: set[str]) -> bool:
    words = set(re.findall(r"\w+", query.text.casefold()))
    return any(name.casefold().split()[0] in words for name in people if name.strip())


def _instant(written: str) -> datetime | None:
    """Return the instant of "29.12.2023, 11:23:21", or None; the files name no zone, so UTC."""
    found = _TIME.fullmatch(written.strip())
    if found is None:
        return None
    day, month, year, hour, minute, second = map(int, found.groups())
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
