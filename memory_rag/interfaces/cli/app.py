"""Every command by name, loaded when it is called; and how a run ends."""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperGroup
from typer.main import get_command

from memory_rag.errors import MemoryRagError
from memory_rag.interfaces.cli.completing import with_completion
from memory_rag.interfaces.cli.help_page import HelpfulCommand, heading, write_options, write_page
from memory_rag.interfaces.cli.output import close_stdout, error, flush, open_streams, tell
from memory_rag.interfaces.cli.place import (
    EmbedderOption,
    HomeOption,
    LanguageOption,
    MemoryOption,
    OwnerOption,
    Place,
    TimezoneOption,
    with_place,
)

STOPPED: Final = 130
READER_GONE: Final = 141
EXIT_CODES: Final = (
    ("0", "done"),
    ("1", "failed, and stderr says why; or what a command's help says of 1"),
    ("2", "wrong usage"),
    (str(STOPPED), "stopped with Ctrl-C"),
    (str(READER_GONE), "whoever read the output went away"),
)
_SAFE: Final = "stopped; every turn stored so far is safe"
# Typer brings click inside itself since 0.26 and beside itself before; UsageError is reached without naming either.
_UsageError: Final[type[Exception]] = typer.BadParameter.__mro__[1]


@dataclass(frozen=True, slots=True)
class Listed:
    """Where a command's function is, and under which heading the help shows it."""

    module: str
    function: str
    panel: str


_FIRST, _IN, _OUT, _PROMPT = "Start here", "Words in", "Words out", "What a model is told"
_MENDED, _CARE, _CLIENTS, _MEASURE = "Put right, forget, keep out", "Care", "In other programs", "How well it finds"
COMMANDS: Final[dict[str, Listed]] = {
    "demo": Listed("demo", "demo", _FIRST),
    "chat": Listed("chatting", "chat", _FIRST),
    "add": Listed("changing", "add", _IN),
    "import": Listed("importing", "import_", _IN),
    "search": Listed("searching", "search", _OUT),
    "quote": Listed("quoting", "quote", _OUT),
    "verify": Listed("verifying", "verify", _OUT),
    "show": Listed("showing", "show", _OUT),
    "compare": Listed("comparing", "compare", _OUT),
    "summary": Listed("summarizing", "summary", _OUT),
    "context": Listed("prompting", "context", _PROMPT),
    "pin": Listed("keeping", "pin", _PROMPT),
    "decide": Listed("keeping", "decide", _PROMPT),
    "state": Listed("keeping", "state", _PROMPT),
    "pin-file": Listed("keeping", "pin_file", _PROMPT),
    "brief": Listed("briefing", "brief", _PROMPT),
    "where": Listed("finding_out", "where", _PROMPT),
    "events": Listed("prompting", "events", _PROMPT),
    "correct": Listed("correcting", "correct", _MENDED),
    "forget": Listed("forgetting", "forget", _MENDED),
    "retain": Listed("retaining", "retain", _MENDED),
    "scan": Listed("screening", "scan", _MENDED),
    "off-record": Listed("screening", "off_record", _MENDED),
    "stats": Listed("upkeep", "stats", _CARE),
    "settings": Listed("settled", "settings", _CARE),
    "doctor": Listed("upkeep", "doctor", _CARE),
    "reindex": Listed("upkeep", "reindex", _CARE),
    "export": Listed("importing", "export", _CARE),
    "backup": Listed("copies", "backup", _CARE),
    "restore": Listed("copies", "restore", _CARE),
    "migrate": Listed("moving", "migrate", _CARE),
    "install": Listed("installing", "install", _CLIENTS),
    "uninstall": Listed("installing", "uninstall", _CLIENTS),
    "serve": Listed("serving", "serve", _CLIENTS),
    "mcp": Listed("mcp_serving", "mcp", _CLIENTS),
    "hook": Listed("hooking", "hook", _CLIENTS),
    "bench": Listed("benching", "bench", _MEASURE),
}


