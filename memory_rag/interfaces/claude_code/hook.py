"""One call of a hook, from its stdin to its stdout: never longer than a person would wait, never a failure."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final

from memory_rag.errors import MemoryRagError, NotAMemoryError
from memory_rag.interfaces.claude_code.occasion import MANUAL, PRE_COMPACT, SESSION_END, SESSION_START, STOP, Occasion
from memory_rag.interfaces.claude_code.session_brief import session_brief
from memory_rag.interfaces.claude_code.sessions import catch_up, log_compaction, store_session

if TYPE_CHECKING:
    from memory_rag.memory import Memory

TO_STORE_S: Final = 25.0
"""How long storing, or telling, may take at most; Claude Code itself waits 30 seconds (see the installed hooks)."""
TO_TELL_S: Final = 6.0
"""How long the beginning of a session may take at most: a person sits before it."""
TO_SUMMARISE_S: Final = 8.0
"""How long after the start a summary is still waited for; what isn't summarised then is by the next."""
TO_CATCH_UP_S: Final = 3.0
_LOOKS_EVERY_S: Final = 0.05


@dataclass(slots=True)
class Call:
    """One call of a hook. ``said`` is what goes to stdout, ``notes`` what goes to stderr.

    ``is_served`` is set once all that must be done is done: what is done after it may be broken off at any moment.
    ``limit_s`` is how long that may take, which the occasion decides.
    """

    open_memory: Callable[[bool], Memory]
    clock: Callable[[], float] = time.monotonic
    say: Callable[[str], None] = lambda text: None
    note: Callable[[str], None] = lambda text: None
    is_served: threading.Event = field(default_factory=threading.Event)
    limit_s: float = TO_STORE_S

    def answer(self, read: Callable[[], bytes]) -> None:
        """Do what the occasion asks for. Every failure is a note."""
        try:
            self._answer(Occasion.read(read()))
        except MemoryRagError as error:
            self.note(str(error))
        except Exception as error:
            # Whatever it is: a hook that fails shall cost a person's session nothing.
            self.note(f"{type(error).__name__}: {error}")
        finally:
            self.is_served.set()

    def _answer(self, occasion: Occasion) -> None:
        if occasion.event == SESSION_START:
            self.limit_s = min(self.limit_s, TO_TELL_S)
            self._begin(occasion)
        elif occasion.event in (PRE_COMPACT, SESSION_END, STOP):
            self._keep(occasion)
        else:
            self.note(f"nothing is done at {occasion.event!r}")

    def _keep(self, occasion: Occasion) -> None:
        with self.open_memory(True) as memory:
            if memory.off_record.since is not None:
                self.note("off the record: nothing of this session is stored; end it with: memory-rag off-record off")
                return
            kept = store_session(memory, occasion)
            if occasion.event == PRE_COMPACT:
                log_compaction(memory, occasion, kept)
            self.is_served.set()
            by_itself = memory.settings.summaries != "off"
            if occasion.event == PRE_COMPACT and (by_itself or occasion.why == MANUAL):
                memory.summaries.summarise(kept.conversation_id, focus=occasion.focus)
            elif occasion.event == SESSION_END and by_itself:
                memory.summaries.summarise_if_due(kept.conversation_id)

    def _begin(self, occasion: Occasion) -> None:
        started = self.clock()
        try:
            memory = self.open_memory(False)
        except NotAMemoryError as error:
            self.note(f"nothing is remembered yet: {error}")
            return
        with memory:
            brief = session_brief(memory, occasion)
            if brief:
                output = {"hookSpecificOutput": {"hookEventName": SESSION_START, "additionalContext": brief}}
                self.say(json.dumps(output, ensure_ascii=False))
            self.is_served.set()
            if occasion.why != "compact":
                catch_up(memory, occasion, may_go_on=lambda: self.clock() - started < TO_CATCH_UP_S)


class Ended(Enum):
    """How a call ended: with all of it done, with what must be done and no more, or without."""

    WHOLE = "whole"
    SERVED = "served"
    TOO_LATE = "too late"


def served_in_time(call: Call, read: Callable[[], bytes], *, to_summarise_s: float = TO_SUMMARISE_S) -> Ended:
    """Answer a call within its time, in a thread that is left to itself after that.

    After a call that isn't done as a whole the process has to be ended without waiting for the thread.
    """
    started = call.clock()
    thread = threading.Thread(target=call.answer, args=(read,), daemon=True, name="hook")
    thread.start()
    while not call.is_served.wait(_LOOKS_EVERY_S):
        if call.clock() - started > call.limit_s:
            return Ended.TOO_LATE
    thread.join(max(_LOOKS_EVERY_S, to_summarise_s - (call.clock() - started)))
    return Ended.SERVED if thread.is_alive() else Ended.WHOLE
