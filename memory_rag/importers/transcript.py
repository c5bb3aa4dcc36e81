"""Markdown and plain transcripts: ``### User``, ``**User:**``, ``User:`` or people's names before a colon."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memory_rag.importers.formats import Detection, ImportOptions, Item, Noted, Skipped
from memory_rag.importers.identity import DistinctIds, digest
from memory_rag.importers.sampling import Sample
from memory_rag.importers.source import SourceFile
from memory_rag.importers.transcript_lines import Speakers, header_in, role_named, speakers_in, unfenced
from memory_rag.turns import Conversation, Role, Source, Turn

_TITLE: Final = re.compile(r"title: *[\"']?(.*?)[\"']? *\Z")
_LINES_SEEN: Final = 400
_SHARE_OF_HEADERS: Final = 0.3
"""Of the lines that aren't blank: a page with a few "Note:" and "Warning:" is no talk of these two."""


class TranscriptImporter:
    """Reads who speaks from headings, bold names or names before a colon; what a name is within code is code.

    A turn's text is all between its header and the next, without the blank lines at both ends. There are no times. A
    native id is a digest of speaker and text, so a file that grows adds its new turns. A text in which nobody speaks
    becomes one turn, the document, which is noted; it is read only if this format is asked for. Front matter is no
    turn; its title is the conversation's.
    """

    name = "transcript"
    whole_conversations = True

    def detect(self, sample: Sample) -> Detection:
        if sample.kind != "text":
            return Detection(self.name, 0.0, "not a text")
        lines = sample.head.split("\n")[:_LINES_SEEN]
        speakers = speakers_in(lines)
        if speakers is None:
            return Detection(self.name, 0.0, "a text in which nobody is named")
        names = sorted(speakers.names, key=lambda name: (role_named(name) is None, name))
        why = f"names that speak: {', '.join(names[:3])}"
        if role_named(names[0]) is not None:
            first = next((line for line in lines if line.strip() and line.strip() != "---"), "")
            sure = len(names) > 1 or header_in(first.removesuffix("\r"), speakers) is not None
            return Detection(self.name, 0.8 if sure else 0.3, why)
        n_headers = sum(header_in(line.removesuffix("\r"), speakers) is not None for line in lines)
        often = n_headers >= _SHARE_OF_HEADERS * sum(bool(line.strip()) for line in lines)
        is_text = sample.path.suffix.casefold() in {".md", ".markdown", ".txt"}
        return Detection(self.name, 0.6 if often and is_text else 0.3, why)

    def read(self, source: SourceFile, options: ImportOptions) -> Iterator[Item]:
        lines = [line.removesuffix("\r") for line in source.read_text().split("\n")]
        title, lines = _without_front_matter(lines)
        speakers = speakers_in(lines)
        if speakers is None:
            text = _trimmed(lines)
            if not text:
                return
            conversation_id = f"transcript-{digest(text[:1000])}"
            yield Conversation(conversation_id, title or source.path.name)
            yield Noted("nobody speaks in it, stored as one document", source.label)
            yield _turn(conversation_id, 0, "document", text, DistinctIds())
            return
        yield from _talk(lines, speakers, title or source.path.name)


def _talk(lines: list[str], speakers: Speakers, title: str) -> Iterator[Item]:
    ids = DistinctIds()
    conversation_id = ""
    ordinal = 0
    for speaker, number, text in _passages(lines, speakers):
        if not text:
            if speaker:
                yield Skipped("nothing said", f"line {number}")
            continue
        if not speaker:
            yield Skipped("text before the first speaker", f"line {number}")
            continue
        if not conversation_id:
            conversation_id = f"transcript-{digest(speaker, text)}"
            yield Conversation(conversation_id, title)
        yield _turn(conversation_id, ordinal, speaker, text, ids)
        ordinal += 1


def _passages(lines: list[str], speakers: Speakers) -> Iterator[tuple[str, int, str]]:
    """Yield who speaks, from which line, and the words; "" speaks before the first header."""
    speaker, first, said = "", 1, list[str]()
    for number, (line, outside) in enumerate(unfenced(lines), 1):
        header = header_in(line, speakers) if outside else None
        if header is None:
            said.append(line)
            continue
        yield speaker, first, _trimmed(said)
        speaker, first, said = header[0], number, [header[1]]
    yield speaker, first, _trimmed(said)


def _turn(conversation_id: str, ordinal: int, speaker: str, text: str, ids: DistinctIds) -> Turn:
    return Turn(
        turn_id="",
        conversation_id=conversation_id,
        session_id=conversation_id,
        ordinal=ordinal,
        role=role_named(speaker) or Role.USER,
        speaker=speaker,
        text=text,
        source=Source(TranscriptImporter.name, ids.distinct(digest(speaker, text))),
        recalled=role_named(speaker) is not Role.TOOL,
    )


def _trimmed(lines: list[str]) -> str:
    """Return the lines without the blank ones at both ends, which only keep speakers apart."""
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return "\n".join(lines[start:end])


def _without_front_matter(lines: list[str]) -> tuple[str, list[str]]:
    """Return the title that the front matter gives, "" without one, and the lines after it."""
    if not lines or lines[0].strip() != "---" or "---" not in [line.strip() for line in lines[1:]]:
        return "", lines
    end = next(at for at, line in enumerate(lines[1:], 1) if line.strip() == "---")
    titles = [found[1] for line in lines[1:end] if (found := _TITLE.match(line))]
    return (titles[0] if titles else ""), lines[end + 1 :]
