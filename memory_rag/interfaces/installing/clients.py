"""The programs that the memory can be entered in, and where each keeps its settings on each system."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Final, Literal

from memory_rag.errors import SettingsError

Scope = Literal["user", "project"]


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides where settings lie: home, system (``sys.platform``), environment, and the folder one is in."""

    home: PurePath = field(default_factory=Path.home)
    platform: str = sys.platform
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    folder: PurePath = field(default_factory=Path.cwd)

    @property
    def settings(self) -> PurePath:
        """Return where programs of this system keep a person's settings."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return self._named("APPDATA") or self.home / "AppData" / "Roaming"
        return self._named("XDG_CONFIG_HOME") or self.home / ".config"

    def _named(self, variable: str) -> PurePath | None:
        value = self.environment.get(variable)
        return type(self.home)(value) if value else None

    @property
    def claude(self) -> PurePath:
        """Return Claude Code's own folder."""
        return self._named("CLAUDE_CONFIG_DIR") or self.home / ".claude"

    @property
    def claude_state(self) -> PurePath:
        """Return the file in which Claude Code keeps a person's MCP servers, among much else."""
        moved = self._named("CLAUDE_CONFIG_DIR")
        return (moved or self.home) / ".claude.json"


@dataclass(frozen=True, slots=True)
class Client:
    """A program with MCP servers in its settings.

    ``servers`` is the member that holds them, ``typed`` whether an entry names its transport, ``comments`` whether the
    program reads JSON with comments. ``restart`` says how the entry takes effect.
    """

    name: str
    title: str
    servers: str
    typed: bool
    comments: bool
    restart: str
    scopes: tuple[Scope, ...] = ("user", "project")

    def file(self, machine: Machine, scope: Scope) -> PurePath:
        """Return the file that holds the entry.

        Raises:
            SettingsError: the program has no such scope.
        """
        if scope not in self.scopes:
            raise SettingsError(f"{self.title} has no settings of a project; leave out --scope")
        if self.name == "claude-desktop":
            return machine.settings / "Claude" / "claude_desktop_config.json"
        if self.name == "claude-code":
            return machine.claude_state if scope == "user" else machine.folder / ".mcp.json"
        if self.name == "cursor":
            return (machine.home if scope == "user" else machine.folder) / ".cursor" / "mcp.json"
        if scope == "user":
            return machine.settings / "Code" / "User" / "mcp.json"
        return machine.folder / ".vscode" / "mcp.json"

    def hooks_file(self, machine: Machine, scope: Scope) -> PurePath | None:
        """Return the file that holds the program's hooks; None if it has none."""
        if self.name != "claude-code":
            return None
        if scope == "user":
            return machine.claude / "settings.json"
        # The file of a project that isn't shared: a hook names paths of this machine.
        return machine.folder / ".claude" / "settings.local.json"

    def entry(self, command: str, arguments: list[str], environment: Mapping[str, str]) -> dict[str, Any]:
        """Return the entry that starts the server."""
        made: dict[str, Any] = {"type": "stdio"} if self.typed else {}
        made |= {"command": command, "args": arguments}
        return made | ({"env": dict(environment)} if environment else {})


CLIENTS: Final = {
    client.name: client
    for client in (
        Client(
            "claude-desktop",
            "Claude Desktop",
            "mcpServers",
            typed=False,
            comments=False,
            restart="quit Claude Desktop (not only its window) and start it again",
            scopes=("user",),
        ),
        Client(
            "claude-code",
            "Claude Code",
            "mcpServers",
            typed=True,
            comments=False,
            restart="it counts for sessions that begin from now on; /mcp shows the server, /hooks the hooks",
        ),
        Client(
            "cursor", "Cursor", "mcpServers", typed=False, comments=False, restart="switch it on in Cursor's MCP list"
        ),
        Client(
            "vscode",
            "VS Code",
            "servers",
            typed=True,
            comments=True,
            restart='run "MCP: List Servers" in VS Code and start it',
        ),
    )
}


def client_named(name: str) -> Client:
    """Return a client by its name.

    Raises:
        SettingsError: there is none of this name.
    """
    if name not in CLIENTS:
        raise SettingsError(f"unknown program {name!r}; a program is one of: {', '.join(CLIENTS)}")
    return CLIENTS[name]
