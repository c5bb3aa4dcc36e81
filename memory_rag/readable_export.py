"""A whole memory as one Markdown text, to be read by the person whose words it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Any, Final

from memory_rag.store.turn_reader import TurnReader
from memory_rag.store.whole import WholeStore, everything
from memory_rag.text.reasoned import with_reason
from memory_rag.turns import Conversation, Turn, from_microseconds, printable

_NOT_SHOWN: Final = ("changes", "events", "returned_blocks", "summary_turns", "summary_parts", "summary_citations")
"""What a reader would not call words: logs, and links between rows. The JSON lines have them."""
_TOLD_APART: Final = (
    "state",
    "pins",
    "decisions",
    "pinned_files",
    "summaries",
    "summary_lines",
    "versions",
    "vanished",
)


def readable_lines(store: TurnReader, *, zone: tzinfo) -> Iterator[str]:
    """Yield a memory as Markdown, a piece at a time: what is in every prompt, summaries, then each conversation.

    Words stand in quotes (``> ``), line by line as they were said; a corrected turn is followed by what it was before.
    Times are in ``zone``. For a program there is the other export.
    """
    with everything(store.connections) as whole:
        extra = _rows(whole)
        yield f"# What this memory holds\n\n{_count(whole.n_turns(), 'turn')}.\n"
        yield from _always_told(extra)
        yield from _summaries(extra, {one.conversation_id: _title(one) for one in whole.conversations()}, zone)
        yield from _others(extra)
        versions = _by_row(extra.get("versions", []))
        vanished = {row["row"]: row["noticed_at"] for row in extra.get("vanished", [])}
        for conversation in whole.conversations():
            yield f"\n## {_title(conversation)}\n"
            for row, turn in whole.turns_of(conversation.conversation_id):
                yield _turn(turn, zone)
                for version in versions.get(row, []):
                    yield f"\nbefore a correction, by {_line(version['speaker'])}:\n\n{_quoted(version['text'])}"
                if row in vanished:
                    yield f"\n(not at its source any more, noticed {_when(from_microseconds(vanished[row]), zone)})\n"


def _rows(whole: WholeStore) -> dict[str, list[Mapping[str, Any]]]:
    """Return the rows of other tables that a reader wants to see; they are few beside the turns."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for table, values in whole.others():
        if table not in _NOT_SHOWN:
            found.setdefault(table, []).append(values)
    return found


def _always_told(extra: Mapping[str, list[Mapping[str, Any]]]) -> Iterator[str]:
    for heading, table, show in _SHOWN_AS:
        rows = extra.get(table, [])
        if rows:
            yield f"\n## {heading}\n\n"
            yield from (f"- {show(row)}\n" for row in rows)


def _summaries(extra: Mapping[str, list[Mapping[str, Any]]], titles: Mapping[str, str], zone: tzinfo) -> Iterator[str]:
    lines: dict[int, list[Mapping[str, Any]]] = {}
    for row in extra.get("summary_lines", []):
        lines.setdefault(row["summary"], []).append(row)
    for summary in extra.get("summaries", []):
        said = lines.get(summary["summary"])
        if not said:
            continue  # It stands for turns that hold no words to keep.
        made = _when(from_microseconds(summary["made_at"]), zone)
        name = titles.get(summary["conversation_id"]) or f"`{_line(summary['conversation_id'])}`"
        yield f"\n## Summary of {name} ({summary['level']}, made {made})\n\n"
        yield from (f"- {_with_reason(row)}\n" for row in said)


def _others(extra: Mapping[str, list[Mapping[str, Any]]]) -> Iterator[str]:
    """Tell of tables that have no words for a reader how much is in them."""
    rest = {table: rows for table, rows in extra.items() if table not in _TOLD_APART}
    if rest:
        yield "\n## Also kept\n\n"
        yield from (f"- {table}: {_count(len(rows), 'row')}\n" for table, rows in rest.items())


def _by_row(rows: list[Mapping[str, Any]]) -> dict[int, list[Mapping[str, Any]]]:
    found: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["row"], []).append(row)
    return found


def _turn(turn: Turn, zone: tzinfo) -> str:
    when = "time unknown" if turn.said_at is None else _when(turn.said_at, zone)
    marks = "" if turn.recalled else ", left out of search"
    shared = "".join(f"\n[{block.kind}: {_line(block.caption)}]\n" for block in turn.blocks if block.caption)
    speaker = _line(turn.speaker) or turn.role.value
    return f"\n**{speaker}** ({turn.role}), {when}, `{_line(turn.turn_id)}`{marks}\n\n{_quoted(turn.text)}{shared}"


def _quoted(text: str) -> str:
    return "".join(f"> {line.rstrip()}\n" for line in printable(text).splitlines() or [""])


def _title(conversation: Conversation) -> str:
    name = _line(conversation.conversation_id)
    return f"{_line(conversation.title)} (`{name}`)" if conversation.title else f"`{name}`"


def _line(text: str) -> str:
    return " ".join(printable(str(text)).split()).replace("`", "'")


def _from(row: Mapping[str, Any]) -> str:
    return f" (said in `{_line(row['turn_id'])}`)" if row.get("turn_id") else ""


def _with_reason(row: Mapping[str, Any]) -> str:
    reason = row.get("because") or row.get("reason")
    return _line(with_reason(row["text"], reason) if reason else row["text"])


def _when(instant: datetime, zone: tzinfo) -> str:
    return instant.astimezone(zone).strftime("%Y-%m-%d %H:%M %Z")


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


_SHOWN_AS: Final[tuple[tuple[str, str, Callable[[Mapping[str, Any]], str]], ...]] = (
    ("State", "state", lambda row: f"`{_line(row['name'])}`: `{_line(row['value'])}`"),
    ("Pinned", "pins", lambda row: f"{_line(row['text'])}{_from(row)}"),
    ("Decisions", "decisions", lambda row: f"{_with_reason(row)}{_from(row)}"),
    ("Files read anew for every prompt", "pinned_files", lambda row: f"`{_line(row['path'])}`"),
)
