"""Old tool results and old thinking give way to a line that says where they are; the calls stay to be seen.

The options are those of Anthropic's context editing, so that the same wish can be had from the provider or, with
a model that can't, from here. Here nothing is lost by it: a placeholder names the stored turn. A
model that ties its thinking to what stands before it (Claude Opus 5.5, Claude Fable 5.1) takes no thinking that stands
behind an edit made here: let its provider clear, or clear the thinking too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from memory_rag.errors import SettingsError
from memory_rag.prompt.checked import are_names, is_whole
from memory_rag.prompt.cleared_parts import (
    can_be_cleared,
    has_thinking,
    is_placeholder,
    placeholder,
    result_of,
    result_tokens,
    without_inputs,
    without_result,
    without_thinking,
)
from memory_rag.prompt.message_parts import Json, Message, opens_a_turn
from memory_rag.prompt.tokens import TokenCounter, message_tokens, messages_tokens
from memory_rag.prompt.tool_pairs import Pair, pairs

DEFAULT_TRIGGER: Final = 100_000
"""Input tokens from which on the provider clears, when nothing else is said."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """When clearing begins: once the prompt has more than ``value`` input tokens, or uses of tools."""

    kind: Literal["input_tokens", "tool_uses"]
    value: int

    def __post_init__(self) -> None:
        if self.kind not in ("input_tokens", "tool_uses") or not is_whole(self.value, least=1):
            raise SettingsError(
                f"a trigger is input_tokens or tool_uses, with a value of at least 1; got {self.kind!r}, {self.value!r}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearToolUses:
    """Which old tool results give way; the defaults are the provider's.

    ``keep``: so many of the newest pairs stay. ``clear_at_least``: if fewer tokens than this would come free, nothing
    is cleared, since any clearing makes the cached prompt useless. ``exclude_tools`` are never cleared.
    ``clear_tool_inputs``: the calls' arguments go too, of all tools or of those named.
    """

    trigger: Trigger = field(default_factory=lambda: Trigger("input_tokens", DEFAULT_TRIGGER))
    keep: int = 3
    clear_at_least: int | None = None
    exclude_tools: tuple[str, ...] = ()
    clear_tool_inputs: bool | tuple[str, ...] = False

    def __post_init__(self) -> None:
        if not is_whole(self.keep, least=0):
            raise SettingsError(f"keep is a number of tool results, 0 or more; got {self.keep!r}")
        if self.clear_at_least is not None and not is_whole(self.clear_at_least, least=1):
            raise SettingsError(
                f"clear_at_least is a number of tokens, 1 or more, or None; got {self.clear_at_least!r}"
            )
        if not are_names(self.exclude_tools):
            raise SettingsError(f"exclude_tools is a list of tools' names; got {self.exclude_tools!r}")
        if not (isinstance(self.clear_tool_inputs, bool) or are_names(self.clear_tool_inputs)):
            raise SettingsError(
                f"clear_tool_inputs is True, False or a list of tools' names; got {self.clear_tool_inputs!r}"
            )

    def clears_inputs_of(self, tool: str) -> bool:
        wish = self.clear_tool_inputs
        return wish if isinstance(wish, bool) else tool in wish


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearThinking:
    """Which old thinking gives way: all but that of the model's newest ``keep`` turns; ``all`` keeps everything."""

    keep: int | Literal["all"] = 1

    def __post_init__(self) -> None:
        if self.keep != "all" and not is_whole(self.keep, least=1):
            raise SettingsError(f"keep is a number of turns, 1 or more, or 'all'; got {self.keep!r}")


@dataclass(frozen=True, slots=True)
class Cleared:
    """One thing that gave way: a ``tool_result`` or ``thinking``, the turn that holds it, and the tokens it had."""

    kind: str
    turn_id: str
    tool: str
    n_tokens: int


@dataclass(frozen=True, slots=True)
class Edited:
    """Messages after an edit. ``not_stored`` counts what stayed because no turn holds it: it would have been lost."""

    messages: list[Json]
    cleared: tuple[Cleared, ...]
    tokens_before: int
    tokens_after: int
    not_stored: int = 0
    why_not: str = ""


