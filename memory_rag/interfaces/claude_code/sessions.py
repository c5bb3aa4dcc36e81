"""Storing Claude Code's sessions: the one at hand, and those that ended without a word."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memory_rag.errors import MemoryRagError
from memory_rag.interfaces.claude_code.occasion import HookError, Occasion
from memory_rag.prompt.events import EventKind

if TYPE_CHECKING:
    from memory_rag.memory import Memory

FORMAT: Final = "claude-code"
LARGEST_LEFT_BEHIND: Final = 20_000_000
"""Bytes of a session that is caught up with at another's start; a larger one waits for its own hook, or an import."""
_LINES_LOOKED_AT: Final = 50
_SEEN: Final = "claude-code seen"


@dataclass(frozen=True, slots=True)
class Kept:
    """What storing a session did: where it is kept, turns that are new, and all that the file holds of it."""

    conversation_id: str
    new: int
    total: int


def store_session(memory: Memory, occasion: Occasion) -> Kept:
    """Store what a session's transcript holds and isn't stored yet.

    Raises:
        HookError: the transcript isn't there.
        ImportFormatError: it can't be read as a session.
    """
    path = occasion.transcript
    if path is None or not path.is_file():
        raise HookError(f"there is no transcript at {path}; nothing of session {occasion.session_id} was stored")
    return _stored(memory, path)


def log_compaction(memory: Memory, occasion: Occasion, kept: Kept) -> None:
    """Write down that the window is being compacted, with the focus; once, however often the hook is called for it."""
    details = {"made_by": FORMAT, "trigger": occasion.why, "turns": kept.total}
    if occasion.focus:
        details["focus"] = occasion.focus
    events, name = memory.prompt.events, kept.conversation_id
    before = events.events(kind=EventKind.COMPACTION, conversation_id=name, newest=1)
    if not (before and dict(before[-1].details) == details):
        events.log(EventKind.COMPACTION, conversation_id=name, details=details)


def last_focus(memory: Memory, conversation_id: str) -> str:
    """Return the focus with which a session was compacted last; empty if there was none."""
    before = memory.prompt.events.events(kind=EventKind.COMPACTION, conversation_id=conversation_id, newest=1)
    return str(before[-1].details.get("focus", "")) if before else ""


def catch_up(memory: Memory, occasion: Occasion, *, may_go_on: Callable[[], bool]) -> int:
    """Store the sessions beside this one that changed since the last look, and return how many turns were new.

    A session whose terminal was closed had no hook at its end. Of a folder that is seen for the first time nothing is
    stored: what was before the hooks were installed is imported by whoever wants it.
    """
    if occasion.transcript is None or memory.off_record.since is not None:
        return 0
    folder = occasion.transcript.parent
    fact = f"{_SEEN} {hashlib.sha256(str(folder).encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    seen = memory.store.fact(fact)
    found = sorted((changed, path) for path in folder.glob("*.jsonl") if (changed := _changed(path)) is not None)
    if not found:
        return 0
    if seen is None:
        memory.store.set_fact(fact, str(found[-1][0]))
        return 0
    n_new = 0
    for changed, path in found:
        if changed <= int(seen):
            continue
        if not may_go_on():
            break
        if path.stem != occasion.session_id and path.stat().st_size <= LARGEST_LEFT_BEHIND:
            # What is no session, or broken, is told of by its own hook, or by an import.
            with suppress(MemoryRagError):
                n_new += _stored(memory, path).new
        memory.store.set_fact(fact, str(changed))
    return n_new


def _stored(memory: Memory, path: Path) -> Kept:
    report = memory.import_path(path, format=FORMAT)
    return Kept(conversation_in(path), report.kept, report.kept + report.already_there)


def conversation_in(path: Path) -> str:
    """Return the conversation that a transcript is kept as: the first session that it names.

    A session that was resumed may go on in a file of another name, which begins with the lines of the first.
    """
    with suppress(OSError), path.open("rb") as file:
        for line in islice(file, _LINES_LOOKED_AT):
            with suppress(ValueError):
                record = json.loads(line)
                if isinstance(record, dict) and isinstance(named := record.get("sessionId"), str) and named:
                    return named
    return path.stem


def _changed(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None
