"""Claude Code's sessions: the JSON Lines under ``~/.claude/projects``, read while they grow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from memory_rag.importers.anthropic_content import parts_of
from memory_rag.importers.formats import Detection, ImportOptions, Item, Noted, Skipped
from memory_rag.importers.identity import DistinctIds, digest
from memory_rag.importers.message_tree import ABANDONED_SESSION, FIRST_ABANDONED
from memory_rag.importers.messages import as_list, as_object, kind_of, role_of
from memory_rag.importers.moments import moment
from memory_rag.importers.parts import Part, raw_without_bytes, turn_of
from memory_rag.importers.reading_twice import read_twice
from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import Line, SourceFile
from memory_rag.turns import Conversation, Role, Source, Withheld

_SAID: Final = ("user", "assistant")
# What the program writes in the person's name; a person's own words don't begin like this.
_MACHINE: Final = (
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<system-reminder>",
    "<task-notification>",
    "[Request interrupted by user",
)
_NO_TALK: Final = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage")


class ClaudeCodeImporter:
    """Reads a session, line by line: a line of type ``user`` or ``assistant`` is a turn, others are counted.

    The lines that one answer is written as stay turns of their own, in the file's order, since they are written
    when they are said; a block that is written twice in an answer is kept once. A ``user`` line that holds a tool's
    answer is the tool's turn. Out of recall are tool traffic, thinking, the program's own notes and errors, summaries
    of what was said before, and what sub-agents say, which is a session of its own. What a person took back to say
    it anew is a branch that was abandoned. A parent that was never written, a broken line and a last line that is
    half written cost only themselves.
    """

    name = "claude-code"

    def detect(self, sample: Sample) -> Detection:
        for item in sample.items if sample.kind in {"lines", "object"} else ():
            fields = as_object(item)
            if fields.get("type") in _SAID and "uuid" in fields and isinstance(fields.get("message"), dict):
                return Detection(self.name, 1.0, "lines with 'uuid' and a 'message' of a user or an assistant")
            if fields.get("type") == "summary" and "leafUuid" in fields:
                return Detection(self.name, 0.9, "a 'summary' line with 'leafUuid'")
            if "sessionId" in fields and "type" in fields:
                return Detection(self.name, 0.8, "lines with 'type' and 'sessionId'")
        return Detection(self.name, 0.0, "no lines with 'uuid' and 'message'")

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        lines = read_twice(lambda: source.read_json_lines(skip_broken=True), size=source.size)
        taken_back = _taken_back(lines())
        sessions = _Sessions(source.path.stem, options)
        for line in lines():
            if isinstance(line, Skipped):
                yield line
            else:
                yield from sessions.of(as_object(line.value)).take(line, taken_back)
        for session in sessions.all:
            if session.titled is not None:
                yield Conversation(session.conversation_id, session.titled)
            if session.withheld:
                yield Withheld(self.name, session.conversation_id, tuple(session.withheld))


class _Sessions:
    """The sessions of a file: mostly one, but lines of another may have been written into it, or files put together.

    A line belongs to the session of the line that it follows, if that is in the file, and else to the one that it
    names: a session that was resumed under another id goes on.
    """

    def __init__(self, stem: str, options: ImportOptions) -> None:
        self._present = _Session(stem, options)
        self._named: dict[str, _Session] = {}
        self._of_line: dict[str, _Session] = {}
        self._options = options
        self.all = [self._present]

    def of(self, record: dict[str, Any]) -> _Session:
        """Return the session of the next line."""
        named, uuid, parent = (record.get(name) for name in ("sessionId", "uuid", "parentUuid"))
        if isinstance(named, str) and named:
            if not self._named:
                self._present.conversation_id = named
                self._named[named] = self._present
            elif named not in self._named:
                self._named[named] = _Session(named, self._options)
                self.all.append(self._named[named])
            self._present = self._named[named]
        if isinstance(parent, str):
            self._present = self._of_line.get(parent, self._present)
        if isinstance(uuid, str):
            self._of_line[uuid] = self._present
        return self._present


@dataclass(slots=True)
class _Session:
    """What is known of a session while it is read."""

    conversation_id: str
    options: ImportOptions
    ordinal: int = 0
    titled: str | None = None
    tools: dict[str, str] = field(default_factory=dict)
    ids: DistinctIds = field(default_factory=DistinctIds)
    blocks: dict[str, set[str]] = field(default_factory=dict)
    withheld: list[str] = field(default_factory=list)

    def take(self, line: Line, taken_back: frozenset[str]) -> Iterator[Item]:
        record = as_object(line.value)
        where = f"line {line.number}"
        kind = kind_of(record)
        if kind not in _SAID:
            title = record.get("summary") or record.get("aiTitle") or record.get("title")
            if kind in {"summary", "ai-title", "custom-title"} and isinstance(title, str):
                self.titled = title
            yield Skipped(f"no message but {str(record.get('type'))[:40]!r}", where)
            return
        uuid = record.get("uuid")
        native_id = self.ids.distinct(uuid if isinstance(uuid, str) and uuid else digest(record))
        if native_id != uuid and isinstance(uuid, str):
            yield Skipped("a line written twice", where)
            return
        abandoned = native_id in taken_back
        parts = self._parts(record)
        if not parts:
            yield Skipped("nothing said", where)
        elif abandoned and self.options.branches == "active":
            self.withheld.extend(native_id + part.suffix for part in parts)
            self.ordinal += len(parts)
            yield Skipped("taken back, not on the active branch", where, len(parts))
        else:
            yield from self._turns(line, native_id, parts, abandoned=abandoned)

    def _turns(self, line: Line, native_id: str, parts: list[Part], *, abandoned: bool) -> Iterator[Item]:
        record = as_object(line.value)
        said = moment(record.get("timestamp"), tz=self.options.tz)
        if said.problem:
            yield Noted(said.problem, f"line {line.number}")
        talk = not (abandoned or any(record.get(sign) for sign in _NO_TALK) or _is_notice(record))
        session_id = self.conversation_id
        if abandoned:
            session_id += f"/{ABANDONED_SESSION}"
        elif record.get("isSidechain"):
            session_id += f"/agent {record.get('agentId') or ''}".rstrip()
        for part in parts:
            yield turn_of(
                part,
                conversation_id=self.conversation_id,
                session_id=session_id,
                ordinal=self.ordinal + (FIRST_ABANDONED if abandoned else 0),
                said=said,
                source=Source(ClaudeCodeImporter.name, native_id + part.suffix, _raw(line, part)),
                recalled=talk and not part.text.startswith(_MACHINE),
            )
            self.ordinal += 1

    def _parts(self, record: dict[str, Any]) -> list[Part]:
        message = as_object(record.get("message"))
        role = role_of(message.get("role")) or role_of(record.get("type"))
        content = message.get("content")
        answer = message.get("id")
        if isinstance(answer, str) and isinstance(content, list):
            before = self.blocks.setdefault(answer, set())
            marks = [digest(block) for block in content]
            content = [block for block, mark in zip(content, marks, strict=True) if mark not in before]
            before.update(marks)
        return parts_of(role or Role.USER, content, tools=self.tools)


def _is_notice(record: dict[str, Any]) -> bool:
    """Whether the program speaks in the model's place: a limit that is reached, a server that doesn't answer."""
    return as_object(record.get("message")).get("model") == "<synthetic>"


def _raw(line: Line, part: Part) -> str:
    """Return a line's JSON as far as a turn is made of it."""
    record = as_object(line.value)
    if part.own is None:
        return raw_without_bytes(record, written=line.written)
    own = {**record, "message": {**as_object(record.get("message")), "content": part.own}}
    if part.role is not Role.TOOL:
        own = {key: value for key, value in own.items() if key != "toolUseResult"}
    return raw_without_bytes(own)


