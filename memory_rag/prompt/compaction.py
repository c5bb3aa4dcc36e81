"""Making a conversation fit: old tool results and thinking first, and a summary only if it is still too large."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memory_rag.errors import SettingsError
from memory_rag.prompt.checked import is_whole
from memory_rag.prompt.editing import (
    Cleared,
    ClearThinking,
    ClearToolUses,
    Trigger,
    check_lengths,
    clear_thinking,
    clear_tool_uses,
)
from memory_rag.prompt.message_parts import Json, Message, is_system
from memory_rag.prompt.tokens import TokenCounter, messages_tokens
from memory_rag.prompt.tool_pairs import tail_start

SUMMARY_HEADING: Final = "Summary of the conversation so far, made from its stored turns:"


@dataclass(frozen=True, slots=True)
class Fitted:
    """A conversation that was made smaller. ``summarized`` counts the messages that a summary stands for.

    ``fits`` is False if even the instructions, the summary and the newest messages are over the limit together.
    """

    messages: list[Json]
    cleared: tuple[Cleared, ...]
    summarized: int
    tokens_before: int
    tokens_cleared_to: int
    tokens_after: int
    fits: bool


def fit(
    messages: Sequence[Message],
    *,
    n_tokens: int,
    turn_ids: Sequence[str | None],
    counter: TokenCounter,
    summarize: Callable[[Sequence[Message]], str],
    keep_recent: int = 8,
    tool_uses: ClearToolUses | None = None,
    thinking: ClearThinking | None = None,
) -> Fitted:
    """Return the conversation in at most so many tokens, changed as little as that takes.

    The application's own messages at its head stay first and whole, the newest ``keep_recent`` messages stay verbatim
    (a few more or less where a tool's call and answer would be parted), and ``summarize`` is asked for the text that
    stands for those between, with their tool results as they were before clearing. ``tool_uses`` and ``thinking`` say
    what may be cleared; their trigger is the limit here. A summary without words, or one that makes the conversation no
    smaller, stands for nothing: the messages stay.

    Raises:
        SettingsError: a limit or ``keep_recent`` below 1, or not one turn id for each message.
    """
    for name, given in {"n_tokens": n_tokens, "keep_recent": keep_recent}.items():
        if not is_whole(given, least=1):
            raise SettingsError(f"{name} must be at least 1, a whole number; got {given!r}")
    check_lengths(messages, turn_ids)
    before = messages_tokens(messages, counter=counter)
    cleared: tuple[Cleared, ...] = ()
    smaller = [dict(message) for message in messages]
    if before > n_tokens:
        if thinking is not None:
            thought = clear_thinking(smaller, thinking, turn_ids=turn_ids, counter=counter)
            smaller, cleared = thought.messages, thought.cleared
        if tool_uses is not None:
            due = replace(tool_uses, trigger=Trigger("input_tokens", n_tokens))
            used = clear_tool_uses(smaller, due, turn_ids=turn_ids, counter=counter)
            smaller, cleared = used.messages, (*cleared, *used.cleared)
    cleared_to = messages_tokens(smaller, counter=counter)
    if cleared_to <= n_tokens:
        return Fitted(smaller, cleared, 0, before, cleared_to, cleared_to, fits=True)
    head = next((index for index, message in enumerate(messages) if not is_system(message)), len(messages))
    start = head + tail_start(messages[head:], at_most=keep_recent)
    if start == head:
        # Everything is recent: there is nothing that a summary could stand for.
        return Fitted(smaller, cleared, 0, before, cleared_to, cleared_to, fits=False)
    summary = summarize(messages[head:start])
    compacted = with_summary(smaller, summary, start=start)
    after = messages_tokens(compacted, counter=counter)
    if not summary.strip() or after >= cleared_to:
        return Fitted(smaller, cleared, 0, before, cleared_to, cleared_to, fits=False)
    return Fitted(compacted, cleared, start - head, before, cleared_to, after, fits=after <= n_tokens)


def with_summary(messages: Sequence[Message], summary: str, *, start: int) -> list[Json]:
    """Return the instructions at the head, one message with the summary, and the tail from ``start`` on.

    The summary is the user's message: a system message would give the words of a conversation an application's weight,
    and providers refuse a conversation that begins with the model.
    """
    head = next((index for index, message in enumerate(messages) if not is_system(message)), len(messages))
    told: Json = {"role": "user", "content": f"{SUMMARY_HEADING}\n{summary}"}
    return [*(dict(one) for one in messages[:head]), told, *(dict(one) for one in messages[max(head, start) :])]
