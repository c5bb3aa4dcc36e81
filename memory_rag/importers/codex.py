"""Codex CLI's sessions: ``rollout-*.jsonl`` under ``~/.codex/sessions/YYYY/MM/DD``.

The shape is that of github.com/openai/codex: ``RolloutLine`` and ``RolloutItem`` in
``codex-rs/protocol/src/protocol.rs`` (later in ``codex-rs/history``), ``ResponseItem`` in ``models.rs`` beside it, and
in ``instruction_markers.rs`` the marks of what the program writes in the person's name; in ``codex-rs/rollout/src``,
``policy.rs`` says what is kept of a session, and ``compression.rs`` makes older files ``.jsonl.zst``. A line is
``{timestamp, type, payload}``; ``type`` is ``session_meta``, ``response_item``, ``event_msg``, ``turn_context``,
``compacted`` or a later one. Early sessions have items without a wrapper after a first line ``{id, timestamp,
instructions}``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from memory_rag.importers.formats import Detection, ImportOptions, Item, Noted, Skipped
from memory_rag.importers.identity import DistinctIds, digest
from memory_rag.importers.messages import as_object, kind_of
from memory_rag.importers.moments import moment
from memory_rag.importers.openai_content import raw_without_files
from memory_rag.importers.parts import turn_of
from memory_rag.importers.response_items import is_item, part_of
from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import Line, SourceFile
from memory_rag.turns import Conversation, Role, Source

_WRAPPED: Final = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_MACHINE: Final = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions for ",
    "<collaboration_mode>",
    "<permissions instructions>",
    "<skill",
    "<user_shell_command>",
    "<turn_aborted>",
)


class CodexImporter:
    """Reads a session: its ``response_item`` lines are turns, in the file's order; other lines are counted.

    ``event_msg`` lines say for the screen what the items say as well, so they are no turns. Out of recall are tool
    calls and answers, reasoning, developers' instructions, and what the program writes in the person's name: the
    environment, the text of AGENTS.md, aborted turns. Items have no lasting ids: a native id is a digest of time and
    content, numbered where it repeats.
    """

    name = "codex"

    def detect(self, sample: Sample) -> Detection:
        for item in sample.items if sample.kind in {"lines", "object"} else ():
            fields = as_object(item)
            if kind_of(fields) in _WRAPPED and isinstance(fields.get("payload"), dict):
                return Detection(self.name, 1.0, "lines with a 'type' of a Codex session and its 'payload'")
            if "instructions" in fields and "timestamp" in fields and "id" in fields and "type" not in fields:
                return Detection(self.name, 0.95, "a first line of an early Codex session")
        return Detection(self.name, 0.0, "no lines with a 'type' of a Codex session and its 'payload'")

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        session = _Session(source.path.stem, options)
        for line in source.read_json_lines(skip_broken=True):
            if isinstance(line, Skipped):
                yield line
            else:
                yield from session.take(line)


@dataclass(slots=True)
class _Session:
    """What is known of a session while it is read."""

    conversation_id: str
    options: ImportOptions
    named: bool = False
    ordinal: int = 0
    tools: dict[str, str] = field(default_factory=dict)
    ids: DistinctIds = field(default_factory=DistinctIds)

    def take(self, line: Line) -> Iterator[Item]:
        record, where = as_object(line.value), f"line {line.number}"
        kind, payload = record.get("type"), as_object(record.get("payload"))
        if kind == "session_meta" or (kind is None and "id" in record):
            # A session that goes on from another one names that one in a second such line.
            if not self.named:
                given = payload.get("id") or record.get("id") or payload.get("session_id")
                self.conversation_id, self.named = str(given or self.conversation_id), True
                yield Conversation(self.conversation_id)
            yield Skipped("no message but 'session_meta'", where)
            return
        item = payload if kind == "response_item" else record if is_item(record) else {}
        if not item:
            yield Skipped(f"no message but {str(kind or record.get('record_type'))[:40]!r}", where)
            return
        part = part_of(item, tools=self.tools)
        if part is None:
            yield Skipped("nothing said", where)
            return
        said = moment(record.get("timestamp"), tz=self.options.tz)
        if said.problem:
            yield Noted(said.problem, where)
        machine = part.role is Role.SYSTEM or part.text.startswith(_MACHINE)
        native_id = self.ids.distinct(digest(record.get("timestamp"), item))
        yield turn_of(
            part,
            conversation_id=self.conversation_id,
            session_id=self.conversation_id,
            ordinal=self.ordinal,
            said=said,
            source=Source(CodexImporter.name, native_id, raw_without_files(record, written=line.written)),
            recalled=not machine,
        )
        self.ordinal += 1
