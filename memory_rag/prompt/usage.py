"""What a provider says of its answer: tokens read and written, and what it cleared or compacted on its side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

_READ: Final = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_CLEARED_COUNTS: Final = ("cleared_tool_uses", "cleared_thinking_turns")


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one answer, cached ones included.

    ``n_sent`` is what the request held as it was sent; ``n_compacted_to`` what was left of it for the model after the
    provider compacted it, None if it didn't or doesn't tell. ``n_read`` and ``n_written`` are what is paid for.
    """

    n_sent: int
    n_compacted_to: int | None
    n_read: int
    n_written: int


@dataclass(frozen=True, slots=True)
class AppliedEdit:
    """What a provider cleared of one request: the edit's type, how many tool uses or turns, and their tokens."""

    type: str
    n_cleared: int
    n_tokens: int


def usage_of(answer: Mapping[str, Any]) -> Usage | None:
    """Return the usage of an answer of any of the three APIs.

    None if it doesn't tell what was read, as a stream's parts may not: a missing number is not 0.
    """
    usage = answer.get("usage")
    if not isinstance(usage, Mapping):
        return None
    iterations = [one for one in usage.get("iterations") or () if isinstance(one, Mapping)]
    compactions = [one for one in iterations if one.get("type") == "compaction"]
    answered = [one for one in iterations if one.get("type") != "compaction"]
    # Its own tools make the provider ask the model again; what was sent is what the first of these read.
    sent = _read(next(iter(compactions or iterations), usage))
    if sent is None:
        return None
    if compactions:
        return Usage(
            n_sent=sent,
            n_compacted_to=_read(answered[0]) if answered else None,
            n_read=sum(_read(one) or 0 for one in iterations),
            n_written=sum(map(_written, iterations)),
        )
    read = _read(usage)
    return Usage(sent, None, sent if read is None else read, _written(usage))


def applied_edits(answer: Mapping[str, Any]) -> tuple[AppliedEdit, ...]:
    """Return what Anthropic cleared of the request that this answers."""
    told = answer.get("context_management")
    edits: Iterable[Any] = told.get("applied_edits") or () if isinstance(told, Mapping) else ()
    return tuple(
        AppliedEdit(
            type=str(edit.get("type")),
            n_cleared=sum(_count(edit.get(name)) or 0 for name in _CLEARED_COUNTS),
            n_tokens=_count(edit.get("cleared_input_tokens")) or 0,
        )
        for edit in edits
        if isinstance(edit, Mapping)
    )


def _read(usage: Mapping[str, Any]) -> int | None:
    if "prompt_tokens" in usage:
        return _count(usage["prompt_tokens"])
    # OpenAI's input_tokens hold the cached ones, Anthropic's don't; only the latter names them beside.
    told = [found for name in _READ if (found := _count(usage.get(name))) is not None]
    return sum(told) if told else None


def _written(usage: Mapping[str, Any]) -> int:
    return _count(usage.get("output_tokens")) or _count(usage.get("completion_tokens")) or 0


def _count(value: Any) -> int | None:
    """Return a number of tokens, None for what is none."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number >= 0 and not isinstance(value, bool) else None
