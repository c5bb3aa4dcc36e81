"""``memory-rag add``: one turn at a time."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from memory_rag.errors import TurnError
from memory_rag.interfaces.cli.finding_words import findings_json, findings_line
from memory_rag.interfaces.cli.narrowing import role_name
from memory_rag.interfaces.cli.output import Json, note, print_json, say
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.turn_shape import turn_json
from memory_rag.store.screening import Unstored


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
    """Store one turn verbatim and print its id.

    One that a rule keeps out has none, which is said.

    Passwords and keys are redacted first, unless the setting "secrets" says otherwise.
    """
    from memory_rag.text.instants import parse_instant

    words = words_given(text)
    with place.open(create=True) as memory:
        turn = memory.add(
            words,
            role=role,
            speaker=speaker,
            conversation_id=conversation,
            session_id=session,
            said_at=None if said_at is None else parse_instant(said_at, tz=memory.zone),
        )
        found = memory.store.findings.of([turn.turn_id]).get(turn.turn_id, ())
    reason = turn.reason if isinstance(turn, Unstored) else ""
    if as_json:
        print_json(
            {**turn_json(turn), "stored": not reason, "reason": reason or None, "findings": findings_json(found)}
        )
    elif not reason:
        say(turn.turn_id)
    if reason:
        note(f"not stored: {reason}")
    elif redacted := [one for one in found if one.action == "redact"]:
        note(findings_line(redacted))


def words_given(text: str) -> str:
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
    if not words.strip():
        raise TurnError(f"{where} is empty; give the words that were said, or - and the words on stdin")
    return words
