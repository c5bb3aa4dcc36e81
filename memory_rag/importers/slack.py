"""Slack's export: a folder a channel with a file a day, beside ``users.json`` and ``channels.json``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple

from memory_rag.errors import ImportFormatError
from memory_rag.importers.formats import Detection, ImportOptions, Item, Noted, Skipped
from memory_rag.importers.json_stream import WrittenFloat
from memory_rag.importers.messages import as_list, as_object, as_written, kind_of
from memory_rag.importers.moments import moment
from memory_rag.importers.people import day_session, file_block, words_of
from memory_rag.importers.sampling import Sample
from memory_rag.importers.slack_text import laid_out, mentions, unescaped
from memory_rag.importers.source import SourceFile
from memory_rag.importers.values import values_of
from memory_rag.turns import Block, Conversation, Role, Source, Turn

_CHANNELS: Final = ("channels.json", "groups.json", "mpims.json", "dms.json")
_PEOPLE: Final = ("users.json", "org_users.json")
_NOTICES: Final = frozenset(
    f"{place}_{what}"
    for place in ("channel", "group", "im")
    for what in ("join", "leave", "topic", "purpose", "name", "archive", "unarchive", "convert_to_private")
) | {"pinned_item", "unpinned_item", "bot_add", "bot_remove", "tombstone", "reminder_add", "reminder_delete"}

_STAMP: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_USUAL_STAMP: Final = re.compile(r"([0-9]{10})\.([0-9]{6})")
_NEVER: Final = 0


class SlackImporter:
    """Reads a channel's day, in the order of its time stamps; joins, topics, pins and the like are skipped.

    A message's native id is its ``ts`` as it is written, which also gives its place in the channel, so that days
    fit together however they come. A thread is a session, over all its days; what else is said in a channel is a
    session a day. The text is Slack's with ``&lt; &gt; &amp;`` undone; people and channels that it names by id are
    found by name. Names come from ``users.json``, else from the message. Files are found by name and title, link
    previews and bots' attachments by their words; edits and reactions are in the raw JSON.
    """

    name = "slack"
    whole_conversations = True

    def detect(self, sample: Sample) -> Detection:
        for item in sample.items if sample.kind == "list" else ():
            fields = as_object(item)
            if fields.get("type") == "message" and "ts" in fields:
                return Detection(self.name, 0.95, "messages with 'type' and 'ts'")
        return Detection(self.name, 0.0, "no messages with 'type' and 'ts'")

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        names = _names_beside(source)
        channel = source.path.parent.name or source.path.stem
        conversation_id = f"slack-{names.channels.get(channel, channel)}"
        yield Conversation(conversation_id, names.titles.get(channel, f"#{channel}"))
        found: list[tuple[int, int, dict[str, Any], str]] = []
        seen: set[str] = set()
        for number, value in enumerate(values_of(source, as_written=True)):
            if isinstance(value, Skipped):
                yield value
                continue
            message = as_object(value.value)
            written = _stamp(message)
            problem, sent = _sent(written)
            kind = kind_of(message, "subtype")
            if not problem and written in seen:
                problem = "a message written twice"
            if not problem and kind in _NOTICES:
                problem = f"no message but {kind!r}"
            if problem:
                yield Skipped(problem, f"#{channel}, {source.path.stem}, message {number}")
                continue
            seen.add(str(written))
            found.append((sent, number, message, as_written(message, value.written)))
        for sent, _number, message, raw in sorted(found, key=lambda one: one[:2]):
            yield from self._turn(message, names, _Place(conversation_id, sent, raw), options)

    def _turn(self, message: dict[str, Any], names: _Names, place: _Place, options: ImportOptions) -> Iterator[Item]:
        given = message.get("text")
        raw_text = given if isinstance(given, str) else ""
        blocks = (*_blocks(message), *mentions(raw_text, names.people))
        written = str(_stamp(message))
        where = f"{place.conversation_id}, {written}"
        if not raw_text:
            blocks += laid_out(message.get("blocks"), names.people)
        if not raw_text and not blocks:
            yield Skipped("nothing said", where)
            return
        said = moment(written, tz=options.tz)
        if said.problem:
            yield Noted(said.problem, where)
        thread = message.get("thread_ts")
        session_id = (
            f"{place.conversation_id}/thread {thread}"
            if isinstance(thread, str) and thread
            else day_session(place.conversation_id, said.said_at, options.tz)
        )
        yield Turn(
            turn_id="",
            conversation_id=place.conversation_id,
            session_id=session_id,
            ordinal=place.ordinal,
            role=Role.USER,
            speaker=_speaker(message, names),
            text=unescaped(raw_text),
            said_at=said.said_at,
            said_at_text=said.written,
            blocks=blocks,
            source=Source(self.name, written, place.raw),
            recalled=bool(raw_text.strip()) or any(block.caption for block in blocks),
        )


class _Place(NamedTuple):
    """Where a message stands, and its JSON as it is kept."""

    conversation_id: str
    ordinal: int
    raw: str


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of people and channels by id, and the ids of channels, and the titles of talks of two, by name."""

    people: dict[str, str] = field(default_factory=dict)
    channels: dict[str, str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)


