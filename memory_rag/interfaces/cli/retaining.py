"""``memory-rag retain``: how long turns are kept, what will go and when."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memory_rag.interfaces.cli.forgetting import report_end
from memory_rag.interfaces.cli.narrowing import Conversation, RoleName
from memory_rag.interfaces.cli.output import Json, note, print_json, say, tell
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.terminal import shown
from memory_rag.interfaces.cli.turn_shape import when

if TYPE_CHECKING:
    from memory_rag.memory import Memory
    from memory_rag.privacy.retention import Schedule, Scope

_FOR_EVER: Final = "forever"
_LISTED: Final = 20


def _days(value: str | None) -> str | None:
    if value is not None and value != _FOR_EVER and not (value.isascii() and value.isdigit()):
        raise typer.BadParameter(f"{value!r} is no number of days; give a whole number, or {_FOR_EVER}")
    return value


def retain(
    place: Place,
    days: Annotated[
        str | None,
        typer.Option(
            "--set", metavar=f"DAYS|{_FOR_EVER}", callback=_days, help="Keep turns so long.", show_default=False
        ),
    ] = None,
    unset: Annotated[bool, typer.Option("--unset", help="Take the rule away.", show_default=False)] = False,
    conversation: Conversation = None,
    role: RoleName = None,
    apply: Annotated[bool, typer.Option("--apply", help="Forget what is due now.", show_default=False)] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show which turns would go now, remove nothing.", show_default=False)
    ] = False,
    as_json: Json = False,
) -> None:
    """Say how long turns are kept, and show what will go and when.

    A rule is for the whole memory, or with --conversation or --role for a part: a conversation's rule counts before a
    role's, and that before the memory's. What is due goes with --apply, and by itself once a day when the memory is
    opened. Pins, decisions and the state stay.
    """
    if sum((days is not None, unset, apply, dry_run)) > 1:
        raise typer.BadParameter("--set, --unset, --apply and --dry-run are done one at a time")
    if conversation is not None and role is not None:
        raise typer.BadParameter("a rule is for a conversation or for a role; set two rules")
    with place.open() as memory:
        if days is not None or unset:
            _change(memory, days, conversation=conversation, role=role)
        if apply:
            _apply(memory, as_json=as_json)
            return
        schedule = memory.retention.schedule()
        if as_json:
            print_json(_as_json(schedule))
            return
        _print(schedule, memory, listed=dry_run)
        if days is not None and schedule.due:
            note(f"{_turns(len(schedule.due))} of old go with --apply, or by themselves at an opening from tomorrow on")
    if dry_run:
        say(f"would forget {_turns(len(schedule.due))}; nothing was removed")


def _change(memory: Memory, days: str | None, *, conversation: str | None, role: str | None) -> None:
    from memory_rag.privacy.retention import Scope

    scope: Scope = Scope.MEMORY
    if conversation is not None:
        scope = Scope.CONVERSATION
    elif role is not None:
        scope = Scope.ROLE
    name = conversation or role or ""
    if days is None:
        memory.retention.unset(scope, name)
        tell("the rule is gone")
    else:
        rule = memory.retention.set(scope, name, days=None if days == _FOR_EVER else int(days))
        tell(f"set: {rule}")


def _apply(memory: Memory, *, as_json: bool) -> None:
    done = memory.retention.apply()
    if as_json:
        print_json({"forgotten": []} if done is None else done.as_json())
    else:
        say(f"forgot {_turns(0 if done is None else done.n_turns)}")
    if done is not None:
        note("a backup made earlier still holds the words")
        report_end(done)


def _print(schedule: Schedule, memory: Memory, *, listed: bool) -> None:
    if not schedule.rules:
        say("no rule: everything is kept for ever; set one with: memory-rag retain --set 365")
        return
    for rule in schedule.rules:
        say(shown(str(rule)))
    week, month = timedelta(days=7), timedelta(days=30)
    say(f"goes now: {_turns(len(schedule.due))}")
    say(f"goes within 7 days: {_turns(schedule.between(timedelta(0), week))}")
    say(f"goes after that, within 30 days: {_turns(schedule.between(week, month))}")
    later = len(schedule.expiries) - len(schedule.due) - schedule.between(timedelta(0), month)
    say(f"goes later: {_turns(later)}")
    say(f"kept for ever: {_turns(schedule.n_kept)}")
    coming = [one for one in schedule.expiries if one.at > schedule.now]
    if coming:
        say(f"next: {shown(coming[0].turn_id)}, {when(coming[0].at, memory.zone)}")
    for one in schedule.due[:_LISTED] if listed else ():
        say(shown(f"  {one.turn_id}  {one.conversation_id}, since {when(one.at, memory.zone)} ({one.rule})"))
    if listed and len(schedule.due) > _LISTED:
        say(f"  ... and {len(schedule.due) - _LISTED:,} more")


def _as_json(schedule: Schedule) -> dict[str, Any]:
    return {
        "rules": [rule.as_json() for rule in schedule.rules],
        "due": [one.as_json() for one in schedule.due],
        "later": [one.as_json() for one in schedule.expiries[len(schedule.due) :]],
        "kept": schedule.n_kept,
    }


def _turns(n: int) -> str:
    return f"{n:,} {'turn' if n == 1 else 'turns'}"
