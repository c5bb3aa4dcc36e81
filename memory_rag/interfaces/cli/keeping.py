"""``memory-rag state``, ``pin``, ``decide`` and ``pin-file``: what is in every prompt, whatever else gives way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_rag.interfaces.cli.output import Json, print_json, say
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.terminal import shown
from memory_rag.interfaces.cli.turn_shape import instant_json
from memory_rag.text.reasoned import with_reason

if TYPE_CHECKING:
    from memory_rag.prompt.decisions import Decision
    from memory_rag.prompt.pinned_files import FileRead
    from memory_rag.prompt.pins import Pin

Turn = Annotated[str | None, typer.Option("--turn", metavar="ID", help="The turn that it comes from.")]


def state(
    place: Place,
    to_set: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Set a field: JSON, or a text as it is.", show_default=False),
    ] = None,
    to_unset: Annotated[
        list[str] | None, typer.Option("--unset", metavar="PATH", help="Take a field away.", show_default=False)
    ] = None,
    merge: Annotated[
        str | None, typer.Option("--merge", metavar="JSON", help="Lay a merge patch (RFC 7396) over it.")
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Take everything away first.")] = False,
    proposed: Annotated[
        bool, typer.Option("--proposed", help="List what the newest summary proposes for it.", show_default=False)
    ] = False,
    take: Annotated[
        list[str] | None, typer.Option("--take", metavar="ID", help="Take a proposal over.", show_default=False)
    ] = None,
    dismiss: Annotated[
        list[str] | None, typer.Option("--dismiss", metavar="ID", help="Drop a proposal for good.", show_default=False)
    ] = None,
    conversation: Annotated[str, typer.Option("--conversation", metavar="ID", help="Whose summary proposes.")] = "main",
    as_json: Json = False,
) -> None:
    """Show the state of the running task, or change it.

    It is a small JSON object that goes along in every prompt. A path has dots: customer.name. Summaries propose
    entries, each with the turns that it comes from.
    """
    if proposed:
        _proposed(place, conversation, as_json=as_json)
        return
    patch = None if merge is None else _json_object(merge)
    pairs = [_pair(given) for given in to_set or ()]
    changes = bool(clear or pairs or to_unset or patch is not None)
    with place.open(create=changes) as memory:
        task = memory.prompt.state
        if clear:
            task.clear()
        for path in to_unset or ():
            task.unset(path)
        for path, value in pairs:
            task.set(path, value)
        if patch is not None:
            task.merge(patch)
        for proposal_id in take or ():
            memory.prompt.proposals.take(proposal_id, conversation_id=conversation)
        for proposal_id in dismiss or ():
            memory.prompt.proposals.dismiss(proposal_id, conversation_id=conversation)
        now = task.get()
    if as_json:
        print_json(now)
    else:
        say(shown(json.dumps(now, ensure_ascii=False, indent=2)))


def _proposed(place: Place, conversation: str, *, as_json: bool) -> None:
    with place.open() as memory:
        found = memory.prompt.proposals.open(conversation_id=conversation)
        is_off = memory.settings.state_from_summary == "off"
    if as_json:
        print_json({"proposals": [{"proposal": one.proposal_id, "field": one.field, **one.entry} for one in found]})
        return
    for one in found:
        why = f" (why: {one.reason})" if one.reason else ""
        say(shown(f"{one.proposal_id}  {one.field}: {one.text}{why} [{', '.join(one.turn_ids)}]"))
    if not found:
        say("nothing is proposed" + (", since the setting state_from_summary is off" if is_off else ""))


def pin(
    place: Place,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="A preference.", show_default=False)] = None,
    turn: Turn = None,
    remove: Annotated[str | None, typer.Option("--remove", metavar="PIN", help="Take a pin off: p1.")] = None,
    as_json: Json = False,
) -> None:
    """Pin a preference to every prompt, or list what is pinned."""
    with place.open(create=text is not None) as memory:
        pins = memory.prompt.pins
        if remove is not None:
            pins.remove(remove)
        if text is not None:
            pins.add(text, turn_id=turn)
        listed = pins.all()
    if as_json:
        print_json({"pins": [_pin_json(one) for one in listed]})
        return
    for one in listed:
        say(f"{one.pin_id}  {shown(one.text)}{_from(one.turn_id)}")
    if not listed:
        say("nothing is pinned")


def decide(
    place: Place,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="What was decided.", show_default=False)] = None,
    because: Annotated[str | None, typer.Option("--because", metavar="TEXT", help="Why.")] = None,
    turn: Turn = None,
    remove: Annotated[str | None, typer.Option("--remove", metavar="ID", help="Take a decision out: d1.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the log as a Markdown page.")] = False,
    as_json: Json = False,
) -> None:
    """Write down a decision with its reason, or list them.

    A summary drops the reasons first, so they are kept apart and go along in every prompt.
    """
    if text is not None and because is None:
        raise typer.BadParameter("a decision needs its reason, give it with --because")
    if text is None and because is not None:
        raise typer.BadParameter("--because is the reason of a decision, give the decision as TEXT")
    with place.open(create=text is not None) as memory:
        decisions = memory.prompt.decisions
        if remove is not None:
            decisions.remove(remove)
        if text is not None and because is not None:
            decisions.add(text, because=because, turn_id=turn)
        listed = decisions.all()
        zone = memory.zone
    if as_json:
        print_json({"decisions": [_decision_json(one) for one in listed]})
        return
    if markdown:
        from memory_rag.prompt.decisions import as_markdown

        say(shown(as_markdown(listed, zone=zone)).rstrip("\n"))
        return
    for one in listed:
        say(f"{one.decision_id}  {shown(with_reason(one.text, one.because))}{_from(one.turn_id)}")
    if not listed:
        say("nothing was decided")


def pin_file(
    place: Place,
    path: Annotated[Path | None, typer.Argument(metavar="PATH", help="A text file.", show_default=False)] = None,
    remove: Annotated[Path | None, typer.Option("--remove", metavar="PATH", help="Read a file no more.")] = None,
    as_json: Json = False,
) -> None:
    """Read a file anew for every prompt, or list such files.

    One that has changed, is missing or is too large for the prompt is told as that, never left out in silence.
    """
    with place.open(create=path is not None) as memory:
        files = memory.prompt.files
        if remove is not None:
            files.unpin(remove)
        if path is not None:
            files.pin(path)
        read = files.read()
    if as_json:
        print_json({"files": [file_json(one) for one in read]})
        return
    for one in read:
        say(shown(str(one)))
    if not read:
        say("no file is pinned")


def file_json(read: FileRead) -> dict[str, Any]:
    """Return how a pinned file is now, without its words."""
    return {
        "path": read.path,
        "status": read.status,
        "lines": read.n_lines,
        "bytes": read.n_bytes,
        "sha256": read.sha256,
        "first_line": read.first_line,
        "is_cut": read.is_cut,
        "why": read.why,
    }


def _pin_json(one: Pin) -> dict[str, Any]:
    return {
        "pin_id": one.pin_id,
        "text": one.text,
        "turn_id": one.turn_id,
        "pinned_at": instant_json(one.pinned_at),
    }


def _decision_json(one: Decision) -> dict[str, Any]:
    return {
        "decision_id": one.decision_id,
        "text": one.text,
        "because": one.because,
        "turn_id": one.turn_id,
        "decided_at": instant_json(one.decided_at),
    }


def _from(turn_id: str | None) -> str:
    return f" ({turn_id})" if turn_id else ""


def _pair(given: str) -> tuple[str, Any]:
    path, equals, value = given.partition("=")
    if not equals:
        raise typer.BadParameter(f"--set {given!r} has no value; give PATH=VALUE, such as customer.name=Åsa")
    try:
        return path, json.loads(value)
    except ValueError:
        return path, value


def _json_object(text: str) -> dict[str, Any]:
    try:
        parsed = json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"--merge is a JSON object, got {text!r} ({error})") from error
    if not isinstance(parsed, dict):
        raise typer.BadParameter(f"--merge is a JSON object, got {text!r}")
    return parsed