class Commands(TyperGroup):
    """The commands; one is imported when it is called, since all together would double the start."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        # For a name that is none, all of them: the error then names those that look like it.
        for name in (cmd_name,) if cmd_name in COMMANDS else COMMANDS:
            if name not in self.commands:
                self.commands[name] = _built(name)
        return self.commands.get(cmd_name)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the first steps, the commands under their headings, and the options after them."""
        from memory_rag.interfaces.cli.examples import START

        write_page(START._replace(next=""), formatter)
        width = max(map(len, COMMANDS))
        for panel in dict.fromkeys(listed.panel for listed in COMMANDS.values()):
            with formatter.section(heading(panel)):
                names = [name for name, listed in COMMANDS.items() if listed.panel == panel]
                commands = [self.get_command(ctx, name) for name in names]
                rows = [(f"{command.name:{width}}", command.get_short_help_str(70)) for command in commands]
                formatter.write_dl(rows)
        write_options(self, ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write nothing: the commands stand before the options."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        from memory_rag.interfaces.cli.examples import START

        with formatter.section(heading("Exit codes")):
            formatter.write_dl(EXIT_CODES)
        write_page(START._replace(examples=()), formatter)

    def invoke(self, ctx: Any) -> Any:
        try:
            super().invoke(ctx)
            flush()
        except MemoryRagError as failure:
            error(str(failure))
        except KeyboardInterrupt as stop:
            tell(str(stop) or _SAFE)
            raise typer.Exit(STOPPED) from None
        except OSError as failure:
            if isinstance(failure, BrokenPipeError) or failure.errno == errno.EPIPE:
                close_stdout()
                raise typer.Exit(READER_GONE) from None
            where = f"{failure.filename}: " if failure.filename else ""
            error(f"{where}{failure.strerror or failure}")
            close_stdout()
        else:
            return
        raise typer.Exit(1)

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run a command line and leave with its code; typer calls this, and so does its test runner."""
        options["standalone_mode"] = False
        try:
            code = super().main(*arguments, **options)
        except _UsageError as failure:
            from memory_rag.interfaces.cli.explaining import explain

            explain(failure)
            code = 2
        except typer.Abort:
            tell("\nstopped; nothing was changed")
            code = 1
        sys.exit(code or 0)


app = typer.Typer(
    cls=Commands,
    name="memory-rag",
    add_completion=True,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
@with_completion
def start(
    ctx: typer.Context,
    memory: MemoryOption = None,
    home: HomeOption = None,
    owner: OwnerOption = None,
    embedder: EmbedderOption = None,
    language: LanguageOption = None,
    timezone: TimezoneOption = None,
    *,
    version: bool = typer.Option(False, "--version", help="Print the version and leave."),
) -> None:
    """A long-term memory for a chat with a language model that never loses a word.

    Every turn is kept verbatim and found by keyword and by meaning, with who said it, when, and the exact characters.
    """
    if version:
        from memory_rag import __version__

        sys.stdout.write(f"memory-rag {__version__}\n")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        sys.stdout.write(ctx.get_help() + "\n")
        raise typer.Exit(2)
    ctx.obj = Place(memory=memory, home=home, owner=owner, embedder=embedder, language=language, timezone=timezone)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (that of the process, if None) and return its exit code."""
    open_streams()
    try:
        get_command(app)(args=None if arguments is None else list(arguments), prog_name="memory-rag")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0


def _built(name: str) -> Any:
    listed = COMMANDS[name]
    function = getattr(import_module(f"memory_rag.interfaces.cli.{listed.module}"), listed.function)
    if isinstance(function, typer.Typer):
        # Commands of its own under one name.
        return get_command(function)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    settings = {"help_option_names": ["-h", "--help"]}
    alone.command(name, cls=HelpfulCommand, context_settings=settings)(with_place(function))
    return get_command(alone)