def _names_beside(source: SourceFile) -> _Names:
    """Return what the lists beside a channel's folder tell, read once for all channels and days of an export."""
    of = (_Names, source.path.parent.parent)
    if of not in source.shared:
        source.shared[of] = _names_in(source)
    names: _Names = source.shared[of]
    return names


def _names_in(source: SourceFile) -> _Names:
    found = _Names()
    for name in _PEOPLE + _CHANNELS:
        file = source.beside(f"../{name}")
        for one in map(as_object, [] if file is None else _listed(file)):
            native_id, called = one.get("id"), one.get("name")
            if not isinstance(native_id, str):
                continue
            if name in _CHANNELS:
                found.channels[called if isinstance(called, str) else native_id] = native_id
                found.people[native_id] = called if isinstance(called, str) else native_id
                members = [
                    found.people.get(member) for member in as_list(one.get("members")) if isinstance(member, str)
                ]
                if not isinstance(called, str) and members and all(members):
                    found.titles[native_id] = ", ".join(filter(None, members))
            else:
                profile = as_object(one.get("profile"))
                names = (profile.get("display_name"), profile.get("real_name"), one.get("real_name"), called)
                found.people[native_id] = next((n for n in names if isinstance(n, str) and n), native_id)
    return found


def _speaker(message: dict[str, Any], names: _Names) -> str:
    user = message.get("user")
    named = names.people.get(user) if isinstance(user, str) else None
    if named:
        return named
    if user == "USLACKBOT":
        return "Slackbot"
    profile, bot = as_object(message.get("user_profile")), as_object(message.get("bot_profile"))
    for name in (profile.get("display_name"), profile.get("real_name"), message.get("username"), bot.get("name")):
        if isinstance(name, str) and name:
            return name
    return str(user or message.get("bot_id") or "")


def _listed(file: SourceFile) -> list[Any]:
    """Return the list in a file; a broken one gives no names, and is told as a file that can't be read."""
    with suppress(ImportFormatError):
        return as_list(file.read_json())
    return []


def _stamp(message: dict[str, Any]) -> Any:
    """Return a message's time stamp as its file writes it: another program may have made a number of it."""
    stamp = message.get("ts")
    if isinstance(stamp, WrittenFloat):
        return stamp.written
    return str(stamp) if isinstance(stamp, int | float) and not isinstance(stamp, bool) else stamp


def _sent(written: Any) -> tuple[str, int]:
    """Return what is wrong with a time stamp, or "", and its microseconds."""
    usual = _USUAL_STAMP.fullmatch(written) if isinstance(written, str) else None
    if usual is not None:
        return "", int(usual[1] + usual[2])
    if written is None or written == "":
        return "ts missing", _NEVER
    if not isinstance(written, str):
        return "ts not a text", _NEVER
    try:
        value = Decimal(written)
    except InvalidOperation:
        return "ts not understood", _NEVER
    if not value.is_finite():
        return "ts not finite", _NEVER
    if not _STAMP.fullmatch(written):
        return "ts not understood", _NEVER
    return ("", int(value * 1_000_000)) if 0 <= value < 2**40 else ("ts out of range", _NEVER)


def _blocks(message: dict[str, Any]) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for one in map(as_object, as_list(message.get("files"))):
        name, title = words_of(one.get("name")), words_of(one.get("title"))
        caption = name if title == name else words_of(name, title)
        blocks.append(file_block(one, name, caption=caption, mime_type=str(one.get("mimetype") or "")))
    for one in map(as_object, as_list(message.get("attachments"))):
        said = words_of(one.get("pretext"), one.get("title"), one.get("text"))
        blocks.append(Block("attachment", one, said or words_of(one.get("fallback"))))
    return tuple(blocks)
