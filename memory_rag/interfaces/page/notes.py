"""Sentences that a search or an import says of itself, in the reader's language where they are said often."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from memory_rag.importers.report import FORGOTTEN
from memory_rag.importers.turn_lines import WHOLE_ONLY
from memory_rag.interfaces.page.asked import Asked

_KNOWN: Final = (
    (re.compile(r"found by keyword only: this memory has no embedder .*"), "note_no_embedder"),
    (re.compile(r"nobody called (?P<name>.*) speaks in this memory; .*", re.DOTALL), "note_no_speaker"),
    (re.compile(r"no conversation (?P<name>.*) in this memory; .*", re.DOTALL), "note_no_conversation"),
    (re.compile(r"no turn here is within this filter: .*", re.DOTALL), "note_no_turn"),
    (re.compile(r"nothing is both since .* and until .*, which is earlier", re.DOTALL), "note_crossed"),
    (re.compile(r"a question of more than .* characters is searched for by its beginning .*"), "note_ends"),
)


_REASONS: Final = {
    "nothing said": "nothing_said",
    "no text": "no_text",
    "no role": "no_role",
    "not a conversation": "not_a_conversation",
    "not a chat": "not_a_conversation",
    "not a list of turns": "not_a_conversation",
    "not a question with its history": "not_a_conversation",
    "neither a message nor a conversation": "neither",
    "neither an item nor a response": "neither",
    "neither a turn nor a conversation": "neither",
    "not on the active branch": "other_branch",
    "taken back, not on the active branch": "taken_back",
    "hidden from the conversation": "hidden",
    "a line written twice": "twice",
    "a message written twice": "twice",
    "a notice that nobody says": "notice",
    "a line before the first message": "before_first",
    "text before the first speaker": "before_first",
    "unfinished last line": "unfinished",
    "a line of broken JSON": "broken_json",
    "conversation id repeated, numbered": "conversation_again",
    "message id repeated, numbered": "message_again",
    "dia_id repeated, numbered": "message_again",
    "time not understood": "no_time",
    "time not finite": "no_time",
    "time out of range": "no_time",
    "time 0, taken for unknown": "time_0",
    "indexed span outside the text": "span_outside",
    "current_node missing, newest leaf taken": "newest_leaf",
    "the messages' tree has a cycle, cut where it closes": "cycle",
    "nobody speaks in it, stored as one document": "document",
    "the source has another text now; the stored one stays": "differs",
    "edited at its source; corrected, the earlier text kept": "edited",
    "no longer at its source; kept and marked": "vanished",
    "stored without what it quotes from this memory": "without_quotes",
    "quoted from this memory and nothing else": "only_quotes",
    FORGOTTEN: "forgotten",
    WHOLE_ONLY: "whole_only",
}
"""Why an import leaves a message out, or what it notes of one: each with its text, ``reason_`` before it."""
_REASONS_WITH: Final = (
    (re.compile(r"unknown role (?P<name>.*)", re.DOTALL), "unknown_role"),
    (re.compile(r"no message but (?P<name>.*)", re.DOTALL), "no_message"),
    (re.compile(r"a line that isn't (?P<name>.*)"), "not_encoded"),
    (re.compile(r"a conversation of a shape that isn't known .*"), "unknown_shape"),
    (re.compile(r"no (?P<name>\w+(?: and no \w+)*)"), "lacking"),
)


@dataclass(frozen=True, slots=True)
class NoteShown:
    """A sentence, and whether it is in the reader's language; else it is in English."""

    text: str
    is_told: bool


def notes_shown(asked: Asked, notes: Iterable[str]) -> list[NoteShown]:
    """Return the notes of a search for a reader, each once."""
    return [_shown(asked, note) for note in dict.fromkeys(notes)]


def _shown(asked: Asked, note: str) -> NoteShown:
    for pattern, key in _KNOWN:
        if found := pattern.fullmatch(note):
            return NoteShown(asked.texts.tell(key, **found.groupdict()), is_told=True)
    return NoteShown(note, is_told=False)


def reason_shown(asked: Asked, reason: str) -> NoteShown:
    """Return why an import leaves messages out, or what it notes of them, for a reader."""
    if key := _REASONS.get(reason):
        return NoteShown(asked.texts.tell(f"reason_{key}"), is_told=True)
    for pattern, key in _REASONS_WITH:
        if found := pattern.fullmatch(reason):
            names = {name: value.replace(" and no ", ", ") for name, value in found.groupdict().items()}
            return NoteShown(asked.texts.tell(f"reason_{key}", **names), is_told=True)
    return NoteShown(reason, is_told=False)
