"""Discord, as DiscordChatExporter writes it in JSON: one channel or thread a file, or part of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from memory_rag.errors import ImportFormatError
from memory_rag.importers.formats import Detection, ImportOptions, Item, Noted, Skipped
from memory_rag.importers.identity import DistinctIds, digest
from memory_rag.importers.json_stream import JsonStream
from memory_rag.importers.messages import as_list, as_object, as_written
from memory_rag.importers.moments import moment
from memory_rag.importers.people import day_session, file_block, words_of
from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import SourceFile
from memory_rag.turns import Block, Conversation, Role, Source, Turn

_SAID: Final = frozenset({"Default", "Reply", "ChatInputCommand", "ContextMenuCommand", "0", "19", "20", "23"})


class DiscordImporter:
    """Reads a channel's messages; joins, pins, boosts and the like are counted as skipped.

    A message's native id is its snowflake, kept as text, which also gives its place: the parts of an export and
    the next export fit together. A thread is a channel of its own, in a file of its own; the message that opens it is
    there only as a reference and is skipped. What an embed says is found though the message's own text is empty.
    Attachments and stickers are found by name; reactions and references are in the raw JSON.
    """

    name = "discord"
    whole_conversations = True

    def detect(self, sample: Sample) -> Detection:
        fields = as_object(sample.items[0]) if sample.kind == "object" and sample.items else {}
        if isinstance(fields.get("channel"), dict) and ("guild" in fields or "messages" in fields):
            return Detection(self.name, 1.0, "a 'guild', a 'channel' and its 'messages'")
        return Detection(self.name, 0.0, "no 'guild', 'channel' and 'messages'")

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        about: dict[str, Any] = {}
        with source.json() as stream:
            if stream.kind() != "{":
                raise ImportFormatError(f"{source.label}: no Discord export; it begins with {stream.ahead()!r}")
            for key in stream.members():
                if key == "messages" and stream.kind() == "[":
                    yield from _messages(stream, about, options)
                else:
                    about[key] = stream.value()
            stream.end()


def _messages(stream: JsonStream, about: dict[str, Any], options: ImportOptions) -> Iterator[Item]:
    channel, guild = as_object(about.get("channel")), as_object(about.get("guild"))
    conversation_id = f"discord-{channel.get('id') or digest(guild, channel)}"
    yield Conversation(conversation_id, words_of(guild.get("name"), f"#{channel.get('name') or ''}".rstrip("#")))
    ids = DistinctIds()
    last = 0
    for number in stream.elements():
        value, written = stream.value_as_written()
        message = as_object(value)
        given = str(message.get("id") or "")
        where = f"#{channel.get('name')}, message {given or number}"
        native_id = ids.distinct(given or digest(message))
        if given and native_id != given:
            yield Skipped("a message written twice", where)
            continue
        last = int(given) if given.isdecimal() and len(given) < 20 and int(given) < 2**62 else last + 1
        kind = str(message.get("type", "Default"))
        text, blocks = _text(message), _blocks(message)
        if kind not in _SAID or not (text or blocks):
            yield Skipped(f"no message but {kind[:40]!r}" if kind not in _SAID else "nothing said", where)
            continue
        said = moment(message.get("timestamp"), tz=options.tz)
        if said.problem:
            yield Noted(said.problem, where)
        author = as_object(message.get("author"))
        yield Turn(
            turn_id="",
            conversation_id=conversation_id,
            session_id=day_session(conversation_id, said.said_at, options.tz),
            ordinal=last,
            role=Role.USER,
            speaker=str(author.get("nickname") or author.get("name") or author.get("id") or ""),
            text=text,
            said_at=said.said_at,
            said_at_text=said.written,
            blocks=blocks,
            source=Source(DiscordImporter.name, native_id, as_written(message, written)),
            recalled=bool(text.strip()) or any(block.caption for block in blocks),
        )


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""


def _blocks(message: dict[str, Any]) -> tuple[Block, ...]:
    blocks = [
        file_block(one, words_of(one.get("fileName")), caption=words_of(one.get("fileName"), one.get("description")))
        for one in map(as_object, as_list(message.get("attachments")))
    ]
    for embed in map(as_object, as_list(message.get("embeds"))):
        fields = [
            word for one in map(as_object, as_list(embed.get("fields"))) for word in (one.get("name"), one.get("value"))
        ]
        blocks.append(Block("embed", embed, words_of(embed.get("title"), embed.get("description"), *fields)))
    blocks += [
        Block("sticker", one, words_of(one.get("name"))) for one in map(as_object, as_list(message.get("stickers")))
    ]
    forwarded = as_object(message.get("forwardedMessage"))
    if forwarded:
        blocks.append(Block("forwarded", forwarded, words_of(forwarded.get("content"))))
    return tuple(blocks)
