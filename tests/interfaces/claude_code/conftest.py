"""A project of Claude Code with a session in it, and the hook as Claude Code calls it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.command_line import CommandLine, Ran

SESSION = "7f3c1e52-5f0d-4a83-9a51-2b1d7c0e9d11"


def said(number: int, role: str, text: str, *, session: str = SESSION) -> dict[str, Any]:
    """Return a line of a session's transcript."""
    content: Any = text if role == "user" else [{"type": "text", "text": text}]
    return {
        "parentUuid": f"{session}-{number - 1}" if number else None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/kim/butiken",
        "sessionId": session,
        "version": "2.1.4",
        "type": role,
        "message": {"role": role, "content": content} | ({"id": f"msg_{number}"} if role == "assistant" else {}),
        "uuid": f"{session}-{number}",
        "timestamp": f"2026-04-10T08:{number % 60:02}:00.000Z",
    }


@dataclass(frozen=True)
class Project:
    """A project's folder of transcripts."""

    folder: Path

    def path(self, session: str = SESSION) -> Path:
        return self.folder / f"{session}.jsonl"

    def write(self, *lines: dict[str, Any], session: str = SESSION) -> Path:
        path = self.path(session)
        path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines), encoding="utf-8")
        return path

    def talk(self, n_turns: int, *, session: str = SESSION) -> Path:
        """Write a talk in which the first thing said is a decision, in Swedish."""
        lines = [said(0, "user", "Vi bestämde oss för SQLite eftersom det är en enda fil. 🐝", session=session)]
        for number in range(1, n_turns):
            role = "assistant" if number % 2 else "user"
            lines.append(said(number, role, f"Punkt {number}: lagret räknas om varje kväll.", session=session))
        return self.write(*lines, session=session)


@dataclass(frozen=True)
class Hook:
    """The hook, called with the JSON that Claude Code writes to its stdin."""

    memory_rag: CommandLine
    project: Project

    def __call__(self, event: str, *options: str, session: str = SESSION, **more: str) -> Ran:
        given = {
            "session_id": session,
            "transcript_path": str(self.project.path(session)),
            "cwd": "/home/kim/butiken",
            "hook_event_name": event,
            **more,
        }
        ran = self.memory_rag("hook", "claude-code", *options, stdin=json.dumps(given))
        assert ran.code == 0, ran
        return ran

    def pre_compact(self, *, trigger: str = "manual", focus: str = "") -> Ran:
        return self("PreCompact", trigger=trigger, custom_instructions=focus)

    def told_at_start(self, source: str, *, session: str = SESSION) -> str:
        """Return what a session is told when it begins; '' if nothing."""
        ran = self("SessionStart", source=source, session=session)
        if not ran.out:
            return ""
        output = json.loads(ran.out)
        assert output.keys() == {"hookSpecificOutput"}
        assert output["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}
        assert output["hookSpecificOutput"]["hookEventName"] == "SessionStart"
        return str(output["hookSpecificOutput"]["additionalContext"])


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder = tmp_path / "projects" / "-home-kim-butiken"
    folder.mkdir(parents=True)
    return Project(folder)


@pytest.fixture
def hook(memory_rag: CommandLine, project: Project) -> Hook:
    return Hook(memory_rag, project)
