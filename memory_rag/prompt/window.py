"""The newest turns of a conversation as they go into a prompt: pairs whole, and no gap between them and the summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from memory_rag.prompt.editing import Cleared, ClearToolUses, Edited, Trigger, clear_tool_uses
from memory_rag.prompt.message_parts import Json
from memory_rag.prompt.replay import from_newest_compaction
from memory_rag.prompt.tokens import TokenCounter, message_tokens
from memory_rag.prompt.tool_pairs import cut_points, tail_start
from memory_rag.prompt.turn_messages import (
    Contents,
    TurnMessages,
    anthropic_messages,
    openai_messages,
    responses_items,
)
from memory_rag.prompt.turn_parts import is_heard, pair_shape
from memory_rag.store.turn_reader import TurnReader
from memory_rag.turns import Turn

_LOOKED_AT: Final = ((2, 1), (20, 200))
"""Turns looked at for each that is kept, and beside them: at first, and if many are hidden or belong to one round."""
_ALL: Final = 2**31 - 1
_CLEARED_TO: Final = (3, 1, 0)
"""Tool results that stay when a window is too large, tried in this order."""
_AT_ONCE: Final = Trigger("input_tokens", 1)
_NOTHING: Final[Contents] = {}


@dataclass(frozen=True, slots=True)
class Window:
    """The newest turns. ``clearing`` says which tool results in them give way to placeholders, None if none does.

    ``n_tokens`` is what they cost as chat messages; ``costs`` the same by turn, without turns that no provider can be
    told. ``cleared`` are the results that gave way, ``notes`` say what was left out.
    """

    turns: tuple[Turn, ...]
    counter: TokenCounter
    n_tokens: int = 0
    costs: Mapping[str, int] = field(default_factory=dict)
    clearing: ClearToolUses | None = None
    cleared: tuple[Cleared, ...] = ()
    notes: tuple[str, ...] = ()
    is_led_by_model: bool = False

    @property
    def turn_ids(self) -> tuple[str, ...]:
        return tuple(turn.turn_id for turn in self.turns)

    def openai(self) -> list[Json]:
        """Return the turns as chat messages of OpenAI's shape."""
        return self._edited(openai_messages(self.turns))

    def anthropic(self, contents: Contents = _NOTHING) -> list[Json]:
        """Return the turns in Anthropic's shape, from the newest compaction in ``contents`` on."""
        return from_newest_compaction(self._edited(anthropic_messages(self.turns, contents=contents)))

    def responses(self, contents: Contents = _NOTHING) -> list[Json]:
        """Return the turns as items of OpenAI's Responses API, from the newest compaction in ``contents`` on."""
        return from_newest_compaction(self._edited(responses_items(self.turns, contents=contents)))

    def _edited(self, told: TurnMessages) -> list[Json]:
        return told.messages if self.clearing is None else _cleared(told, self.clearing, self.counter).messages


def newest_turns(
    store: TurnReader,
    conversation_id: str,
    *,
    keep_recent: int,
    n_tokens: int,
    covered_to: int | None,
    counter: TokenCounter,
    asked: str | None = None,
) -> Window:
    """Return the newest turns of a conversation that fit in so many tokens, pairs of tool call and answer whole.

    ``covered_to`` is the ordinal of the last turn that the prompt's summary stands for. What was said after it is kept
    verbatim whatever it costs: a turn that is neither told nor summarised would be forgotten seconds after it was
    said. None is a prompt without a summary: then what doesn't fit is left out, and said. Old tool results give way
    before whole turns do. ``asked`` is the question's own turn, which stands in the prompt for itself.
    """

    def heard(n: int, *, after: int = -1) -> list[Turn]:
        newest = store.newest(conversation_id, n=n, after=after)
        return [turn for turn in newest if is_heard(turn) and turn.turn_id != asked]

    turns: list[Turn] = []
    for many, beside in _LOOKED_AT if keep_recent else ():
        recent = heard(keep_recent * many + beside)
        start = tail_start(list(map(pair_shape, recent)), at_most=keep_recent)
        turns = recent[start:]
        if start and len(turns) >= keep_recent:
            break
    if covered_to is not None:
        needed = heard(_ALL, after=covered_to)
        turns = needed if len(needed) > len(turns) else turns
    must_stay = {turn.turn_id for turn in turns if covered_to is not None and turn.ordinal > covered_to}
    return _fitted(turns, must_stay=must_stay, n_tokens=n_tokens, counter=counter)


