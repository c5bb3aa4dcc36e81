"""Sentences that a search says of itself, in the reader's language where they are among those that it says often."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from memory_rag.interfaces.page.asked import Asked

_KNOWN: Final = (
    (re.compile(r"found by keyword only: this memory has no embedder .*"), "note_no_embedder"),
    (re.compile(r"nobody called (?P<name>.*) speaks in this memory; .*", re.DOTALL), "note_no_speaker"),
    (re.compile(r"no conversation (?P<name>.*) in this memory; .*", re.DOTALL), "note_no_conversation"),
    (re.compile(r"no turn here is within this filter: .*", re.DOTALL), "note_no_turn"),
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
