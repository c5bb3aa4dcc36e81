"""LongMemEval: questions, each with a person's whole history with a model (Wu et al., ICLR 2025)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import tzinfo
from functools import partial
from typing import Any, Final

from memory_rag.importers.formats import Detection, ImportOptions, Item, Noted, Skipped
from memory_rag.importers.guarding import guarded
from memory_rag.importers.identity import DistinctIds
from memory_rag.importers.messages import as_list, as_object, raw_json, role_of, unknown_role
from memory_rag.importers.moments import Moment, at_local_time
from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import SourceFile
from memory_rag.importers.values import Found, values_of
from memory_rag.turns import Conversation, Source, Turn

_DATE: Final = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})(?: \(\w+\))? (\d{1,2}):(\d{2})")


class LongMemEvalImporter:
    """Reads each question's history as a conversation; the question and its answer are no turns.

    Sessions are those of the history, numbered in its order, since the file's own ids tell where the answer is. A
    message's native id is its session and its place there. A message has its session's time.
    """

    name = "longmemeval"
    whole_conversations = True

    def detect(self, sample: Sample) -> Detection:
        if any(isinstance(as_object(item).get("haystack_sessions"), list) for item in sample.items):
            return Detection(self.name, 1.0, "questions with 'haystack_sessions'")
        return Detection(self.name, 0.0, "no questions with 'haystack_sessions'")

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        ids = DistinctIds()
        for found in values_of(source, skip_broken=True):
            if isinstance(found, Skipped):
                yield found
            elif isinstance(as_object(found.value).get("haystack_sessions"), list):
                yield from guarded(partial(_history, found, ids, options), where=found.where)
            else:
                yield Skipped("not a question with its history", found.where)


def _history(found: Found, ids: DistinctIds, options: ImportOptions) -> Iterator[Item]:
    fields = as_object(found.value)
    conversation_id = ids.distinct(f"longmemeval-{fields.get('question_id') or found.where}")
    yield Conversation(conversation_id)
    dates = as_list(fields.get("haystack_dates"))
    ordinal = 0
    for number, session in enumerate(fields["haystack_sessions"]):
        said = _moment(dates[number] if number < len(dates) else None, options.tz)
        if said.problem:
            yield Noted(said.problem, f"{conversation_id}/s{number}")
        for at, message in enumerate(as_list(session)):
            where = f"{conversation_id}/s{number}, message {at}"
            one = as_object(message)
            role, text = role_of(one.get("role")), one.get("content")
            if role is None or not isinstance(text, str) or not text:
                yield Skipped(unknown_role(one.get("role")) if role is None else "nothing said", where)
                continue
            yield Turn(
                turn_id="",
                conversation_id=conversation_id,
                session_id=f"{conversation_id}/s{number}",
                ordinal=ordinal,
                role=role,
                speaker=role.value,
                text=text,
                said_at=said.said_at,
                said_at_text=said.written,
                source=Source(LongMemEvalImporter.name, f"{number}:{at}", raw_json(one)),
                recalled=bool(text.strip()),
            )
            ordinal += 1


def _moment(value: Any, tz: tzinfo) -> Moment:
    if value is None:
        return Moment()
    written = str(value)
    found = _DATE.fullmatch(written.strip())
    if found is None:
        return Moment(written=written, problem="time not understood")
    year, month, day, hour, minute = map(int, found.groups())
    at = at_local_time(year, month, day, hour=hour, minute=minute, tz=tz)
    return Moment(at.said_at, written, at.problem)
