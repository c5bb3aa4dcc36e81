"""Claude.ai's export: ``conversations.json``, each conversation with its ``chat_messages``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC
from functools import partial
from typing import Any, Final, NamedTuple

from memory_rag.importers.anthropic_content import parts_of
from memory_rag.importers.formats import Detection, ImportOptions, Item, Noted, Skipped
from memory_rag.importers.guarding import guarded
from memory_rag.importers.identity import DistinctIds, digest
from memory_rag.importers.message_tree import ABANDONED_SESSION, FIRST_ABANDONED, active_branch
from memory_rag.importers.messages import as_list, as_object, role_of, unknown_role
from memory_rag.importers.moments import moment
from memory_rag.importers.parts import Part, raw_without_bytes, turn_of
from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import SourceFile
from memory_rag.importers.values import Found, values_of
from memory_rag.turns import Block, Conversation, Role, Source, Withheld

_ATTACHMENT: Final = "#attachment"
_STRIDE: Final = 100
"""Ordinals from one message to the next: a message comes with at most a few pasted texts."""


class ClaudeImporter:
    """Reads the conversations of a Claude.ai export; its ``projects.json`` and ``users.json`` are no chats.

    A message's words are the texts of its ``content``, one of which may be null, or its ``text`` where these have
    none. Thinking and tool traffic are blocks of the message; kinds that appear later are kept whole. A pasted text,
    which the export has as an attachment without a name, is what the person said, in a turn of its own. The text
    taken out of a named file is such a turn too, but out of recall; the file's name is found. Where messages name
    their parents, the branch that ends in the last message is the talk.
    """

    name = "claude"
    whole_conversations = True

    def detect(self, sample: Sample) -> Detection:
        if any(isinstance(as_object(item).get("chat_messages"), list) for item in sample.items):
            return Detection(self.name, 1.0, "conversations with 'chat_messages'")
        return Detection(self.name, 0.0, "no conversations with 'chat_messages'")

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        ids = DistinctIds()
        for found in values_of(source, skip_broken=True):
            if isinstance(found, Skipped):
                yield found
            else:
                yield from guarded(partial(_conversation, found, ids, options), where=found.where)


class _Place(NamedTuple):
    """Where a message stands."""

    conversation_id: str
    session_id: str
    ordinal: int


def _conversation(found: Found, ids: DistinctIds, options: ImportOptions) -> Iterator[Item]:
    fields = as_object(found.value)
    messages = fields.get("chat_messages")
    if not isinstance(messages, list):
        yield Skipped("not a conversation", found.where)
        return
    given = str(fields.get("uuid") or f"claude-{digest(fields.get('name'), messages[:1])}")
    conversation_id = ids.distinct(given)
    if conversation_id != given:
        yield Noted("conversation id repeated, numbered", found.where)
    name = fields.get("name")
    yield Conversation(conversation_id, name if isinstance(name, str) else "")
    within = DistinctIds()
    named = [(within.distinct(_native_id(message, at)), message) for at, message in enumerate(messages)]
    shown, elsewhere = _branches(named, fields.get("current_leaf_message_uuid"))
    tools: dict[str, str] = {}
    for place, (native_id, message) in enumerate(shown):
        at = _Place(conversation_id, conversation_id, place * _STRIDE)
        yield from _turns(at, native_id, message, tools, options)
    if elsewhere and options.branches == "active":
        left = tuple(native_id for native_id, _ in elsewhere)
        yield Withheld(ClaudeImporter.name, conversation_id, left)
        yield Skipped("not on the active branch", conversation_id, len(left))
        return
    session_id = f"{conversation_id}/{ABANDONED_SESSION}"
    for place, (native_id, message) in enumerate(elsewhere):
        at = _Place(conversation_id, session_id, FIRST_ABANDONED + place * _STRIDE)
        yield from _turns(at, native_id, message, tools, options)


def _native_id(message: Any, at: int) -> str:
    given = as_object(message).get("uuid")
    return given if isinstance(given, str) and given else digest(at, message)


def _branches(named: list[tuple[str, Any]], leaf: Any) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
    """Return the messages that are shown and the others; without parents all are shown, in the file's order."""
    ids = {native_id for native_id, _ in named}
    if not any(as_object(message).get("parent_message_uuid") in ids for _, message in named):
        return named, []
    mapping = {
        native_id: {"parent": as_object(message).get("parent_message_uuid"), "message": message}
        for native_id, message in named
    }
    branch = active_branch(mapping, leaf if leaf in ids else _last_leaf(mapping))
    return list(branch.messages), list(branch.elsewhere)


