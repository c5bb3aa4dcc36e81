"""``memory-rag show``: one turn in full, amid those around it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_rag.interfaces.cli.finding_words import findings_json, findings_line
from memory_rag.interfaces.cli.output import Json, error, is_colourful, print_json, say, write_json
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.terminal import Ink, fitted, screen_width, shown, wrapped
from memory_rag.interfaces.cli.turn_shape import DOT, instant_json, place_line, spoken_in, turn_json, when
from memory_rag.turns import Block, Turn

if TYPE_CHECKING:
    from memory_rag.store.screening import Finding

_BLOCK_LINES = 12


def show(
    place: Place,
    turn_id: Annotated[str, typer.Argument(metavar="ID", help="A turn's id.", show_default=False)],
    before: Annotated[int, typer.Option("--before", min=0, metavar="N", help="Turns before it.")] = 1,
    after: Annotated[int, typer.Option("--after", min=0, metavar="N", help="Turns after it.")] = 1,
    raw: Annotated[
        bool, typer.Option("--raw", help="Print the JSON that it was imported from, and nothing else.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show a turn in full, amid the turns around it."""
    with place.open() as memory:
        turn = memory.get(turn_id)
        around = memory.neighbours(turn_id, before=before, after=after)
        earlier = memory.store.earlier_versions(turn_id)
        vanished = memory.store.vanished().get(turn_id)
        found = memory.store.findings.of([turn_id]).get(turn_id, ())
        zone = memory.zone
        # A turn's neighbours are of its own conversation.
        where = spoken_in([turn.conversation_id], memory.talks.shelf.titles)[turn.conversation_id]
    if raw:
        if turn.source is None or turn.source.raw is None:
            error(f"turn {turn_id} has no source JSON, it was not imported; leave out --raw")
            raise typer.Exit(1)
        write_json(turn.source.raw + "\n")
    elif as_json:
        at = [one.turn_id for one in around].index(turn_id)
        print_json(
            {
                "turn": turn_json(turn),
                "before": [turn_json(one) for one in around[:at]],
                "after": [turn_json(one) for one in around[at + 1 :]],
                "earlier_versions": [turn_json(one) for one in earlier],
                "vanished_at": instant_json(vanished),
                "findings": findings_json(found),
            }
        )
    else:
        for one in around:
            if one is not around[0]:
                say()
            if one.turn_id == turn_id:
                _print_whole(one, earlier, zone, where=where, vanished=vanished, found=found)
            else:
                _print_short(one, zone, where=where)


def _print_short(turn: Turn, zone: tzinfo, *, where: str) -> None:
    ink, width = Ink(is_colourful(sys.stdout)), screen_width()
    say(ink.dim(place_line(turn, zone, where=where, width=width, ink=Ink(False))))
    said = fitted(shown(turn.text), width - 2) or ", ".join(f"[{block.kind}]" for block in turn.blocks)
    say(ink.dim(f"  {said}"))


def _print_whole(
    turn: Turn,
    earlier: list[Turn],
    zone: tzinfo,
    *,
    where: str,
    vanished: datetime | None,
    found: Sequence[Finding],
) -> None:
    ink, width = Ink(is_colourful(sys.stdout)), screen_width()
    say(place_line(turn, zone, where=where, width=width, ink=ink))
    details = [f"role {turn.role.value}"]
    if where != turn.conversation_id:
        details.append(f"conversation {shown(turn.conversation_id)}")
    details.append(f"session {shown(turn.session_id)}")
    if turn.said_at_text is not None:
        details.append(f"time as written {shown(turn.said_at_text)}")
    if turn.source is not None:
        details.append(f"{shown(turn.source.name)} {shown(turn.source.native_id)}")
    if not turn.recalled:
        details.append("left out of search")
    told = DOT.join(details)
    for line in wrapped(told, width - 2):
        say("  " + ink.dim(line.of(told).removeprefix(DOT.lstrip())))
    if vanished is not None:
        say("  " + ink.odd(f"no longer at its source when that was imported again: {when(vanished, zone)}"))
    if found:
        say("  " + ink.odd(findings_line(found)))
    say()
    text = shown(turn.text).expandtabs(4)
    for line in wrapped(text, width):
        say(line.of(text))
    for block in turn.blocks:
        say()
        for row in _block_lines(block, width):
            say(ink.dim(row))
    for old in reversed(earlier):
        said = fitted(shown(old.text), width - 2)
        say()
        say(ink.odd(f"Before it was corrected: {shown(old.speaker)}{DOT}{when(old.said_at, zone)}"))
        say(f"  {said}")


def _block_lines(block: Block, width: int) -> Iterator[str]:
    """Yield a block for a reader: its kind and caption, then its JSON, cut visibly."""
    caption = f": {shown(block.caption)}" if block.caption else ""
    yield f"[{shown(block.kind)}{caption}]"
    text = shown(_readable(dict(block.data)))
    lines = wrapped(text, width - 2)
    yield from (f"  {line.of(text)}" for line in lines[:_BLOCK_LINES])
    if len(lines) > _BLOCK_LINES:
        yield f"  … ({len(lines) - _BLOCK_LINES:,} more lines; all of it with --json)"


def _readable(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1) if data else ""
