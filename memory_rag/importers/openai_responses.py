"""OpenAI's Responses API: lists of items, responses with their ``output``, or JSON Lines of either."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from memory_rag.importers.formats import Detection, ImportOptions, Item, Noted, Skipped
from memory_rag.importers.guarding import guarded
from memory_rag.importers.identity import DistinctIds, digest
from memory_rag.importers.messages import as_list, as_object, kind_of, role_of, unknown_role
from memory_rag.importers.moments import moment
from memory_rag.importers.openai_content import raw_without_files
from memory_rag.importers.parts import turn_of
from memory_rag.importers.response_items import is_item, part_of
from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import SourceFile
from memory_rag.importers.values import Found, values_of
from memory_rag.turns import Conversation, Source


class OpenAIResponsesImporter:
    """Reads items of the Responses API: a list, objects with ``input`` or ``items`` and ``output``, or lines of these.

    A response's ``instructions`` are no turn. An item's native id is its ``id``, else a digest of its place and its
    content. Calls, tools' answers and reasoning are turns out of recall; of reasoning that is encrypted only the JSON
    is kept.
    """

    name = "openai-responses"

    def detect(self, sample: Sample) -> Detection:
        for item in sample.items:
            fields = as_object(item)
            listed = [*as_list(fields.get("input")), *as_list(fields.get("items")), *as_list(fields.get("output"))]
            if fields.get("object") == "response" or any(map(is_item, listed)):
                return Detection(self.name, 0.9, "a response with items in its 'input' or 'output'")
        if sample.kind != "object" and any(map(is_item, sample.items)):
            return Detection(self.name, 0.9, "items of the Responses API")
        return Detection(self.name, 0.0, "no items of the Responses API")

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        ids = DistinctIds()
        bare: list[Any] = []
        for found in values_of(source, skip_broken=True):
            if isinstance(found, Skipped):
                yield found
                continue
            fields = as_object(found.value)
            if "type" in fields or "role" in fields:
                bare.append(found.value)
            elif fields.keys() & {"input", "items", "output"}:
                yield from guarded(partial(_conversation, fields, found, ids, options), where=found.where)
            else:
                yield Skipped("neither an item nor a response", found.where)
        if bare:
            whole = Found(source.label, bare)
            yield from guarded(partial(_conversation, {"items": bare}, whole, ids, options), where=source.label)


def _conversation(fields: dict[str, Any], found: Found, ids: DistinctIds, options: ImportOptions) -> Iterator[Item]:
    given = fields.get("input")
    said: list[Any] = [{"role": "user", "content": given}] if isinstance(given, str) else list(as_list(given))
    items = [*said, *as_list(fields.get("items")), *as_list(fields.get("output"))]
    named = as_object(fields.get("conversation")).get("id") or fields.get("conversation_id") or fields.get("id")
    conversation_id = ids.distinct(str(named) if named else f"openai-responses-{digest(items[:1])}")
    yield Conversation(conversation_id)
    tools: dict[str, str] = {}
    within = DistinctIds()
    for ordinal, item in enumerate(items):
        where = f"{found.where}, item {ordinal}"
        one = as_object(item)
        part = part_of(one, tools=tools)
        if part is None:
            unknown = kind_of(one) in {"", "message"} and role_of(one.get("role")) is None
            yield Skipped(unknown_role(one.get("role")) if unknown else "nothing said", where)
            continue
        at = moment(one.get("created_at") or fields.get("created_at"), tz=options.tz)
        if at.problem:
            yield Noted(at.problem, where)
        native_id = within.distinct(str(one.get("id") or digest(ordinal, one)))
        yield turn_of(
            part,
            conversation_id=conversation_id,
            session_id=conversation_id,
            ordinal=ordinal,
            said=at,
            source=Source(OpenAIResponsesImporter.name, native_id, raw_without_files(one)),
        )
