"""``memory-rag scan`` and ``off-record``: what secrets a memory holds, and a memory that takes nothing."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memory_rag.interfaces.cli.output import Json, is_colourful, note, print_json, say
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.progress import progress_bar
from memory_rag.interfaces.cli.terminal import Ink, padded, shown
from memory_rag.interfaces.cli.turn_shape import instant_json, when

if TYPE_CHECKING:
    from memory_rag.privacy.scan import Held, Scan

_NAMES_SHOWN: Final = 8


class Switch(StrEnum):
    """Whether a memory is off the record."""

    ON = "on"
    OFF = "off"


def scan(
    place: Place,
    tag: Annotated[
        bool, typer.Option("--tag", help="Write down where they are, as it is done for new turns.", show_default=False)
    ] = False,
    as_json: Json = False,
) -> None:
    """List the secrets and personal data that are stored, by kind.

    The words are not changed. Leaves with 1 if something is stored that would be redacted or refused today.
    """
    from memory_rag.privacy.scan import as_json as scan_json
    from memory_rag.privacy.scan import scan as scan_store
    from memory_rag.privacy.screening import Screening

    with place.open() as memory, progress_bar() as progress:
        result = scan_store(memory.store, Screening.of_settings(memory.settings), tag=tag, progress=progress)
    if as_json:
        print_json(scan_json(result))
    else:
        _print_scan(result, place)
    if result.unwanted:
        raise typer.Exit(1)


def off_record(
    place: Place,
    switch: Annotated[
        Switch | None, typer.Argument(metavar="on|off", help="Default: tell how it is.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Store no turns from now on, or store them again.

    It is remembered in the memory and holds for every program that uses it, until it is switched off.
    """
    with place.open(create=switch is Switch.ON) as memory:
        record = memory.off_record
        if switch is Switch.ON:
            record.on()
        elif switch is Switch.OFF:
            record.off()
        since, zone = record.since, memory.zone
    if as_json:
        print_json({"off_record": since is not None, "since": instant_json(since)})
    elif since is None:
        say("on the record: turns are stored")
    else:
        ended = place.command("off-record", "off")
        say(f"off the record since {when(since, zone)}: no turn is stored; end it with: {ended}")


def _print_scan(result: Scan, place: Place) -> None:
    ink = Ink(is_colourful(sys.stdout))
    counts = result.counts()
    if not counts:
        say(f"nothing found in {result.n_turns:,} {'turn' if result.n_turns == 1 else 'turns'}")
    room = max(map(len, counts), default=0) + 2
    for kind, (n, n_turns) in counts.items():
        of_kind = [one for one in result.held if one.kind is kind]
        is_unwanted = any(one.unwanted for one in of_kind)
        head = padded(kind.value, room)
        where = "1 turn" if n_turns == 1 else f"{n_turns:,} turns"
        say((ink.bad if is_unwanted else ink.bold)(head) + f"{n:,} in {where}: {_names(of_kind)}")
    if result.redacted:
        taken = ", ".join(f"{n:,} × {kind}" for kind, n in sorted(result.redacted.items()))
        say(f"taken out before it was stored: {taken}")
    if result.tagged is not None:
        say(f"tagged in {result.tagged:,} turns")
    unwanted = list(dict.fromkeys(one.name for one in result.unwanted if one.what == "turn"))
    if unwanted:
        note(
            f"{len(unwanted):,} turns hold what would be redacted or refused today; remove one with: "
            f"{place.command('forget', unwanted[0])}, or put its text right with: "
            f"{place.command('correct', unwanted[0], 'TEXT', '--drop-old')}"
        )
    beside = list(dict.fromkeys(f"{one.what} {one.name}" for one in result.unwanted if one.what != "turn"))
    if beside:
        note(f"so do, beside the turns: {shown(', '.join(beside[:_NAMES_SHOWN]))}")
    note("health, faith, politics and passwords that are ordinary words can't be found by rule")


def _names(held: list[Held]) -> str:
    names = list(dict.fromkeys(one.name if one.what == "turn" else f"{one.what} {one.name}" for one in held))
    more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
    return shown(", ".join(names[:_NAMES_SHOWN])) + more
