"""The group of commands ``memory-rag bench``, and the options that several of them have."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer

from memory_rag.interfaces.cli.help_page import HelpfulCommand, HelpfulGroup
from memory_rag.interfaces.cli.place import with_place

Function = TypeVar("Function", bound=Callable[..., None])

bench = typer.Typer(
    name="bench",
    cls=HelpfulGroup,
    help="""Measure how well turns are found.

    On public data sets, or on your own memory. Two reports on other data or settings are compared with --force only.
    """,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@bench.callback()
def start(ctx: typer.Context) -> None:
    """Print the help where no command is named."""
    if ctx.invoked_subcommand is None:
        sys.stdout.write(ctx.get_help() + "\n")
        raise typer.Exit(2)


def command(name: str) -> Callable[[Function], Function]:
    """Make a function one of the commands, with the options that every command has."""

    def register(function: Function) -> Function:
        settings = {"help_option_names": ["-h", "--help"]}
        bench.command(name, cls=HelpfulCommand, context_settings=settings)(with_place(function))
        return function

    return register


Name = Annotated[str, typer.Argument(metavar="NAME|TOML", help="A benchmark of bench list, or a definition of yours.")]
Data = Annotated[Path | None, typer.Option("--data", metavar="PATH", help="Where the data lie.", show_default=False)]
Unit = Annotated[
    str | None, typer.Option("--unit", metavar="UNIT", help="turn or session. Default: as defined.", show_default=False)
]
Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", help="Ask N of the questions, evenly chosen.", show_default=False)
]
Work = Annotated[
    Path | None,
    typer.Option(
        "--work", metavar="FOLDER", help="Where embedded turns are kept. Default: .bench under the home folder.",
        show_default=False,
    ),
]  # fmt: skip
Force = Annotated[bool, typer.Option("--force", help="Go on where a guard says no.", show_default=False)]
Questions = Annotated[
    Path | None,
    typer.Option("--questions", metavar="FILE", help="own: your questions with turn ids.", show_default=False),
]
N = Annotated[
    int | None,
    typer.Option("--n", metavar="N", help="own: questions made from turns. Default: 200.", show_default=False),
]
Paraphrase = Annotated[
    str | None,
    typer.Option(
        "--paraphrase",
        metavar="openai:MODEL",
        help="own: a third of them in a model's words; turns are sent to it.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Decides what is drawn.")]


@dataclass(frozen=True, slots=True)
class Setup:
    """What is read and asked, and where what is embedded is kept, as a command line says it."""

    data: Data = None
    unit: Unit = None
    limit: Limit = None
    questions: Questions = None
    n: N = None
    paraphrase: Paraphrase = None
    seed: Seed = 0
    work: Work = None
    force: Force = False


AS_DEFINED: Final = Setup()
"""Nothing given."""
