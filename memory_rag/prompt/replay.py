"""A stored conversation as a provider's messages, with everything that came from it sent back unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from memory_rag.prompt.message_parts import Json
from memory_rag.prompt.returned_blocks import COMPACTION, Returned, Shape
from memory_rag.prompt.turn_messages import TurnMessages, anthropic_messages, responses_items
from memory_rag.turns import Turn


def replayed(turns: Sequence[Turn], kept: Mapping[str, Returned], *, provider: Shape) -> TurnMessages:
    """Return a whole conversation for its provider, from the newest compaction on.

    What lies before it the provider would drop anyway; leaving it out saves sending it. A turn whose answer was kept
    goes back as it came; any other turn is made of its words and tool blocks.
    """
    own = {turn_id: returned for turn_id, returned in kept.items() if returned.provider == provider}
    first = max(
        (at for at, turn in enumerate(turns) if turn.turn_id in own and own[turn.turn_id].has_compaction), default=0
    )
    contents = {turn_id: returned.content for turn_id, returned in own.items()}
    shaped = responses_items if provider == "openai" else anthropic_messages
    told = shaped(turns[first:], contents=contents)
    messages = from_newest_compaction(told.messages)
    return replace(told, messages=messages, turn_ids=told.turn_ids[len(told.messages) - len(messages) :])


def from_newest_compaction(messages: Sequence[Json]) -> list[Json]:
    """Return messages or items from the newest provider's summary in them on, which then leads; all without one."""
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if _is_summary(message):
            return list(messages[at:])
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        place = max((place for place, block in enumerate(blocks) if _is_summary(block)), default=None)
        if place is not None:
            return [{**message, "content": blocks[place:]}, *messages[at + 1 :]]
    return list(messages)


def _is_summary(block: Mapping[str, object]) -> bool:
    # An empty one says that the provider failed to make it, and the history was sent on whole.
    return block.get("type") == COMPACTION and bool(block.get("content") or block.get("encrypted_content"))
