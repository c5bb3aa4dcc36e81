"""What of a message that a client sends is new, and what is quoted turns of ours that come back to us.

A client sends its whole history with each request, and in it what was recalled for earlier ones. Stored as if the user
had said it, it would be found beside what it quotes, and quoted again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from memory_rag.errors import UnknownTurnError
from memory_rag.prompt import earlier
from memory_rag.prompt.compaction import SUMMARY_HEADING
from memory_rag.prompt.fencing import GAP, NAME, OPENING
from memory_rag.prompt.retrieved import WEAK
from memory_rag.store.turn_reader import TurnReader
from memory_rag.turns import Span, printable

_OPENED: Final = re.compile(rf"<({NAME}(?:_[1-9][0-9]{{0,8}})?)>")
_HEAD: Final = re.compile(
    r"\[(?P<id>[^\[\]·]+?) · [^\[\]]*?(?:· characters (?P<start>[0-9]{1,12}) to (?P<end>[0-9]{1,12}) of [0-9]+)?\]"
)
_TOLD: Final = " ".join(OPENING.partition("\n")[2].split())
_TOLD_WEAK: Final = " ".join((_TOLD, *WEAK.split()))
_MARK: Final = ">"


@dataclass(frozen=True, slots=True)
class OwnWords:
    """A message without the quoted turns that we put into it.

    ``text`` is the rest, byte for byte but for the white space around what was taken out; empty if nothing is left, and
    then there is nothing to store. ``turn_ids`` are the turns that were quoted, as far as they are stored; ``n_gone``
    counts quoted turns that are stored no more, which stay away: they may have been forgotten. A quotation whose words
    are not the stored ones is left where it is: nobody else has these words.
    """

    text: str
    turn_ids: tuple[str, ...] = ()
    n_gone: int = 0
    taken_out: tuple[Span, ...] = field(default=())


def own_words(message: str, store: TurnReader) -> OwnWords:
    """Return what a message holds beside quoted turns of ours, to be stored in its place.

    A quotation is known by its fence and by its words, each compared with the stored turn or an earlier version of it;
    line ends, indentation and white space at the ends of lines may have changed on the way. The message in which a
    compaction told what was said before is a model's throughout, and nothing of it is the client's own.
    """
    if message.lstrip().startswith(SUMMARY_HEADING):
        return OwnWords("", taken_out=(Span(0, len(message)),))
    turn_ids: list[str] = []
    n_gone = 0
    spans = [*_told_talks(message)]
    for block in _blocks(message) if NAME in message else ():
        checked = [_checked(entry, store) for entry in block.entries]
        if None not in checked:
            spans.append(block.span)
            turn_ids += [turn_id for turn_id in checked if turn_id]
            n_gone += checked.count("")
    if not spans:
        return OwnWords(message)
    spans.sort()
    bounds = [0, *(place for span in spans for place in (span.start, span.end)), len(message)]
    kept = [message[start:end].strip() for start, end in zip(bounds[::2], bounds[1::2], strict=True)]
    return OwnWords("\n\n".join(filter(None, kept)), tuple(dict.fromkeys(turn_ids)), n_gone, tuple(spans))


@dataclass(frozen=True, slots=True)
class _Entry:
    """One quoted turn as it stands in a message."""

    turn_id: str
    span: Span | None
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Block:
    span: Span
    entries: tuple[_Entry, ...]


def _blocks(message: str) -> Iterator[_Block]:
    """Yield the fences of a message that hold what ours hold and nothing else."""
    after = 0
    for opened in _OPENED.finditer(message):
        if opened.start() < after:
            continue
        closing = f"</{opened[1]}>"
        end = message.find(closing, opened.end())
        inside = message[opened.end() : end]
        entries = None if end < 0 else _entries(inside)
        if entries is not None:
            after = end + len(closing)
            yield _Block(Span(opened.start(), after), entries)


def _told_talks(message: str) -> Iterator[Span]:
    """Yield where earlier conversations are told, a line each, in words of ours and nothing else."""
    opening, closing = earlier.OPENING.partition("\n")[0], earlier.CLOSING.strip()
    end = 0
    while (start := message.find(opening, end)) >= 0 and (closed := message.find(closing, start)) >= 0:
        end = closed + len(closing)
        lines = [line.strip() for line in message[start + len(opening) : closed].splitlines()]
        words = " ".join(" ".join(line for line in lines if not line.startswith("- ")).split())
        if words == " ".join(earlier.OPENING.partition("\n")[2].split()):
            yield Span(start, end)


def _entries(inside: str) -> tuple[_Entry, ...] | None:
    """Return the quoted turns inside a fence; None if there is anything else."""
    lines = [line.strip() for line in inside.splitlines()]
    words: list[str] = []
    entries: list[tuple[re.Match[str], list[str]]] = []
    for line in lines:
        head = _HEAD.fullmatch(line)
        if head is not None:
            entries.append((head, []))
        elif entries and line.startswith(_MARK):
            entries[-1][1].append(line[1:].strip())
        elif not entries:
            words.append(line)
        elif line not in ("", GAP.strip()):
            return None
    if " ".join(" ".join(words).split()) not in (_TOLD, _TOLD_WEAK) or not entries:
        return None
    return tuple(
        _Entry(
            head["id"],
            None if head["start"] is None else Span(int(head["start"]), max(int(head["start"]), int(head["end"]))),
            tuple(quoted),
        )
        for head, quoted in entries
    )


def _checked(entry: _Entry, store: TurnReader) -> str | None:
    """Return the id of the turn that is quoted; "" if it is stored no more, None if these are not its words."""
    try:
        (turn,) = store.get([entry.turn_id])
    except UnknownTurnError:
        return ""
    versions = [turn, *store.earlier_versions(entry.turn_id)]
    return turn.turn_id if any(entry.lines == _as_quoted(one.text, entry.span) for one in versions) else None


def _as_quoted(text: str, span: Span | None) -> tuple[str, ...]:
    part = text if span is None else span.of(text)
    return tuple(line.strip() for line in printable(part).splitlines()) or ("",)
