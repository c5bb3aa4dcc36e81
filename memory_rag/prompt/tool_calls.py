"""Running the calls that a model makes of a memory's tools, whichever provider's shape they come in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import Any, Final, Literal, Protocol

from memory_rag.errors import MemoryRagError, StoreError, UnknownTurnError
from memory_rag.prompt import memory_tools
from memory_rag.prompt.events import EventKind, EventLog
from memory_rag.prompt.fencing import Excerpt, fenced
from memory_rag.prompt.memory_tools import GET_TURN, QUOTE, SEARCH, TOOLS
from memory_rag.prompt.message_parts import THINKING, Json, Message, blocks, thought_text
from memory_rag.prompt.retrieved import retrieved_turns
from memory_rag.prompt.returned_blocks import ReturnedBlocks
from memory_rag.prompt.tokens import TokenCounter
from memory_rag.prompt.turn_parts import spoken
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.quotes import Quote
from memory_rag.retrieval.ranking import Ranking
from memory_rag.store.turn_reader import TurnReader
from memory_rag.turns import Span, Turn, printable

Provider = Literal["openai", "responses", "anthropic"]
_HITS: Final = 6
_PLACES: Final = 5
_LEAST_TOKENS: Final = 200
_LONGEST_TOKEN: Final = 16
"""Code points of a token at most: more of a turn needn't be looked at."""
_DIFFERENCES: Final = 8
_SHOWN: Final = 60
_THOUGHTS: Final = frozenset({*THINKING, "reasoning"})


class SearchForTool(Protocol):
    """Ranks turns for a question."""

    def __call__(self, query: str, *, k: int | None = None, within: Within | None = None) -> Ranking: ...


class QuoteForTool(Protocol):
    """Finds where words were said."""

    def __call__(self, text: str, *, limit: int = 10) -> tuple[Quote, ...]: ...


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call came to: the words for the model, and whether they tell of an error that it can act on."""

    key: str
    name: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ToolRun:
    """The outcomes of the calls of one message, in their order, and the calls that are left to the caller.

    Every call has to be answered before the model is asked again, so the caller's answers go beside these.
    """

    provider: Provider
    outcomes: tuple[ToolOutcome, ...] = ()
    left: tuple[str, ...] = ()
    """The keys of calls of the caller's own tools."""

    @property
    def messages(self) -> list[Json]:
        """What to send back: a message a call for OpenAI's chat, one message for Anthropic, items for Responses."""
        if self.provider == "openai":
            return [{"role": "tool", "tool_call_id": one.key, "content": one.text} for one in self.outcomes]
        if self.provider == "responses":
            return [{"type": "function_call_output", "call_id": one.key, "output": one.text} for one in self.outcomes]
        results = self.results
        return [{"role": "user", "content": results}] if results else []

    @property
    def results(self) -> list[Json]:
        """Anthropic's blocks, for a message that holds results of the caller's own tools too: it has to be one."""
        return [
            {
                "type": "tool_result",
                "tool_use_id": one.key,
                "content": one.text,
                **({"is_error": True} if one.is_error else {}),
            }
            for one in self.outcomes
        ]


