"""The running summary: extended between turns, in the background, never twice over the same turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol

from memory_rag.errors import MemoryRagError, ModelError, StoreError
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.summaries.audit import KEPT_SHARE, Audit, audit
from memory_rag.summaries.background import Background
from memory_rag.summaries.extractive import ExtractiveSummarizer
from memory_rag.summaries.shelf import Shelf
from memory_rag.summaries.source import ConversationSummary
from memory_rag.summaries.summary import WORD_LIMIT, Level, Line, Summarizer, Summary, check_lines
from memory_rag.summaries.summary_rows import StaleError, Stored
from memory_rag.summaries.triggers import Triggers, VectorsOf, estimated_tokens, safe_cut, term_vectors, what_is_due
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Turn

BLOCK_TURNS: Final = 100
"""Turns that a summary of the lowest level stands for at most."""
SUBJECT_TURNS: Final = 20
"""Turns from which on a new subject closes a summary; a shorter one would hardly be shorter than its turns."""
BLOCKS: Final = 10
"""Summaries of the lowest level that one of the middle level stands for."""

REST: Final = timedelta(minutes=1)
"""How long a conversation isn't summarised by itself after a model failed at it."""


class Events(Protocol):
    """Where it is told what happened. ``fields`` are names, numbers and ids; no words of turns."""

    def record(self, kind: str, **fields: Any) -> None: ...


class NoEvents:
    """Tells nobody."""

    def record(self, kind: str, **fields: Any) -> None: ...


@dataclass(frozen=True, slots=True)
class Audited:
    """A stored summary and what it lost of the turns that it stands for."""

    summary: Summary
    audit: Audit

    def _repr_html_(self) -> str:
        from memory_rag.summaries.in_notebook import audited_html

        return audited_html(self)


