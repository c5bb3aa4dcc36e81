"""One question of LongMemEval with its history, as its file has it, under ids that tell nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.benchmark import Dropped
from memory_rag.importers.messages import as_list, as_object, role_of, unknown_role
from memory_rag.turns import Turn

_DATE: Final = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2}) \(\w+\) (\d{1,2}):(\d{2})")
_NEEDED: Final = {
    "question_id": str,
    "question_type": str,
    "question": str,
    "haystack_session_ids": list,
    "haystack_dates": list,
    "haystack_sessions": list,
    "answer_session_ids": list,
}


@dataclass(frozen=True, slots=True)
class Said:
    """A turn, the id that its session has in the file, and whether the file marks it as evidence."""

    turn: Turn
    session: str
    is_answer: bool


@dataclass(frozen=True, slots=True)
class History:
    """A question, the ids of the sessions that answer it, and the turns in the order of their sessions' dates.

    ``asked_at`` is None if the file's date isn't understood.
    """

    question_id: str
    question_type: str
    question: str
    conversation_id: str
    asked_at: datetime | None
    evidence: frozenset[str]
    said: tuple[Said, ...]

    @property
    def is_answerable(self) -> bool:
        """Whether anything in the history answers it; the ids of the others end in ``_abs``."""
        return not self.question_id.endswith("_abs")


@dataclass(frozen=True, slots=True)
class _Session:
    native_id: str
    date: str
    said_at: datetime | None
    messages: list[Any]


def history_of(item: Mapping[str, Any], number: int, *, texts: dict[str, str], dropped: Dropped, label: str) -> History:
    """Return the history of the file's item ``number``; what can't be a turn is counted in ``dropped``.

    Turns have ids such as ``history-007/s012/t03``. ``texts`` holds each text once, for all histories.

    Raises:
        ImportFormatError: the item isn't LongMemEval's.
    """
    lacking = [name for name, kind in _NEEDED.items() if not isinstance(item.get(name), kind)]
    if lacking:
        raise ImportFormatError(f"{label} is not LongMemEval: item {number} has no {' and no '.join(lacking)}")
    conversation_id = f"history-{number:03}"
    where = item["question_id"]
    sessions = _sessions(item, label)
    for session in sessions:
        if session.said_at is None:
            dropped.add("session kept, but: date not understood", f"{where}: {session.date!r}")
        if not session.messages:
            dropped.add("session without turns", f"{where}: {session.native_id}")
    if all(session.said_at is not None for session in sessions):
        # The oracle file has the evidence's sessions in no order.
        sessions.sort(key=lambda session: session.said_at or datetime.max)
    said = tuple(_said(sessions, conversation_id, where, texts=texts, dropped=dropped))
    asked_at = _instant(str(item.get("question_date", "")))
    if asked_at is None:
        dropped.add("question kept, but: date not understood", f"{where}: {item.get('question_date')!r}")
    evidence = frozenset(map(str, item["answer_session_ids"]))
    for native_id in sorted(evidence - {session.native_id for session in sessions}):
        dropped.add("evidence id of no session", f"{where}: {native_id}")
    return History(where, item["question_type"], item["question"], conversation_id, asked_at, evidence, said)


def _sessions(item: Mapping[str, Any], label: str) -> list[_Session]:
    ids, dates, sessions = item["haystack_session_ids"], item["haystack_dates"], item["haystack_sessions"]
    if not len(ids) == len(dates) == len(sessions):
        raise ImportFormatError(
            f"{label}, question {item['question_id']}: {len(sessions)} sessions, but {len(ids)} ids and "
            f"{len(dates)} dates of sessions"
        )
    return [
        _Session(str(native_id), str(date), _instant(str(date)), as_list(messages))
        for native_id, date, messages in zip(ids, dates, sessions, strict=True)
    ]


def _said(
    sessions: list[_Session], conversation_id: str, where: str, *, texts: dict[str, str], dropped: Dropped
) -> Iterator[Said]:
    width = max(3, len(str(len(sessions))))
    ordinal = 0
    for place, session in enumerate(sessions, start=1):
        session_id = f"{conversation_id}/s{place:0{width}}"
        for at, message in enumerate(session.messages, start=1):
            fields = as_object(message)
            role, text = role_of(fields.get("role")), fields.get("content")
            if role is None or not isinstance(text, str):
                reason = "no text" if role else unknown_role(fields.get("role"))
                dropped.add(f"message left out: {reason}", f"{where}: {session.native_id}")
                continue
            turn = Turn(
                turn_id=f"{session_id}/t{at:02}",
                conversation_id=conversation_id,
                session_id=session_id,
                ordinal=ordinal,
                role=role,
                speaker=role.value,
                text=texts.setdefault(text, text),
                said_at=session.said_at,
                said_at_text=session.date,
            )
            ordinal += 1
            yield Said(turn, session.native_id, fields.get("has_answer") is True)


def _instant(date: str) -> datetime | None:
    """Return the instant of a date such as "2023/05/20 (Sat) 02:21", or None; the file names no zone, so UTC."""
    found = _DATE.fullmatch(date.strip())
    try:
        return datetime(*map(int, found.groups()), tzinfo=UTC) if found else None  # type: ignore[misc, arg-type]
    except ValueError:
        return None
