"""What was wrong with a command line, in words that say how it is written right."""

from __future__ import annotations

import re
from typing import Any, Final

from memory_rag.interfaces.cli.output import error, tell

_NO_NUMBER: Final = re.compile(r"is not a valid (int|integer|float)( range)?")
_NUMBERS: Final = {"int": "a whole number", "integer": "a whole number", "float": "a number"}
_BOUND: Final = re.compile(
    r"is not in the range (?:(?P<low>-?[\d.]+)<=)?x(?:>=(?P<least>-?[\d.]+))?(?:<=(?P<high>[\d.]+))?"
)


def explain(failure: Any) -> None:
    """Say what was wrong with a command line, how it is written, and where to read more.

    ``failure`` is a usage error of the library that typer is made of.
    """
    context = failure.ctx
    text = failure.format_message().removeprefix("Invalid value: ").rstrip(".")
    text = _NO_NUMBER.sub(lambda found: f"is not {_NUMBERS[found[1]]}", text)
    text = _BOUND.sub(_bounds, text)
    if text.startswith("Got unexpected extra argument"):
        text += '; words that belong together want quotes around them, as in "two words"'
    option = getattr(failure, "option_name", None)
    if option is not None and context is not None and _belongs_to_a_command(option, context):
        text = f"No such option before the command: {option}; write it after the command's name"
    error(text)
    if context is not None:
        tell(" ".join(context.get_usage().split()).replace("Usage:", "usage:"))
        tell(f"see: {context.command_path} --help")


def _bounds(found: re.Match[str]) -> str:
    least, most = found["low"] or found["least"], found["high"]
    if least and most:
        return f"is not between {least} and {most}"
    return f"is below {least}" if least else f"is above {most}" if most else found[0]


def _belongs_to_a_command(option: str, context: Any) -> bool:
    """Tell whether an option that stands before any command's name is one of a command's own."""
    group = context.command
    if not hasattr(group, "list_commands"):
        return False
    commands = (group.get_command(context, name) for name in group.list_commands(context))
    return any(option in param.opts for command in commands if command is not None for param in command.params)
