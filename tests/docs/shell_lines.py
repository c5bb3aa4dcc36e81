"""Lines of a shell as documentation writes them: what is called, and what it reads from or writes to a file."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.main import get_command

from memory_rag.interfaces.cli.app import app
from tests.docs.world import World
from tests.interfaces.command_line import Ran


@dataclass(frozen=True)
class Line:
    """One call: its words without the comment, and the files on either side of it, if any."""

    words: tuple[str, ...]
    reads: str = ""
    writes: str = ""

    @classmethod
    def parse(cls, text: str) -> Line:
        words = shlex.split(text, comments=True)
        beside = {"<": "", ">": ""}
        for sign in beside:
            if sign in words:
                place = words.index(sign)
                beside[sign] = words[place + 1]
                del words[place : place + 2]
        return cls(tuple(words), reads=beside["<"], writes=beside[">"])

    def run(self, world: World, *, agreed: bool = False, **environment: str) -> Ran:
        """Run ``memory-rag`` in the world's folder, which is the working folder; ``agreed`` answers what is asked."""
        assert self.words[0] == "memory-rag", self.words
        given = Path(self.reads).read_bytes() if self.reads else b"y\n" * agreed
        words = [_expanded(word, world) for word in self.words[1:]]
        ran = world.memory_rag(*words, stdin=given, **environment)
        if self.writes:
            Path(self.writes).write_text(ran.out, encoding="utf-8")
        return ran

    def check(self, world: World) -> None:
        """Read the options as the command would, and call nothing.

        Raises:
            Exception: an option or a value that the command doesn't take.
        """
        group: Any = get_command(app)
        words = [_expanded(word, world) for word in self.words[1:]]
        command, rest = group, words
        while hasattr(command, "commands"):
            with command.make_context("memory-rag", list(rest)) as context:
                name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
                assert name is not None
        command.make_context("memory-rag", list(rest)).close()


def _expanded(word: str, world: World) -> str:
    return str(world.folder) + word[1:] if word.startswith("~/") else word
