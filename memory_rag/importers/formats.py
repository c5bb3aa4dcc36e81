"""What an importer is: something that knows its format when it sees it, and reads it turn by turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Protocol

from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import SourceFile
from memory_rag.importers.tally import Noted, Skipped
from memory_rag.turns import Conversation, Turn

__all__ = ["Detection", "ImportOptions", "Importer", "Item", "Noted", "Skipped"]

Item = Turn | Conversation | Skipped | Noted


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """How to read what a file leaves open: ``tz`` is the zone of times that are written without one."""

    tz: tzinfo = UTC


@dataclass(frozen=True, slots=True)
class Detection:
    """How sure an importer is that a file is of its format, and why: 0 is no, 1 is certain."""

    importer: str
    confidence: float
    why: str


class Importer(Protocol):
    """A reader of one format.

    A turn it yields has an empty ``turn_id`` and a ``source`` with the importer's name, the id the message
    has there and its JSON. (name, conversation id, native id) tells a turn that is already stored from a
    new one, so these must not change when a file is renamed, moved or grows, and must be unique among a
    conversation's turns.
    """

    @property
    def name(self) -> str:
        """The word that names the format on a command line and in a turn's source, such as ``chatgpt``."""

    def detect(self, sample: Sample) -> Detection:
        """Say how surely the file that begins like this is of the format; quick, and never raising."""

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        """Yield the file's conversations and turns in order, and a ``Skipped`` for all that is left out.

        Raises:
            ImportFormatError: the file as a whole can't be read. What was yielded before is then not to be
                kept.
        """
