"""OpenAI messages: the list that a chat completion takes, alone, with others, or one conversation a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from memory_rag.importers.formats import Detection, ImportOptions, Item, Noted, Skipped
from memory_rag.importers.identity import DistinctIds, digest
from memory_rag.importers.messages import as_list, as_object, is_said, role_of, unknown_role
from memory_rag.importers.moments import moment
from memory_rag.importers.openai_content import blocks_of, raw_without_files, text_of
from memory_rag.importers.sampling import Sample, sample
from memory_rag.importers.source import SourceFile
from memory_rag.importers.values import values_of
from memory_rag.turns import Conversation, Role, Source, Turn


class OpenAIMessagesImporter:
    """Reads ``[message, ...]``, ``{"messages": [...]}``, a list of those, or JSON Lines of either.

    A conversation's id is its ``conversation_id`` or ``id``. Without one it is a digest of what opens it
    (the messages up to the user's first, so that a shared system prompt doesn't merge conversations) and
    the number of its occurrence in the file. A message without ``id`` has as native id a digest of its
    place, role and content. Times are rare in this format: without one a turn's time is unknown.

    Tool calls are blocks of the assistant's turn. A tool's answer is a turn that search leaves out unless
    asked, as is an assistant's turn that only calls tools. Files that a message carries as base64 are not
    stored, neither in a block nor in the raw JSON: their place holds the type and the length.
    """

    name = "openai"

    def detect(self, sample: Sample) -> Detection:
        for item in sample.items:
            fields = as_object(item)
            if isinstance(fields.get("messages"), list) and any(map(_is_message, fields["messages"][:3])):
                return Detection(self.name, 0.85, "'messages' with roles and content")
            if sample.kind != "object" and _is_message(item):
                return Detection(self.name, 0.75, "messages with roles and content")
            if isinstance(item, list) and any(map(_is_message, item[:3])):
                return Detection(self.name, 0.75, "lists of messages with roles and content")
        return Detection(self.name, 0.0, "no messages with roles and content")

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        ids = DistinctIds()
        by_id: dict[str | int | None, _Talk] = {}
        for value in _values(source):
            if isinstance(value, Skipped):
                yield value
                continue
            where, found = value
            fields = as_object(found)
            if isinstance(found, list):
                yield from _Talk(where, {}, ids, options).whole(found)
            elif isinstance(fields.get("messages"), list):
                yield from _Talk(where, fields, ids, options).whole(fields["messages"])
            elif "role" in fields:
                # Messages one by one may be a gigabyte of them.
                given = fields.get("conversation_id")
                of = given if isinstance(given, str | int) else None
                if of not in by_id:
                    by_id[of] = _Talk(source.label, {"conversation_id": of}, ids, options)
                yield from by_id[of].take(found)
            else:
                yield Skipped("neither a message nor a conversation", where)
        for talk in by_id.values():
            yield from talk.end()


@dataclass(slots=True)
class _Talk:
    """A conversation while it is read: where it was found, and what is said about it beside its messages.

    Without an id it has one once the user has said something; what comes before waits.
    """

    where: str
    fields: dict[str, Any]
    ids: DistinctIds
    options: ImportOptions
    conversation_id: str | None = None
    ordinal: int = 0
    within: DistinctIds = field(default_factory=DistinctIds)
    tools: dict[str, str] = field(default_factory=dict)
    waiting: list[Any] = field(default_factory=list)

    def whole(self, messages: list[Any]) -> Iterator[Item]:
        for message in messages:
            yield from self.take(message)
        yield from self.end()

    def take(self, message: Any) -> Iterator[Item]:
        if self.conversation_id is not None:
            yield from self._turn(message, self.conversation_id)
            return
        self.waiting.append(message)
        if self._given is not None or role_of(as_object(message).get("role")) is Role.USER:
            yield from self._begin()

    def end(self) -> Iterator[Item]:
        """Give what waited for a user who said nothing."""
        if self.conversation_id is None:
            yield from self._begin()

    @property
    def _given(self) -> Any:
        return _first_given(self.fields, "conversation_id", "id")

    def _begin(self) -> Iterator[Item]:
        given = self._given
        key = str(given) if given is not None else f"openai-{digest(_opening(self.waiting))}"
        self.conversation_id = conversation_id = self.ids.distinct(key)
        if given is not None and conversation_id != key:
            yield Noted("conversation id repeated, numbered", self.where)
        title = self.fields.get("title")
        yield Conversation(conversation_id, title if isinstance(title, str) else "")
        waited, self.waiting = self.waiting, []
        for message in waited:
            yield from self._turn(message, conversation_id)

    def _turn(self, message: Any, conversation_id: str) -> Iterator[Item]:
        where, ordinal = f"{self.where}, message {self.ordinal}", self.ordinal
        self.ordinal += 1
        fields = as_object(message)
        role = role_of(fields.get("role"))
        if role is None:
            yield Skipped(unknown_role(fields.get("role")), where)
            return
        self.tools.update(_tools_called(fields))
        text = text_of(fields)
        blocks = blocks_of(fields, role)
        if not text and not blocks:
            yield Skipped("nothing said", where)
            return
        given = fields.get("id")
        key = str(given) if given is not None else digest(conversation_id, ordinal, _words(fields))
        native_id = self.within.distinct(key)
        if native_id != key:
            yield Noted("message id repeated, numbered", where)
        said = moment(_first_given(fields, "timestamp", "created_at", "created"), tz=self.options.tz)
        if said.problem:
            yield Noted(said.problem, where)
        yield Turn(
            turn_id="",
            conversation_id=conversation_id,
            session_id=conversation_id,
            ordinal=ordinal,
            role=role,
            speaker=_speaker(fields, role, self.tools),
            text=text,
            said_at=said.said_at,
            said_at_text=said.written,
            blocks=blocks,
            source=Source(OpenAIMessagesImporter.name, native_id, raw_without_files(fields)),
            recalled=role is not Role.TOOL and is_said(text, blocks),
        )


def _is_message(value: Any) -> bool:
    fields = as_object(value)
    return isinstance(fields.get("role"), str) and not fields.keys().isdisjoint(
        ("content", "tool_calls", "function_call")
    )


def _values(source: SourceFile) -> Iterator[tuple[str, Any] | Skipped]:
    # A line that is a message belongs to the others: without it they would say something else.
    whole_talks = any("messages" in as_object(item) for item in sample(source).items)
    for found in values_of(source, skip_broken=whole_talks):
        yield found if isinstance(found, Skipped) else (found.where, found.value)


def _opening(messages: list[Any]) -> list[Any]:
    """Return the messages up to the user's first, or the first alone when the user says nothing."""
    roles = [role_of(as_object(message).get("role")) for message in messages]
    length = roles.index(Role.USER) + 1 if Role.USER in roles else 1
    return [_words(message) for message in messages[:length]]


def _words(message: Any) -> list[Any]:
    """Return what makes a message the same message again: who, what, and which calls."""
    fields = as_object(message)
    return [fields.get(key) for key in ("role", "content", "tool_calls", "function_call", "tool_call_id")]


def _first_given(fields: dict[str, Any], *keys: str) -> Any:
    return next((fields[key] for key in keys if fields.get(key) is not None), None)


def _tools_called(fields: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for call in as_list(fields.get("tool_calls")):
        name = as_object(as_object(call).get("function")).get("name")
        if isinstance(name, str):
            yield str(as_object(call).get("id")), name


def _speaker(fields: dict[str, Any], role: Role, tools: dict[str, str]) -> str:
    """Return the sender's name, a tool's from the call that it answers, else the role's word."""
    name = fields.get("name") or tools.get(str(fields.get("tool_call_id")))
    return name if isinstance(name, str) else role.value
