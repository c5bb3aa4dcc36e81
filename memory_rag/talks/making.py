"""Making the summaries of talks: between turns, each turn read once, one process at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from memory_rag.errors import MemoryRagError, ModelError, StoreError
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.summaries.background import Background
from memory_rag.summaries.claims import Claims
from memory_rag.summaries.running import Events
from memory_rag.summaries.summary import Line, Summarizer, check_lines
from memory_rag.summaries.summary_rows import StaleError
from memory_rag.talks.shelf import Sitting, TalkShelf
from memory_rag.talks.talk import TalkId, TalkSummary
from memory_rag.turns import Turn

WORDS: Final = 60
"""Words of a talk's summary at most."""
BY_HAND: Final = "user"
TURNS_DUE: Final = 4
"""New turns from which on the summary of a session that goes on is extended; one that is over is, by any."""
_AT_ONCE: Final = 100
"""Turns given to a summarizer at once: a model reads so many, and not a day's thousand."""
_REST: Final = timedelta(minutes=1)


class TalkMaking:
    """Makes the summaries of sessions out of their turns, and those of conversations out of their sessions'.

    A conversation of one session has that session's. What somebody wrote by hand is never made over.
    """

    def __init__(
        self,
        store: TurnWriter,
        shelf: TalkShelf,
        *,
        summarizer: Callable[[], Summarizer],
        events: Events,
        clock: Callable[[], datetime],
        made: Callable[[str], None] = lambda _conversation_id: None,
    ) -> None:
        self._store = store
        self._shelf = shelf
        self._summarizer = summarizer
        self._events = events
        self._clock = clock
        self._made = made
        self._claims = Claims(store.connections, clock=clock)
        self._background = Background(self._in_background)
        self._rests_until: dict[str, datetime] = {}

    def nudge(self, conversation_id: str) -> None:
        """Say that a turn was said: what is due is made in the background. Returns at once."""
        self._background.name(conversation_id)

    def wait(self, *, timeout_s: float | None = None) -> bool:
        """Wait until nothing is being made in the background; False if it took longer."""
        return self._background.wait(timeout_s=timeout_s)

    def close(self) -> None:
        """Begin nothing more."""
        self._background.close()
        with suppress(StoreError):
            self._claims.give_up()

    def make(self, conversation_id: str, *, all_of_it: bool = True) -> int:
        """Make what a conversation lacks, and return how many summaries were made.

        With ``all_of_it`` False, new turns of the session that goes on wait until there are a few.

        Raises:
            ModelError: the model gave nothing usable; what was made before that stays.
        """
        key = f"talks of {conversation_id}"
        if not self._claims.take(key):
            return 0
        try:
            return self._sessions(conversation_id, all_of_it=all_of_it)
        finally:
            self._claims.release(key)

    def write(self, talk: TalkId, lines: Sequence[Line]) -> TalkSummary:
        """Store what somebody wrote as a talk's summary."""
        seq = self._store.last_seq
        rows = self._shelf.rows_after(talk, 0)
        summary = TalkSummary(talk, tuple(lines), BY_HAND, self._clock(), len(rows))
        return self._shelf.install(summary, last_row=max(rows, default=0), seq=seq)

    def _in_background(self, conversation_id: str) -> None:
        now = self._clock()
        if self._rests_until.get(conversation_id, now) > now:
            return
        try:
            if self.make(conversation_id, all_of_it=False):
                self._made(conversation_id)
        except MemoryRagError as error:
            if isinstance(error, ModelError):
                self._rests_until[conversation_id] = now + _REST
            self._tell("warning", conversation_id, what="summary of a session failed", reason=str(error))

    def _sessions(self, conversation_id: str, *, all_of_it: bool) -> int:
        sittings = self._shelf.sittings(conversation_id)
        n_made = 0
        for place, sitting in enumerate(sittings):
            is_last = place == len(sittings) - 1
            if self._is_due(sitting, n_least=1 if all_of_it or not is_last else TURNS_DUE):
                n_made += self._session(sitting)
        if len(sittings) > 1:
            n_made += self._conversation(sittings)
        return n_made

    def _is_due(self, sitting: Sitting, *, n_least: int) -> bool:
        return sitting.told_by != BY_HAND and sitting.n_turns - sitting.told_turns >= n_least

    def _session(self, sitting: Sitting) -> int:
        seq = self._store.last_seq
        before = self._shelf.of(sitting.talk)
        rows = self._shelf.rows_after(sitting.talk, sitting.told_row if before is not None else 0)
        found = self._store.turns_at(rows)
        turns = [found[row] for row in rows if row in found]
        lines = before.lines if before is not None else ()
        for start in range(0, len(turns), _AT_ONCE):
            lines = self._lines(lines, turns[start : start + _AT_ONCE])
        n_turns = len(turns) + (before.n_turns if before is not None else 0)
        return self._install(sitting.talk, lines, n_turns=n_turns, last_row=max(rows, default=0), seq=seq)

    def _conversation(self, sittings: Sequence[Sitting]) -> int:
        talk = TalkId(sittings[0].talk.conversation_id)
        seq = self._store.last_seq
        parts = [told for one in sittings if (told := self._shelf.of(one.talk)) is not None]
        present = self._shelf.of(talk)
        newest = max((one.number for one in parts), default=0)
        if present is not None and (present.made_by == BY_HAND or present.number > newest):
            return 0
        lines = self._lines([line for part in parts for line in part.lines], ())
        n_turns = sum(part.n_turns for part in parts)
        return self._install(talk, lines, n_turns=n_turns, last_row=max(one.last_row for one in sittings), seq=seq)

    def _lines(self, earlier: Sequence[Line], turns: Sequence[Turn]) -> tuple[Line, ...]:
        summarizer = self._summarizer()
        lines = summarizer.extend(earlier, turns, word_limit=WORDS)
        known = {turn.turn_id for turn in turns} | {turn_id for line in earlier for turn_id in line.turn_ids}
        check_lines(lines, known=known, made_by=summarizer.fingerprint, word_limit=WORDS)
        return tuple(lines)

    def _install(self, talk: TalkId, lines: Sequence[Line], *, n_turns: int, last_row: int, seq: int) -> int:
        made_by = self._summarizer().fingerprint
        summary = TalkSummary(talk, tuple(lines), made_by, self._clock(), n_turns)
        try:
            self._shelf.install(summary, last_row=last_row, seq=seq)
        except StaleError as error:
            self._tell("warning", talk.conversation_id, what="summary of a session failed", reason=str(error))
            return 0
        return 1

    def _tell(self, kind: str, conversation_id: str, **fields: str) -> None:
        try:
            self._events.record(kind, conversation_id=conversation_id, **fields)
        except StoreError:
            # The memory was closed meanwhile.
            return
