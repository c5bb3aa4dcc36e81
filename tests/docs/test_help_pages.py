"""The help reads like a page: under headings, with examples that run, and every command has some."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO

import pytest

from memory_rag.interfaces.cli.examples import PAGES, START
from memory_rag.interfaces.cli.help_page import heading
from tests.docs.commands import commands
from tests.docs.shell_lines import Line
from tests.docs.world import World

# They talk with a server or a model, or go on until they are stopped; their options are read.
GO_ON = ("memory-rag serve", "memory-rag mcp", "memory-rag chat --base-url")
# They want data, or a server, that are not here.
ELSEWHERE = (
    "memory-rag bench run locomo",
    "memory-rag bench run chats",
    "memory-rag bench run own --memory",
    "memory-rag migrate main postgresql:",
    "memory-rag migrate postgresql:",
)
# They draw charts.
REPORT = "memory-rag bench run own --questions mine.tsv --out "
DRAWN = (REPORT, "memory-rag bench report", "memory-rag bench compare")
FIRST = {
    "memory-rag pin --remove": 'memory-rag pin "Answer in Swedish."',
    "memory-rag decide --remove": 'memory-rag decide "One price." --because "Two confuse people."',
    "memory-rag pin-file --remove": "memory-rag pin-file project.md",
    "memory-rag state --unset": "memory-rag state --set customer.since=2024",
}
"""What has to be there for an example to work on."""


def examples(*, drawn: bool) -> list[str]:
    """Return the lines of all help pages, those that draw charts apart."""
    lines = [example.line for page in (START, *PAGES.values()) for example in page.examples]
    return [line for line in dict.fromkeys(lines) if line.startswith(DRAWN) is drawn]


@pytest.mark.parametrize("line", examples(drawn=False))
def test_an_example_of_the_help_runs(world: World, line: str) -> None:
    if line.startswith((*GO_ON, *ELSEWHERE)):
        Line.parse(line).check(world)
        return
    for start, first in FIRST.items():
        if line.startswith(start):
            assert Line.parse(first).run(world).code == 0

    ran = Line.parse(line).run(world)

    assert (ran.code, "error:" in ran.err) == (0, False), ran


@pytest.mark.slow
@pytest.mark.parametrize("line", examples(drawn=True))
def test_an_example_that_draws_charts_runs(world: World, line: str) -> None:
    if not line.startswith(REPORT):
        for folder in ("before", "after") if "compare" in line else ("before",):
            assert Line.parse(REPORT + folder).run(world).code == 0

    ran = Line.parse(line).run(world)

    assert (ran.code, "error:" in ran.err) == (0, False), ran


def test_every_command_has_an_example_of_its_own() -> None:
    lacking = [
        path
        for path in commands()
        if not any(one.line.startswith(f"memory-rag {path}") for one in PAGES[path].examples)
    ]

    assert lacking == []
    assert PAGES.keys() == commands().keys()


def test_the_first_page_shows_first_steps_the_commands_under_headings_and_the_exit_codes(world: World) -> None:
    page = world.memory_rag("--help").out

    headings = [line for line in page.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert headings == [
        "First steps:",
        "Start here:",
        "Words in:",
        "Words out:",
        "What a model is told:",
        "Put right, forget, keep out:",
        "Care:",
        "In other programs:",
        "How well it finds:",
        "Options:",
        "Which memory:",
        "Exit codes:",
        "Next:",
    ]
    assert "\x1b" not in page
    assert "  2    wrong usage\n" in page


def test_a_command_shows_its_options_by_what_they_are_for_and_its_examples(world: World) -> None:
    page = world.memory_rag("quote", "--help").out

    assert page.startswith("Usage: memory-rag quote [OPTIONS] TEXT\n")
    places = [page.index(f"\n{title}:\n") for title in ("Arguments", "Options", "Only turns", "Which memory")]
    assert places == sorted(places)
    assert page.index("--conversation ID") > page.index("Only turns:")
    assert page.endswith(
        """
Exit code:
  1 with --exit-code, if nothing is found

Examples:
  memory-rag quote "the price is 49 euro"
  memory-rag quote "49 euro" --role user --limit 3
  memory-rag quote "price is 49 euro" --exit-code   # for scripts

Next:
  memory-rag verify checks all quotations of a text at once.
"""
    )


@pytest.mark.parametrize("path", commands())
def test_no_line_of_a_help_page_is_wider_than_a_narrow_terminal(world: World, path: str) -> None:
    ran = world.memory_rag(*path.split(), "--help")

    assert ran.code == 0
    assert [line for line in ran.lines if len(line) > 80] == []


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_headings_are_bold_on_a_terminal_unless_that_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with redirect_stdout(Terminal()):
        assert heading("Examples") == "\x1b[1mExamples\x1b[0m"
        monkeypatch.setenv("NO_COLOR", "1")
        assert heading("Examples") == "Examples"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('memory-rag quote "price is 49 euro" --exit-code', 0),
        ('memory-rag quote "never said by anybody" --exit-code', 1),
        ('memory-rag quote "never said by anybody"', 0),
        ("memory-rag verify answer.md", 0),
        ("memory-rag verify answer.md --exit-code", 1),
        ("memory-rag show t99999", 1),
        ("memory-rag search", 2),
        ("memory-rag search x --mode wrong", 2),
        ("memory-rag", 2),
    ],
)
def test_a_command_leaves_with_the_code_that_the_help_says(world: World, line: str, code: int) -> None:
    assert Line.parse(line).run(world).code == code
