"""Turns from JSON Lines: our own export, or one object a line with an id and a text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.benchmark import Dropped
from memory_rag.evaluation.datasets.files_read import FilesRead
from memory_rag.importers.formats import ImportOptions, Noted, Skipped
from memory_rag.importers.messages import as_object, role_of
from memory_rag.importers.moments import moment
from memory_rag.importers.turn_lines import FORMAT, TurnLinesImporter
from memory_rag.turns import Role, Source, Turn

_LONGEST_HEADER = 4096


def turns_in(files: FilesRead, path: Path, *, conversation_id: str, dropped: Dropped) -> list[Turn]:
    """Return a file's turns under the ids that they have there, in its order.

    Our own export is read as an import reads it; a turn without a ``turn_id`` has its source's id. Any other line is
    an object with ``id`` (or ``_id``, ``turn_id``), ``text``, and maybe ``title`` (put before the text),
    ``conversation_id``, ``session_id``, ``speaker``, ``role`` and ``said_at``; without a conversation it is a document
    on its own: in ``conversation_id``, with a session of its own. Of an id that comes again, only the first is kept.

    Raises:
        ImportFormatError: it can't be read, or a line has no id or no text.
    """
    exported = _is_export(path)
    read = _exported(files, path, dropped) if exported else _plain(files, path, conversation_id, dropped)
    turns: dict[str, Turn] = {}
    for turn in read:
        if turn.turn_id in turns:
            dropped.add("turn whose id came before", turn.turn_id)
        else:
            turns[turn.turn_id] = turn
    return list(turns.values())


def _is_export(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return as_object(json.loads(file.readline(_LONGEST_HEADER))).get("format") == FORMAT
    except OSError as error:
        raise ImportFormatError(f"{path}: can't be read: {error.strerror}") from error
    except (ValueError, RecursionError):
        return False


def _exported(files: FilesRead, path: Path, dropped: Dropped) -> Iterator[Turn]:
    source = files.source(path)
    ids: dict[str, Any] = {}
    for line in source.read_json_lines():
        turn = None if isinstance(line, Skipped) else as_object(line.value).get("turn")
        if not isinstance(line, Skipped) and turn is not None:
            ids[f"line {line.number}"] = as_object(turn).get("turn_id")
    turns = []
    for item in TurnLinesImporter().read(source, ImportOptions()):
        match item:
            case Turn():
                turns.append(item)
            case Skipped():
                ids.pop(item.where, None)
                dropped.add(f"message left out: {item.reason}", item.where, count=item.count)
            case Noted():
                dropped.add(f"message kept, but: {item.reason}", item.where, count=item.count)
    for turn, turn_id in zip(turns, ids.values(), strict=True):
        native_id = turn.source.native_id if turn.source is not None else ""
        yield replace(turn, turn_id=str(turn_id or native_id))


def _plain(files: FilesRead, path: Path, conversation_id: str, dropped: Dropped) -> Iterator[Turn]:
    spoken: Counter[str] = Counter()
    for number, fields in files.json_lines(path):
        turn_id = next((str(fields[key]) for key in ("id", "_id", "turn_id") if fields.get(key) is not None), "")
        text = fields.get("text")
        if not turn_id or not isinstance(text, str):
            raise ImportFormatError(f"{path}, line {number}: no {'text' if turn_id else 'id'}; a line needs both")
        conversation = fields.get("conversation_id")
        talk = conversation_id if conversation is None else str(conversation)
        session = str(fields.get("session_id") or (f"{talk}/{turn_id}" if conversation is None else talk))
        role = role_of(fields.get("role")) or Role.USER
        said = moment(fields.get("said_at"), tz=UTC)
        if said.problem:
            dropped.add(f"message kept, but: {said.problem}", f"line {number}")
        yield Turn(
            turn_id=turn_id,
            conversation_id=talk,
            session_id=session,
            ordinal=spoken[talk],
            role=role,
            speaker=str(fields.get("speaker") or role.value),
            text=_titled(fields.get("title"), text),
            said_at=said.said_at,
            said_at_text=said.written,
            source=Source("json-lines", turn_id),
        )
        spoken[talk] += 1


def _titled(title: Any, text: str) -> str:
    return f"{title} {text}" if isinstance(title, str) and title.strip() else text
