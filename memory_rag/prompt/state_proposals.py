"""What a conversation's summary proposes for the task's state: facts, decisions, to-dos, each with its turns.

A proposal is read from the summary whenever it is asked for and lies nowhere else, so what is forgotten is proposed no
more. Of one that was taken or dismissed a digest is kept: it doesn't come back.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final

from memory_rag.errors import SettingsError, StoreError
from memory_rag.prompt.events import EventKind, EventLog
from memory_rag.prompt.message_parts import Json
from memory_rag.prompt.state import TaskState
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.summaries.summary import Kind, Line, Summary

FIELDS: Final = {
    Kind.FACT: "facts",
    Kind.PREFERENCE: "preferences",
    Kind.DECISION: "decisions",
    Kind.QUESTION: "open_questions",
    Kind.TODO: "todos",
}
"""The field of the state to which a line of a kind is added; lines of other kinds propose nothing."""
_SETTLED: Final = "state proposals settled"
_KEPT: Final = 2_000


@dataclass(frozen=True, slots=True)
class Proposal:
    """An entry for the state: the field that it is added to, its words, why (of a decision), and its turns."""

    proposal_id: str
    field: str
    text: str
    reason: str
    turn_ids: tuple[str, ...]

    @property
    def entry(self) -> Json:
        """What stands in the state once it is taken."""
        return {"text": self.text, **({"reason": self.reason} if self.reason else {}), "turns": list(self.turn_ids)}


class StateProposals:
    """The proposals of one memory; made by the memory, as ``memory.prompt.proposals``.

    ``wish`` is the setting ``state_from_summary``: ``off`` proposes nothing, ``propose`` waits for somebody to take
    them, ``auto`` takes them as soon as a summary is made.
    """

    def __init__(
        self,
        store: TurnWriter,
        state: TaskState,
        events: EventLog,
        *,
        summaries: Callable[[str], Sequence[Summary]],
        wish: str,
    ) -> None:
        self._store = store
        self._state = state
        self._events = events
        self._summaries = summaries
        self._wish = wish

    def open(self, *, conversation_id: str = "main") -> list[Proposal]:
        """Return what the newest summary of a conversation proposes, and was neither taken nor dismissed."""
        newest = self._summaries(conversation_id)[-1:] if self._wish != "off" else []
        settled, present = set(_listed(self._store.fact(_SETTLED))), self._state.get()
        made = [_proposal(line) for one in newest for line in one.of_kind(*FIELDS)]
        worded = {one.text for one in made}
        return [one for one in made if one.proposal_id not in settled and not _is_in(present, one, worded)]

    def take(self, proposal_id: str, *, conversation_id: str = "main") -> Json:
        """Add a proposal to the state, and return the whole state.

        Raises:
            SettingsError: there is no such proposal, its field holds no list, or the state would be too large.
        """
        one = self._found(proposal_id, conversation_id)
        state = self._state.append(one.field, one.entry)
        self._settle(one)
        return state

    def dismiss(self, proposal_id: str, *, conversation_id: str = "main") -> None:
        """Let a proposal not come back.

        Raises:
            SettingsError: there is no such proposal.
        """
        self._settle(self._found(proposal_id, conversation_id))

    def summary_made(self, conversation_id: str) -> None:
        """Take everything that is proposed, where that is wished; what doesn't fit stays proposed and is told once."""
        if self._wish != "auto":
            return
        try:
            for one in self.open(conversation_id=conversation_id):
                self._state.append(one.field, one.entry)
                self._settle(one)
        except (SettingsError, StoreError) as error:
            self._warn(conversation_id, str(error))

    def _found(self, proposal_id: str, conversation_id: str) -> Proposal:
        found = self.open(conversation_id=conversation_id)
        for one in found:
            if one.proposal_id == proposal_id:
                return one
        listed = ", ".join(one.proposal_id for one in found) or "none"
        raise SettingsError(f"no proposal {proposal_id!r} is open in conversation {conversation_id!r}; open: {listed}")

    def _settle(self, one: Proposal) -> None:
        def settled(before: str | None) -> str:
            return json.dumps([*_listed(before), one.proposal_id][-_KEPT:])

        self._store.change_fact(_SETTLED, settled)

    def _warn(self, conversation_id: str, reason: str) -> None:
        try:
            self._events.log(
                EventKind.WARNING,
                conversation_id=conversation_id,
                details={"what": "the state took no more of a summary", "reason": reason},
            )
        except StoreError:
            # The memory was closed meanwhile.
            return


def _listed(settled: str | None) -> list[str]:
    return json.loads(settled or "[]")  # type: ignore[no-any-return]


def _proposal(line: Line) -> Proposal:
    field = FIELDS[line.kind]
    named = json.dumps([field, line.text, line.reason, line.turn_ids], ensure_ascii=True)
    # A reason that stands in the decision's own words needn't be paid for twice.
    reason = "" if line.reason in line.text else line.reason
    return Proposal(hashlib.sha256(named.encode()).hexdigest()[:8], field, line.text, reason, line.turn_ids)


def _is_in(state: Json, one: Proposal, worded: Set[str]) -> bool:
    """Tell whether the state has a proposal's words, or an entry of its turns that a summary made anew says otherwise.

    ``worded`` are the words of all that the summary proposes: an entry in such words is another thing of the same turn.
    """
    entries: Any = state.get(one.field)
    return isinstance(entries, list) and any(
        isinstance(entry, dict)
        and (
            entry.get("text") == one.text
            or (entry.get("turns") == list(one.turn_ids) and str(entry.get("text")) not in worded)
        )
        for entry in entries
    )
