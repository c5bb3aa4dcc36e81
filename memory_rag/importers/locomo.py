"""LoCoMo: talks of two people over many sessions, in the release's JSON (Maharana et al., ACL 2024)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memory_rag.importers.formats import Detection, ImportOptions, Item, Noted, Skipped
from memory_rag.importers.identity import DistinctIds, digest
from memory_rag.importers.messages import as_list, as_object, raw_json
from memory_rag.importers.moments import Moment, at_local_time, month_number
from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import SourceFile
from memory_rag.turns import Block, Conversation, Role, Source, Turn

_SESSION = re.compile(r"session_(\d+)")
_DATE = re.compile(r"(\d{1,2}):(\d{2}) ?([ap])m on (\d{1,2}) (\w+),? (\d{4})", re.IGNORECASE)
_SAID = {"speaker", "dia_id", "text"}


class LocomoImporter:
    """Reads a LoCoMo file: a list of conversations, or one.

    Both speakers are people, so both have the role ``user``. A turn's native id is its ``dia_id``; the time
    is its session's. An image shared is a block: its data are the turn's other fields, its caption the one
    LoCoMo gives.
    """

    name = "locomo"

    def detect(self, sample: Sample) -> Detection:
        for item in sample.items:
            spoken = as_object(as_object(item).get("conversation"))
            if "speaker_a" in spoken and any(_SESSION.fullmatch(key) for key in spoken):
                return Detection(self.name, 1.0, "a 'conversation' with 'speaker_a' and numbered sessions")
        return Detection(self.name, 0.0, "no 'conversation' with 'speaker_a' and numbered sessions")

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        document = source.read_json()
        ids = DistinctIds()
        for number, sample in enumerate(document if isinstance(document, list) else [document]):
            spoken = as_object(as_object(sample).get("conversation"))
            if not spoken:
                yield Skipped("not a conversation", f"item {number}")
                continue
            sample_id = sample.get("sample_id")
            given = str(sample_id) if sample_id is not None else f"locomo-{digest(_opening(spoken))}"
            conversation_id = ids.distinct(given)
            if conversation_id != given:
                yield Noted("conversation id repeated, numbered", conversation_id)
            yield Conversation(conversation_id)
            yield from _turns(spoken, conversation_id, options)


def _turns(spoken: dict[str, Any], conversation_id: str, options: ImportOptions) -> Iterator[Item]:
    ids = DistinctIds()
    ordinal = 0
    for session in _sessions(spoken):
        if not isinstance(spoken[session], list):
            yield Skipped("not a list of turns", f"{conversation_id}/{session}")
            continue
        said = _session_time(spoken.get(f"{session}_date_time"), options)
        if said.problem:
            yield Noted(said.problem, f"{conversation_id}/{session}")
        for at, message in enumerate(spoken[session]):
            where = f"{conversation_id}/{session}[{at}]"
            fields = as_object(message)
            text = fields.get("text")
            if not isinstance(text, str):
                yield Skipped("no text", where)
                continue
            given = str(fields.get("dia_id") or f"{session}:{at + 1}")
            native_id = ids.distinct(given)
            if native_id != given:
                yield Noted("dia_id repeated, numbered", where)
            yield Turn(
                turn_id="",
                conversation_id=conversation_id,
                session_id=f"{conversation_id}/{session}",
                ordinal=ordinal,
                role=Role.USER,
                speaker=str(fields.get("speaker", "")),
                text=text,
                said_at=said.said_at,
                said_at_text=said.written,
                blocks=_image(fields),
                source=Source(LocomoImporter.name, native_id, raw_json(message)),
            )
            ordinal += 1


def _sessions(spoken: dict[str, Any]) -> list[str]:
    found = (_SESSION.fullmatch(key) for key in spoken)
    return [match[0] for match in sorted((match for match in found if match), key=lambda match: int(match[1]))]


def _session_time(value: Any, options: ImportOptions) -> Moment:
    if value is None:
        return Moment()
    written = str(value)
    match = _DATE.fullmatch(written.strip())
    if not match:
        return Moment(written=written, problem="time not understood")
    hour, minute, half, day, month, year = match.groups()
    if not 1 <= int(hour) <= 12:
        return Moment(written=written, problem="time not understood")
    found = at_local_time(
        int(year),
        month_number(month),
        int(day),
        hour=int(hour) % 12 + (12 if half in "pP" else 0),
        minute=int(minute),
        tz=options.tz,
    )
    return Moment(found.said_at, written, found.problem)


def _image(fields: dict[str, Any]) -> tuple[Block, ...]:
    if not (fields.get("img_url") or fields.get("blip_caption")):
        return ()
    data = {key: value for key, value in fields.items() if key not in _SAID}
    return (Block("image", data, str(fields.get("blip_caption") or "")),)


def _opening(spoken: dict[str, Any]) -> list[Any]:
    """Return what tells a conversation without ``sample_id`` from others and stays when it grows."""
    first = next((as_list(spoken[session]) for session in _sessions(spoken)), [])
    return [spoken.get("speaker_a"), spoken.get("speaker_b"), first[:1]]
