"""Installing puts in one entry, keeps the old file, and leaves everything else byte for byte."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memory_rag.interfaces.installing.clients import Machine, client_named
from memory_rag.interfaces.installing.started import started
from tests.interfaces.command_line import CommandLine, Ran

SCRIPT = str(Path(sys.executable).parent / "memory-rag")
OTHERS = '{\n  "numStartups": 3,\n\t"mcpServers": {"other": {"command":"x",  "env":{}}},\n  "theme": "mörkt"\n}\n'


@dataclass(frozen=True)
class Person:
    """A person's home, and the command line as it runs there."""

    home: Path
    memory_rag: CommandLine

    def __call__(self, *words: str, **environment: str) -> Ran:
        given = {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "CLAUDE_CONFIG_DIR": "",
            "MEMORY_RAG_EMBEDDER": "",
        }
        return self.memory_rag(*words, **given, **environment)

    @property
    def memories(self) -> str:
        return str(self.memory_rag.home)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    @property
    def vscode(self) -> Path:
        machine = Machine(self.home, environment={"XDG_CONFIG_HOME": str(self.home / ".config")})
        return Path(client_named("vscode").file(machine, "user"))

    def json(self, name: str) -> Any:
        return json.loads((self.home / name).read_text(encoding="utf-8"))

    def copies(self, name: str) -> list[Path]:
        return sorted((self.home / name).parent.glob(f"{Path(name).name}.*.bak"))


@pytest.fixture
def person(tmp_path: Path, memory_rag: CommandLine, monkeypatch: pytest.MonkeyPatch) -> Person:
    home = tmp_path / "kim"
    (home / "butik").mkdir(parents=True)
    monkeypatch.chdir(home / "butik")
    return Person(home, memory_rag)


CURSOR = ".cursor/mcp.json"


def test_a_program_without_settings_gets_a_file_with_the_whole_path_and_home(person: Person) -> None:
    ran = person("install", "cursor")

    assert person.json(CURSOR) == {
        "mcpServers": {"memory-rag": {"command": SCRIPT, "args": ["mcp", "--home", person.memories]}}
    }
    assert ran.out == f"memory-rag is in {person.home / CURSOR}\n"
    assert ran.err == "note: switch it on in Cursor's MCP list\n"
    assert (person.home / CURSOR).stat().st_mode & 0o777 == 0o600
    assert person.copies(CURSOR) == []


def test_other_entries_stay_byte_for_byte_and_the_old_file_is_kept(person: Person) -> None:
    path = person.write(CURSOR, OTHERS)
    path.chmod(0o640)

    ran = person("install", "cursor", "--memory", "jobbet")

    (copy,) = person.copies(CURSOR)
    assert copy.read_text(encoding="utf-8") == OTHERS
    assert f"what it was is kept in {copy}" in ran.err
    entry = json.dumps({"command": SCRIPT, "args": ["mcp", "--memory", "jobbet", "--home", person.memories]})
    assert path.read_text(encoding="utf-8") == OTHERS.replace('"env":{}}}', '"env":{}}, "memory-rag": ' + entry + "}")
    assert path.stat().st_mode & 0o777 == 0o640

    person("uninstall", "cursor")
    assert path.read_text(encoding="utf-8") == OTHERS


def test_installing_again_changes_nothing_and_keeps_no_copy(person: Person) -> None:
    person("install", "claude-code")
    before = {name: (person.home / name).read_bytes() for name in (".claude.json", ".claude/settings.json")}

    ran = person("install", "claude-code")

    assert {name: (person.home / name).read_bytes() for name in before} == before
    assert person.copies(".claude.json") == []
    assert ran.out.splitlines() == [f"{person.home / name} is as it was" for name in before]


def test_an_entry_that_is_there_is_renewed_and_keeps_what_the_person_put_in(person: Person) -> None:
    own = {"command": "/old/memory-rag", "args": ["mcp"], "disabled": False, "env": {"MINE": "1", "MEMORY_RAG_K": "3"}}
    person.write(CURSOR, json.dumps({"mcpServers": {"memory-rag": own}}, indent=2))

    person("install", "cursor", MEMORY_RAG_K="7")

    assert person.json(CURSOR)["mcpServers"]["memory-rag"] == {
        "command": SCRIPT,
        "args": ["mcp", "--home", person.memories],
        "disabled": False,
        "env": {"MINE": "1", "MEMORY_RAG_K": "7"},
    }


