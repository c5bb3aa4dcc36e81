"""The page of all commands, made from the program itself."""

from __future__ import annotations

import inspect
from typing import Any, Final

from typer.main import get_command

from memory_rag.interfaces.cli.app import COMMANDS, EXIT_CODES, app
from memory_rag.interfaces.cli.examples import Page, page_of
from memory_rag.interfaces.cli.help_page import WHERE
from memory_rag.interfaces.cli.narrowing import ONLY

PROGRAM: Final = "memory-rag"
HEAD: Final = """# Commands

Data goes to stdout, notes and progress to stderr; `--json` prints JSON. the `--help` of a command says the same as this
page.
"""


def commands_page() -> str:
    """Return Markdown with every command, under the headings of the help: arguments, options, examples, exit codes."""
    group: Any = get_command(app)
    parts = [HEAD, "## Which memory\n\nEvery command takes these, before its name or after it.\n", _shared(group)]
    parts += ["## Exit codes\n\n| code | |\n|---|---|\n" + "".join(f"| {code} | {why} |\n" for code, why in EXIT_CODES)]
    for panel in dict.fromkeys(listed.panel for listed in COMMANDS.values()):
        parts.append(f"## {panel}\n")
        for name in (name for name, listed in COMMANDS.items() if listed.panel == panel):
            command = group.get_command(None, name)
            parts.append(_section(f"{PROGRAM} {name}", command))
            parts += [_section(f"{PROGRAM} {name} {one}", inner) for one, inner in _inner(command).items()]
    return "\n".join(parts)


def _section(path: str, command: Any) -> str:
    """Return what is to be said of one command."""
    first, _, rest = inspect.cleandoc(command.help or "").partition("\n")
    parts = [f"### {path}\n", _escaped(first) + "\n"]
    if rest.strip():
        parts.append(_escaped(rest.strip()) + "\n")
    with command.make_context(path, [], resilient_parsing=True) as context:
        usage = " ".join(command.collect_usage_pieces(context))
        parts.append(f"```text\n{path} {usage}\n```\n")
        rows = [row for param in command.params for row in _row(param, context)]
    if rows:
        parts.append("| | |\n|---|---|\n" + "".join(rows))
    return "\n".join(parts + _end(page_of(path)))


def _row(param: Any, context: Any) -> list[str]:
    """Return the row of an option or argument; none for those that every command has."""
    panel, record = getattr(param, "rich_help_panel", None), param.get_help_record(context)
    if record is None or panel == WHERE:
        return []
    names, told = record
    return [f"| `{names}` | {f'{ONLY} ' if panel == ONLY else ''}{_escaped(told)} |\n"]


def _end(page: Page) -> list[str]:
    parts = []
    if page.ends_with_1:
        parts.append(f"Exit code 1: {page.ends_with_1}.\n")
    if page.examples:
        lines = [f"{one.line}   # {one.why}" if one.why else one.line for one in page.examples]
        parts.append("```bash\n" + "".join(f"{line}\n" for line in lines) + "```\n")
    if page.next:
        parts.append(_escaped(page.next) + "\n")
    return parts


def _shared(group: Any) -> str:
    """Return the options that every command has."""
    with group.make_context(PROGRAM, [], resilient_parsing=True) as context:
        records = [
            param.get_help_record(context) for param in group.params if getattr(param, "rich_help_panel", None) == WHERE
        ]
    return "| | |\n|---|---|\n" + "".join(f"| `{names}` | {_escaped(told)} |\n" for names, told in records)


def _inner(command: Any) -> dict[str, Any]:
    found: dict[str, Any] = getattr(command, "commands", {})
    return found


def _escaped(text: str) -> str:
    """Return a text of the help as Markdown that shows it as it stands."""
    return text.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_").replace("|", "\\|")
