"""Where words are that a model seems to have forgotten: each place is looked into, none is guessed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import StrEnum
from typing import Final

from memory_rag.prompt.decisions import Decisions
from memory_rag.prompt.events import EventKind, EventLog
from memory_rag.prompt.pinned_words import PinnedWords
from memory_rag.prompt.pins import Pins
from memory_rag.prompt.prompt_context import PromptContext
from memory_rag.prompt.searched_memory import Recall
from memory_rag.prompt.state import TaskState
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.occurrences import folded_spans, says_something
from memory_rag.retrieval.quotes import Quote
from memory_rag.store.turn_reader import TurnReader
from memory_rag.summaries.summary import Level, Summary
from memory_rag.text.folding import fold
from memory_rag.turns import Turn

_LOOKED_AT: Final = 50
"""Turns with the words that are looked into."""
_RANKED: Final = 200


class Where(StrEnum):
    """A place where words can be, or the way they went."""

    FIXED = "fixed"
    """In what always goes along: the system prompt, a preference, the state, a decision, a pinned file."""
    WINDOW = "window"
    RETRIEVED = "retrieved"
    SUMMARY = "summary"
    CLEARED = "cleared"
    """In a tool's result that gave way to a placeholder."""
    DROPPED = "dropped"
    """In turns that a summary or compaction stands for, and not in it."""
    FILE_GONE = "file gone"
    STORED = "stored"
    CORRECTED = "corrected"
    """Said, and corrected since."""
    NEVER = "never"


IN_PROMPT: Final = frozenset({Where.FIXED, Where.WINDOW, Where.RETRIEVED})