@dataclass(frozen=True, slots=True)
class _Called:
    key: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class MemoryTools:
    """The tools of one memory; made by the memory, as ``memory.prompt.tools``."""

    store: TurnReader
    search: SearchForTool
    quote: QuoteForTool
    counter: Callable[[], TokenCounter]
    zone: tzinfo
    events: EventLog
    kept: ReturnedBlocks
    for_openai: Callable[[], list[Json]] = field(default=memory_tools.for_openai)
    for_responses: Callable[[], list[Json]] = field(default=memory_tools.for_responses)
    for_anthropic: Callable[[], list[Json]] = field(default=memory_tools.for_anthropic)

    def run(self, answer: Message | Sequence[Message], *, others: Sequence[str] = (), n_tokens: int = 2_000) -> ToolRun:
        """Run the calls in a model's answer, and return what to tell it.

        ``answer`` is an assistant's message of OpenAI's chat or of Anthropic, as JSON, or the list of output items of
        the Responses API. Calls of the tools named in ``others`` are left to the caller; one of a tool that isn't
        there is an error that names those that are. ``n_tokens`` is what one call may bring at most (200 at least).
        Nothing that a call says raises.
        """
        provider, called = _calls_in(answer)
        limit = max(_LEAST_TOKENS, n_tokens)
        own = [one for one in called if one.name in TOOLS or one.name not in others]
        return ToolRun(
            provider,
            tuple(self._outcome(one, limit, others) for one in own),
            tuple(one.key for one in called if one not in own),
        )

    def call(self, name: str, arguments: Any, *, n_tokens: int = 2_000) -> ToolOutcome:
        """Run one call, as a framework of the caller's own hands it over."""
        return self._outcome(_Called("", name, arguments), max(_LEAST_TOKENS, n_tokens), ())

    def _outcome(self, called: _Called, n_tokens: int, others: Sequence[str]) -> ToolOutcome:
        run = {SEARCH.name: self._search, GET_TURN.name: self._get_turn, QUOTE.name: self._quote}.get(called.name)
        try:
            if run is None:
                names = ", ".join([*TOOLS, *others])
                return ToolOutcome(
                    called.key, called.name, f"there is no tool {called.name[:80]!r}; tools are: {names}", is_error=True
                )
            return ToolOutcome(
                called.key, called.name, run(TOOLS[called.name].checked(called.arguments), n_tokens=n_tokens)
            )
        except MemoryRagError as error:
            return ToolOutcome(called.key, called.name, printable(_for_a_model(error)), is_error=True)

    def _search(self, given: Mapping[str, Any], *, n_tokens: int) -> str:
        names = ("conversation", "speaker", "role", "since", "until")
        within = Within(**{name: given[name] for name in names if name in given})
        ranking = self.search(given["query"], k=given.get("k", _HITS), within=within)
        notes = [f"note: {_without_commands(note)}" for note in ranking.notes]
        found = retrieved_turns(
            ranking, around=self.store.surroundings, n_tokens=n_tokens, counter=self.counter(), zone=self.zone
        )
        self._log(ranking, [one.turn.turn_id for one in found.excerpts])
        if not found.excerpts:
            return "\n".join(["nothing in the memory answers this: say so rather than guess", *notes])
        hits = [one.turn.turn_id for one in found.excerpts if found.why[one.turn.turn_id].startswith("hit ")]
        hits.sort(key=lambda turn_id: int(found.why[turn_id].removeprefix("hit ")))
        first = f"best first: {', '.join(hits)}; the turns around them are given too"
        if ranking.evidence == "weak":
            first += "; the evidence is weak: what is quoted may not answer the question"
        if any(not one.is_whole for one in found.excerpts):
            notes.append("note: of long turns a part is given; get_turn gives the whole")
        return "\n".join([first, *notes, found.text])

    def _get_turn(self, given: Mapping[str, Any], *, n_tokens: int) -> str:
        turn = self._told_whole(given["turn_id"].strip().strip("[]"))
        start, length = given.get("start", 0), len(turn.text)
        if start and start >= length:
            return f"turn {turn.turn_id} has {length:,} characters: there is nothing from {start:,} on"
        end = min(length, start + _LONGEST_TOKEN * n_tokens)
        while True:
            text = fenced([Excerpt(turn, Span(start, end))], zone=self.zone)
            cost = self.counter().count(text)
            if cost <= n_tokens or end - start <= 1:
                break
            end = start + max(1, min((end - start) * n_tokens // cost, (end - start) * 9 // 10))
        rest = f"the rest of turn {turn.turn_id}: get_turn with start {end}"
        return text if end == length else f"{text}\n{rest}"

    def _told_whole(self, turn_id: str) -> Turn:
        """Return a turn whose text tells what was thought, called and answered in it too, which may be in blocks."""
        turn = self.store.get([turn_id])[0]
        parts = spoken(turn)
        kept = self.kept.of([turn_id])
        thoughts = [block.data for block in turn.blocks if block.kind == "thinking"]
        thoughts += [block for one in kept.values() for block in one.content if block.get("type") in _THOUGHTS]
        thought = [thought_text(one) for one in thoughts]
        told = [
            f"(thought: {one or 'encrypted by its provider'})" for one in thought if not one or one not in turn.text
        ]
        told += [turn.text] if turn.text else []
        told += [f"(calls {call.name or 'a tool'} with {call.arguments or '{}'})" for call in parts.calls]
        told += [answer.text for answer in parts.answers if answer.text and answer.text not in turn.text]
        return replace(turn, text="\n".join(dict.fromkeys(told)), indexed=None)

    def _quote(self, given: Mapping[str, Any], *, n_tokens: int) -> str:
        found = self.quote(given["text"], limit=given.get("limit", _PLACES))
        if not found:
            return "these words were not said, exactly or nearly: don't put them in quotation marks"
        turns = {turn.turn_id: turn for turn in self.store.get(list(dict.fromkeys(one.turn_id for one in found)))}
        excerpts = [Excerpt(turns[one.turn_id], Span(one.start, one.end)) for one in found]
        told = [_told(one) for one in found]
        while len(excerpts) > 1 and self.counter().count(fenced(excerpts, zone=self.zone)) > n_tokens:
            excerpts.pop()
            told.pop()
        if len(told) < len(found):
            told.append(f"and {len(found) - len(told)} more")
        return "\n".join([*told, fenced(excerpts, zone=self.zone)])

    def _log(self, ranking: Ranking, quoted: Sequence[str]) -> None:
        details = {
            "hits": list(ranking.turn_ids),
            "quoted": list(quoted),
            "evidence": ranking.evidence,
            "asked_by": "model",
        }
        try:
            self.events.log(EventKind.RETRIEVAL, details=details)
        except StoreError:
            # A log that can't be written costs no answer.
            return


def _calls_in(answer: Message | Sequence[Message]) -> tuple[Provider, list[_Called]]:
    if isinstance(answer, Mapping):
        uses = [block for block in blocks(answer) if isinstance(block, Mapping) and block.get("type") == "tool_use"]
        if uses or "tool_calls" not in answer:
            # Without calls the shape makes no difference.
            return "anthropic", [_Called(str(use.get("id")), str(use.get("name")), use.get("input")) for use in uses]
        return "openai", list(_chat_calls(answer.get("tool_calls")))
    items = [item for item in answer if isinstance(item, Mapping) and item.get("type") == "function_call"]
    return "responses", [_Called(str(i.get("call_id")), str(i.get("name")), i.get("arguments")) for i in items]


def _chat_calls(calls: Any) -> Iterator[_Called]:
    for call in calls if isinstance(calls, list | tuple) else ():
        if not isinstance(call, Mapping):
            continue
        named = call.get("function") or call.get("custom")
        function = named if isinstance(named, Mapping) else {}
        yield _Called(str(call.get("id")), str(function.get("name")), function.get("arguments", function.get("input")))


def _for_a_model(error: MemoryRagError) -> str:
    """Return an error's words; commands of the terminal are of no use to a model."""
    if isinstance(error, UnknownTurnError):
        told = str(error).partition(" in ")[0]
        return f"{told}; ids, such as t17, stand before quoted turns: find them with {SEARCH.name}"
    return _without_commands(str(error))


def _without_commands(told: str) -> str:
    """Return words without the clauses that name a command: a model has no terminal."""
    kept = "; ".join(clause for clause in told.split("; ") if "memory-rag " not in clause)
    return kept or told


def _told(quote: Quote) -> str:
    told = f"{quote.status} in {quote.turn_id}, characters {quote.start} to {quote.end}"
    if quote.status == "near":
        told += f", {quote.similarity:.0f} % alike"
    for one in quote.differences[:_DIFFERENCES]:
        told += f"; asked for {one.expected[:_SHOWN]!r}, it says {one.found[:_SHOWN]!r}"
    return printable(told)
