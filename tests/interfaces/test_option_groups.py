"""Options that several commands have are handed over as one value."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from memory_rag.interfaces.cli.option_groups import with_options


@dataclass(frozen=True)
class Size:
    width: Annotated[int, typer.Option("--width", help="how wide")]
    height: Annotated[int | None, typer.Option("--height", help="how high")] = None


SQUARE = Size(1)


@with_options(Size)
def draw(name: str, size: Size = SQUARE, bold: Annotated[bool, typer.Option("--bold")] = False) -> None:
    """Draw it."""
    typer.echo(f"{name} {size} {bold}")


def test_a_command_has_an_option_for_each_field_and_gets_them_as_one_value() -> None:
    app = typer.Typer()
    app.command()(draw)

    ran = CliRunner().invoke(app, ["box", "--width", "3", "--bold"])

    assert ran.output == "box Size(width=3, height=None) True\n"


def test_a_field_without_a_default_has_to_be_given() -> None:
    app = typer.Typer()
    app.command()(draw)

    assert CliRunner().invoke(app, ["box"]).exit_code == 2


def test_options_stand_in_the_place_of_their_parameter() -> None:
    assert list(inspect.signature(draw).parameters) == ["name", "width", "height", "bold"]
