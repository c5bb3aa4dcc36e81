"""Every command that a message names exists, with the options it is named with."""

from __future__ import annotations

import re
from pathlib import Path

import memory_rag
from memory_rag.interfaces.cli.app import COMMANDS
from tests.interfaces.command_line import CommandLine

NAMED = re.compile(r"(?<![\w/'\[-])memory-rag ([a-z]+(?:-[a-z]+)*)((?:[ \w.…-]|\"[^\"\n]*\")*)")
OPTION = re.compile(r"(?<!\S)--[a-z][a-z-]+")
PACKAGE = Path(memory_rag.__file__).parent
# Words that follow the name in prose.
PROSE = {"again", "is"}


def named() -> list[tuple[str, str, str]]:
    """Return (where, command, what follows it) of every command that the package's texts name."""
    return [
        (path.relative_to(PACKAGE).as_posix(), match[1], match[2])
        for path in sorted(PACKAGE.rglob("*.py"))
        for match in NAMED.finditer(path.read_text(encoding="utf-8"))
    ]


def test_some_commands_are_named_at_all() -> None:
    assert {"import", "reindex", "doctor", "search", "stats"} <= {command for _, command, _ in named()}


def test_every_command_named_in_a_message_exists() -> None:
    assert [one for one in named() if one[1] not in COMMANDS and one[1] not in PROSE] == []


def test_every_option_named_with_a_command_exists(memory_rag: CommandLine) -> None:
    lacking = [
        (where, command, option)
        for where, command, rest in named()
        # The examples of the help are run, each of them, by tests/docs.
        if command in COMMANDS and where != "interfaces/cli/examples.py"
        for option in OPTION.findall(rest)
        if option not in memory_rag(command, "--help").out
    ]

    assert lacking == []