@dataclass(frozen=True, slots=True)
class Answer:
    """One place: a sentence for the user, and the turn, the rank, the summary or the time it tells of."""

    where: Where
    told: str
    turn_id: str | None = None
    in_prompt: bool = False
    rank: int | None = None
    summary: int | None = None
    line: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Every place where words are or were, those in the prompt first; ``question`` is what the prompt was made for."""

    words: str
    conversation_id: str
    question: str
    answers: tuple[Answer, ...]

    @property
    def in_prompt(self) -> bool:
        """Whether the model is told these words in the prompt for the question."""
        return any(answer.in_prompt for answer in self.answers)

    def of(self, where: Where) -> tuple[Answer, ...]:
        return tuple(answer for answer in self.answers if answer.where is where)

    def _repr_html_(self) -> str:
        from memory_rag.prompt.in_notebook import whereabouts_html

        return whereabouts_html(self)


@dataclass(frozen=True, slots=True)
class Searched:
    """Everything that is looked into."""

    store: TurnReader
    recall: Recall
    pins: Pins
    state: TaskState
    decisions: Decisions
    words_of_files: PinnedWords
    events: EventLog
    zone: tzinfo
    summaries: Callable[[str, Level], Sequence[Summary]]
    turns_of: Callable[[int], Sequence[Turn]]
    prompt: Callable[[str, str], PromptContext]
    """Puts the prompt for a question together, of a conversation, and logs nothing."""
    instructions: Callable[[str], str]
    """The caller's own instructions in a conversation, as far as they are known."""

    def find(self, words: str, *, conversation_id: str | None, question: str | None) -> Whereabouts:
        """Look for words everywhere; without words in ``words`` they were never said."""
        conversation_id = conversation_id or self._newest_conversation()
        asked = question if question is not None else self._last_question(conversation_id)
        if not says_something(words):
            never = Answer(Where.NEVER, "there are no words to look for")
            return Whereabouts(words, conversation_id, asked, (never,))
        quotes = self.recall.quote(words, limit=_LOOKED_AT, within=Within(unrecalled=True))
        said = {quote.turn_id: quote for quote in quotes if quote.status != "near"}
        prompt = self.prompt(asked, conversation_id)
        found = [*self._fixed(words, prompt, self.instructions(conversation_id))]
        for turn in self.store.get(list(said)):
            found += self._of_turn(words, turn, said[turn.turn_id], prompt, asked, conversation_id)
        found += self._summaries(words, prompt, conversation_id)
        found += self._files_then(words, prompt)
        found += self._corrected(words, set(said))
        if not found:
            found = [self._never(words, quotes)]
        order = list(Where)
        found.sort(key=lambda one: (not one.in_prompt, order.index(one.where)))
        return Whereabouts(words, conversation_id, asked, tuple(found))

    # -- what always goes along

    def _fixed(self, words: str, prompt: PromptContext, instructions: str) -> Iterator[Answer]:
        if has(words, instructions):
            yield Answer(Where.FIXED, "in the system prompt, the caller's own instructions", in_prompt=True)
        for pin in self.pins.all():
            if has(words, pin.text):
                yield Answer(Where.FIXED, f"in every prompt, as the preference {pin.pin_id}", in_prompt=True)
        for name, value in self.state.get().items():
            if has(words, f"{name} {value}"):
                yield Answer(Where.FIXED, f"in every prompt, in the state under {name!r}", in_prompt=True)
        for one in self.decisions.all():
            if has(words, f"{one.text} {one.because}") or has(words, one.because):
                told = f"in the decision {one.decision_id}"
                in_it = has(words, prompt.system)
                fits = "in the prompt" if in_it else "which is older than those that fit in the prompt"
                yield Answer(Where.FIXED, f"{told}, {fits}", in_prompt=in_it)
        for file in prompt.account.files:
            for number, line in enumerate(file.text.splitlines(), start=1):
                if has(words, line):
                    told = f"in every prompt, in the pinned file {file.path}, line {number}"
                    yield Answer(Where.FIXED, told, in_prompt=True, line=line)
                    break

    def _files_then(self, words: str, prompt: PromptContext) -> Iterator[Answer]:
        now = {file.path: file for file in prompt.account.files}
        told: set[str] = set()
        for then in self.words_of_files.with_words(words):
            file = now.get(then.path)
            if file is None or then.path in told or has(words, file.text):
                continue
            told.add(then.path)
            is_gone = file.status in ("missing", "unreadable")
            what = f"is {file.status} ({file.why})" if is_gone else "has changed and has them no more"
            yield Answer(
                Where.FILE_GONE,
                f"in the pinned file {then.path} as it was read until {self._time(then.seen_at)}; the file {what}",
                at=then.seen_at,
            )

    # -- turns

    def _of_turn(
        self, words: str, turn: Turn, quote: Quote, prompt: PromptContext, question: str, conversation_id: str
    ) -> Iterator[Answer]:
        name = f"turn {turn.turn_id}"
        if turn.text == prompt.question:
            yield Answer(Where.WINDOW, f"in the question itself, {name}", turn_id=turn.turn_id, in_prompt=True)
            return
        cleared = {one.turn_id for one in prompt.window.cleared if one.turn_id}
        if turn.turn_id in prompt.window.turn_ids and turn.turn_id not in cleared:
            told = f"in the window: {name} is among the newest turns, word for word"
            yield Answer(Where.WINDOW, told, turn_id=turn.turn_id, in_prompt=True)
            return
        included = next((one for one in prompt.included if one.turn_id == turn.turn_id), None)
        if included is not None and included.part == "retrieved turns" and has(words, prompt.quoted):
            told = f"quoted in the prompt: {name} was retrieved ({included.why})"
            yield Answer(Where.RETRIEVED, told, turn_id=turn.turn_id, in_prompt=True)
            return
        at = self._cleared_at(turn)
        if turn.turn_id in cleared or at is not None:
            when = f" at {self._time(at)}" if at is not None else ""
            told = f"cleared as a tool result{when}: get_turn {turn.turn_id} gives it back"
            yield Answer(Where.CLEARED, told, turn_id=turn.turn_id, at=at)
        if turn.conversation_id == conversation_id:
            yield from self._dropped(words, turn)
        yield self._stored(turn, question, quote)

    def _cleared_at(self, turn: Turn) -> datetime | None:
        events = self.events.events(kind=EventKind.CLEARED_TOOL_USES, conversation_id=turn.conversation_id)
        times = [one.happened_at for one in events if turn.turn_id in one.details.get("turns", ())]
        return times[-1] if times else None

    def _dropped(self, words: str, turn: Turn) -> Iterator[Answer]:
        for summary in self.summaries(turn.conversation_id, Level.HUNDRED):
            if has(words, summary.text) or all(one.turn_id != turn.turn_id for one in self.turns_of(summary.number)):
                continue
            told = (
                f"dropped by the summary of {self._time(summary.made_at)} (by {summary.made_by}), which stands for "
                f"turns {summary.first_turn_id} to {summary.last_turn_id} and doesn't have them"
            )
            yield Answer(Where.DROPPED, told, turn.turn_id, summary=summary.number, at=summary.made_at)
            return
        for event in self.events.events(kind=EventKind.COMPACTION, conversation_id=turn.conversation_id):
            if turn.said_at is not None and event.happened_at >= turn.said_at:
                by = event.details.get("made_by") or event.model or "the provider"
                told = f"before the compaction of {self._time(event.happened_at)} by {by}, which took its place"
                yield Answer(Where.DROPPED, told, turn.turn_id, at=event.happened_at)
                return

    def _stored(self, turn: Turn, question: str, quote: Quote) -> Answer:
        who = f"{turn.turn_id}, said by {turn.speaker or turn.role.value} on {self._time(turn.said_at)}"
        told = f"stored word for word in {who}"
        if quote.status == "folded":
            told = f"stored in {who} (the same words but for case, marks or white space)"
        if not turn.recalled:
            return Answer(Where.STORED, f"{told}; left out of search: found with --all", turn_id=turn.turn_id)
        if not says_something(question):
            return Answer(Where.STORED, f"{told}; nothing was asked yet", turn_id=turn.turn_id)
        ranking = self.recall.search(question, k=_RANKED, floor=False)
        rank = next((hit.rank for hit in ranking if hit.turn.turn_id == turn.turn_id), None)
        place = f"rank {rank}" if rank is not None else f"not among the first {_RANKED}"
        shown = question if len(question) <= 60 else question[:59] + "…"
        return Answer(Where.STORED, f"{told}; {place} for the question {shown!r}", turn_id=turn.turn_id, rank=rank)

    # -- summaries

    def _summaries(self, words: str, prompt: PromptContext, conversation_id: str) -> Iterator[Answer]:
        for level in Level:
            for summary in self.summaries(conversation_id, level):
                for line in summary.lines:
                    if not has(words, line.shown):
                        continue
                    in_it = has(words, prompt.system)
                    fits = "in the prompt" if in_it else "not in this prompt"
                    told = (
                        f"in the summary ({level.value}), {fits}, in its {line.kind.value} of turns "
                        f"{', '.join(line.turn_ids)}: {' '.join(line.shown.split())}"
                    )
                    yield Answer(Where.SUMMARY, told, line.turn_ids[0], in_it, summary=summary.number, line=line.shown)

    # -- gone

    def _corrected(self, words: str, said: set[str]) -> Iterator[Answer]:
        for turn_id in self.store.corrected_turns():
            if turn_id in said:
                continue
            if any(has(words, earlier.text) for earlier in self.store.earlier_versions(turn_id)):
                told = f"in an earlier version of {turn_id}, which was corrected since; see: memory-rag show {turn_id}"
                yield Answer(Where.CORRECTED, told, turn_id=turn_id)

    def _never(self, words: str, quotes: Sequence[Quote]) -> Answer:
        near = next((quote for quote in quotes if quote.status == "near"), None)
        if near is None:
            return Answer(Where.NEVER, "never said: no stored turn, summary or pinned file has these words")
        shown = " ".join(near.text.split())
        shown = shown if len(shown) <= 100 else shown[:99] + "…"
        return Answer(Where.NEVER, f"never said; the nearest is {shown!r} in turn {near.turn_id}", near.turn_id)

    def _newest_conversation(self) -> str:
        last = self.store.newest_turn()
        return "main" if last is None else last.conversation_id

    def _last_question(self, conversation_id: str) -> str:
        newest = self.store.newest(conversation_id, n=100)
        return next((turn.text for turn in reversed(newest) if turn.role.value == "user"), "")

    def _time(self, at: datetime | None) -> str:
        return "an unknown day" if at is None else at.astimezone(self.zone).strftime("%Y-%m-%d %H:%M %Z")


def has(words: str, text: str) -> bool:
    """Tell whether a text has these words as they are read: but for case, marks and white space."""
    needle = fold(words).text.strip()
    return bool(needle) and next(folded_spans(needle, text), None) is not None
