"""Every command of the program, the groups and what is in them."""

from __future__ import annotations

from typing import Any

from typer.main import get_command

from memory_rag.interfaces.cli.app import COMMANDS, app


def commands() -> dict[str, Any]:
    """Return each command by the words that call it: ``search``, ``bench``, ``bench run``."""
    group: Any = get_command(app)
    found = {}
    for name in COMMANDS:
        found[name] = group.get_command(None, name)
        found |= {f"{name} {inner}": one for inner, one in getattr(found[name], "commands", {}).items()}
    return found