class RunningSummaries:
    """The summaries of one memory, by conversation.

    The lowest level stands for up to 100 turns and is extended until it has them; then it is closed and the next
    begins. Ten closed ones make one of the middle level, and all closed ones the lifetime's. Safe for threads and
    processes: who summarises a conversation claims it first, and a turn belongs to one summary.
    """

    def __init__(
        self,
        store: TurnWriter,
        *,
        analyzer: Callable[[], Analyzer],
        summarizer: Callable[[], Summarizer] | None = None,
        triggers: Triggers | None = None,
        kept_share: float = KEPT_SHARE,
        word_limit: int = WORD_LIMIT,
        vectors_of: VectorsOf | None = None,
        events: Events | None = None,
        made: Callable[[str], None] = lambda _conversation_id: None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self.shelf = Shelf(store, clock=clock)
        self._analyzer = analyzer
        self._summarizer = summarizer
        self.triggers = triggers or Triggers()
        self._kept_share = kept_share
        self._word_limit = word_limit
        self._vectors_of = vectors_of
        self.events: Events = events or NoEvents()
        self._told_of = made
        self._clock = clock
        self._background = Background(self._in_background)
        self._rests_until: dict[str, datetime] = {}
        self._sources: dict[str, ConversationSummary] = {}

    # -- reading

    def stored(self, conversation_id: str, *, level: Level = Level.HUNDRED) -> list[Summary]:
        """Return a conversation's summaries of a level, oldest first, without anything that was forgotten since."""
        self.shelf.follow()
        return [one.summary for one in self.shelf.stored(conversation_id, level)]

    def audited(self, conversation_id: str, *, level: Level = Level.HUNDRED) -> list[Audited]:
        """Return a conversation's summaries of a level, each with what it lost of its turns."""
        analyzer = self._analyzer()
        return [
            Audited(one, audit(one.lines, self.shelf.turns_of(one.number), analyzer=analyzer))
            for one in self.stored(conversation_id, level=level)
        ]

    def of(self, conversation_id: str) -> ConversationSummary:
        """Return where a prompt takes a conversation's summary from."""
        return self._sources.setdefault(conversation_id, ConversationSummary(self.shelf, conversation_id))

    def follow(self) -> None:
        """Take out of every summary what could tell of turns that were corrected or forgotten."""
        self.shelf.follow()

    # -- making

    def nudge(self, conversation_id: str) -> None:
        """Say that a turn was said: what is due is summarised in the background. Returns at once."""
        self._background.name(conversation_id)

    def wait(self, *, timeout_s: float | None = None) -> bool:
        """Wait until nothing is being summarised in the background; False if it took longer than ``timeout_s``."""
        return self._background.wait(timeout_s=timeout_s)

    def close(self) -> None:
        """Begin nothing more. What a model is being asked isn't waited for: its turns stay in the window."""
        self._background.close()
        with suppress(StoreError):
            # Who opens the memory next, in this process too, may summarise those turns at once.
            self.shelf.claims.give_up()

    def summarise_if_due(self, conversation_id: str) -> bool:
        """Summarise a conversation if one of the triggers says so, and tell whether it was done."""
        mended = self.mend(conversation_id)
        uncovered = self.shelf.uncovered(conversation_id)
        vectors_of = self._vectors_of or term_vectors(self._analyzer())
        due = what_is_due(uncovered, self.triggers, vectors_of=vectors_of)
        if due is None or self._rests_until.get(conversation_id, self._clock()) > self._clock():
            return mended
        return self._claimed(conversation_id, due.n_turns, trigger=due.trigger) or mended

    def mend(self, conversation_id: str) -> bool:
        """Make anew what lost lines to a correction or a removal, and tell whether it was done.

        False if nothing did, if somebody is at it, or if none could be made: what is left stays without those lines.
        """
        self.shelf.follow()
        return bool(self.shelf.stale(conversation_id)) and self._claimed(conversation_id, 0, trigger="changed")

    def summarise(self, conversation_id: str, *, focus: str = "", keep_recent: int | None = None) -> bool:
        """Summarise all but the newest turns of a conversation now; False if there was nothing to do, or somebody is
        at it.

        ``focus`` says in anybody's words what has to be kept; with it the summary that is still open is made anew.
        """
        self.shelf.follow()
        keep = self.triggers.keep_recent if keep_recent is None else keep_recent
        uncovered = self.shelf.uncovered(conversation_id)
        return self._claimed(conversation_id, safe_cut(uncovered, len(uncovered) - keep), trigger="asked", focus=focus)

    def _in_background(self, conversation_id: str) -> None:
        try:
            self.summarise_if_due(conversation_id)
        except MemoryRagError as error:
            self._tell("warning", what="summary failed", conversation_id=conversation_id, reason=str(error))

    def _claimed(self, conversation_id: str, n_turns: int, *, trigger: str, focus: str = "") -> bool:
        if not self.shelf.claims.take(conversation_id):
            return False
        try:
            return self._run(conversation_id, n_turns, trigger=trigger, focus=focus)
        finally:
            self.shelf.claims.release(conversation_id)

    def _run(self, conversation_id: str, n_turns: int, *, trigger: str, focus: str) -> bool:
        made_by = ""
        try:
            summarizer: Summarizer = (
                ExtractiveSummarizer(self._analyzer()) if self._summarizer is None else self._summarizer()
            )
            made_by = summarizer.fingerprint
            done = self._mend(conversation_id, summarizer, focus=focus)
            # Read again: before the claim, another process may have covered some of them.
            seq = self._store.last_seq
            turns = self.shelf.uncovered(conversation_id)[:n_turns]
            while turns:
                taken = self._add(conversation_id, turns, summarizer, trigger=trigger, focus=focus, seq=seq)
                turns = turns[taken:]
                done = True
            if done:
                self._told_of(conversation_id)
            return self._raise_levels(conversation_id, summarizer) or done
        except (ModelError, StaleError) as error:
            if isinstance(error, ModelError):
                self._rests_until[conversation_id] = self._clock() + REST
            self._tell(
                "warning",
                what="summary failed",
                conversation_id=conversation_id,
                trigger=trigger,
                model=made_by,
                reason=str(error),
            )
            return False

    def _mend(self, conversation_id: str, summarizer: Summarizer, *, focus: str) -> bool:
        """Make anew what lost lines to a correction, and the open block if there is a focus."""
        mended = self.shelf.stale(conversation_id)
        present = self.shelf.open_one(conversation_id, Level.HUNDRED)
        if focus and present is not None and not present.is_stale:
            mended.append(present)
        for one in mended:
            seq = self._store.last_seq
            if one.summary.level is Level.HUNDRED:
                turns = self.shelf.turns_of(one.summary.number)
                made = self._made(one.summary, (), turns, turns, summarizer, focus=focus)
            else:
                made = self._condensed(one.summary, self.shelf.parts(one.summary.number), (), summarizer)
            self.shelf.install(made, closes=not one.is_open, seq=seq)
        return bool(mended)

    def _add(
        self, conversation_id: str, turns: Sequence[Turn], summarizer: Summarizer, *, trigger: str, focus: str, seq: int
    ) -> int:
        """Let a summary stand for as many of these turns as belong to one, and return how many."""
        block = self.shelf.open_one(conversation_id, Level.HUNDRED)
        covered = [] if block is None else self.shelf.turns_of(block.summary.number)
        n_taken = max(1, safe_cut(turns, BLOCK_TURNS - len(covered)))
        batch = turns[:n_taken]
        earlier: tuple[Line, ...] = () if block is None else block.summary.lines
        base = self._empty(conversation_id, Level.HUNDRED) if block is None else block.summary
        made = self._made(base, earlier, batch, [*covered, *batch], summarizer, focus=focus)
        if block is not None and made.note:
            # What it stood for is kept as it is; the new turns get a summary of their own.
            self.shelf.close_block(block.summary.number)
            covered, made = (
                [],
                self._made(self._empty(conversation_id, Level.HUNDRED), (), batch, batch, summarizer, focus=focus),
            )
        n_covered = len(covered) + len(batch)
        closes = n_covered >= BLOCK_TURNS or (trigger == "subject" and n_covered >= SUBJECT_TURNS)
        number = self.shelf.install(made, turns=batch, closes=closes, seq=seq)
        self._tell(
            "summary",
            conversation_id=conversation_id,
            trigger=trigger,
            model=made.made_by,
            summary=number,
            n_turns=len(batch),
            n_words=made.n_words,
            tokens_before=estimated_tokens(base.text) + sum(estimated_tokens(turn.text) for turn in batch),
            tokens_after=estimated_tokens(made.text),
            note=made.note,
        )
        return n_taken

    def _made(
        self,
        base: Summary,
        earlier: Sequence[Line],
        turns: Sequence[Turn],
        covered: Sequence[Turn],
        summarizer: Summarizer,
        *,
        focus: str,
    ) -> Summary:
        """Return a summary of earlier lines and turns that keeps enough of what must hold of all covered turns.

        One that loses too much is replaced by the extractive one, and its note says why.
        """
        analyzer = self._analyzer()
        known = {turn.turn_id for turn in turns} | {turn_id for line in earlier for turn_id in line.turn_ids}
        lines = summarizer.extend(earlier, turns, focus=focus, word_limit=self._word_limit)
        check_lines(lines, known=known, made_by=summarizer.fingerprint, word_limit=self._word_limit)
        made = replace(base, lines=lines, made_by=summarizer.fingerprint, made_at=self._clock(), focus=focus, note="")
        found = audit(lines, covered, analyzer=analyzer)
        if found.is_good_enough(self._kept_share):
            return made
        kept = found.must_hold
        why = f"kept {kept.kept} of {kept.of} decisions and preferences, {self._kept_share:.0%} are asked for"
        other = ExtractiveSummarizer(analyzer)
        if other.fingerprint == summarizer.fingerprint:
            return replace(made, note=why)
        lines = other.extend((), covered, focus=focus, word_limit=self._word_limit)
        return replace(
            made, lines=lines, made_by=other.fingerprint, note=f"stands in for {summarizer.fingerprint}, which {why}"
        )

    def _raise_levels(self, conversation_id: str, summarizer: Summarizer) -> bool:
        """Let the higher levels stand for the blocks that were closed since."""
        done = False
        lifetime = self.shelf.open_one(conversation_id, Level.LIFETIME)
        new = [one.summary for one in self.shelf.closed_outside(conversation_id, Level.LIFETIME)]
        if new and (lifetime is not None or len(new) > 1):
            self._raise(conversation_id, Level.LIFETIME, lifetime, new, summarizer)
            done = True
        waiting = [one.summary for one in self.shelf.closed_outside(conversation_id, Level.THOUSAND)]
        while len(waiting) >= BLOCKS:
            self._raise(conversation_id, Level.THOUSAND, None, waiting[:BLOCKS], summarizer)
            waiting = waiting[BLOCKS:]
            done = True
        return done

    def _raise(
        self,
        conversation_id: str,
        level: Level,
        present: Stored | None,
        new: Sequence[Summary],
        summarizer: Summarizer,
    ) -> None:
        seq = self._store.last_seq
        base = self._empty(conversation_id, level) if present is None else present.summary
        made = self._condensed(base, [], new, summarizer)
        self.shelf.install(made, parts=[one.number for one in new], closes=level is Level.THOUSAND, seq=seq)

    def _condensed(
        self, base: Summary, parts: Sequence[int], new: Sequence[Summary], summarizer: Summarizer
    ) -> Summary:
        """Return a summary of the lines of others: of ``parts`` (from the start), or of its own and new ones'."""
        if parts:
            own = {one.summary.number: one.summary for one in self.shelf.stored(base.conversation_id, Level.HUNDRED)}
            lines = [line for part in parts for line in own[part].lines]
        else:
            lines = [*base.lines, *(line for one in new for line in one.lines)]
        made = summarizer.extend(lines, (), word_limit=self._word_limit)
        known = {turn_id for line in lines for turn_id in line.turn_ids}
        check_lines(made, known=known, made_by=summarizer.fingerprint, word_limit=self._word_limit)
        return replace(base, lines=made, made_by=summarizer.fingerprint, made_at=self._clock(), note="")

    def _empty(self, conversation_id: str, level: Level) -> Summary:
        return Summary(conversation_id, level, (), 0, "", "", "", self._clock())

    def _tell(self, kind: str, **fields: Any) -> None:
        try:
            self.events.record(kind, **{name: value for name, value in fields.items() if value not in ("", None)})
        except StoreError:
            # The memory was closed while the summary was made.
            return
