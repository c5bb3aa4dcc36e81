"""ShareGPT: conversations of ``from`` and ``value``, in a JSON array or JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from memory_rag.importers.formats import Detection, ImportOptions, Item, Noted, Skipped
from memory_rag.importers.guarding import guarded
from memory_rag.importers.identity import DistinctIds, digest
from memory_rag.importers.messages import as_list, as_object, raw_json, unknown_role
from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import SourceFile
from memory_rag.importers.values import Found, values_of
from memory_rag.turns import Block, Conversation, Role, Source, Turn

_LISTS: Final = ("conversations", "conversation", "items")
_ROLES: Final = {
    "human": Role.USER,
    "user": Role.USER,
    "gpt": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
    "chatgpt": Role.ASSISTANT,
    "bing": Role.ASSISTANT,
    "bard": Role.ASSISTANT,
    "claude": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "tool": Role.TOOL,
    "observation": Role.TOOL,
    "function_response": Role.TOOL,
    "function_call": Role.ASSISTANT,
}


class ShareGPTImporter:
    """Reads conversations of ``from`` and ``value``; ``role`` and ``content`` are taken for these.

    A conversation's id is its ``id``, else a digest of its opening; a message's is its place. There are no times. The
    text is kept as it is, HTML among it. Tools' answers and calls are stored out of recall.
    """

    name = "sharegpt"
    whole_conversations = True

    def detect(self, sample: Sample) -> Detection:
        for item in sample.items:
            for message in map(as_object, _messages(as_object(item))[:3]):
                if "from" in message and "value" in message:
                    return Detection(self.name, 0.95, "conversations of 'from' and 'value'")
                if "role" in message and ("value" in message or "content" in message):
                    return Detection(self.name, 0.7, "conversations of roles and words")
        return Detection(self.name, 0.0, "no conversations of 'from' and 'value'")

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        ids = DistinctIds()
        for found in values_of(source, skip_broken=True):
            if isinstance(found, Skipped):
                yield found
            elif _messages(as_object(found.value)):
                yield from guarded(partial(_conversation, found, ids), where=found.where)
            else:
                yield Skipped("not a conversation", found.where)


def _messages(fields: dict[str, Any]) -> list[Any]:
    return next((as_list(fields[key]) for key in _LISTS if isinstance(fields.get(key), list)), [])


def _conversation(found: Found, ids: DistinctIds) -> Iterator[Item]:
    fields = as_object(found.value)
    messages = _messages(fields)
    given = fields.get("id")
    key = str(given) if isinstance(given, str | int) and given != "" else f"sharegpt-{digest(messages[:2])}"
    conversation_id = ids.distinct(key)
    if given and conversation_id != key:
        yield Noted("conversation id repeated, numbered", found.where)
    title = fields.get("title")
    yield Conversation(conversation_id, title if isinstance(title, str) else "")
    for ordinal, message in enumerate(messages):
        where = f"{found.where}, message {ordinal}"
        said = as_object(message)
        who = said.get("from", said.get("role"))
        role = _ROLES.get(str(who).casefold())
        text = said.get("value", said.get("content"))
        if role is None or not isinstance(text, str) or not text:
            yield Skipped(unknown_role(who) if role is None else "nothing said", where)
            continue
        call = str(who).casefold() == "function_call"
        yield Turn(
            turn_id="",
            conversation_id=conversation_id,
            session_id=conversation_id,
            ordinal=ordinal,
            role=role,
            speaker=role.value,
            text=text,
            blocks=(Block("tool_call", {"from": who}),) if call else (),
            source=Source(ShareGPTImporter.name, str(ordinal), raw_json(message)),
            recalled=role is not Role.TOOL and not call and bool(text.strip()),
        )
