"""``memory-rag summary``: what left the window in few words, and what those words lost."""

from __future__ import annotations

from datetime import tzinfo
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_rag.interfaces.cli.output import Json, error, note, print_json, say
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.terminal import fitted, screen_width, shown, wrapped
from memory_rag.interfaces.cli.turn_shape import when

if TYPE_CHECKING:
    from memory_rag.summaries.running import Audited

_LOST_SHOWN = 40


def _level(value: str) -> str:
    from memory_rag.summaries.summary import Level

    if value not in tuple(Level):
        raise typer.BadParameter(f"unknown level {value!r}; a level is one of: {', '.join(Level)}")
    return value


def summary(
    place: Place,
    conversation: Annotated[
        str | None, typer.Option("--conversation", metavar="ID", help="Only this one. Default: all.")
    ] = None,
    level: Annotated[
        str, typer.Option("--level", metavar="LEVEL", callback=_level, help="hundred, thousand or lifetime")
    ] = "hundred",
    make: Annotated[
        bool, typer.Option("--make", help="First summarise what no summary stands for yet.", show_default=False)
    ] = False,
    focus: Annotated[
        str | None, typer.Option("--focus", metavar="TEXT", help="Make it, and keep what bears on this.")
    ] = None,
    audit: Annotated[
        bool, typer.Option("--audit", help="Say what each summary lost, and of which turn.", show_default=False)
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the running summaries, each line with its turns.

    The newest turns of a conversation are never summarised: they go into a prompt as they are.
    """
    from memory_rag.errors import ModelError
    from memory_rag.prompt.events import EventKind
    from memory_rag.summaries.summary import Level

    failed: list[str] = []
    with place.open() as memory:
        wanted = (
            [conversation] if conversation is not None else [c.conversation_id for c in memory.store.conversations()]
        )
        if make or focus is not None:
            before = {event.number for event in memory.prompt.events.events(kind=EventKind.WARNING)}
            made = [bool(memory.summaries.summarise(one, focus=focus or "")) for one in wanted]
            try:
                made += [memory.talks.summarise(one) > 0 for one in wanted]
            except ModelError as stopped:
                failed.append(str(stopped))
            warned = [one for one in memory.prompt.events.events(kind=EventKind.WARNING) if one.number not in before]
            failed += [str(one.details["reason"]) for one in warned if "reason" in one.details]
            if not any(made) and not failed:
                note("nothing was left to summarise, or another process is at it")
        found = [one for name in wanted for one in memory.summaries.audited(name, level=Level(level))]
        zone = memory.zone
    if as_json:
        print_json([_as_json(one, with_audit=audit) for one in found])
    else:
        for number, one in enumerate(found):
            if number:
                say()
            _print(one, zone, with_audit=audit)
    if failed:
        for reason in dict.fromkeys(failed):
            error(f"a summary wasn't made: {reason}")
        raise typer.Exit(1)
    if not found:
        higher = "" if level == "hundred" else "; a higher level is made once two summaries of 100 turns are full"
        note(f"there is no summary of this level yet{higher}; make one with: {place.command('summary', '--make')}")


def _as_json(one: Audited, *, with_audit: bool) -> dict[str, Any]:
    return {**one.summary.as_json(), **({"audit": one.audit.as_json()} if with_audit else {})}


def _print(one: Audited, zone: tzinfo, *, with_audit: bool) -> None:
    made = one.summary
    turns = "1 turn" if made.n_turns == 1 else f"{made.n_turns} turns, {made.first_turn_id} to {made.last_turn_id}"
    say(shown(f"{made.conversation_id}: {turns}, {made.n_words} words by {made.made_by}, {when(made.made_at, zone)}"))
    if made.note:
        say(shown(f"  {made.note}"))
    if made.focus:
        say(shown(f"  focus: {made.focus}"))
    width = screen_width()
    for line in shown(made.text).splitlines():
        for number, span in enumerate(wrapped(line, width - 4)):
            say(("  " if number == 0 else "    ") + span.of(line))
    if with_audit:
        _print_audit(one, width)


def _print_audit(one: Audited, width: int) -> None:
    counted = [f"{kept.kept} of {kept.of} {kind}s" for kind, kept in one.audit.kept.items() if kept.of]
    say("  kept: " + (", ".join(counted) or "there was nothing to keep"))
    first = ("decision", "preference")
    lost = sorted(one.audit.lost, key=lambda found: found.kind not in first)
    for found in lost[:_LOST_SHOWN]:
        say(fitted(shown(f"  lost: {found.kind} {found.text}"), width - len(found.turn_id) - 3) + f" [{found.turn_id}]")
    if len(lost) > _LOST_SHOWN:
        say(f"  and {len(lost) - _LOST_SHOWN} more; all of them are in --json")
