"""Our own export: turns as JSON Lines, every field and every code point as it was stored.

Version 1 holds conversations and turns. Version 2 is a whole memory: its turns with their row numbers, the rows of
every other table, and a last line that counts both, by which a file that was cut is known. In a memory that holds
nothing yet it is put back as it was; into any other only its turns are imported, as those of version 1 are.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any

from memory_rag.errors import ImportFormatError
from memory_rag.importers.formats import Detection, ImportOptions, Item, Noted, Skipped
from memory_rag.importers.messages import as_list, as_object, role_of, unknown_role
from memory_rag.importers.moments import moment
from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import Line, SourceFile
from memory_rag.turns import Block, Conversation, Source, Span, Turn, text_bytes

FORMAT = "memory_rag.turns"
VERSION = 1
WHOLE = 2
WHOLE_ONLY = "kept out: it belongs to the whole memory, which is put back only where nothing is stored yet"

_NEEDED = {"conversation_id": str, "session_id": str, "ordinal": int, "role": str, "text": str}
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_PAIR = re.compile("([\ud800-\udbff])(?=[\udc00-\udfff])")


class TurnLinesImporter:
    """Reads what :func:`export_lines` writes.

    A turn keeps the source it had, so importing an export into the memory it came from adds nothing. A turn
    without a source gets ``memory-rag`` and, as native id, its turn id with the first digits of its text's
    SHA-256: two memories both have a ``t1``.
    """

    name = "memory-rag"

    def detect(self, sample: Sample) -> Detection:
        if sample.items and as_object(sample.items[0]).get("format") == FORMAT:
            return Detection(self.name, 1.0, f"a first line with the format {FORMAT!r}")
        return Detection(self.name, 0.0, f"no first line with the format {FORMAT!r}")

    def whole(self, source: SourceFile) -> Whole | None:
        """Return the whole memory that an export holds; None for one of turns only.

        Raises:
            ImportFormatError: it can't be read, or is of a later release.
        """
        lines = source.read_json_lines()
        header = _check_header(next(lines, None), source.label)
        if header["version"] != WHOLE:
            return None
        return Whole(source.label, as_object(header.get("numbers")), lines)

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        lines = source.read_json_lines()
        _check_header(next(lines, None), source.label)
        for line in lines:
            if isinstance(line, Skipped):
                yield line
                continue
            where = f"line {line.number}"
            record = _without_separator(as_object(line.value))
            if "table" in record:
                yield Noted(WHOLE_ONLY, f"{where}: {record['table']}")
            elif "end" in record:
                continue
            elif "turn" in record:
                yield from _turn(as_object(record["turn"]), where, options)
            elif "conversation" in record:
                named = as_object(record["conversation"])
                yield Conversation(str(named.get("conversation_id", "")), str(named.get("title") or ""))
            else:
                yield Skipped("neither a turn nor a conversation", where)


@dataclass(frozen=True, slots=True)
class NumberedTurn:
    """A turn and the number of its row."""

    row: int
    turn: Turn


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of another table of the store, by column."""

    table: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole memory in an export; iterated once, it gives all that the memory held.

    ``numbers`` are the highest that each of its tables ever gave.
    """

    label: str
    numbers: Mapping[str, Any]
    lines: Iterator[Line | Skipped]

    def __iter__(self) -> Iterator[Conversation | NumberedTurn | TableRow]:
        """Yield what was stored, in the order in which it was written out.

        Raises:
            ImportFormatError: a line is damaged or missing; nothing of it is then to be kept.
        """
        counted = {"turns": 0, "rows": 0}
        end: Any = None
        for line in self.lines:
            if isinstance(line, Skipped) or end is not None:
                raise self._not_whole(line.where if isinstance(line, Skipped) else f"line {line.number} after its end")
            record = _without_separator(as_object(line.value))
            match record:
                case {"turn": dict(fields)} if isinstance(fields.get("row"), int):
                    counted["turns"] += 1
                    yield NumberedTurn(fields["row"], self._as_stored(fields, f"line {line.number}"))
                case {"conversation": {"conversation_id": str(conversation_id), "title": str(title)}}:
                    yield Conversation(conversation_id, title)
                case {"table": str(table), "row": dict(values)}:
                    counted["rows"] += 1
                    yield TableRow(table, values)
                case {"end": dict(end)}:
                    pass
                case _:
                    raise self._not_whole(f"line {line.number}")
        if end != counted:
            raise self._not_whole("its end is missing or counts other lines")

    def _as_stored(self, fields: dict[str, Any], where: str) -> Turn:
        for item in _turn(fields, where, ImportOptions()):
            if isinstance(item, Turn):
                turn_id = fields.get("turn_id")
                own = item.source if isinstance(fields.get("source"), dict) else None
                return replace(item, turn_id=turn_id if isinstance(turn_id, str) else "", source=own)
            raise self._not_whole(f"{where}: {item.reason if isinstance(item, Skipped | Noted) else item}")
        raise self._not_whole(where)

    def _not_whole(self, why: str) -> ImportFormatError:
        return ImportFormatError(
            f"{self.label}: this export of a whole memory is damaged or was cut ({why}), and nothing was stored; "
            "export it again, or give its first line the version 1 to import the turns that it still holds"
        )


def whole_lines(
    *,
    numbers: Mapping[str, int],
    conversations: Iterable[Conversation],
    turns: Iterable[tuple[int, Turn]],
    others: Iterable[tuple[str, Mapping[str, Any]]],
) -> Iterator[str]:
    """Yield the lines of a whole memory's export, each ended by a line feed, as :func:`export_lines` does.

    ``numbers`` are the highest that each table ever gave, ``turns`` come with their rows, ``others`` are the rows of
    all other tables.
    """
    yield _line({"format": FORMAT, "version": WHOLE, "numbers": dict(numbers)})
    for conversation in conversations:
        yield _conversation_line(conversation)
    n_turns = n_rows = 0
    for row, turn in turns:
        n_turns += 1
        yield _line({"turn": {"row": row, **_fields(turn)}})
    for table, values in others:
        n_rows += 1
        yield _line({"table": table, "row": dict(values)})
    yield _line({"end": {"turns": n_turns, "rows": n_rows}})


def export_lines(conversations: Iterable[Conversation], turns: Iterable[Turn]) -> Iterator[str]:
    """Yield the lines of an export, each ended by a line feed: a header, the conversations, the turns.

    The lines are valid UTF-8 with readable letters. Lone surrogates are escaped. A high surrogate directly
    before a low one would be read as one character, so such a line names a ``separator`` that stands
    between them.
    """
    yield _line({"format": FORMAT, "version": VERSION})
    for conversation in conversations:
        yield _conversation_line(conversation)
    for turn in turns:
        yield _line({"turn": _fields(turn)})


def _conversation_line(conversation: Conversation) -> str:
    named = {"conversation_id": conversation.conversation_id, "title": conversation.title}
    return _line({"conversation": named})


def _fields(turn: Turn) -> dict[str, Any]:
    """Return a turn as JSON; what has its usual value is left out."""
    fields: dict[str, Any] = {
        "conversation_id": turn.conversation_id,
        "session_id": turn.session_id,
        "ordinal": turn.ordinal,
        "role": turn.role.value,
        "speaker": turn.speaker,
        "text": turn.text,
    }
    if turn.turn_id:
        fields["turn_id"] = turn.turn_id
    if turn.said_at is not None:
        fields["said_at"] = turn.said_at.astimezone(UTC).isoformat()
    if turn.said_at_text is not None:
        fields["said_at_text"] = turn.said_at_text
    if turn.blocks:
        fields["blocks"] = [
            {"kind": block.kind, "data": dict(block.data), "caption": block.caption} for block in turn.blocks
        ]
    if not turn.recalled:
        fields["recalled"] = False
    if turn.indexed is not None:
        fields["indexed"] = [turn.indexed.start, turn.indexed.end]
    if turn.source is not None:
        fields["source"] = {"name": turn.source.name, "native_id": turn.source.native_id}
        if turn.source.raw is not None:
            fields["source"]["raw"] = turn.source.raw
    return fields


def _line(record: dict[str, Any]) -> str:
    line = json.dumps(record, ensure_ascii=False)
    if _SURROGATE_PAIR.search(line):
        separator = "~"
        while separator in line:
            separator += "~"
        line = f'{{"separator": "{separator}", ' + _SURROGATE_PAIR.sub(r"\1" + separator, line)[1:]
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", line) + "\n"


def _without_separator(record: dict[str, Any]) -> dict[str, Any]:
    separator = record.get("separator")
    return as_object(_removed(record, separator)) if isinstance(separator, str) and separator else record


def _removed(value: Any, separator: str) -> Any:
    if isinstance(value, str):
        return value.replace(separator, "")
    if isinstance(value, list):
        return [_removed(item, separator) for item in value]
    if isinstance(value, dict):
        return {key.replace(separator, ""): _removed(item, separator) for key, item in value.items()}
    return value


def _check_header(first: Line | Skipped | None, label: str) -> dict[str, Any]:
    """Return the first line of an export that this release reads."""
    header = as_object(first.value) if isinstance(first, Line) else {}
    if header.get("format") != FORMAT:
        raise ImportFormatError(f"{label}: no memory-rag export, its first line has no format {FORMAT!r}")
    version = header.get("version")
    if version not in (VERSION, WHOLE):
        raise ImportFormatError(
            f"{label}: an export of version {version!r}; this release reads versions {VERSION} and {WHOLE}. "
            "Update memory-rag, or export again with this release"
        )
    return header


def _turn(fields: dict[str, Any], where: str, options: ImportOptions) -> Iterator[Item]:
    lacking = [name for name, kind in _NEEDED.items() if not isinstance(fields.get(name), kind)]
    if "ordinal" not in lacking and not 0 <= fields["ordinal"] < 2**62:
        lacking.append("ordinal")
    role = role_of(fields.get("role"))
    if lacking or role is None:
        yield Skipped(f"no {' and no '.join(lacking)}" if lacking else unknown_role(fields.get("role")), where)
        return
    said = moment(fields.get("said_at"), tz=options.tz)
    if said.problem:
        yield Noted(said.problem, where)
    written = _text_or_none(fields.get("said_at_text"))
    indexed = _span(fields.get("indexed"), len(fields["text"]))
    if indexed is None and fields.get("indexed") is not None:
        yield Noted("indexed span outside the text", where)
    yield Turn(
        turn_id="",
        conversation_id=fields["conversation_id"],
        session_id=fields["session_id"],
        ordinal=int(fields["ordinal"]),
        role=role,
        speaker=str(fields.get("speaker", role.value)),
        text=fields["text"],
        said_at=said.said_at,
        said_at_text=written if written is not None or not said.problem else said.written,
        blocks=tuple(map(_block, as_list(fields.get("blocks")))),
        source=_source(fields),
        recalled=fields.get("recalled") is not False,
        indexed=indexed,
    )


def _block(value: Any) -> Block:
    fields = as_object(value)
    return Block(str(fields.get("kind", "unknown")), as_object(fields.get("data")), str(fields.get("caption", "")))


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _span(value: Any, length: int) -> Span | None:
    match value:
        case [int(start), int(end)] if 0 <= start <= end <= length:
            return Span(start, end)
    return None


def _source(fields: dict[str, Any]) -> Source:
    given = as_object(fields.get("source"))
    if "name" in given and "native_id" in given:
        return Source(str(given["name"]), str(given["native_id"]), _text_or_none(given.get("raw")))
    turn_id = fields.get("turn_id") or f"{fields['session_id']}#{fields['ordinal']}"
    return Source(TurnLinesImporter.name, f"{turn_id}:{hashlib.sha256(text_bytes(fields['text'])).hexdigest()[:12]}")
