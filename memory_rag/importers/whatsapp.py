"""WhatsApp's text export of a chat, from Android or iOS, in any language."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from memory_rag.errors import ImportFormatError
from memory_rag.importers.date_order import Figures, told_order
from memory_rag.importers.formats import DateOrder, Detection, ImportOptions, Item, Noted, Skipped
from memory_rag.importers.identity import DistinctIds, digest
from memory_rag.importers.moments import at_local_time
from memory_rag.importers.people import day_session
from memory_rag.importers.reading_twice import read_twice
from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import SourceFile
from memory_rag.importers.whatsapp_lines import Header, header_of, speaker_of
from memory_rag.importers.whatsapp_words import blocks_of, is_placeholder, said_of
from memory_rag.turns import Conversation, Role, Source, Turn, to_microseconds

_MINUTE: Final = 60_000_000
_A_MINUTE_HOLDS: Final = 10_000
_SHOWN: Final = 3

_Line = tuple[str, Header | None]


class WhatsAppImporter:
    """Reads a chat: a line with date, time and name begins a message, every other line goes on with it.

    The order of day and month is told from all dates of the file together; if they allow two, it is asked for.
    Times are local: ``--tz`` is their zone. The text is kept as it stands; of a name only the direction mark before
    it is taken away. Notices that nobody says are skipped. A deleted message, and a file that was left out, are kept
    out of recall; WhatsApp's word on an edit isn't searched. The format has no ids: a message's is a digest of its
    minute, speaker and text, and a chat's is one of its first message. Replies' quotations and reactions are not in
    the export.
    """

    name = "whatsapp"
    whole_conversations = True

    def detect(self, sample: Sample) -> Detection:
        lines = [line for line in sample.head.split("\n")[:200] if line.strip()] if sample.kind == "text" else []
        headers = [header for header in map(header_of, lines) if header is not None]
        n_said = sum(speaker_of(header.rest) is not None for header in headers)
        if n_said and header_of(lines[0].rstrip("\r")):
            return Detection(self.name, 0.95, f"{n_said} of its first lines begin with date, time and name")
        return Detection(self.name, 0.0, "no lines with date, time and name")

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        lines = read_twice(lambda: _lines(source), size=source.size)
        found = _looked_through(lines(), source.label)
        order = options.date_order or told_order(found.dates)
        if order is None:
            shown = ", ".join(found.written[:_SHOWN])
            raise ImportFormatError(
                f"{source.label}: which number is the day can't be told from its dates ({shown}); "
                "say it with --date-order dmy or --date-order mdy"
            )
        yield from _Chat(source, options, order, found.names_with_colon()).read(lines())


@dataclass(slots=True)
class _Found:
    """What a whole file shows before it is read: its dates, each but once in a row, and its speakers' openings."""

    dates: list[Figures] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    openings: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, header: Header) -> None:
        if not self.dates or self.dates[-1] != header.date:
            self.dates.append(header.date)
            if len(self.written) < _SHOWN:
                self.written.append(header.written)
        said = speaker_of(header.rest)
        if said is not None:
            name, text = said
            opening, colon, _ = text.partition(": ")
            self.counts[name] += 1
            if len(self.openings[name]) < 2:
                self.openings[name].add(opening if colon else "")

    def names_with_colon(self) -> frozenset[str]:
        """Return names such as ``Bo: work``, whose part after the colon seems to open every message."""
        return frozenset(
            f"{name}: {next(iter(openings))}"
            for name, openings in self.openings.items()
            if self.counts[name] > 2 and len(openings) == 1 and "" not in openings
        )


def _lines(source: SourceFile) -> Iterator[_Line | Skipped]:
    """Yield the lines without what ends them, which the first one tells, and what each begins.

    A line in the other telephone's way was copied into a message.
    """
    ending, in_brackets = "", None
    for number, line in enumerate(source.read_lines()):
        if isinstance(line, Skipped):
            yield line
            continue
        if number == 0 and line.endswith("\r\n"):
            ending = "\r"
        line = line.removesuffix("\n").removesuffix(ending)
        header = header_of(line)
        if header is not None and in_brackets is None:
            in_brackets = header.in_brackets
        yield line, header if header is None or header.in_brackets == in_brackets else None


