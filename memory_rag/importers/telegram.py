"""Telegram Desktop's export: ``result.json`` of one chat, or of all of them."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any, Final, NamedTuple

from memory_rag.errors import ImportFormatError
from memory_rag.importers.formats import Detection, ImportOptions, Item, Noted, Skipped
from memory_rag.importers.identity import DistinctIds, digest
from memory_rag.importers.json_stream import JsonStream
from memory_rag.importers.messages import as_list, as_object, as_written, kind_of
from memory_rag.importers.moments import Moment, moment
from memory_rag.importers.people import day_session, file_block, words_of
from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import SourceFile
from memory_rag.turns import Block, Conversation, Role, Source, Turn

_FIRST: Final = 1 << 40
"""Added to a message's number to make its ordinal: what a group brought along when it was moved has negative ones."""
_LISTS: Final = ("chats", "left_chats")
_FILES: Final = ("photo", "file")


class TelegramImporter:
    """Reads the messages of each chat, one by one; joining, pinning and the like is counted as skipped.

    A message's native id is its number in the chat. Its text is put together from its parts with nothing between
    them. The time is ``date_unixtime``; ``date`` is local and counts only without it. A deleted account has no name;
    its ``from_id`` stands for it. A file's name, a poll, a place, a contact and a sticker's emoji are found; forwards
    and replies are in the raw JSON. A time of edit is no proof of one: reactions set it too.
    """

    name = "telegram"
    whole_conversations = True

    def detect(self, sample: Sample) -> Detection:
        no = Detection(self.name, 0.0, "no Telegram chat with 'messages' that have 'from_id' or 'date_unixtime'")
        if sample.kind != "object":
            return no
        fields = as_object(sample.items[0])
        chats = [fields, *(chat for key in _LISTS for chat in as_list(as_object(fields.get(key)).get("list")))]
        for chat in map(as_object, chats):
            for message in map(as_object, as_list(chat.get("messages"))):
                if kind_of(message) in {"message", "service"} and ("date_unixtime" in message or "date" in message):
                    return Detection(self.name, 0.95, "a chat whose messages have 'type' and 'date'")
        if any("list" in as_object(fields.get(key)) for key in _LISTS):
            return Detection(self.name, 0.9, "a list of 'chats'")
        return no

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        ids = DistinctIds()
        with source.json() as stream:
            if stream.kind() != "{":
                raise ImportFormatError(f"{source.label}: no Telegram export; it begins with {stream.ahead()!r}")
            chat: dict[str, Any] = {}
            conversation_id = ""
            for key in stream.members():
                if key in _LISTS and stream.kind() == "{":
                    for inner in stream.members():
                        if inner == "list" and stream.kind() == "[":
                            for number in stream.elements():
                                yield from _chat(stream, f"{key} {number}", ids, options)
                elif key == "messages" and stream.kind() == "[":
                    conversation_id = yield from _messages(stream, chat, "messages", ids, options)
                else:
                    chat[key] = stream.value()
            stream.end()
            yield from _named(chat, conversation_id)


def _chat(stream: JsonStream, where: str, ids: DistinctIds, options: ImportOptions) -> Iterator[Item]:
    if stream.kind() != "{":
        stream.value()
        yield Skipped("not a chat", where)
        return
    chat: dict[str, Any] = {}
    conversation_id = ""
    for key in stream.members():
        if key == "messages" and stream.kind() == "[":
            conversation_id = yield from _messages(stream, chat, where, ids, options)
        else:
            chat[key] = stream.value()
    yield from _named(chat, conversation_id)


def _named(chat: dict[str, Any], conversation_id: str) -> Iterator[Item]:
    """Yield a chat by its name, which stands behind its messages where another program has sorted the file's keys."""
    if conversation_id and isinstance(chat.get("name"), str):
        yield Conversation(conversation_id, chat["name"])


