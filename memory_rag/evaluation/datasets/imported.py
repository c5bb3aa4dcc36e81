"""A data set's conversations, read by the same importers that a memory is filled with."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memory_rag.evaluation.benchmark import Dropped
from memory_rag.importers.formats import Importer, ImportOptions, Noted, Skipped
from memory_rag.importers.source import SourceFile
from memory_rag.turns import Conversation, Turn


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation and its turns in spoken order, with ids ``<conversation>/<native id>``."""

    conversation_id: str
    turns: tuple[Turn, ...]


def talks_in(source: SourceFile, *, importer: Importer, dropped: Dropped) -> list[Talk]:
    """Return a file's conversations as the importer reads them; what it skips is counted, what it notes too.

    Raises:
        ImportFormatError: the file isn't of the importer's format.
    """
    talks: dict[str, list[Turn]] = {}
    for item in importer.read(source, ImportOptions()):
        match item:
            case Conversation():
                talks.setdefault(item.conversation_id, [])
            case Turn():
                talks.setdefault(item.conversation_id, []).append(_named(item))
            case Skipped():
                dropped.add(f"message left out: {item.reason}", item.where, count=item.count)
            case Noted():
                dropped.add(f"message kept, but: {item.reason}", item.where, count=item.count)
    return [Talk(conversation_id, tuple(turns)) for conversation_id, turns in talks.items()]


def _named(turn: Turn) -> Turn:
    native_id = turn.source.native_id if turn.source is not None else f"{turn.ordinal}"
    return replace(turn, turn_id=f"{turn.conversation_id}/{native_id}")
