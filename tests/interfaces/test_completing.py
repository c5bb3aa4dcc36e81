"""The TAB key: commands, options, and the names that a memory uses, in a real shell too."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from memory_rag.interfaces.cli.app import COMMANDS, app
from memory_rag.interfaces.cli.completing import COMPLETED
from memory_rag.memory import Memory
from tests.interfaces.command_line import CommandLine

NEEDS_BASH = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


def offered(memory_rag: CommandLine, line: str) -> list[str]:
    """Return what bash is told to offer at the end of a line."""
    words = line.split(" ")
    ran = memory_rag(
        _MEMORY_RAG_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1), COMP_TYPE="9"
    )
    assert (ran.code, ran.err) == (0, "")
    return [line for line in ran.lines if line]


def test_a_command_is_completed(memory_rag: CommandLine) -> None:
    assert offered(memory_rag, "memory-rag se") == ["search", "settings", "serve"]
    assert offered(memory_rag, "memory-rag bench r") == ["report", "run"]


def test_an_option_is_completed(memory_rag: CommandLine) -> None:
    assert offered(memory_rag, "memory-rag quote --ex") == ["--exit-code"]


@pytest.mark.usefixtures("talk")
def test_memories_are_completed_by_name_wherever_the_home_is_named(memory_rag: CommandLine, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "other" / "work", embedder="none"):
        pass

    assert offered(memory_rag, "memory-rag --memory ") == ["main"]
    assert offered(memory_rag, "memory-rag search x -m m") == ["main"]
    assert offered(memory_rag, f"memory-rag --home {tmp_path / 'other'} search --memory ") == ["work"]


@pytest.mark.usefixtures("talk")
def test_conversations_sessions_and_speakers_are_those_of_the_memory_that_is_named(memory_rag: CommandLine) -> None:
    with Memory.open(memory_rag.home / "trip", embedder="none") as memory:
        memory.add("We take the night train.", speaker="Åsa", conversation_id="reise", session_id="s1")

    assert offered(memory_rag, "memory-rag search --conversation ") == ["pricing"]
    assert offered(memory_rag, "memory-rag search --speaker E") == ["Ebba"]
    assert offered(memory_rag, "memory-rag search x --memory trip --conversation r") == ["reise"]
    assert offered(memory_rag, "memory-rag -m trip brief --conversation ") == ["reise"]
    assert offered(memory_rag, "memory-rag -m trip forget --session ") == ["s1"]
    assert offered(memory_rag, "memory-rag -m trip forget --speaker Å") == ["Åsa"]


def test_settings_languages_zones_and_formats_are_completed(memory_rag: CommandLine) -> None:
    assert offered(memory_rag, "memory-rag settings sum") == [
        "summaries",
        "summarizer",
        "summary_drift",
        "summary_kept",
        "summary_tokens",
        "summary_turns",
    ]
    assert offered(memory_rag, "memory-rag reindex --language sv,n") == ["sv,nb", "sv,ne", "sv,nl"]
    assert offered(memory_rag, "memory-rag search --timezone Europe/Sto") == ["Europe/Stockholm"]
    assert offered(memory_rag, "memory-rag import --format w") == ["whatsapp"]
    assert offered(memory_rag, "memory-rag bench run lo") == ["locomo", "longmemeval"]


def test_without_a_memory_nothing_is_offered_and_none_is_made(memory_rag: CommandLine) -> None:
    assert offered(memory_rag, "memory-rag search --conversation ") == []
    assert offered(memory_rag, "memory-rag --memory ") == []
    assert not memory_rag.home.exists()


def test_a_damaged_memory_is_no_error_at_the_tab_key(memory_rag: CommandLine, talk: Path) -> None:
    (talk / "turns.sqlite").write_bytes(b"no database at all" * 100)

    assert offered(memory_rag, "memory-rag search --conversation ") == []


def test_a_name_that_a_shell_would_act_on_is_not_offered(memory_rag: CommandLine, talk: Path) -> None:
    with Memory.open(talk, embedder="none") as memory:
        for name in ("$(touch gone)", "`id`", "a;b", "two words", "'", "a\nb", "!x", "~root", "tail*"):
            memory.add("x", conversation_id=name, speaker=name)
        memory.add("x", conversation_id="plain-1", speaker="Bo")

    assert offered(memory_rag, "memory-rag search --conversation ") == ["plain-1", "pricing"]
    assert offered(memory_rag, "memory-rag search --speaker ") == ["Assistant", "Bo", "Ebba", "calendar"]


def test_every_word_that_is_offered_is_one_that_the_option_takes() -> None:
    words = {
        name: found
        for name in COMPLETED
        if name not in ("--memory", "--conversation", "--session", "--speaker")
        and (found := COMPLETED[name](incomplete=""))
    }
    refused = []
    for command in _commands():
        for param in command.params:
            completed = next((name for name in (*param.opts, param.metavar) if name in words), None)
            for word in words.get(completed or "", ())[:20]:
                with command.make_context("x", [], resilient_parsing=True) as context:
                    whole = word + "model" if word.endswith(":") else word
                    try:
                        param.process_value(context, [whole] if param.nargs == -1 or param.multiple else whole)
                    except Exception as failure:
                        refused.append(f"{command.name} {completed} {word}: {failure}")

    assert len(words) > 12
    assert refused == []


@NEEDS_BASH
@pytest.mark.usefixtures("talk")
def test_bash_completes_a_conversation(memory_rag: CommandLine, tmp_path: Path) -> None:
    script = """
        eval "$(memory-rag --show-completion bash)"
        COMP_WORDS=(memory-rag search --conversation pr) COMP_CWORD=3
        _memory_rag_completion memory-rag
        printf '%s\\n' "${COMPREPLY[@]}"
    """

    assert in_bash(script, memory_rag, tmp_path) == "pricing\n"


@NEEDS_BASH
def test_the_completion_is_installed_for_the_shell_that_asks(memory_rag: CommandLine, tmp_path: Path) -> None:
    told = in_bash("memory-rag --install-completion; true", memory_rag, tmp_path)

    assert "bash completion installed in" in told
    assert "memory-rag" in (tmp_path / ".bashrc").read_text(encoding="utf-8")


def in_bash(script: str, memory_rag: CommandLine, home: Path) -> str:
    """Return what a script prints, in which ``memory-rag`` is the one that is tested."""
    called = home / "bin" / "memory-rag"
    called.parent.mkdir()
    called.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m memory_rag "$@"\n')
    called.chmod(0o755)
    environment = memory_rag.all_of_it(HOME=str(home), PATH=f"{called.parent}:/usr/bin:/bin")
    ran = subprocess.run(["bash", "--norc", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def _commands() -> list[Any]:
    group: Any = get_command(app)
    found = [group.get_command(None, name) for name in COMMANDS]
    return [one for command in found for one in getattr(command, "commands", {"": command}).values()]