def _looked_through(lines: Iterable[_Line | Skipped], label: str) -> _Found:
    found = _Found()
    for line in lines:
        header = None if isinstance(line, Skipped) else line[1]
        if header is not None:
            found.add(header)
    if not found.dates:
        raise ImportFormatError(f"{label}: no WhatsApp export, no line begins with a date and a time")
    return found


@dataclass(slots=True)
class _Chat:
    """A chat while it is read: the message that isn't ended yet, and where in time it is."""

    source: SourceFile
    options: ImportOptions
    order: DateOrder
    names: frozenset[str]
    conversation_id: str = ""
    ids: DistinctIds = field(default_factory=DistinctIds)
    minute: int = 0
    n_in_minute: int = 0

    def read(self, lines: Iterable[_Line | Skipped]) -> Iterator[Item]:
        header: Header | None = None
        text: list[str] = []
        number = 0
        for number, piece in enumerate(lines, 1):
            if isinstance(piece, Skipped):
                yield piece
                continue
            line, begun = piece
            if begun is not None:
                yield from self._message(header, text, number)
                header, text = begun, [begun.rest]
            elif header is None and line.strip():
                yield Skipped("a line before the first message", f"line {number}")
            elif header is not None:
                text.append(line)
        if text and not text[-1]:
            text.pop()
        yield from self._message(header, text, number + 1)

    def _message(self, header: Header | None, lines: list[str], number: int) -> Iterator[Item]:
        """Yield the message that ended before line ``number``."""
        if header is None:
            return
        where = f"line {number - len(lines)}"
        # What ends the line, where a file's first line ends otherwise.
        lines = [*lines[:-1], lines[-1].removesuffix("\r")]
        said = speaker_of("\n".join(lines), names=self.names)
        if said is None:
            yield Skipped("a notice that nobody says", where)
            return
        speaker, text = said
        year, month, day = header.date.read(self.order)
        at = at_local_time(
            year, month, day, hour=header.hour, minute=header.minute, second=header.second, tz=self.options.tz
        )
        if at.problem:
            yield Noted(at.problem, where)
        if not text:
            yield Skipped("nothing said", where)
            return
        day_and_minute = f"{year:04}-{month:02}-{day:02}T{header.hour:02}:{header.minute:02}"
        key = digest(day_and_minute, speaker, text)
        if not self.conversation_id:
            self.conversation_id = f"whatsapp-{key}"
            yield Conversation(self.conversation_id, _title(self.source))
        yield Turn(
            turn_id="",
            conversation_id=self.conversation_id,
            session_id=day_session(self.conversation_id, at.said_at, self.options.tz),
            ordinal=self._ordinal(None if at.said_at is None else to_microseconds(at.said_at) // _MINUTE),
            role=Role.USER,
            speaker=speaker,
            text=text,
            said_at=at.said_at,
            said_at_text=header.written,
            blocks=blocks_of(text),
            source=Source(WhatsAppImporter.name, self.ids.distinct(key), "\n".join([header.line, *lines[1:]])),
            recalled=bool(text.strip()) and not is_placeholder(text),
            indexed=said_of(text),
        )

    def _ordinal(self, minute: int | None) -> int:
        """Return a place that keeps the file's order and is the same in an export that begins later."""
        if minute is not None and minute > self.minute:
            self.minute, self.n_in_minute = minute, 0
        else:
            self.n_in_minute += 1
        return self.minute * _A_MINUTE_HOLDS + self.n_in_minute


def _title(source: SourceFile) -> str:
    """Return the chat's name as the file has it: ``WhatsApp Chat with Ada.txt``, or the zip around ``_chat.txt``."""
    name = source.path.parent.name if source.path.stem == "_chat" else source.path.name
    return name.rpartition(".")[0] or name
