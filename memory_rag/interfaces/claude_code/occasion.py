"""When Claude Code calls a hook: what it writes to the hook's stdin."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from memory_rag.errors import MemoryRagError

PRE_COMPACT: Final = "PreCompact"
SESSION_START: Final = "SessionStart"
SESSION_END: Final = "SessionEnd"
STOP: Final = "Stop"
MANUAL: Final = "manual"
"""Why the window is compacted if the person asked for it."""
EVENTS: Final = (PRE_COMPACT, SESSION_START, SESSION_END)
"""The events that ``memory-rag install`` hooks into; ``Stop`` is understood as well, for who wants every answer stored
at once."""


class HookError(MemoryRagError):
    """What a hook was given can't be used."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """One call of a hook.

    ``why`` is ``startup``, ``resume``, ``clear`` or ``compact`` at a session's start, ``manual`` or ``auto`` before a
    compaction, the reason at a session's end. ``focus`` are the words after ``/compact``; empty if there are none.
    """

    event: str
    session_id: str
    transcript: Path | None
    why: str = ""
    focus: str = ""

    @classmethod
    def read(cls, data: bytes) -> Self:
        """Return the occasion that a hook's stdin tells of.

        Raises:
            HookError: it isn't JSON, or names no event or session.
        """
        try:
            given: Any = json.loads(data)
        except ValueError as error:
            raise HookError(f"stdin holds no JSON ({error}); this is called by Claude Code, not by hand") from error
        if not isinstance(given, dict):
            raise HookError(f"stdin holds a JSON {type(given).__name__}, not the object that Claude Code writes")
        event, session_id = _text(given, "hook_event_name"), _text(given, "session_id")
        if not event or not session_id:
            raise HookError("stdin names no hook_event_name or no session_id; this is called by Claude Code")
        path = _text(given, "transcript_path")
        return cls(
            event=event,
            session_id=session_id,
            transcript=Path(path).expanduser() if path else None,
            why=_text(given, "source") or _text(given, "trigger") or _text(given, "reason"),
            focus=_text(given, "custom_instructions").strip(),
        )


def _text(given: dict[str, Any], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""