def _fitted(turns: Sequence[Turn], *, must_stay: set[str], n_tokens: int, counter: TokenCounter) -> Window:
    window = _window(turns, None, counter)
    clearing: ClearToolUses | None = None
    has_answers = any(block.kind == "tool_result" for turn in turns for block in turn.blocks)
    for keep in _CLEARED_TO if has_answers else ():
        if window.n_tokens <= n_tokens:
            return window
        clearing = ClearToolUses(trigger=_AT_ONCE, keep=keep)
        window = _window(turns, clearing, counter)
    if window.n_tokens <= n_tokens:
        return window
    first_to_stay = next((at for at, turn in enumerate(turns) if turn.turn_id in must_stay), len(turns))
    points = [at for at in (*cut_points(list(map(pair_shape, turns))), len(turns)) if at <= first_to_stay]
    # Without it, a thousand turns would be told and counted a thousand times.
    likely = _likely_start(turns, window.costs, n_tokens=n_tokens)
    for start in points[max(0, sum(at < likely for at in points) - 2) :]:
        kept = turns[start:]
        smaller = _window(kept, clearing, counter, left_out=start)
        if smaller.n_tokens <= n_tokens:
            return smaller
        window = smaller
    if not window.turns:
        return window
    n_turns, over = len(window.turns), n_of(window.n_tokens - n_tokens, "token")
    told = f"{n_of(n_turns, 'turn')} {'is' if n_turns == 1 else 'are'} in no summary yet and"
    note = f"{told} {'stays' if n_turns == 1 else 'stay'} verbatim, {over} over the budget"
    return replace(window, notes=(*window.notes, note))


def _window(
    turns: Sequence[Turn], clearing: ClearToolUses | None, counter: TokenCounter, *, left_out: int = 0
) -> Window:
    told = openai_messages(turns)
    edited = None if clearing is None else _cleared(told, clearing, counter)
    cleared = edited.cleared if edited is not None else ()
    messages = edited.messages if edited is not None else told.messages
    clearing = clearing if cleared else None
    costs: dict[str, int] = {}
    for turn_id, message in zip(told.turn_ids, messages, strict=True):
        costs[turn_id] = costs.get(turn_id, 0) + message_tokens(message, counter=counter)
    notes = [f"{n} {what} left out of the newest turns" for what, n in sorted(told.left_out.items())]
    if left_out:
        notes.append(f"{left_out} of the newest turns don't fit in the budget and are left out")
    if clearing is not None:
        notes.append("old tool results among the newest turns are cleared; get_turn gives them back")
    led_by_model = bool(messages) and messages[0]["role"] == "assistant"
    n_tokens = sum(costs.values())
    return Window(tuple(turns), counter, n_tokens, costs, clearing, cleared, tuple(notes), led_by_model)


def _cleared(told: TurnMessages, clearing: ClearToolUses, counter: TokenCounter) -> Edited:
    return clear_tool_uses(
        told.messages, clearing, turn_ids=told.turn_ids, counter=counter, answer_turns=told.answer_turns
    )


def n_of(n: int, what: str) -> str:
    """Return a number with its noun: 1 token, 2 tokens."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _likely_start(turns: Sequence[Turn], costs: Mapping[str, int], *, n_tokens: int) -> int:
    """Return about where the longest tail that fits starts, from what each turn costs in the whole; not after that."""
    start = len(turns)
    while start and (n_tokens := n_tokens - costs.get(turns[start - 1].turn_id, 0)) >= 0:
        start -= 1
    return start
