"""What an importer is: something that knows its format when it sees it, and reads it turn by turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Literal, Protocol

from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import SourceFile
from memory_rag.importers.tally import Noted, Skipped
from memory_rag.importers.wishes import SpeakerMap
from memory_rag.turns import Conversation, Turn, Withheld

__all__ = ["Branches", "DateOrder", "Detection", "ImportOptions", "Importer", "Item", "Noted", "Skipped", "Withheld"]

Item = Turn | Conversation | Skipped | Noted | Withheld
Branches = Literal["active", "all"]
DateOrder = Literal["dmy", "mdy", "ymd"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """How to read what a file leaves open, and what of it is wanted.

    ``tz`` is the zone of times that are written without one; ``date_order`` (``dmy``, ``mdy`` or ``ymd``) that of dates
    in figures, None to tell it by looking. ``branches`` is ``active`` for what was shown last, ``all`` for abandoned
    branches as well, which are stored out of recall. What was said before ``since`` is skipped. ``speakers`` gives
    people other names. ``secrets`` says what is done this time with secrets and personal data, such as ``redact`` or
    ``phone=redact``; empty: what the memory's settings say.
    """

    tz: tzinfo = UTC
    date_order: DateOrder | None = None
    branches: Branches = "active"
    since: datetime | None = None
    speakers: SpeakerMap = field(default_factory=SpeakerMap)
    secrets: str = ""


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
    conversation's turns. Turns of a conversation come in its order.

    An importer whose files hold conversations whole, one after the other, each from a first to a last message, says so
    with a further attribute ``whole_conversations = True``: a stored turn between these that is no longer there is
    then marked as vanished.
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