def clear_tool_uses(
    messages: Sequence[Message],
    options: ClearToolUses,
    *,
    turn_ids: Sequence[str | None],
    counter: TokenCounter,
    answer_turns: Mapping[str, str] | None = None,
) -> Edited:
    """Return the messages with the oldest tool results replaced by placeholders; the messages given stay as they are.

    ``turn_ids`` name the stored turn of each message, None where there is none; ``answer_turns`` that of an answer by
    the key of its call, for messages that hold the answers of several turns. A result that is no longer than its
    placeholder would be stays, and so do those of the provider's own tools (web search, code execution, screenshots),
    which are no uses here: the provider prescribes their form and refuses a line in their place.

    Raises:
        SettingsError: there isn't one turn id, or None, for each message.
    """
    check_lengths(messages, turn_ids)
    before = messages_tokens(messages, counter=counter)
    unchanged = Edited([dict(message) for message in messages], (), before, before)
    found = [pair for pair in pairs(messages) if can_be_cleared(messages[pair.answered], pair.key)]
    size = before if options.trigger.kind == "input_tokens" else len(found)
    if size <= options.trigger.value:
        return unchanged
    old = found[: max(0, len(found) - options.keep)]
    due = [pair for pair in old if pair.name not in options.exclude_tools and _is_there(messages, pair)]
    holders = {pair: (answer_turns or {}).get(pair.key) or turn_ids[pair.answered] for pair in due}
    clearable = {pair: holder for pair, holder in holders.items() if holder is not None}
    edited = _cleared_messages(messages, clearable, options, counter=counter)
    after = messages_tokens(edited[0], counter=counter)
    not_stored = len(due) - len(clearable)
    if options.clear_at_least is not None and before - after < options.clear_at_least:
        why = f"clearing would free {max(0, before - after)} tokens, less than clear_at_least={options.clear_at_least}"
        return Edited(unchanged.messages, (), before, before, not_stored, why)
    return Edited(edited[0], edited[1], before, after, not_stored)


def clear_thinking(
    messages: Sequence[Message], options: ClearThinking, *, turn_ids: Sequence[str | None], counter: TokenCounter
) -> Edited:
    """Return the messages with the thinking of older turns replaced by a placeholder.

    A turn is everything the model does until a person speaks again, so that thinking between the calls of one turn
    stays or goes together. Items of the Responses API are left alone: that API drops old reasoning itself.

    Raises:
        SettingsError: there isn't one turn id, or None, for each message.
    """
    check_lengths(messages, turn_ids)
    before = messages_tokens(messages, counter=counter)
    thoughtful = [group for group in _turns(messages) if any(has_thinking(messages[index]) for index in group)]
    old = [] if options.keep == "all" else thoughtful[: max(0, len(thoughtful) - options.keep)]
    result = [dict(message) for message in messages]
    cleared: list[Cleared] = []
    not_stored = 0
    for index in (index for group in old for index in group if has_thinking(messages[index])):
        turn_id = turn_ids[index]
        if turn_id is None:
            not_stored += 1
            continue
        lean = without_thinking(messages[index], placeholder=None)
        n_tokens = message_tokens(messages[index], counter=counter) - message_tokens(lean, counter=counter)
        result[index] = without_thinking(messages[index], placeholder=placeholder("thinking", "", n_tokens, turn_id))
        cleared.append(Cleared("thinking", turn_id, "", n_tokens))
    return Edited(result, tuple(cleared), before, messages_tokens(result, counter=counter), not_stored)


def _cleared_messages(
    messages: Sequence[Message],
    clearable: Mapping[Pair, str],
    options: ClearToolUses,
    *,
    counter: TokenCounter,
) -> tuple[list[Json], tuple[Cleared, ...]]:
    result = [dict(message) for message in messages]
    cleared: list[Cleared] = []
    for pair, turn_id in clearable.items():
        n_tokens = result_tokens(messages[pair.answered], pair.key, counter=counter)
        line = placeholder("tool result", pair.name, n_tokens, turn_id)
        if counter.count(line) >= n_tokens:
            continue
        result[pair.answered] = without_result(result[pair.answered], pair.key, placeholder=line)
        if options.clears_inputs_of(pair.name):
            result[pair.called] = without_inputs(result[pair.called], pair.key)
        cleared.append(Cleared("tool_result", turn_id, pair.name, n_tokens))
    return result, tuple(cleared)


def _is_there(messages: Sequence[Message], pair: Pair) -> bool:
    return not is_placeholder(result_of(messages[pair.answered], pair.key))


def _turns(messages: Sequence[Message]) -> Iterator[list[int]]:
    """Yield the indexes of the messages of each turn, from one word of a person to the next."""
    group: list[int] = []
    for index, message in enumerate(messages):
        if opens_a_turn(message) and group:
            yield group
            group = []
        group.append(index)
    if group:
        yield group


def check_lengths(messages: Sequence[Message], turn_ids: Sequence[Any]) -> None:
    """Refuse anything but one turn id, or None, for each message.

    Raises:
        SettingsError: there are more of the ones or of the others.
    """
    if len(messages) != len(turn_ids):
        raise SettingsError(
            f"there are {len(messages)} messages and {len(turn_ids)} turn ids; give one for each message, None for one "
            "that is not stored"
        )
