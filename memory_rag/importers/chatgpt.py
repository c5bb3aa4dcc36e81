"""ChatGPT's export: ``conversations.json`` or its numbered parts, each conversation a tree of messages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from memory_rag.importers.chatgpt_content import attachments_of, canvas_of, content_of
from memory_rag.importers.formats import Detection, ImportOptions, Item, Noted, Skipped
from memory_rag.importers.guarding import guarded
from memory_rag.importers.identity import DistinctIds, digest
from memory_rag.importers.message_tree import ABANDONED_SESSION, FIRST_ABANDONED, Branch, active_branch
from memory_rag.importers.messages import as_object, is_said, raw_json, role_of, unknown_role
from memory_rag.importers.moments import moment
from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import SourceFile
from memory_rag.importers.values import Found, values_of
from memory_rag.turns import Block, Conversation, Role, Source, Span, Turn, Withheld


class ChatGPTImporter:
    """Reads the conversations of a ChatGPT export, each along the branch that was shown last.

    A turn's native id is its node's, and the conversation's id is the export's (without one, a digest of
    its root and opening). ``ordinal`` is the place on the branch, hidden messages counted. Messages
    hidden from the conversation (custom instructions among them) are skipped and counted, and so are those of
    other branches, unless all branches are wanted: these are then stored in a session of their own and out of
    recall. What a tool says, what is said to a tool, thinking, and kinds that are not known are stored but left
    out of search; of a canvas, its name and its words are searched, not the JSON around them.
    """

    name = "chatgpt"
    whole_conversations = True

    def detect(self, sample: Sample) -> Detection:
        if any(isinstance(as_object(item).get("mapping"), dict) for item in sample.items):
            return Detection(self.name, 1.0, "conversations with a 'mapping' of messages")
        return Detection(self.name, 0.0, "no conversations with a 'mapping' of messages")

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        without_id = DistinctIds()
        for found in values_of(source, skip_broken=True):
            if isinstance(found, Skipped):
                yield found
            else:
                yield from guarded(partial(_conversation, found, without_id, options), where=found.where)


def _conversation(found: Found, without_id: DistinctIds, options: ImportOptions) -> Iterator[Item]:
    fields = as_object(found.value)
    mapping = fields.get("mapping")
    if not isinstance(mapping, dict):
        yield Skipped("not a conversation", found.where)
        return
    branch = active_branch(mapping, fields.get("current_node"))
    given = fields.get("conversation_id") or fields.get("id")
    conversation_id = str(given) if given else without_id.distinct(f"chatgpt-{_opening(branch)}")
    title = fields.get("title")
    yield Conversation(conversation_id, title if isinstance(title, str) else "")
    for note in branch.notes:
        yield Noted(note, conversation_id)
    yield from _elsewhere(branch, conversation_id, options)
    for place, (node_id, message) in enumerate(branch.messages):
        yield from _turn(_Place(conversation_id, conversation_id, place), node_id, message, options)


def _opening(branch: Branch) -> str:
    first = next((as_object(message).get("content") for _, message in branch.messages), None)
    return digest(branch.root, first)


def _elsewhere(branch: Branch, conversation_id: str, options: ImportOptions) -> Iterator[Item]:
    """Yield the messages of abandoned branches, out of recall, or say that they are left out."""
    if not branch.elsewhere:
        return
    if options.branches == "active":
        yield Withheld(ChatGPTImporter.name, conversation_id, tuple(node_id for node_id, _ in branch.elsewhere))
        yield Skipped("not on the active branch", conversation_id, len(branch.elsewhere))
        return
    session_id = f"{conversation_id}/{ABANDONED_SESSION}"
    for place, (node_id, message) in enumerate(branch.elsewhere, FIRST_ABANDONED):
        yield from _turn(_Place(conversation_id, session_id, place), node_id, message, options)


class _Place(NamedTuple):
    """Where a message stands."""

    conversation_id: str
    session_id: str
    ordinal: int


def _turn(place: _Place, node_id: str, message: Any, options: ImportOptions) -> Iterator[Item]:
    fields = as_object(message)
    content = content_of(fields.get("content"))
    author = as_object(fields.get("author"))
    role = role_of(author.get("role"))
    shared = attachments_of(fields)
    reason = _left_out(fields, role=role, said=bool(content.text or content.blocks or shared))
    if reason or role is None:
        yield Skipped(reason or unknown_role(author.get("role")), f"{place.conversation_id}/{node_id}")
        return
    said = moment(fields.get("create_time"), tz=options.tz)
    if said.problem:
        yield Noted(said.problem, f"{place.conversation_id}/{node_id}")
    name = author.get("name")
    recipient = _recipient(fields)
    to_all = recipient == "all"
    canvas = () if to_all else canvas_of(recipient, content.text)
    blocks = content.blocks + shared + canvas + _addressed(recipient, role, name)
    yield Turn(
        turn_id="",
        conversation_id=place.conversation_id,
        session_id=place.session_id,
        ordinal=place.ordinal,
        role=role,
        speaker=name if isinstance(name, str) and name else role.value,
        text=content.text,
        said_at=said.said_at,
        said_at_text=said.written,
        blocks=blocks,
        source=Source(ChatGPTImporter.name, node_id, raw_json(message)),
        recalled=(
            place.ordinal < FIRST_ABANDONED
            and content.recalled
            and role is not Role.TOOL
            and (to_all or bool(canvas))
            and is_said(content.text, blocks)
        ),
        indexed=Span(0, 0) if canvas else None,
    )


def _left_out(message: dict[str, Any], *, role: Role | None, said: bool) -> str:
    """Return why a message is not stored, or ""."""
    if as_object(message.get("metadata")).get("is_visually_hidden_from_conversation") is True:
        return "hidden from the conversation"
    if as_object(message.get("content")).get("content_type") == "user_editable_context":
        return "hidden from the conversation"
    if role is None:
        return unknown_role(as_object(message.get("author")).get("role"))
    return "" if said else "nothing said"


def _recipient(message: dict[str, Any]) -> str:
    recipient = message.get("recipient")
    return recipient if isinstance(recipient, str) and recipient else "all"


def _addressed(recipient: str, role: Role, name: Any) -> tuple[Block, ...]:
    """Return the block that marks a tool's answer or words meant for a tool; none for talk between people."""
    if role is Role.TOOL:
        return (Block("tool_result", {"name": name}),)
    return () if recipient == "all" else (Block("tool_call", {"recipient": recipient}),)
