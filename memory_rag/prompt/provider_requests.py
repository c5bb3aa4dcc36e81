"""What a request says so that the provider keeps the conversation small; what it can't do is left to us, and said.

The shapes are Anthropic's context editing (beta of 2025-06-27) and threshold compaction (beta of 2026-01-12), and the
``context_management`` of OpenAI's Responses API.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from memory_rag.errors import SettingsError
from memory_rag.prompt.capabilities import Capabilities
from memory_rag.prompt.checked import is_whole
from memory_rag.prompt.editing import ClearThinking, ClearToolUses
from memory_rag.prompt.message_parts import Json

EDITING_BETA: Final = "context-management-2025-06-27"
THRESHOLD_BETA: Final = "compact-2026-01-12"
LEAST_THRESHOLD: Final = 50_000
"""Input tokens below which Anthropic refuses to compact at a threshold."""
DEFAULT_THRESHOLD: Final = 150_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactAtThreshold:
    """The provider summarises what is older once a request has this many input tokens.

    ``instructions`` take the place of the provider's own prompt for summaries, all of it. ``pause_after`` gives the
    summary back before the model answers, so that the caller can keep newest turns verbatim behind it.
    """

    threshold: int = DEFAULT_THRESHOLD
    instructions: str | None = None
    pause_after: bool = False

    def __post_init__(self) -> None:
        if not is_whole(self.threshold, least=1):
            raise SettingsError(f"threshold is a number of input tokens, 1 or more; got {self.threshold!r}")
        if self.instructions is not None and not self.instructions.strip():
            raise SettingsError("instructions are a text or None; an empty text would leave the model without any")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What should be done about a conversation that grows; None is not wished."""

    tool_uses: ClearToolUses | None = None
    thinking: ClearThinking | None = None
    compaction: CompactAtThreshold | None = None


@dataclass(frozen=True, slots=True)
class RequestPart:
    """What goes into a request, and what is left to us.

    ``parameters`` are merged into the request's body, ``betas`` go along (as the SDK's ``betas=``, or comma-separated
    in the header ``anthropic-beta``). ``ours`` holds what the provider can't do: the same wish, for
    :func:`memory_rag.prompt.compaction.fit`. ``notes`` say so in words.
    """

    parameters: Json
    betas: tuple[str, ...]
    ours: Wish
    notes: tuple[str, ...] = ()


def request_part(wish: Wish, capabilities: Capabilities) -> RequestPart:
    """Return what to add to a request for a model, checked as the provider checks it.

    Raises:
        SettingsError: a threshold that the provider would refuse, or an option that it doesn't have.
    """
    if capabilities.provider == "anthropic":
        return _anthropic(wish, capabilities)
    if capabilities.provider == "openai":
        return _openai(wish, capabilities)
    return RequestPart({}, (), wish, _falls_to_us(wish, capabilities))


def _anthropic(wish: Wish, can: Capabilities) -> RequestPart:
    edits: list[Json] = []
    betas: list[str] = []
    # The provider wants thinking before tool uses.
    if wish.thinking is not None and can.clear_thinking:
        keep: Json | str = wish.thinking.keep if wish.thinking.keep == "all" else _turns(wish.thinking.keep)
        edits.append({"type": "clear_thinking_20251015", "keep": keep})
    if wish.tool_uses is not None and can.clear_tool_uses:
        edits.append(_tool_uses_edit(wish.tool_uses))
    if edits:
        betas.append(EDITING_BETA)
    if wish.compaction is not None and can.compact_at_threshold:
        edits.append(_compaction_edit(wish.compaction))
        betas.append(THRESHOLD_BETA)
    ours = Wish(
        tool_uses=None if can.clear_tool_uses else wish.tool_uses,
        thinking=None if can.clear_thinking else wish.thinking,
        compaction=None if can.compact_at_threshold else wish.compaction,
    )
    parameters: Json = {"context_management": {"edits": edits}} if edits else {}
    return RequestPart(parameters, tuple(betas), ours, _falls_to_us(ours, can))


def _tool_uses_edit(options: ClearToolUses) -> Json:
    edit: Json = {
        "type": "clear_tool_uses_20250919",
        "trigger": {"type": options.trigger.kind, "value": options.trigger.value},
        "keep": {"type": "tool_uses", "value": options.keep},
    }
    if options.clear_at_least is not None:
        edit["clear_at_least"] = {"type": "input_tokens", "value": options.clear_at_least}
    if options.exclude_tools:
        edit["exclude_tools"] = list(options.exclude_tools)
    inputs = options.clear_tool_inputs
    if inputs:
        edit["clear_tool_inputs"] = inputs if isinstance(inputs, bool) else list(inputs)
    return edit


def _compaction_edit(wish: CompactAtThreshold) -> Json:
    if wish.threshold < LEAST_THRESHOLD:
        raise SettingsError(
            f"Anthropic compacts from {LEAST_THRESHOLD:,} input tokens on, got a threshold of {wish.threshold:,}; "
            "raise it, or let memory_rag make the summary"
        )
    edit: Json = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": wish.threshold}}
    if wish.pause_after:
        edit["pause_after_compaction"] = True
    if wish.instructions is not None:
        edit["instructions"] = wish.instructions
    return edit


def _openai(wish: Wish, can: Capabilities) -> RequestPart:
    parameters: Json = {}
    compaction = wish.compaction
    if compaction is not None and can.compact_at_threshold:
        refused = {"instructions": compaction.instructions is not None, "pause_after": compaction.pause_after}
        if named := [name for name, given in refused.items() if given]:
            raise SettingsError(
                f"OpenAI's compaction at a threshold takes no {' and no '.join(named)}; leave it out, or compact on "
                "demand with compact_request"
            )
        parameters = {"context_management": [{"type": "compaction", "compact_threshold": compaction.threshold}]}
        compaction = None
    ours = Wish(tool_uses=wish.tool_uses, thinking=wish.thinking, compaction=compaction)
    return RequestPart(parameters, (), ours, _falls_to_us(ours, can))


def _turns(n: int | str) -> Json:
    return {"type": "thinking_turns", "value": n}


def _falls_to_us(ours: Wish, can: Capabilities) -> tuple[str, ...]:
    what = (
        (ours.tool_uses, "old tool results are cleared here before the request is sent"),
        (ours.thinking, "old thinking is cleared here before the request is sent"),
        (ours.compaction, "the summary is memory_rag's own"),
    )
    return tuple(
        f"{can.model} can't do this by itself, as far as its {can.known_from} tells: {done}"
        for wished, done in what
        if wished is not None
    )
