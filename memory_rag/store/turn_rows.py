"""How a turn lies in a row of the table, and what can't be stored."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from memory_rag.errors import StoreError, TurnError
from memory_rag.turns import (
    Block,
    Role,
    Source,
    Span,
    Turn,
    from_microseconds,
    text_bytes,
    text_from_bytes,
    to_microseconds,
)

COLUMNS: Final = (
    "row, turn_id, conversation_id, session_id, ordinal, role, speaker, text, said_at, said_at_text, "
    "blocks, source_name, source_id, raw, recalled, indexed_start, indexed_end"
)
_ROLES: Final = {role.value: role for role in Role}
STORED: Final = (*COLUMNS.split(", ")[2:], "sha256")
"""What is stored of a turn beside its row and its id."""
_LARGEST_ORDINAL: Final = 2**62 - 1
"""Far from where SQLite would go on with floating-point numbers."""
_LONGEST_ID: Final = 1000
_NO_ID: Final = re.compile("[\0\ud800-\udfff]")
_NO_TURN_ID: Final = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029]")
"""What would end the line in which a prompt or a summary names a turn."""


def row_values(turn: Turn) -> dict[str, object]:
    """Return a turn's columns but for its row number, by name.

    Raises:
        TurnError: a part of it that can't be stored; the message names it.
    """
    check_ids(turn)
    return {"turn_id": turn.turn_id, **dict(zip(STORED, stored_values(turn), strict=True))}


def stored_values(turn: Turn) -> tuple[object, ...]:
    """Return the values of ``STORED`` for a turn whose ids were checked.

    Raises:
        TurnError: a part of it that can't be stored; the message names it.
    """
    for name, value in (("text", turn.text), ("speaker", turn.speaker)):
        if not isinstance(value, str):
            raise TurnError(f"the {name} of a turn is a str, got {type(value).__name__} ({value!r:.80})")
    if not 0 <= turn.ordinal <= _LARGEST_ORDINAL:
        raise TurnError(
            f"ordinal {turn.ordinal} is out of range; it is 0 to {_LARGEST_ORDINAL}, or NEXT for the next free one"
        )
    source, span, text = turn.source, turn.indexed, text_bytes(turn.text)
    return (
        turn.conversation_id,
        turn.session_id,
        turn.ordinal,
        str(turn.role) if type(turn.role) is Role else Role.parse(turn.role).value,
        text_bytes(turn.speaker),
        text,
        instant(turn.said_at),
        _optional_bytes(turn.said_at_text),
        _blocks_to_bytes(turn.blocks),
        source.name if source else None,
        source.native_id if source else None,
        _optional_bytes(source.raw) if source else None,
        int(turn.recalled),
        None if span is None else span.start,
        None if span is None else span.end,
        hashlib.sha256(text).digest(),
    )


def turn_of(record: Sequence[Any]) -> Turn:
    """Return the turn of a record of ``COLUMNS``.

    Raises:
        StoreError: a value is none that is ever stored; the file is damaged.
    """
    (_row, turn_id, conversation_id, session_id, ordinal, role, speaker, text, said_at, said_at_text) = record[:10]
    blocks, source_name, source_id, raw, recalled, start, end = record[10:]
    try:
        # By position: half the time that names take, and every hit of a search goes through here.
        return Turn(
            turn_id,
            conversation_id,
            session_id,
            ordinal,
            _ROLES[role],
            text_from_bytes(speaker),
            text_from_bytes(text),
            None if said_at is None else from_microseconds(said_at),
            None if said_at_text is None else text_from_bytes(said_at_text),
            _blocks_from_bytes(blocks),
            None if source_name is None else Source(source_name, source_id, _optional_text(raw)),
            bool(recalled),
            None if start is None else Span(start, end),
        )
    except (AttributeError, TypeError, ValueError, LookupError, ArithmeticError) as error:
        raise StoreError(
            f"turn {turn_id!r:.80} can't be read, the file of words is damaged ({type(error).__name__}: {error}); keep "
            "a copy of its folder, then see: memory-rag doctor"
        ) from error


def digest(text: str) -> bytes:
    """Return the 32 bytes of the SHA-256 of a text as it is stored."""
    return hashlib.sha256(text_bytes(text)).digest()


def instant(said_at: datetime | None) -> int | None:
    """Return an instant as it is stored, in microseconds.

    Raises:
        TurnError: it has no UTC year from 1 to 9999.
    """
    try:
        return None if said_at is None else to_microseconds(said_at)
    except OverflowError:
        raise TurnError(
            f"said_at {said_at} lies outside the years 1 to 9999 in UTC; give a time inside them, or none"
        ) from None


def can_be_id(value: str) -> bool:
    """Tell whether a string can be the id of anything stored."""
    return 0 < len(value) <= _LONGEST_ID and _NO_ID.search(value) is None


def check_id(name: str, value: str) -> None:
    """Refuse what can't be an id.

    Raises:
        TurnError: it is no id; ``name`` says which one.
    """
    if not can_be_id(value):
        raise TurnError(
            f"{name} {value[:80]!r} can't be an id; an id is 1 to 1000 characters without NUL and lone surrogates"
        )


def check_ids(turn: Turn) -> None:
    """Refuse a turn with an id that can't be one; an empty turn id asks for a new one.

    Raises:
        TurnError: the first of them that can't.
    """
    if turn.turn_id and _NO_TURN_ID.search(turn.turn_id):
        raise TurnError(
            f"turn_id {turn.turn_id[:80]!r} can't be an id; an id is 1 to 1000 characters, a turn's without line ends "
            "and other controls; leave it empty to get a new one"
        )
    source = turn.source
    ids = [turn.turn_id or "-", turn.conversation_id, turn.session_id]
    if source is not None:
        ids += source.name, source.native_id
    # One look at all of them, without a search of each: this is asked for every turn of an import.
    joined = "".join(ids)
    if all(ids) and len(joined) <= _LONGEST_ID and joined.isascii() and "\0" not in joined:
        return
    if turn.turn_id:
        check_id("turn_id", turn.turn_id)
    check_id("conversation_id", turn.conversation_id)
    check_id("session_id", turn.session_id)
    if source is not None:
        check_id("source name", source.name)
        check_id("source id", source.native_id)


def _blocks_to_bytes(blocks: tuple[Block, ...]) -> bytes | None:
    return b"[" + b", ".join(map(_block_to_bytes, blocks)) + b"]" if blocks else None


def _block_to_bytes(block: Block) -> bytes:
    written: Mapping[str, object] = {"kind": block.kind, "data": block.data, "caption": block.caption}
    try:
        return text_bytes(json.dumps(written, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise TurnError(
            f"block {block.kind!r} can't be stored ({error}); its data is what JSON can write: objects, lists, "
            "texts, numbers, true, false and null"
        ) from error


def _blocks_from_bytes(data: bytes | None) -> tuple[Block, ...]:
    if data is None:
        return ()
    return tuple(Block(b["kind"], b["data"], b["caption"]) for b in json.loads(text_from_bytes(data)))


def _optional_bytes(text: str | None) -> bytes | None:
    return None if text is None else text_bytes(text)


def _optional_text(data: bytes | None) -> str | None:
    return None if data is None else text_from_bytes(data)
