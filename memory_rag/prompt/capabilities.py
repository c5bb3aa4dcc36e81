"""What a model's own provider can do about a long conversation: told by its API, else by the model's name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

Provider = Literal["anthropic", "openai", "other"]

_CLAUDE: Final = re.compile(r"claude-(?P<family>[a-z]+)-(?P<major>\d+)(?:-(?P<minor>\d{1,2}))?(?=$|[-@:])")
_CLEARS_FROM: Final = (4, 0)
_COMPACTS_FROM: Final = (4, 6)
_NOT_COMPACTING: Final = frozenset({"haiku"})
# Azure writes GPT-3.5 and its like without the dot: gpt-35-turbo.
_COMPACTING_GPT: Final = re.compile(r"(?:^|/)gpt-(?:[5-9]|[12]\d)(?!\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What one model's provider does itself. ``known_from`` is ``name``, ``models api`` or the caller's own word."""

    provider: Provider
    model: str
    clear_tool_uses: bool = False
    clear_thinking: bool = False
    compact_at_threshold: bool = False
    compact_on_demand: bool = False
    known_from: str = "name"


def capabilities_of(model: str, *, provider: Provider | None = None) -> Capabilities:
    """Return what is known of a model by its name; a name that says nothing gives none, and we do it ourselves.

    Anthropic clears from version 4 on and compacts from 4.6 on, but for Haiku (its lists of supported models,
    November 2026); OpenAI compacts from GPT-5 on and clears nothing.
    """
    claude = _CLAUDE.search(model.lower())
    if provider in (None, "anthropic") and ("claude" in model.lower() or provider == "anthropic"):
        version = (int(claude["major"]), int(claude["minor"] or 0)) if claude else (0, 0)
        clears = version >= _CLEARS_FROM
        compacts = claude is not None and version >= _COMPACTS_FROM and claude["family"] not in _NOT_COMPACTING
        return Capabilities(
            provider="anthropic",
            model=model,
            clear_tool_uses=clears,
            clear_thinking=clears,
            compact_at_threshold=compacts,
            compact_on_demand=compacts,
        )
    able = _COMPACTING_GPT.search(model) is not None
    if provider == "openai" or (provider is None and able):
        return Capabilities(provider="openai", model=model, compact_at_threshold=able, compact_on_demand=able)
    return Capabilities(provider=provider or "other", model=model)


def capabilities_told(model: str, capabilities: Mapping[str, Any]) -> Capabilities:
    """Return what Anthropic's Models API says of a model in its ``capabilities``; what it doesn't name isn't there."""
    editing = capabilities.get("context_management") or {}

    def supported(name: str) -> bool:
        told = editing.get(name) if isinstance(editing, Mapping) else None
        return isinstance(told, Mapping) and told.get("supported") is True

    on_demand = capabilities.get("compaction")
    return Capabilities(
        provider="anthropic",
        model=model,
        clear_tool_uses=supported("clear_tool_uses_20250919"),
        clear_thinking=supported("clear_thinking_20251015"),
        compact_at_threshold=supported("compact_20260112"),
        compact_on_demand=on_demand is True or (isinstance(on_demand, Mapping) and on_demand.get("supported") is True),
        known_from="models api",
    )
