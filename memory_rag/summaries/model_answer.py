"""What a summarizing model is asked for and what it answered: a JSON object, or a line each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Final

from memory_rag.summaries.summary import LAST_TO_GO, Kind, Line
from memory_rag.text.thoughts import without_thoughts

SECTIONS: Final[Mapping[str, Kind]] = {
    "topics": Kind.TOPIC,
    "preferences": Kind.PREFERENCE,
    "user_facts": Kind.FACT,
    "decisions": Kind.DECISION,
    "open_questions": Kind.QUESTION,
    "todos": Kind.TODO,
    "points": Kind.POINT,
}
_ITEM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "reason": {"type": "string", "description": "why, for a decision; empty if nobody said why"},
        "turns": {"type": "array", "items": {"type": "string"}, "description": "ids of the turns it comes from"},
    },
    "required": ["text", "reason", "turns"],
    "additionalProperties": False,
}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {name: {"type": "array", "items": _ITEM} for name in SECTIONS},
    "required": list(SECTIONS),
    "additionalProperties": False,
}
# "decision: We go with 49 euro, because of the jars [t1, t2]"
_PLAIN: Final = re.compile(
    r"^[\s*•-]*(?:\d{1,2}[.)]\s*)?\**(\w[\w -]{2,20}?)\**\s*:\**\s*(.+?)\s*((?:\[[^\][]+\][\s,;]*)+)\.?\s*$"
)
_BETWEEN_IDS: Final = re.compile(r"[,;]|\][\s,;]*\[")
_SINGULAR: Final = {kind.value: kind for kind in Kind} | {"open question": Kind.QUESTION, "to do": Kind.TODO}
_NAMES: Final = (
    _SINGULAR | dict(SECTIONS) | {"open questions": Kind.QUESTION, "user fact": Kind.FACT, "to-do": Kind.TODO}
)


def read_lines(answer: str, *, known: Set[str]) -> tuple[Line, ...] | None:
    """Return the lines of an answer that cite turns which exist; None if it has neither form, or no such line.

    A citation that doesn't exist is taken off, and a line without any other is rejected. An answer that says that there
    is nothing to tell gives ().
    """
    # They may hold drafts of the answer.
    answer = without_thoughts(answer)
    found = _json_object(answer)
    items = _of_sections(found) if found is not None else _of_plain(answer)
    lines: list[Line] = []
    n_items = 0
    for kind, text, reason, turn_ids in items:
        n_items += 1
        cited = tuple(dict.fromkeys(one for one in turn_ids if one in known))
        if text.strip() and cited:
            lines.append(Line(kind, text.strip(), cited, reason=reason.strip() if kind is Kind.DECISION else ""))
    if not lines and (n_items or found is None):
        return None
    return tuple(sorted(lines, key=lambda line: list(Kind).index(line.kind)))


def within(lines: Sequence[Line], word_limit: int) -> tuple[Line, ...]:
    """Return the lines that fit into so many words: the last lines of the least important kinds go first, whole."""
    kept = list(lines)
    for kind in reversed(LAST_TO_GO):
        for line in reversed([one for one in kept if one.kind is kind]):
            if sum(one.n_words for one in kept) <= word_limit:
                return tuple(kept)
            kept.remove(line)
    return tuple(kept)


def _json_object(answer: str) -> Mapping[str, Any] | None:
    """Return the object in an answer, also between other words; None if there is none with a section of ours."""
    start, end = answer.find("{"), answer.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        found = json.loads(answer[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and not SECTIONS.keys().isdisjoint(found) else None


def _of_sections(found: Mapping[str, Any]) -> Iterator[tuple[Kind, str, str, list[str]]]:
    for name, kind in SECTIONS.items():
        for item in _listed(found.get(name)):
            if isinstance(item, dict):
                text, reason = item.get("text"), item.get("reason")
                given = item.get("turns")
                turns = _ids_in(given) if isinstance(given, str) else [_bare(str(one)) for one in _listed(given)]
                if isinstance(text, str):
                    yield kind, text, reason if isinstance(reason, str) else "", turns


def _of_plain(answer: str) -> Iterator[tuple[Kind, str, str, list[str]]]:
    for line in answer.split("\n"):
        match = _PLAIN.match(line)
        kind = None if match is None else _NAMES.get(match[1].strip().lower())
        if match is not None and kind is not None:
            yield kind, match[2], "", _ids_in(match[3])


def _ids_in(written: str) -> list[str]:
    return [_bare(one) for one in _BETWEEN_IDS.split(written)]


def _bare(turn_id: str) -> str:
    return turn_id.strip("[] \t\r")


def _listed(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else ()
