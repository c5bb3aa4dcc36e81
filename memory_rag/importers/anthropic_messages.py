"""Anthropic messages: what the Messages API takes, one conversation or many, as JSON or JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from memory_rag.importers.anthropic_content import is_anthropic, parts_of
from memory_rag.importers.formats import Detection, ImportOptions, Item, Noted, Skipped
from memory_rag.importers.guarding import guarded
from memory_rag.importers.identity import DistinctIds, digest
from memory_rag.importers.messages import as_list, as_object, role_of, unknown_role
from memory_rag.importers.moments import moment
from memory_rag.importers.parts import raw_without_bytes, turn_of
from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import SourceFile
from memory_rag.importers.values import Found, values_of
from memory_rag.turns import Conversation, Role, Source


class AnthropicMessagesImporter:
    """Reads ``{"system": ..., "messages": [...]}``, a list of those, JSON Lines of them, or a list of messages.

    The format has no ids and no times. A conversation's id is its ``id``, else a digest of its system prompt and
    its first message; a message's is a digest of its place, role and content. The system prompt is a turn of its
    own, out of recall: nobody said it in the talk. A ``tool_result`` that stands in a person's message is the tool's
    turn, named after the tool and out of recall; thinking and tool calls are blocks. Files carried as base64 are not
    stored; their type and length are.
    """

    name = "anthropic"

    def detect(self, sample: Sample) -> Detection:
        if sample.kind == "list" and any(is_anthropic(as_object(item).get("content")) for item in sample.items):
            return Detection(self.name, 0.9, "messages with blocks of Anthropic's kinds")
        for item in sample.items:
            fields = as_object(item)
            listed = as_list(fields.get("messages"))
            with_roles = any("role" in as_object(message) for message in listed[:3])
            if any(is_anthropic(as_object(message).get("content")) for message in listed):
                return Detection(self.name, 0.9, "'messages' with blocks of Anthropic's kinds")
            if with_roles and ("system" in fields or str(fields.get("model", "")).startswith("claude")):
                return Detection(self.name, 0.9, "'messages' beside a 'system' prompt or a Claude model")
        return Detection(self.name, 0.0, "no messages with blocks of Anthropic's kinds")

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        ids = DistinctIds()
        bare: list[Any] = []
        for found in values_of(source, skip_broken=True):
            if isinstance(found, Skipped):
                yield found
            elif isinstance(as_object(found.value).get("messages"), list):
                yield from guarded(partial(_conversation, found, ids, options), where=found.where)
            elif "role" in as_object(found.value):
                bare.append(found.value)
            else:
                yield Skipped("neither a message nor a conversation", found.where)
        if bare:
            whole = Found(source.label, {"messages": bare})
            yield from guarded(partial(_conversation, whole, ids, options), where=source.label)


def _conversation(found: Found, ids: DistinctIds, options: ImportOptions) -> Iterator[Item]:
    fields, messages = found.value, found.value["messages"]
    given = fields.get("conversation_id") or fields.get("id")
    key = str(given) if given else f"anthropic-{digest(fields.get('system'), messages[:1])}"
    conversation_id = ids.distinct(key)
    title = fields.get("title")
    yield Conversation(conversation_id, title if isinstance(title, str) else "")
    tools: dict[str, str] = {}
    within, ordinal = DistinctIds(), 0
    system = [{"role": "system", "content": fields["system"]}] if fields.get("system") else []
    for number, message in enumerate(system + messages, -len(system)):
        where = f"{found.where}, message {number}" if number >= 0 else f"{found.where}, system"
        said = as_object(message)
        role = role_of(said.get("role"))
        parts = [] if role is None else parts_of(role, said.get("content"), tools=tools)
        if not parts:
            yield Skipped(unknown_role(said.get("role")) if role is None else "nothing said", where)
        native_id = str(said.get("id") or digest(conversation_id, number, said.get("role"), said.get("content")))
        at = moment(said.get("created_at") or said.get("timestamp"), tz=options.tz)
        if at.problem:
            yield Noted(at.problem, where)
        for part in parts:
            own = said if part.own is None else {**said, "content": part.own}
            yield turn_of(
                part,
                conversation_id=conversation_id,
                session_id=conversation_id,
                ordinal=ordinal,
                said=at,
                source=Source(
                    AnthropicMessagesImporter.name, within.distinct(native_id + part.suffix), raw_without_bytes(own)
                ),
                recalled=part.role is not Role.SYSTEM,
            )
            ordinal += 1
