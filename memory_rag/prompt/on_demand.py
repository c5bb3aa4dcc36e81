"""Compaction by a request of its own: what is asked, and how the conversation goes on with what came back.

Anthropic's beta of 2026-09-04 (a signed block that has to lead the messages) and OpenAI's ``POST /responses/compact``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from memory_rag.errors import ModelError, SettingsError
from memory_rag.prompt.capabilities import Capabilities
from memory_rag.prompt.message_parts import Json, Message, answers, blocks, calls
from memory_rag.prompt.provider_requests import THRESHOLD_BETA, RequestPart, Wish
from memory_rag.prompt.tool_pairs import cut_points

ON_DEMAND_BETA: Final = "compact-2026-09-04"
COMPACT_PATH: Final = "/responses/compact"
_COMPACT_FIELDS: Final = ("instructions", "prompt_cache_key", "prompt_cache_retention", "service_tier")


def compact_request(request: Mapping[str, Any], capabilities: Capabilities) -> RequestPart:
    """Return the request that asks for a summary of a conversation, made of the conversation's own request.

    For Anthropic it is the same body (system, tools and messages must be the conversation's) with ``compaction``; for
    OpenAI it is the body of ``/responses/compact``. A model that can't gives no parameters and says that the summary is
    ours.

    Raises:
        SettingsError: a request that the provider would refuse.
    """
    if not capabilities.compact_on_demand:
        note = f"{capabilities.model} can't compact on demand, as far as its {capabilities.known_from} tells"
        return RequestPart({}, (), Wish(), (f"{note}: the summary is memory_rag's own",))
    if capabilities.provider == "anthropic":
        return _anthropic(request)
    return _openai(request)


def _anthropic(request: Mapping[str, Any]) -> RequestPart:
    if "context_management" in request:
        raise SettingsError(
            "a request for compaction can't carry context_management as well; leave it out of this one request"
        )
    _refuse_open_calls(request.get("messages") or ())
    return RequestPart({**request, "compaction": {"type": "summarize"}}, (ON_DEMAND_BETA,), Wish())


def _openai(request: Mapping[str, Any]) -> RequestPart:
    given = [name for name in ("input", "previous_response_id") if request.get(name) is not None]
    if len(given) != 1 or "model" not in request:
        raise SettingsError(
            "a request for compaction names a model and either input or previous_response_id, got: "
            f"{', '.join(sorted(request)) or 'nothing'}"
        )
    kept = {name: request[name] for name in ("model", *given, *_COMPACT_FIELDS) if request.get(name) is not None}
    return RequestPart(kept, (), Wish())


def compaction_block(answer: Mapping[str, Any]) -> Json:
    """Return the block with the summary out of Anthropic's answer to :func:`compact_request`, unchanged.

    Raises:
        ModelError: there is none, or the provider failed to make one (a block without content).
    """
    found = [block for block in answer.get("content") or () if block.get("type") == "compaction"]
    if len(found) != 1:
        raise ModelError(
            f"an answer to a request for compaction holds one compaction block, got {len(found)} "
            f"(stop_reason {answer.get('stop_reason')!r}); the conversation goes on as it was"
        )
    if not found[0].get("content") and not found[0].get("encrypted_content"):
        raise ModelError("the provider made no summary (an empty compaction block); the conversation goes on as it was")
    return dict(found[0])


def compacted_input(answer: Mapping[str, Any]) -> list[Json]:
    """Return the items that OpenAI's ``/responses/compact`` gave, to be sent as they are before what comes next.

    Raises:
        ModelError: no compaction item is among them.
    """
    output = [dict(item) for item in answer.get("output") or ()]
    if not any(item.get("type") == "compaction" for item in output):
        raise ModelError(f"{COMPACT_PATH} gave no compaction item; the conversation goes on as it was")
    return output


def going_on(block: Json, messages: Sequence[Message], *, kept_from: int) -> list[Json]:
    """Return the messages of the next request: the block, which has to lead, and what is kept behind it verbatim.

    ``kept_from`` is the index of the first message that is kept; the length of ``messages`` keeps none of them.

    Raises:
        SettingsError: a tool's call and its answer would be parted there.
    """
    allowed = [*cut_points(messages), len(messages)]
    if kept_from not in allowed:
        raise SettingsError(
            f"the kept messages can't start at {kept_from}: a tool's call and its answer would be parted; "
            f"they can start at {', '.join(map(str, allowed))}"
        )
    return [{"role": "assistant", "content": [block]}, *(dict(message) for message in messages[kept_from:])]


def betas_for(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return the betas without which Anthropic refuses these messages: those of the compaction blocks in them.

    A block that was made on demand is signed, one that was made at a threshold isn't.
    """
    found = [block for message in messages for block in blocks(message) if block.get("type") == "compaction"]
    return tuple(dict.fromkeys(ON_DEMAND_BETA if block.get("signature") else THRESHOLD_BETA for block in found))


def _refuse_open_calls(messages: Sequence[Message]) -> None:
    answered = {key for message in messages for key in answers(message)}
    last = next((message for message in reversed(messages) if message.get("role") == "assistant"), None)
    waiting = [call for call in calls(last) if call.key not in answered] if last else []
    if waiting:
        raise SettingsError(
            f"the newest call of {waiting[0].name or 'a tool'} ({waiting[0].key}) has no answer yet; Anthropic "
            "compacts between rounds of tools only, so send the answer first"
        )