def _taken_back(lines: Iterable[Line | Skipped]) -> frozenset[str]:
    """Return the lines that were said and then left: of a person's messages with one parent all but the last.

    What follows a left message, by the parents that lines name, is left as well.
    """
    parents: list[tuple[str, str | None]] = []
    said: dict[str, str] = {}
    left: set[str] = set()
    for line in lines:
        record = as_object(line.value) if isinstance(line, Line) else {}
        uuid, parent = record.get("uuid"), record.get("parentUuid")
        if not isinstance(uuid, str):
            continue
        parents.append((uuid, parent if isinstance(parent, str) else None))
        if isinstance(parent, str) and _is_person(record):
            if said.get(parent, uuid) != uuid:
                left.add(said[parent])
            said[parent] = uuid
    for uuid, above in parents:
        if above in left:
            left.add(uuid)
    return frozenset(left)


def _is_person(record: dict[str, Any]) -> bool:
    if record.get("type") != "user" or record.get("isMeta") or record.get("isSidechain"):
        return False
    content = as_object(record.get("message")).get("content")
    if isinstance(content, str):
        return bool(content) and not content.startswith(_MACHINE)
    return any(as_object(block).get("type") == "text" for block in as_list(content)) and not any(
        as_object(block).get("type") == "tool_result" for block in as_list(content)
    )
