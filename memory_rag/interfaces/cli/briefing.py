"""``memory-rag brief``: what a new session knows before anything is said."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import tzinfo
from typing import TYPE_CHECKING, Annotated

import typer

from memory_rag.interfaces.cli.output import Json, is_colourful, note, print_json, say
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.talk_shape import days
from memory_rag.interfaces.cli.terminal import Ink, screen_width, shown, wrapped
from memory_rag.text.reasoned import with_reason

if TYPE_CHECKING:
    from memory_rag.prompt.brief import Brief


def brief(
    place: Place,
    conversation: Annotated[
        str, typer.Option("--conversation", metavar="ID", help="Which one the session is of.")
    ] = "main",
    earlier: Annotated[int, typer.Option("--earlier", min=0, metavar="N", help="Earlier sessions at most.")] = 5,
    as_json: Json = False,
) -> None:
    """Say what a new session knows before anything is said.

    Preferences, the state, decisions, pinned files, the summary, and what the last sessions were about.
    """
    with place.open() as memory:
        made = memory.prompt.brief(conversation_id=conversation, n_earlier=earlier)
        zone = memory.zone
    if as_json:
        print_json(made.as_json())
        return
    print_brief(made, zone)
    if made.untold:
        many = "1 session has" if made.untold == 1 else f"{made.untold} sessions have"
        note(f"{many} no summary yet; make them with: {place.command('summary', '--make')}")


def print_brief(made: Brief, zone: tzinfo) -> None:
    """Print a brief for a reader, a heading a part; a part without anything is left out."""
    ink = Ink(is_colourful(sys.stdout))
    if made.is_empty:
        say("A new session knows nothing yet.")
        return
    width = screen_width()
    for number, (heading, lines) in enumerate(_sections(made, zone)):
        if number:
            say()
        say(ink.bold(heading))
        for line in lines:
            text = shown(line)
            bullet = "  " if text.startswith("- ") else ""
            for at, span in enumerate(wrapped(text, width - 2)):
                say(("" if at == 0 else bullet) + span.of(text))


def _sections(made: Brief, zone: tzinfo) -> Iterator[tuple[str, list[str]]]:
    if made.preferences:
        yield "Preferences", [f"- {_line(pin.text)} ({pin.pin_id})" for pin in made.preferences]
    if made.state:
        yield "State of the task", [f"- {name}: {_value(value)}" for name, value in made.state.items()]
    if made.decisions:
        yield (
            "Decisions",
            [
                f"- {one.decided_at.astimezone(zone).date().isoformat()}: "
                f"{with_reason(one.text, one.because)} ({one.decision_id})"
                for one in made.decisions
            ],
        )
    if made.files:
        yield "Pinned files", [f"- {file}" for file in made.files]
    if made.summary is not None:
        yield f"What was said in {made.conversation_id!r}", made.summary.text.splitlines()
    if made.earlier:
        lines = []
        for talk in made.earlier:
            about = talk.summary.one_line if talk.summary is not None else ""
            lines.append(f"- {days(talk, zone)}, {_line(talk.name)}: {_line(about) or 'no summary yet'}")
        yield "Earlier sessions", lines


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _line(text: str) -> str:
    return " ".join(text.split())
