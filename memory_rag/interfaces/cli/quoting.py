"""``memory-rag quote``: where exactly these words were said."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memory_rag.interfaces.cli.finding_words import findings_json, findings_line
from memory_rag.interfaces.cli.narrowing import EVERYWHERE, Narrowing
from memory_rag.interfaces.cli.option_groups import with_options
from memory_rag.interfaces.cli.output import Json, is_colourful, note, print_json, say, tell
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.terminal import Ink, fitted, screen_width, shown, wrapped
from memory_rag.interfaces.cli.turn_shape import DOT, spoken_in, when
from memory_rag.turns import Span

if TYPE_CHECKING:
    from memory_rag.memory import Memory
    from memory_rag.retrieval.differences import Difference
    from memory_rag.retrieval.quotes import Quote

_CHANGES: Final = {
    "changed": "you have “{expected}”, it says “{found}”",
    "extra": "it also says “{found}”",
    "missing": "it doesn't say “{expected}”",
}
_SENTENCE_END = re.compile(r"[.!?…]['\"”’»)]*\s+|[。！？]|\n")
_REACH = 160


@with_options(Narrowing)
def quote(
    place: Place,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The words, as you remember them.", show_default=False)],
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="How many places at most.")] = 10,
    narrowing: Narrowing = EVERYWHERE,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Leave with 1 if nothing is found.", show_default=False)
    ] = False,
    as_json: Json = False,
) -> None:
    """Find where these words were said, exactly or nearly.

    exact: byte for byte. folded: but for case, white space and kinds of marks. near: similar, with every difference.
    """
    narrowed = narrowing.within(unrecalled=True)
    with place.open() as memory:
        quotes = memory.quote(text, limit=limit, within=narrowed)
        notes = memory.indexes.notes_on(narrowed)
        if as_json:
            found = memory.store.findings.of([one.turn_id for one in quotes])
            listed = [{**one.as_json(), "findings": findings_json(found.get(one.turn_id, ()))} for one in quotes]
            print_json({"query": text, "quotes": listed})
        else:
            print_quotes(quotes, memory)
    if as_json and not quotes:
        tell("not found")
    for line in notes:
        note(line)
    if exit_code and not quotes:
        raise typer.Exit(1)


def print_quotes(quotes: Sequence[Quote], memory: Memory) -> None:
    """Print each place for a reader: how exactly, who, when, where, and the words in their sentence."""
    if not quotes:
        say("not found")
    ink, width = Ink(is_colourful(sys.stdout)), screen_width()
    found = memory.store.findings.of([one.turn_id for one in quotes])
    names = spoken_in((one.conversation_id for one in quotes), memory.talks.shelf.titles)
    for one in quotes:
        if one is not quotes[0]:
            say()
        where = names[one.conversation_id]
        for line in quote_lines(one, memory.get(one.turn_id).text, memory.zone, where=where, ink=ink, width=width):
            say(line)
        if gone := [finding for finding in found.get(one.turn_id, ()) if finding.action == "redact"]:
            say("  " + ink.odd(f"this turn: {findings_line(gone)}"))


def quote_lines(one: Quote, text: str, zone: tzinfo, *, where: str, ink: Ink, width: int) -> Iterator[str]:
    """Yield the lines that show a quote found in a turn's text."""
    status = one.status if one.status != "near" else f"near, {one.similarity:.0f} of 100"
    style = ink.good if one.status == "exact" else ink.odd
    speaker = shown(one.speaker)
    who = speaker if speaker.casefold() == one.role.value else f"{speaker} ({one.role.value})"
    head = DOT.join([status, who, when(one.said_at, zone), one.turn_id, shown(where)])
    head = fitted(head, width)
    yield style(status) + head[len(status) :]
    text = shown(text)
    around = sentence(text, Span(one.start, one.end))
    before = "… " if text[: around.start].strip() else ""
    after = " …" if text[around.end :].strip() else ""
    lines = wrapped(text[around.start : around.end], width - 6)
    for number, line in enumerate(lines):
        placed = Span(around.start + line.start, around.start + line.end)
        marked = ink.marked(text, placed, [Span(one.start, one.end)])
        if not ink.colour:
            marked = _bracketed(text, placed, Span(one.start, one.end))
        opening = before if number == 0 else ""
        closing = after if number == len(lines) - 1 else ""
        yield f"  {opening}{marked}{closing}"
    yield ink.dim(f"  characters {one.start:,} to {one.end:,}")
    if one.corrected_at is not None:
        yield "  " + ink.odd(f"corrected {when(one.corrected_at, zone)}; see: memory-rag show {one.turn_id}")
    for difference in one.differences:
        yield "  " + ink.odd(told(difference))


def told(difference: Difference) -> str:
    """Return a difference between the words asked for and those that stand there."""
    told = _CHANGES[difference.change].format(expected=difference.expected, found=difference.found)
    return f"{difference.kind}: {told}"


def sentence(text: str, span: Span) -> Span:
    """Return the sentences that a span lies in, at most 160 characters to either side of it."""
    start = max(0, span.start - _REACH)
    for match in _SENTENCE_END.finditer(text, start, span.start):
        start = match.end()
    if start == span.start - _REACH:
        start = _after_space(text, start, span.start)
    closing = _SENTENCE_END.search(text, max(span.end - 1, span.start), len(text))
    end = min(closing.end() if closing else len(text), len(text))
    if end > span.end + _REACH:
        end = max(span.end, text.rfind(" ", span.end, span.end + _REACH))
    while start < span.start and text[start].isspace():
        start += 1
    while end > span.end and text[end - 1].isspace():
        end -= 1
    return Span(start, max(end, span.end))


def _after_space(text: str, start: int, limit: int) -> int:
    found = text.find(" ", start, limit)
    return start if found < 0 else found + 1


def _bracketed(text: str, line: Span, mark: Span) -> str:
    """Return a line with the quote between » and «, where there is no colour to mark it."""
    start, end = max(line.start, mark.start), min(line.end, mark.end)
    if start >= end:
        return line.of(text)
    opening = "»" if start == mark.start else ""
    closing = "«" if end == mark.end else ""
    return f"{text[line.start : start]}{opening}{text[start:end]}{closing}{text[end : line.end]}"