def _messages(
    stream: JsonStream, chat: dict[str, Any], where: str, ids: DistinctIds, options: ImportOptions
) -> Generator[Item, None, str]:
    """Yield a chat's messages; what is known of the chat stands before them. Return its id if its name isn't known."""
    name = chat.get("name") if isinstance(chat.get("name"), str) else ""
    given = chat.get("id")
    conversation_id = ids.distinct(f"telegram-{digest(name) if given is None else given}")
    yield Conversation(conversation_id, str(name))
    within = DistinctIds()
    last = _FIRST
    for number in stream.elements():
        value, written = stream.value_as_written()
        message = as_object(value)
        at = f"{name or where}, message {message.get('id', f'at {number}')}"
        if message.get("type") == "service":
            yield Skipped(f"no message but {str(message.get('action'))[:40]!r}", at)
            continue
        own = message.get("id")
        last = own + _FIRST if isinstance(own, int) and 0 <= own + _FIRST < 2**62 else last + 1
        given = str(own) if own is not None else digest(message)
        native_id = within.distinct(given)
        if own is not None and native_id != given:
            yield Noted("message id repeated, numbered", at)
        yield from _turn(message, written, _Place(conversation_id, native_id, last, at), options)
    return "" if name else conversation_id


class _Place(NamedTuple):
    """Where a message stands: in a conversation, and ``where`` in words."""

    conversation_id: str
    native_id: str
    ordinal: int
    where: str


def _turn(message: dict[str, Any], written: str, place: _Place, options: ImportOptions) -> Iterator[Item]:
    text, blocks = _text(message), _blocks(message)
    if not text and not blocks:
        yield Skipped("nothing said", place.where)
        return
    said = _said(message, options)
    if said.problem:
        yield Noted(said.problem, place.where)
    speaker = message.get("from")
    if not isinstance(speaker, str) or not speaker:
        speaker = str(message.get("from_id") or "")
    yield Turn(
        turn_id="",
        conversation_id=place.conversation_id,
        session_id=day_session(place.conversation_id, said.said_at, options.tz),
        ordinal=place.ordinal,
        role=Role.USER,
        speaker=speaker,
        text=text,
        said_at=said.said_at,
        said_at_text=said.written,
        blocks=blocks,
        source=Source(TelegramImporter.name, place.native_id, as_written(message, written)),
        recalled=bool(text.strip()) or any(block.caption for block in blocks),
    )


def _said(message: dict[str, Any], options: ImportOptions) -> Moment:
    written = message.get("date")
    exact = moment(message.get("date_unixtime"), tz=options.tz)
    if exact.said_at is None:
        return moment(written, tz=options.tz)
    return Moment(exact.said_at, written if isinstance(written, str) else exact.written)


def _text(message: dict[str, Any]) -> str:
    """Return the words: the entities' texts, or the text if it holds more; either may come in pieces."""
    told, whole = _put_together(message.get("text_entities")), _put_together(message.get("text"))
    return told if len(told) >= len(whole) else whole


def _put_together(parts: Any) -> str:
    if isinstance(parts, str):
        return parts
    texts = [part if isinstance(part, str) else as_object(part).get("text") for part in as_list(parts)]
    return "".join(text for text in texts if isinstance(text, str))


def _blocks(message: dict[str, Any]) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for key in _FILES:
        path = message.get(key)
        if isinstance(path, str) and path:
            given = message.get("file_name")
            # "(File not included. Change data exporting settings to download.)" is no name.
            name = given if isinstance(given, str) else "" if path.startswith("(") else path.rpartition("/")[2]
            kept: dict[str, Any] = {
                name: message[name] for name in (key, "file_name", "mime_type", "media_type") if name in message
            }
            kind = "image/*" if key == "photo" else str(message.get("mime_type") or "")
            caption = words_of(name, message.get("sticker_emoji"), message.get("performer"), message.get("title"))
            block = file_block(kept, name, caption=caption, mime_type=kind)
            blocks.append(block)
    poll = as_object(message.get("poll"))
    if poll:
        answers = [as_object(answer).get("text") for answer in as_list(poll.get("answers"))]
        blocks.append(Block("poll", poll, words_of(poll.get("question"), *answers)))
    place = as_object(message.get("location_information"))
    if place:
        blocks.append(Block("place", place, words_of(message.get("place_name"), message.get("address"))))
    contact = as_object(message.get("contact_information"))
    if contact:
        blocks.append(Block("contact", contact, words_of(contact.get("first_name"), contact.get("last_name"))))
    return tuple(blocks)
