"""``memory-rag install`` and ``uninstall``: the memory in other programs' settings."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import fields
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_rag.errors import MissingExtraError
from memory_rag.interfaces.cli.output import Json, note, print_json, say, tell
from memory_rag.interfaces.cli.place import Place, usable

if TYPE_CHECKING:
    from memory_rag.interfaces.installing.clients import Client
    from memory_rag.interfaces.installing.clients import Scope as ClientScope
    from memory_rag.interfaces.installing.settings_file import SettingsFile
    from memory_rag.interfaces.installing.started import Started

_SCOPES = ("user", "project")


def _program(value: str) -> str:
    from memory_rag.interfaces.installing.clients import client_named

    return usable(client_named, value).name


def _scope(value: str) -> str:
    if value not in _SCOPES:
        raise typer.BadParameter(f"unknown scope {value!r}; a scope is one of: {', '.join(_SCOPES)}")
    return value


def _name(value: str) -> str:
    if not value.strip():
        raise typer.BadParameter("an entry needs a name; leave out --name for memory-rag")
    return value


Program = Annotated[
    str,
    typer.Argument(
        metavar="PROGRAM", callback=_program, help="claude-desktop, claude-code, cursor or vscode.", show_default=False
    ),
]
Scope = Annotated[
    str,
    typer.Option("--scope", metavar="SCOPE", callback=_scope, help="user: everywhere; project: in this folder only."),
]
Name = Annotated[str, typer.Option("--name", metavar="NAME", callback=_name, help="What the entry is called there.")]


def install(
    place: Place,
    program: Program,
    print_only: Annotated[
        bool, typer.Option("--print", help="Show the entry and change nothing.", show_default=False)
    ] = False,
    scope: Scope = "user",
    name: Name = "memory-rag",
    no_hooks: Annotated[
        bool, typer.Option("--no-hooks", help="For claude-code: the entry without the hooks.", show_default=False)
    ] = False,
    as_json: Json = False,
) -> None:
    """Enter the memory in a program's settings, as an MCP server.

    In Claude Code also hooks: a session is stored before its window is compacted and when it ends, and one that begins
    is told what is pinned and decided. The old file is kept beside the new one; other entries stay as they are.
    """
    from memory_rag.interfaces.installing.clients import client_named
    from memory_rag.interfaces.installing.entries import with_hooks, with_server

    client = client_named(program)
    start = _started(place)
    command, arguments = start.server()
    entry = client.entry(command, arguments, start.environment)
    if print_only:
        _show(client, scope, name, entry, start, no_hooks=no_hooks)
        return
    if find_spec("mcp") is None:
        raise MissingExtraError("the MCP SDK, without which the server doesn't start,", extra="mcp")
    servers, hooks = _files(client, scope)
    changed = [servers.changed(with_server(servers.json, servers=client.servers, name=name, entry=entry))]
    if hooks is not None and not no_hooks:
        changed.append(hooks.changed(with_hooks(hooks.json, command=start.hook())))
    written = _write(changed)
    _report(client, written, as_json=as_json, done=f"{name} is in", restart=client.restart)
    if scope == "project" and any(one["changed"] for one in written):
        note("these files name paths of this machine; others of the project need their own")
    if client.name == "claude-code" and scope == "user" and written[0]["changed"]:
        note("a Claude Code that is running may write its settings over this; if /mcp doesn't show it, install again")


def uninstall(
    place: Place,
    program: Program,
    scope: Scope = "user",
    name: Name = "memory-rag",
    as_json: Json = False,
) -> None:
    """Take the memory out of a program's settings, with its hooks. What is remembered stays."""
    from memory_rag.interfaces.installing.clients import client_named
    from memory_rag.interfaces.installing.entries import without_hooks, without_server

    client = client_named(program)
    servers, hooks = _files(client, scope)
    changed = [servers.changed(without_server(servers.json, servers=client.servers, name=name))]
    if hooks is not None:
        changed.append(hooks.changed(without_hooks(hooks.json)))
    written = _write(changed)
    _report(client, written, as_json=as_json, done=f"{name} is out of", restart="")
    if not any(one["changed"] for one in written):
        note(f"there was no entry {name!r}")
    note(f"what is remembered is still in {place.shown}")


def _started(place: Place) -> Started:
    from memory_rag.interfaces.installing.started import started

    given = {spec.name: str(value) for spec in fields(place) if (value := getattr(place, spec.name)) is not None}
    return started(given, environment=os.environ, executable=Path(sys.executable))


def _files(client: Client, scope: str) -> tuple[SettingsFile, SettingsFile | None]:
    """Return the files to be changed; both are read before either is written."""
    from memory_rag.interfaces.installing.clients import Machine
    from memory_rag.interfaces.installing.settings_file import SettingsFile

    machine = Machine()
    which: ClientScope = "project" if scope == "project" else "user"
    servers = SettingsFile.read(Path(client.file(machine, which)), comments=client.comments)
    hooks = client.hooks_file(machine, which)
    return servers, None if hooks is None else SettingsFile.read(Path(hooks), comments=False)


def _write(files: list[SettingsFile]) -> list[dict[str, Any]]:
    written: list[dict[str, Any]] = []
    now = datetime.now()
    for file in files:
        copy = file.write(now=now) if file.is_changed else None
        written.append(
            {"file": str(file.path), "changed": file.is_changed, "copy": None if copy is None else str(copy)}
        )
    return written


def _report(client: Client, written: list[dict[str, Any]], *, as_json: bool, done: str, restart: str) -> None:
    if as_json:
        print_json({"program": client.name, "files": written})
        return
    for one in written:
        say(f"{done} {one['file']}" if one["changed"] else f"{one['file']} is as it was")
        if one["copy"]:
            tell(f"  what it was is kept in {one['copy']}")
    if restart and any(one["changed"] for one in written):
        note(restart)


def _show(client: Client, scope: str, name: str, entry: dict[str, Any], start: Started, *, no_hooks: bool) -> None:
    """Print what would be put in, file by file."""
    from memory_rag.interfaces.installing.clients import Machine
    from memory_rag.interfaces.installing.entries import with_hooks
    from memory_rag.interfaces.installing.json_edit import JsonText

    machine = Machine()
    which: ClientScope = "project" if scope == "project" else "user"
    tell(f"into {client.file(machine, which)}:")
    print_json({client.servers: {name: entry}})
    hooks = client.hooks_file(machine, which)
    if hooks is not None and not no_hooks:
        tell(f"into {hooks}:")
        print_json(json.loads(with_hooks(JsonText(""), command=start.hook()).text))