def test_print_shows_the_entry_and_writes_nothing(person: Person) -> None:
    ran = person("install", "vscode", "--print", "--name", "minne")

    assert json.loads(ran.out) == {
        "servers": {"minne": {"type": "stdio", "command": SCRIPT, "args": ["mcp", "--home", person.memories]}}
    }
    assert ran.err == f"into {person.vscode}:\n"
    assert not person.vscode.parent.exists()


def test_claude_code_gets_the_entry_and_a_hook_at_three_events_beside_those_of_others(person: Person) -> None:
    other = {"matcher": "startup", "hooks": [{"type": "command", "command": "echo hej"}]}
    person.write(".claude/settings.json", json.dumps({"model": "opus", "hooks": {"SessionStart": [other]}}, indent=4))

    ran = person("install", "claude-code")

    command = f"{SCRIPT} hook claude-code --home {person.memories}"
    ours = {"hooks": [{"type": "command", "command": command, "timeout": 30}]}
    assert person.json(".claude.json")["mcpServers"]["memory-rag"]["type"] == "stdio"
    assert person.json(".claude/settings.json") == {
        "model": "opus",
        "hooks": {"SessionStart": [other, ours], "PreCompact": [ours], "SessionEnd": [ours]},
    }
    assert "may write its settings over this" in ran.err


def test_an_old_hook_of_ours_is_renewed_wherever_it_stands_and_doubles_go(person: Person) -> None:
    old = {"type": "command", "command": "/old/bin/memory-rag hook claude-code", "timeout": 5}
    mine = {"type": "command", "command": "make lint"}
    hooks = {"PreCompact": [{"matcher": "auto", "hooks": [mine, old]}, {"hooks": [old]}]}
    person.write(".claude/settings.json", json.dumps({"hooks": hooks}))

    person("install", "claude-code")

    command = f"{SCRIPT} hook claude-code --home {person.memories}"
    assert person.json(".claude/settings.json")["hooks"]["PreCompact"] == [
        {"matcher": "auto", "hooks": [mine, {"type": "command", "command": command, "timeout": 30}]}
    ]
    person("uninstall", "claude-code")
    assert person.json(".claude/settings.json") == {"hooks": {"PreCompact": [{"matcher": "auto", "hooks": [mine]}]}}
    assert person.json(".claude.json") == {}


def test_the_installed_hook_is_a_command_line_that_a_shell_can_run(person: Person) -> None:
    person("install", "claude-code", "--memory", "mitt minne")
    (hook,) = person.json(".claude/settings.json")["hooks"]["PreCompact"][0]["hooks"]

    ran = subprocess.run(hook["command"], shell=True, input=b"{}", capture_output=True, check=False)

    assert (ran.returncode, ran.stdout) == (0, b"")
    assert b"stdin names no hook_event_name" in ran.stderr


def test_a_project_gets_its_own_files(person: Person) -> None:
    ran = person("install", "claude-code", "--scope", "project", "--no-hooks", "--memory", "./minne")

    args = person.json("butik/.mcp.json")["mcpServers"]["memory-rag"]["args"]
    assert args == ["mcp", "--memory", str(person.home / "butik" / "minne"), "--home", person.memories]
    assert not (person.home / "butik" / ".claude").exists()
    assert "these files name paths of this machine" in ran.err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"mcpServers": {},}', "is no JSON, line 1, column 18: a comma before }, which JSON doesn't have"),
        ("// mine\n{}", "is no JSON, line 1, column 1: a comment, which JSON doesn't have"),
        ("[]", "is no JSON, line 1, column 1: an object, { … }, should stand here"),
        (b'{"a": "\xe5"}', "is not UTF-8 at byte 7"),
        ('{"mcpServers": null}', "line 1: mcpServers is null, not an object"),
    ],
)
def test_broken_settings_are_refused_with_their_place_and_left_alone(
    person: Person, text: str | bytes, told: str
) -> None:
    path = person.write(CURSOR, text)
    before = path.read_bytes()

    ran = person("install", "cursor")

    assert (ran.code, ran.out) == (1, "")
    assert told in ran.err
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_when_one_of_two_files_is_broken_neither_is_changed(person: Person) -> None:
    state = person.write(".claude.json", OTHERS)
    person.write(".claude/settings.json", "{")

    ran = person("install", "claude-code")

    assert ran.code == 1
    assert state.read_text(encoding="utf-8") == OTHERS


def test_comments_of_vs_code_stay_and_so_do_byte_order_mark_line_ends_and_links(person: Person, tmp_path: Path) -> None:
    text = '\ufeff{\r\n  // mine\r\n  "servers": {\r\n    "one": {"url": "http://x"}, // first\r\n  },\r\n}\r\n'
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_bytes(text.encode())
    link = person.vscode
    link.parent.mkdir(parents=True)
    link.symlink_to(real)

    person("install", "vscode")
    written = real.read_bytes().decode()
    assert link.is_symlink()
    assert written.startswith(text[: text.index("  },\r\n")])
    assert "\n" not in written.replace("\r\n", "")

    person("uninstall", "vscode")
    assert real.read_bytes().decode() == text


