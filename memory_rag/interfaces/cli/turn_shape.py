"""A turn as the command line shows it: its JSON, its line of place and time, a passage of its text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any, Final

from memory_rag.interfaces.cli.terminal import Ink, columns_of, fitted, shown, wrapped
from memory_rag.turns import Span, Turn

DOT: Final = " · "
_MADE_BY_A_PROGRAM: Final = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{12}", re.IGNORECASE)
_LONGEST: Final = 5
"""Lines of a passage that is cut, with the count of what is missing; one that has two more isn't cut."""


def instant_json(instant: datetime | None) -> str | None:
    """Return an instant as ISO 8601 in UTC with ``Z``; None if it isn't known."""
    return None if instant is None else instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def place_json(turn: Turn) -> dict[str, Any]:
    """Return who said a turn, when and where, as every command's JSON has it."""
    return {
        "turn_id": turn.turn_id,
        "source_id": turn.source.native_id if turn.source else None,
        "conversation_id": turn.conversation_id,
        "session_id": turn.session_id,
        "speaker": turn.speaker,
        "role": turn.role.value,
        "said_at": instant_json(turn.said_at),
    }


def turn_json(turn: Turn) -> dict[str, Any]:
    """Return a whole turn as JSON, its text verbatim."""
    return {
        **place_json(turn),
        "ordinal": turn.ordinal,
        "said_at_text": turn.said_at_text,
        "text": turn.text,
        "sha256": turn.sha256,
        "recalled": turn.recalled,
        "source": turn.source.name if turn.source else None,
        "blocks": [{"kind": block.kind, "caption": block.caption, "data": dict(block.data)} for block in turn.blocks],
    }


def when(instant: datetime | None, zone: tzinfo) -> str:
    """Return an instant by the clock of a zone, to the minute."""
    return "time unknown" if instant is None else instant.astimezone(zone).strftime("%Y-%m-%d %H:%M %Z")


def spoken_in(
    conversation_ids: Iterable[str], titles_of: Callable[[Iterable[str]], Mapping[str, str]]
) -> dict[str, str]:
    """Return conversations as a reader knows them, by id: by title where the id is a program's own, such as a UUID."""
    names = {one: one for one in conversation_ids}
    made = [one for one in names if _MADE_BY_A_PROGRAM.search(one)]
    return names | (dict(titles_of(made)) if made else {})


def place_line(turn: Turn, zone: tzinfo, *, where: str, width: int, ink: Ink) -> str:
    """Return ``Ebba · 2026-06-12 08:14 UTC · t41 · a-conversation``, cut at the end if it is too wide.

    ``where`` is the conversation as :func:`spoken_in` names it.
    """
    who = fitted(shown(turn.speaker), max(10, width // 3)) or turn.role.value
    rest = f"{when(turn.said_at, zone)}{DOT}{turn.turn_id}{DOT}{shown(where)}"
    return ink.bold(who) + ink.dim(DOT + fitted(rest, max(10, width - columns_of(who) - len(DOT))))


def passage_lines(text: str, span: Span, *, marks: Sequence[Span], width: int, ink: Ink) -> tuple[list[str], int]:
    """Return the lines of a passage, at most seven, and how many characters of the text they leave out.

    ``marks`` are spans of the text to be marked as found. Blank lines of the passage are left out.
    """
    text = shown(text)
    start, end = _trimmed(text, span)
    lines = [Span(start + line.start, start + line.end) for line in wrapped(text[start:end], width - 2)]
    lines = [line for line in lines if line.of(text).strip()]
    lines = lines if len(lines) <= _LONGEST + 2 else lines[:_LONGEST]
    if not lines:
        return [], len(text)
    before = "… " if text[: lines[0].start].strip() else ""
    after = " …" if text[lines[-1].end :].strip() else ""
    painted = [ink.marked(text, line, marks) for line in lines]
    painted[0] = before + painted[0].lstrip() if before else painted[0]
    painted[-1] += after
    left_out = len(text[: lines[0].start].strip()) + len(text[lines[-1].end :].strip())
    return painted, left_out


def _trimmed(text: str, span: Span) -> tuple[int, int]:
    """Return the span without space around it, begun and ended between words where it has a space to do so."""
    start, end = span.start, span.end
    if 0 < start < end and not text[start - 1].isspace():
        start = next((at for at in range(start, end) if text[at].isspace()), start)
    if start < end < len(text) and not text[end].isspace():
        end = next((at for at in range(end, start, -1) if text[at - 1].isspace()), end)
    # A line's own indentation stays: it may be code.
    while start < end and (text[start] == "\n" or (start > 0 and text[start].isspace() and text[start - 1] != "\n")):
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
