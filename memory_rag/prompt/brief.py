"""What a new session knows before anybody has said anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memory_rag.prompt.decisions import Decision
from memory_rag.prompt.message_parts import Json
from memory_rag.prompt.pinned_files import FileRead
from memory_rag.prompt.pins import Pin
from memory_rag.summaries.summary import Level, Summary
from memory_rag.talks.talk import Talk, Unit

if TYPE_CHECKING:
    from memory_rag.prompt.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Brief:
    """What goes along into a new session of a conversation, part by part; each is empty where there is nothing.

    ``summary`` is the newest of the conversation's highest level. ``earlier`` are the sessions last spoken in, newest
    first, with their summaries; ``untold`` counts those among them that have none.
    """

    conversation_id: str
    preferences: tuple[Pin, ...]
    state: Json
    decisions: tuple[Decision, ...]
    files: tuple[FileRead, ...]
    summary: Summary | None
    earlier: tuple[Talk, ...]

    @property
    def untold(self) -> int:
        return sum(talk.summary is None for talk in self.earlier)

    @property
    def is_empty(self) -> bool:
        """Whether a new session would know nothing."""
        return not any((self.preferences, self.state, self.decisions, self.files, self.summary, self.earlier))

    def as_json(self) -> dict[str, Any]:
        return {
            "conversation": self.conversation_id,
            "preferences": [{"id": pin.pin_id, "text": pin.text, "turn_id": pin.turn_id} for pin in self.preferences],
            "state": self.state,
            "decisions": [
                {
                    "id": one.decision_id,
                    "text": one.text,
                    "because": one.because,
                    "decided_at": one.decided_at.isoformat(),
                    "turn_id": one.turn_id,
                }
                for one in self.decisions
            ],
            "files": [
                {"path": file.path, "status": file.status, "lines": file.n_lines, "bytes": file.n_bytes}
                for file in self.files
            ],
            "summary": None if self.summary is None else self.summary.as_json(),
            "earlier": [
                {
                    "conversation": talk.talk.conversation_id,
                    "session": talk.talk.session_id,
                    "title": talk.title,
                    "turns": talk.n_turns,
                    "last_said_at": None if talk.last_said_at is None else talk.last_said_at.isoformat(),
                    "about": None if talk.summary is None else talk.summary.one_line,
                }
                for talk in self.earlier
            ],
        }

    def _repr_html_(self) -> str:
        from memory_rag.prompt.in_notebook import brief_html

        return brief_html(self)


def brief_of(prompt: Prompt, *, conversation_id: str, n_earlier: int) -> Brief:
    """Gather what a new session of a conversation knows; nothing is logged."""
    summary = None
    if prompt.running is not None:
        for level in (Level.LIFETIME, Level.THOUSAND, Level.HUNDRED):
            stored = [one for one in prompt.running.stored(conversation_id, level=level) if one.lines]
            if stored:
                summary = stored[-1]
                break
    earlier = [] if prompt.talks is None or n_earlier < 1 else prompt.talks.newest(unit=Unit.SESSION, n=n_earlier)
    return Brief(
        conversation_id,
        tuple(prompt.pins.all()),
        prompt.state.get(),
        tuple(prompt.decisions.all()),
        tuple(prompt.files.read()),
        summary,
        tuple(earlier),
    )
