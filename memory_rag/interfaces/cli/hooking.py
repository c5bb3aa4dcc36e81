"""``memory-rag hook``: called by another program when something happens there; it never fails."""

from __future__ import annotations

import os
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Final

import typer

from memory_rag.interfaces.cli.help_page import HelpfulCommand
from memory_rag.interfaces.cli.output import flush, tell, write_json
from memory_rag.interfaces.cli.place import Place

_PROGRAM: Final = "claude-code"

hook = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@hook.command(
    "hook",
    cls=HelpfulCommand,
    # Exit code 2 would stop what Claude Code is about to do, and is what a wrong option gives: none is wrong here.
    context_settings={
        "help_option_names": ["-h", "--help"],
        "ignore_unknown_options": True,
        "allow_extra_args": True,
    },
)
def run(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="claude-code [--memory NAME|PATH|URL] [--home FOLDER] [--owner NAME]", show_default=False
        ),
    ] = None,
) -> None:
    """Store or brief a session of Claude Code.

    Claude Code calls this itself; memory-rag install claude-code sets it up. What happened is read from stdin: before a
    compaction and at a session's end the session is stored; at its start, what is pinned, decided and summarised is
    printed for it. It leaves with 0 whatever happens, and says on stderr what didn't work.
    """
    from memory_rag.interfaces.claude_code.hook import Call, Ended, served_in_time

    program, place = _read([*(words or []), *ctx.args])
    if program != _PROGRAM:
        _note(f"there are hooks for {_PROGRAM} only, not for {program!r}")
        return
    # Nothing is embedded here: loading a model takes longer than all the rest.
    place = replace(place.over(ctx.obj or Place()), embedder="none")
    call = Call(lambda create: place.open(create=create), say=_say, note=_note)
    if (ended := served_in_time(call, _given)) is Ended.TOO_LATE:
        _note("it took too long and was given up; a very large session is stored with: memory-rag import FILE")
    if ended is not Ended.WHOLE:
        flush()
        # A thread is still at work; what it writes is one transaction, and is there or not.
        os._exit(0)


def _read(words: list[str]) -> tuple[str, Place]:
    """Return the program that calls, and the memory; what isn't understood is noted."""
    program, given = "", {}
    names = {f"--{spec.name}": spec.name for spec in fields(Place)}
    left = iter(words)
    for word in left:
        name, equals, value = word.partition("=")
        if name in names:
            given[names[name]] = value if equals else next(left, "")
        elif not program and not word.startswith("-"):
            program = word
        else:
            _note(f"{word!r} is not understood here")
    home = given.pop("home", None)
    named = {name: value for name, value in given.items() if value}
    return program or _PROGRAM, Place(home=Path(home) if home else None, **named)


def _given() -> bytes:
    """Return what stdin holds; nothing if it is closed."""
    return b"" if sys.stdin is None else sys.stdin.buffer.read()


def _say(text: str) -> None:
    write_json(text + "\n")


def _note(text: str) -> None:
    tell(f"memory-rag hook: {text}")