def test_uninstalling_what_is_not_there_says_so(person: Person) -> None:
    ran = person("uninstall", "cursor")

    assert ran.code == 0
    assert ran.err == (
        f"note: there was no entry 'memory-rag'\nnote: what is remembered is still in {person.memories}/main\n"
    )
    assert not (person.home / CURSOR).exists()


def test_a_path_that_is_no_file_is_refused(person: Person) -> None:
    (person.home / CURSOR).mkdir(parents=True)
    vscode = person.vscode
    vscode.parent.mkdir(parents=True)
    vscode.symlink_to(vscode)

    assert "can't be read (Is a directory); nothing was changed" in person("install", "cursor").err
    assert person("install", "vscode").err.startswith(f"error: {vscode} can't be read (")


def test_a_link_to_a_file_that_is_not_there_yet_is_followed(person: Person) -> None:
    (person.home / ".cursor").mkdir()
    (person.home / CURSOR).symlink_to(person.home / "dotfiles" / "mcp.json")

    person("install", "cursor")

    assert (person.home / CURSOR).is_symlink()
    assert "memory-rag" in person.json("dotfiles/mcp.json")["mcpServers"]


def test_an_unknown_program_or_scope_is_wrong_usage(person: Person) -> None:
    assert person("install", "emacs").code == 2
    assert "a scope is one of: user, project" in person("install", "cursor", "--scope", "all").err
    assert person("install", "claude-desktop", "--scope", "project").code == 1
    assert person("install", "cursor", "--name", " ").code == 2


def test_keys_and_tokens_are_never_written(person: Person) -> None:
    person("install", "cursor", OPENAI_API_KEY="sk-hemlig", MEMORY_RAG_TOKEN="hemlig", MEMORY_RAG_SUMMARY_TURNS="9")

    text = (person.home / CURSOR).read_text(encoding="utf-8")
    assert "hemlig" not in text
    assert json.loads(text)["mcpServers"]["memory-rag"]["env"] == {"MEMORY_RAG_SUMMARY_TURNS": "9"}


def test_without_a_script_the_module_is_started_and_words_are_quoted_for_the_shell(tmp_path: Path) -> None:
    start = started({"memory": "mitt minne"}, environment={}, executable=tmp_path / "en mapp" / "python")

    assert start.server() == (
        str(tmp_path / "en mapp" / "python"),
        ["-m", "memory_rag", "mcp", "--memory", "mitt minne"],
    )
    python = tmp_path / "en mapp" / "python"
    assert start.hook(platform="linux") == f"'{python}' -m memory_rag hook claude-code --memory 'mitt minne'"
    assert start.hook(platform="win32") == f'"{python}" -m memory_rag hook claude-code --memory "mitt minne"'


def test_a_memory_on_a_server_is_named_by_its_url_and_its_owner(person: Person) -> None:
    url = "postgresql://ada@db.example/work?sslmode=verify-full"
    given = {"PGPASSFILE": "/home/ada/pass", "PGPASSWORD": "secret", "MEMORY_RAG_OWNER": "bo"}
    entered = person("install", "claude-code", "--memory", url, "--owner", "ada", **given)

    assert entered.code == 0, entered
    entry = person.json(".claude.json")["mcpServers"]["memory-rag"]
    assert entry["args"][:5] == ["mcp", "--memory", url, "--home", person.memories]
    assert entry["args"][5:] == ["--owner", "ada"]
    assert entry["env"] == {"PGPASSFILE": "/home/ada/pass"}
    assert "secret" not in (person.home / ".claude.json").read_text()
    (hook,) = person.json(".claude/settings.json")["hooks"]["SessionEnd"][0]["hooks"]
    assert f"hook claude-code --memory '{url}'" in hook["command"]


@pytest.mark.parametrize("named", ["MEMORY_RAG_MEMORY", "MEMORY_RAG_REPLICA"])
def test_a_password_is_never_written_into_another_programs_settings(person: Person, named: str) -> None:
    refused = person("install", "cursor", **{named: "postgresql://ada:secret@db.example/work"})

    assert refused.code == 1
    assert "put a line host:port:database:user:password into ~/.pgpass (chmod 600)" in refused.err
    assert "secret" not in refused.err + refused.out
    assert not (person.home / ".cursor").exists()
