"""Each program's settings are looked for where that program keeps them, on each system."""

from __future__ import annotations

from pathlib import PurePath, PurePosixPath, PureWindowsPath

import pytest

from memory_rag.errors import SettingsError
from memory_rag.interfaces.installing.clients import Machine, client_named

MAC = Machine(PurePosixPath("/Users/kim"), "darwin", {}, PurePosixPath("/Users/kim/butik"))
LINUX = Machine(PurePosixPath("/home/kim"), "linux", {}, PurePosixPath("/home/kim/butik"))
WINDOWS = Machine(PureWindowsPath(r"C:\Users\Kim Å"), "win32", {}, PureWindowsPath(r"D:\butik"))


@pytest.mark.parametrize(
    ("machine", "client", "path"),
    [
        (MAC, "claude-desktop", "/Users/kim/Library/Application Support/Claude/claude_desktop_config.json"),
        (LINUX, "claude-desktop", "/home/kim/.config/Claude/claude_desktop_config.json"),
        (WINDOWS, "claude-desktop", r"C:\Users\Kim Å\AppData\Roaming\Claude\claude_desktop_config.json"),
        (MAC, "claude-code", "/Users/kim/.claude.json"),
        (LINUX, "claude-code", "/home/kim/.claude.json"),
        (WINDOWS, "claude-code", r"C:\Users\Kim Å\.claude.json"),
        (MAC, "cursor", "/Users/kim/.cursor/mcp.json"),
        (WINDOWS, "cursor", r"C:\Users\Kim Å\.cursor\mcp.json"),
        (MAC, "vscode", "/Users/kim/Library/Application Support/Code/User/mcp.json"),
        (LINUX, "vscode", "/home/kim/.config/Code/User/mcp.json"),
        (WINDOWS, "vscode", r"C:\Users\Kim Å\AppData\Roaming\Code\User\mcp.json"),
    ],
)
def test_a_persons_settings_lie_where_the_system_keeps_them(machine: Machine, client: str, path: str) -> None:
    assert str(client_named(client).file(machine, "user")) == path


@pytest.mark.parametrize(
    ("client", "path"),
    [("claude-code", ".mcp.json"), ("cursor", ".cursor/mcp.json"), ("vscode", ".vscode/mcp.json")],
)
def test_a_projects_settings_lie_in_its_folder(client: str, path: str) -> None:
    assert client_named(client).file(LINUX, "project") == PurePosixPath("/home/kim/butik") / path


def test_what_the_environment_moves_is_looked_for_there() -> None:
    moved = {"XDG_CONFIG_HOME": "/home/kim/etc", "CLAUDE_CONFIG_DIR": "/home/kim/claude", "APPDATA": r"E:\Data"}
    linux = Machine(LINUX.home, "linux", moved, LINUX.folder)
    windows = Machine(WINDOWS.home, "win32", {"APPDATA": moved["APPDATA"]}, WINDOWS.folder)

    assert client_named("vscode").file(linux, "user") == PurePosixPath("/home/kim/etc/Code/User/mcp.json")
    assert client_named("claude-code").file(linux, "user") == PurePosixPath("/home/kim/claude/.claude.json")
    assert client_named("claude-code").hooks_file(linux, "user") == PurePosixPath("/home/kim/claude/settings.json")
    assert client_named("vscode").file(windows, "user") == PureWindowsPath(r"E:\Data\Code\User\mcp.json")


def test_only_claude_code_has_hooks() -> None:
    hooks: dict[str, PurePath | None] = {
        name: client_named(name).hooks_file(LINUX, "user") for name in ("claude-desktop", "cursor", "vscode")
    }

    assert set(hooks.values()) == {None}
    assert client_named("claude-code").hooks_file(LINUX, "user") == PurePosixPath("/home/kim/.claude/settings.json")
    assert client_named("claude-code").hooks_file(LINUX, "project") == PurePosixPath(
        "/home/kim/butik/.claude/settings.local.json"
    )


def test_what_there_is_not_is_told_with_what_there_is() -> None:
    with pytest.raises(SettingsError, match="a program is one of: claude-desktop, claude-code, cursor, vscode"):
        client_named("emacs")
    with pytest.raises(SettingsError, match="Claude Desktop has no settings of a project; leave out --scope"):
        client_named("claude-desktop").file(LINUX, "project")
