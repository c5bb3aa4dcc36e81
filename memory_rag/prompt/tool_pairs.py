"""Where a conversation may be cut: never between a call of a tool and its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_rag.errors import QueryError
from memory_rag.prompt.message_parts import Message, answers, calls, leads_the_next


@dataclass(frozen=True, slots=True)
class Pair:
    """A call and an answer to it, as the indexes of their messages; ``called <= answered``."""

    key: str
    name: str
    called: int
    answered: int


def pairs(messages: Sequence[Message]) -> list[Pair]:
    """Return every call with its answer, in the order of the answers.

    An answer belongs to the newest call with its key: some models number their calls anew in each message. A call
    that was never answered is in no pair, and neither is an answer to nothing.
    """
    open_calls: dict[str, tuple[int, str]] = {}
    found: list[Pair] = []
    for index, message in enumerate(messages):
        # In one message a provider's own tool is called first and answers after.
        for call in calls(message):
            open_calls[call.key] = (index, call.name)
        for key in answers(message):
            if key in open_calls:
                called, name = open_calls[key]
                found.append(Pair(key, name, called, index))
    return found


def cut_points(messages: Sequence[Message]) -> list[int]:
    """Return the indexes at which a kept tail may start, ascending; the first is 0 unless there are no messages.

    None lies between a call and its answer, between answers to one message's calls, before an answer whose call is
    missing, or between a Responses item of reasoning and what was reasoned out. A message that answers its own call, as
    of a provider's tool, is whole.
    """
    forbidden: set[int] = set()
    for pair in pairs(messages):
        forbidden.update(range(pair.called + 1, pair.answered + 1))
    for index, message in enumerate(messages):
        own = {call.key for call in calls(message)}
        if index and (leads_the_next(messages[index - 1]) or any(key not in own for key in answers(message))):
            forbidden.add(index)
    return [index for index in range(len(messages)) if index not in forbidden]


def tail_start(messages: Sequence[Message], *, at_most: int) -> int:
    """Return where the longest tail of at most so many messages starts that a model accepts.

    What can't be divided stays whole: if the last such group is longer than ``at_most``, the tail is that group.
    No messages give 0.

    Raises:
        QueryError: ``at_most`` is below 1.
    """
    if at_most < 1:
        raise QueryError(f"a tail has at least 1 message, got at_most={at_most}")
    points = cut_points(messages)
    return next((point for point in points if len(messages) - point <= at_most), points[-1] if points else 0)
