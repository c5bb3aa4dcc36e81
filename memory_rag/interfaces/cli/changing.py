"""``memory-rag add``, ``correct`` and ``forget``: one turn at a time."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from memory_rag.errors import TurnError
from memory_rag.interfaces.cli.narrowing import role_name
from memory_rag.interfaces.cli.output import Json, note, print_json, say, tell
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.terminal import fitted, screen_width, shown
from memory_rag.interfaces.cli.turn_shape import turn_json

Ids = Annotated[list[str], typer.Argument(metavar="ID", help="Ids of turns.", show_default=False)]


def add(
    place: Place,
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT|-", help="The words, or - for what stdin holds, byte for byte.", show_default=False
        ),
    ],
    role: Annotated[
        str, typer.Option("--role", metavar="ROLE", callback=role_name, help="user, assistant, system or tool")
    ] = "user",
    speaker: Annotated[
        str | None, typer.Option("--speaker", metavar="NAME", help="Who said it. Default: the role.")
    ] = None,
    conversation: Annotated[str, typer.Option("--conversation", metavar="ID", help="What it belongs to.")] = "main",
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="The sitting. Default: the day.")
    ] = None,
    said_at: Annotated[
        str | None,
        typer.Option("--said-at", metavar="TIME", help="When, such as 2026-04-10T09:30Z. Default: now."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Store one turn verbatim and print its id."""
    from memory_rag.text.instants import parse_instant

    words = _words(text)
    with place.open(create=True) as memory:
        turn = memory.add(
            words,
            role=role,
            speaker=speaker,
            conversation_id=conversation,
            session_id=session,
            said_at=None if said_at is None else parse_instant(said_at, tz=memory.zone),
        )
    if as_json:
        print_json(turn_json(turn))
    else:
        say(turn.turn_id)


def correct(
    place: Place,
    turn_id: Annotated[str, typer.Argument(metavar="ID", help="A turn's id.", show_default=False)],
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT|-", help="The right words, or - for what stdin holds."),
    ] = None,
    speaker: Annotated[str | None, typer.Option("--speaker", metavar="NAME", help="The right speaker.")] = None,
    said_at: Annotated[str | None, typer.Option("--said-at", metavar="TIME", help="The right time.")] = None,
    drop_old: Annotated[bool, typer.Option("--drop-old", help="Don't keep the version that was wrong.")] = False,
    as_json: Json = False,
) -> None:
    """Give a turn its right text, speaker or time.

    What it was before is kept beside it, and shown by memory-rag show.
    """
    from memory_rag.text.instants import parse_instant

    if text is None and speaker is None and said_at is None:
        raise typer.BadParameter("nothing to correct; give a TEXT, --speaker or --said-at")
    words = None if text is None else _words(text)
    with place.open() as memory:
        turn = memory.correct(
            turn_id,
            text=words,
            speaker=speaker,
            said_at=None if said_at is None else parse_instant(said_at, tz=memory.zone),
            keep_old=not drop_old,
        )
    if as_json:
        print_json(turn_json(turn))
    else:
        say(f"corrected {turn.turn_id}" + ("" if drop_old else "; the old version is kept"))


def forget(
    place: Place,
    turn_ids: Ids,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.", show_default=False)] = False,
    as_json: Json = False,
) -> None:
    """Remove turns for good.

    Their words go, their earlier versions, and their vectors.
    """
    wanted = list(dict.fromkeys(turn_ids))
    with place.open() as memory:
        turns = [memory.get(turn_id) for turn_id in wanted]
        if not yes:
            for turn in turns:
                line = f"{turn.turn_id}  {turn.speaker}: {turn.text}"
                typer.echo(fitted(shown(line), screen_width()), err=True)
            what = "this turn" if len(turns) == 1 else f"these {len(turns)} turns"
            if not typer.confirm(f"Remove {what} for good?", err=True):
                tell("nothing was removed")
                raise typer.Exit(1)
        n_removed = memory.forget(wanted)
    if as_json:
        print_json({"forgotten": wanted})
    else:
        say(f"forgot {n_removed} {'turn' if n_removed == 1 else 'turns'}")
    note("a backup made earlier still holds the words")


def _words(text: str) -> str:
    """Return the text to store: the argument, or what stdin holds; bytes that are no UTF-8 are refused.

    Raises:
        TurnError: it isn't UTF-8, or there is nothing in it.
    """
    # Bytes of an argument that are no UTF-8 come as lone surrogates.
    data = sys.stdin.buffer.read() if text == "-" else text.encode("utf-8", "surrogateescape")
    where = "stdin" if text == "-" else "TEXT"
    try:
        words = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TurnError(
            f"{where} is not UTF-8 at byte {error.start} (0x{data[error.start]:02x}: {error.reason}); "
            "nothing was stored, save it as UTF-8 and try again"
        ) from error
    if not words:
        raise TurnError(f"{where} is empty; give the words that were said, or - and the words on stdin")
    return words
