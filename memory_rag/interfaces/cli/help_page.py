"""How a command's help is laid out: what it does, its options by what they are for, examples, and what comes next."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from typer.core import TyperCommand, TyperGroup

from memory_rag.interfaces.cli.output import is_colourful
from memory_rag.interfaces.cli.terminal import Ink

if TYPE_CHECKING:
    from memory_rag.interfaces.cli.examples import Page

WHERE: Final = "Which memory"
"""The heading over the options that every command has."""


def heading(text: str) -> str:
    """Return a section's heading, bold on a terminal."""
    return Ink(is_colourful(sys.stdout)).bold(text)


class HelpfulCommand(TyperCommand):
    """A command whose help has its options under headings and examples at its end."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        # Typer writes {TEXT} for an argument that has to be given.
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        write_options(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        from memory_rag.interfaces.cli.examples import page_of

        write_page(page_of(ctx.command_path), formatter)


class HelpfulGroup(TyperGroup):
    """Several commands under one name, with examples at the end of their help."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        from memory_rag.interfaces.cli.examples import page_of

        write_page(page_of(ctx.command_path), formatter)


def write_options(command: Any, ctx: Any, formatter: Any) -> None:
    """Write a command's arguments and options, each under the heading that it names, else under its own kind's."""
    options: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
    for param in command.get_params(ctx):
        told = param.get_help_record(ctx)
        if told is not None:
            default = "Arguments" if param.param_type_name == "argument" else "Options"
            options.setdefault(getattr(param, "rich_help_panel", None) or default, []).append(told)
    for title, told_of in options.items():
        if told_of:
            with formatter.section(heading(title)):
                formatter.write_dl(told_of)


def write_page(page: Page, formatter: Any) -> None:
    """Write the end of a help page: exit code, examples, and what may come next."""
    ink = Ink(is_colourful(sys.stdout))
    if page.ends_with_1:
        with formatter.section(heading("Exit code")):
            formatter.write_text(f"1 {page.ends_with_1}")
    if page.examples:
        with formatter.section(heading(page.title)):
            beside = [one for one in page.examples if one.why and len(one.line + one.why) + 7 <= formatter.width]
            column = max((len(one.line) for one in beside), default=0)
            for one in page.examples:
                why = one.why and ink.dim(f"# {one.why}")
                if one in beside and column + len(one.why) + 7 <= formatter.width:
                    formatter.write(f"  {one.line:{column}}   {why}\n")
                else:
                    formatter.write((f"  {why}\n" if why else "") + f"  {one.line}\n")
    if page.next:
        with formatter.section(heading("Next")):
            formatter.write_text(page.next)
