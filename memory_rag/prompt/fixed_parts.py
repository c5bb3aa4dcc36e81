"""The part of a prompt that is never dropped: instructions, preferences, the task's state, decisions, pinned files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from memory_rag.prompt.decisions import Decision
from memory_rag.prompt.message_parts import Json
from memory_rag.prompt.pinned_files import FileRead
from memory_rag.prompt.pins import Pin
from memory_rag.prompt.prompt_context import Part, PartCost
from memory_rag.prompt.tokens import TokenCounter
from memory_rag.text.reasoned import with_reason
from memory_rag.turns import printable

BETWEEN: Final = "\n\n"
DECISION_SHARE: Final = 0.15
"""Of the budget, what the decision log may take; the newest decisions stay."""


@dataclass(frozen=True, slots=True)
class FixedPart:
    """One section of the instructions; ``told`` says in the account what is in it."""

    part: Part
    text: str
    told: str = ""

    def cost(self, counter: TokenCounter) -> PartCost:
        return PartCost(self.part, counter.count(self.text + BETWEEN) if self.text else 0, self.told)


def system_part(system: str) -> FixedPart:
    """Return the caller's own instructions, as they are but for what no request can hold."""
    return FixedPart("system prompt", printable(system))


def preferences_part(pins: Sequence[Pin]) -> FixedPart:
    """Return the pinned preferences, one a line."""
    lines = [f"- {_line(pin.text)}" for pin in pins]
    text = "\n".join(["Preferences of the user, which always hold:", *lines]) if lines else ""
    return FixedPart("preferences", text, f"{len(pins)} pinned" if pins else "")


def state_part(state: Json) -> FixedPart:
    """Return the state as JSON on one line."""
    text = f"State of the running task, as JSON:\n{json.dumps(state, ensure_ascii=False)}" if state else ""
    return FixedPart("task state", printable(text), ", ".join(map(printable, state)))


def decisions_part(decisions: Sequence[Decision], *, n_tokens: int, counter: TokenCounter, zone: tzinfo) -> FixedPart:
    """Return the newest decisions with their reasons, as many as so many tokens hold, oldest first."""
    heading = "Decisions that were made, and why:"
    lines: list[str] = []
    left = n_tokens - counter.count(heading)
    for one in reversed(decisions):
        day = one.decided_at.astimezone(zone).date().isoformat()
        turn = f" ({one.turn_id})" if one.turn_id else ""
        line = f"- {day}: {printable(with_reason(one.text, one.because))}{turn}"
        left -= counter.count(line + "\n")
        if left < 0:
            break
        lines.insert(0, line)
    told = f"{len(lines)} of {len(decisions)}" if decisions else ""
    return FixedPart("decisions", "\n".join([heading, *lines]) if lines else "", told)


def files_part(files: Sequence[FileRead]) -> FixedPart:
    """Return every pinned file under its path; one that can't be read is named with the reason."""
    sections = []
    for file in files:
        if file.status in ("missing", "unreadable"):
            sections.append(f"{printable(file.path)}: {file.status}, {file.why}")
            continue
        cut = ", only its beginning" if file.is_cut else ""
        fence = _fence_around(file.text)
        body = printable(file.text)
        ending = "" if body.endswith("\n") else "\n"
        sections.append(
            f"{printable(file.path)} ({_counted(file.n_lines, 'line')}{cut}):\n{fence}\n{body}{ending}{fence}"
        )
    text = "\n\n".join(["Files that the user pinned, read just now:", *sections]) if sections else ""
    return FixedPart("pinned files", text, _counted(len(files), "file") if files else "")


def _fence_around(text: str) -> str:
    """Return a Markdown fence longer than any run of backticks in the text."""
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return "`" * max(3, longest + 1)


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def _line(text: str) -> str:
    return " ".join(printable(text).split())
