"""``memory-rag verify``: whether what an answer quotes was said."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory_rag.errors import QueryError
from memory_rag.interfaces.cli.output import Json, is_colourful, print_json, say
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.terminal import Ink, fitted, screen_width, shown, wrapped

if TYPE_CHECKING:
    from memory_rag.retrieval.verification import Verdict

_WORDS = {
    "verbatim": "verbatim",
    "near": "near",
    "said_by_another": "said by another",
    "only_assistant": "only the assistant",
    "too_short": "too short to tell",
    "not_found": "not found",
    "not_judged": "not judged",
}


def verify(
    place: Place,
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE|-", help="A text with quotations, or - for stdin.", show_default=False),
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="The text itself.", show_default=False)
    ] = None,
    turn_id: Annotated[
        str | None,
        typer.Option(
            "--turn",
            metavar="ID",
            help="The text is this stored turn, which can't confirm itself.",
            show_default=False,
        ),
    ] = None,
    exit_code: Annotated[
        bool,
        typer.Option("--exit-code", help="Leave with 1 if any quotation is not verbatim.", show_default=False),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check every quotation in an answer against what was said.

    Each is verbatim, near, said by another than claimed, found only in the assistant's own words, too short to tell,
    or not found. A mark without its partner is listed as not judged.
    """
    if sum(one is not None for one in (file, text, turn_id)) != 1:
        raise typer.BadParameter("give one text to check: a FILE, - for stdin, --text TEXT or --turn ID")
    answer = text if text is not None else "" if file is None else _read(file)
    with place.open() as memory:
        if turn_id is not None:
            answer = memory.get(turn_id).text
        verdicts = memory.verify(answer, answer_turn_id=turn_id)
    if as_json:
        print_json({"verdicts": [verdict.as_json() for verdict in verdicts]})
    else:
        print_verdicts(verdicts)
    if exit_code and any(verdict.status != "verbatim" for verdict in verdicts):
        raise typer.Exit(1)


def print_verdicts(verdicts: Sequence[Verdict]) -> None:
    """Print each quotation with what became of it, and a line that counts them."""
    if not verdicts:
        say("no quotations in this text")
        return
    ink, width = Ink(is_colourful(sys.stdout)), screen_width()
    styles = {"verbatim": ink.good, "not_found": ink.bad, "said_by_another": ink.bad}
    room = max(len(_WORDS[verdict.status]) for verdict in verdicts)
    for verdict in verdicts:
        name = _WORDS[verdict.status]
        said = fitted(f"“{shown(verdict.quotation.text)}”", width - room - 2)
        say(styles.get(verdict.status, ink.odd)(name) + " " * (room - len(name) + 2) + said)
        message = shown(verdict.message)
        for line in wrapped(message, width - room - 2):
            say(" " * (room + 2) + ink.dim(line.of(message)))
    n_true = sum(verdict.status == "verbatim" for verdict in verdicts)
    say(f"{n_true} of {len(verdicts)} quotations verbatim")


def _read(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise QueryError(f"{file} can't be read ({error.strerror}); give a file, - or --text") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = "stdin" if file == "-" else file
        raise QueryError(
            f"{where} is not UTF-8 at byte {error.start} (0x{data[error.start]:02x}: {error.reason}); "
            "save it as UTF-8 and try again"
        ) from error
