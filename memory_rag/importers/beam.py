"""BEAM: long chats of a person and a model, in the dataset's ``chat.json`` (Tavakoli et al., ICLR 2026)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from memory_rag.importers.formats import Detection, ImportOptions, Item, Noted, Skipped
from memory_rag.importers.identity import DistinctIds, digest
from memory_rag.importers.messages import as_list, as_object, raw_json, role_of, unknown_role
from memory_rag.importers.moments import Moment, at_local_time, month_number
from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import SourceFile
from memory_rag.turns import Conversation, Source, Span, Turn

_SIZE_FOLDER = re.compile(r"\d+[KM]")
_ANCHOR = re.compile(r"(\w+)-(\d{1,2})-(\d{4})")
# Seen in the 100K chats: " ->-> 1,1", "->->  3,8", "2,N/A", "1,5)" and "2,22, 24".
_MARK = re.compile(r"\s*->\s*->\s*(?:\d+\s*,\s*(?:N/A|\d+(?:\s*,\s*\d+)*)\s*\)?)?\s*")
_MARK_LENGTH = 60


class BeamImporter:
    """Reads one BEAM chat: a list of batches, each a session; of 10M tokens, a list of plans with such lists.

    A chat has no id of its own. In the dataset's folders (``100K/1/chat.json``) the folders name it,
    ``beam-100K-1``; anywhere else its first message does, so that two chats in one folder stay apart. A
    message's native id is its ``id``, which the probing questions' ``source_chat_ids`` refer to. The
    generator's mark that may end a message (" ->-> 1,1") stays in the text and is left out of what is
    indexed. A ``time_anchor`` holds until the next one; it is a date, so the instant is that day's
    midnight.
    """

    name = "beam"

    def detect(self, sample: Sample) -> Detection:
        batches = (batch for _, batch in _in_plans(list(sample.items[:1])))
        first = as_object(next(batches, None)) if sample.kind == "list" else {}
        opening = as_list(as_list(first.get("turns"))[:1])
        if "batch_number" in first and opening and isinstance(opening[0], list):
            return Detection(self.name, 1.0, "a list of batches with 'batch_number' and turns of messages")
        return Detection(self.name, 0.0, "not a list of batches with 'batch_number' and turns of messages")

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        batches = as_list(source.read_json())
        conversation_id = _conversation_id(source.path, batches)
        yield Conversation(conversation_id)
        ids = DistinctIds()
        said = Moment()
        for ordinal, (session, at, message) in enumerate(_messages(batches)):
            where = f"{conversation_id}/{session}[{at}]"
            fields = as_object(message)
            said = _anchored(fields.get("time_anchor"), options) or said
            if "time_anchor" in fields and said.problem:
                yield Noted(said.problem, where)
            role = role_of(fields.get("role"))
            text = fields.get("content")
            if role is None or not isinstance(text, str):
                yield Skipped("no text" if role else unknown_role(fields.get("role")), where)
                continue
            given = str(fields.get("id", f"{session}.{at}"))
            native_id = ids.distinct(given)
            if native_id != given:
                yield Noted("message id repeated, numbered", where)
            yield Turn(
                turn_id="",
                conversation_id=conversation_id,
                session_id=f"{conversation_id}/{session}",
                ordinal=ordinal,
                role=role,
                speaker=role.value,
                text=text,
                said_at=said.said_at,
                said_at_text=said.written,
                source=Source(self.name, native_id, raw_json(message)),
                indexed=_without_mark(text),
            )


def _messages(batches: list[Any]) -> Iterator[tuple[str, int, Any]]:
    """Yield each message with its session's name and its place there; what has no turns comes as it is."""
    for number, (plan, batch) in enumerate(_in_plans(batches), 1):
        fields = as_object(batch)
        session = f"{plan}batch_{fields.get('batch_number', number)}"
        turns = as_list(fields.get("turns", [batch]))
        messages = [message for turn in turns for message in (turn if isinstance(turn, list) else [turn])]
        for at, message in enumerate(messages):
            yield session, at, message


def _in_plans(items: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield each batch after the name of its plan; batches of a chat without plans after nothing.

    A table that held the chat has every plan's name in each item, null but for one.
    """
    for item in items:
        fields = as_object(item)
        plans = {plan: listed for plan, listed in fields.items() if listed is not None}
        if plans and "turns" not in plans and all(isinstance(listed, list) for listed in plans.values()):
            yield from ((f"{plan}_", batch) for plan, listed in plans.items() for batch in listed)
        else:
            yield "", item


def _conversation_id(path: PurePath, batches: list[Any]) -> str:
    chat, size = path.parent.name, path.parent.parent.name
    if chat.isdecimal() and _SIZE_FOLDER.fullmatch(size):
        return f"beam-{size}-{chat}"
    opening = next((as_object(message).get("content") for _, _, message in _messages(batches)), None)
    return f"beam-{digest(opening)}"


def _anchored(value: Any, options: ImportOptions) -> Moment | None:
    """Return the moment of a time anchor, or None where none is written."""
    if value is None:
        return None
    written = str(value)
    match = _ANCHOR.fullmatch(written.strip())
    if not match:
        return Moment(written=written, problem="time not understood")
    found = at_local_time(int(match[3]), month_number(match[1]), int(match[2]), tz=options.tz)
    return Moment(found.said_at, written, found.problem)


def _without_mark(text: str) -> Span | None:
    """Return the span before the generator's mark, or None when the text doesn't end in one."""
    tail = text[-_MARK_LENGTH:]
    at = tail.rfind("->", 0, tail.rfind("->"))
    if at < 0:
        return None
    start = len(text) - len(tail) + at
    if not _MARK.fullmatch(text[start:]):
        return None
    return Span(0, len(text[:start].rstrip()))