def _last_leaf(mapping: dict[str, dict[str, Any]]) -> str:
    """Return the message that was written last and has no answer."""
    parents = {node["parent"] for node in mapping.values()}
    leaves = [native_id for native_id in mapping if native_id not in parents] or list(mapping)
    return max(reversed(leaves), key=lambda native_id: _written_at(mapping[native_id]["message"]), default="")


def _written_at(message: Any) -> float:
    """Return when a message was written, as seconds; minus infinity if nobody knows."""
    at = moment(as_object(message).get("created_at"), tz=UTC).said_at
    return -math.inf if at is None else at.timestamp()


def _turns(
    place: _Place, native_id: str, message: Any, tools: dict[str, str], options: ImportOptions
) -> Iterator[Item]:
    where = f"{place.conversation_id}/{native_id}"
    fields = as_object(message)
    role = role_of(fields.get("sender"))
    parts = [] if role is None else _parts(role, fields, tools)
    if not parts:
        yield Skipped(unknown_role(fields.get("sender")) if role is None else "nothing said", where)
        return
    said = moment(fields.get("created_at"), tz=options.tz)
    if said.problem:
        yield Noted(said.problem, where)
    for ordinal, part in enumerate(parts, place.ordinal):
        yield turn_of(
            part,
            conversation_id=place.conversation_id,
            session_id=place.session_id,
            ordinal=ordinal,
            said=said,
            source=Source(ClaudeImporter.name, native_id + part.suffix, raw_without_bytes(_own(fields, part))),
            recalled=place.session_id == place.conversation_id,
        )


def _parts(role: Role, fields: dict[str, Any], tools: dict[str, str]) -> list[Part]:
    """Return a message's turns: what tools answered, what was pasted or taken out of files, and its own words."""
    parts = parts_of(role, fields.get("content"), tools=tools)
    if len(parts) == 1 and parts[0].text and not (parts[0].suffix or fields.get("attachments") or fields.get("files")):
        return parts
    whole = next((part for part in parts if not part.suffix), Part(role, ""))
    parts = [part for part in parts if part.suffix]
    text = fields.get("text")
    words = whole.text or (text if isinstance(text, str) else "")
    attachments = [as_object(one) for one in as_list(fields.get("attachments"))]
    files = [as_object(one) for one in as_list(fields.get("files"))]
    blocks = whole.blocks + tuple(_file(one, "attachment") for one in attachments if _name(one))
    blocks += tuple(_file(one, "file") for one in files)
    for number, attachment in enumerate(attachments, 1):
        content = attachment.get("extracted_content")
        if isinstance(content, str) and content:
            shown = (_file(attachment, "attachment"),)
            pasted = not _name(attachment)
            suffix = f"{_ATTACHMENT}{number}"
            parts.append(Part(role, content, shown, recalled=pasted, suffix=suffix, own=attachment))
    if words or blocks:
        recalled = bool(words.strip()) or any(block.caption for block in blocks)
        parts.append(Part(role, words, blocks, recalled=recalled, own=whole.own))
    return parts


def _own(message: dict[str, Any], part: Part) -> dict[str, Any]:
    """Return what of a message's JSON a turn is made of: texts that are turns of their own are left out."""
    if part.suffix.startswith(_ATTACHMENT):
        own: dict[str, Any] = part.own
        return own
    listed = [{**as_object(one), "extracted_content": None} for one in as_list(message.get("attachments"))]
    own = {**message, "attachments": listed} if listed else message
    return own if part.own is None else {**own, "content": part.own}


def _name(file: dict[str, Any]) -> str:
    name = file.get("file_name")
    return name if isinstance(name, str) else ""


def _file(file: dict[str, Any], kind: str) -> Block:
    """Return the block of a file; the text taken out of it is a turn, so it isn't repeated here."""
    image = str(file.get("file_kind", "")).startswith("image")
    data = {key: value for key, value in file.items() if key != "extracted_content"}
    return Block("image" if image else kind, data, _name(file))
