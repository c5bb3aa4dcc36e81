"""``memory-rag`` as a test calls it: in this process, or as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from typer.testing import CliRunner

from memory_rag.interfaces.cli.app import app


@dataclass(frozen=True)
class Ran:
    """How a command line ended: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


@dataclass(frozen=True)
class CommandLine:
    """A home of memories, and an environment to run in; without an embedder unless a test asks for one."""

    home: Path
    environment: Mapping[str, str]

    def __call__(self, *words: str, stdin: bytes | str = b"", **environment: str) -> Ran:
        """Run a command line in this process."""
        result = CliRunner().invoke(app, list(words), input=stdin, env={**self.environment, **environment})
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)

    def process(self, *words: str, stdin: bytes = b"", **environment: str) -> Ran:
        """Run a command line to its end in a process of its own, whose output is no terminal."""
        ended = subprocess.run(
            [sys.executable, "-m", "memory_rag", *words],
            input=stdin,
            capture_output=True,
            env=self.all_of_it(**environment),
            check=False,
        )
        return Ran(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    def start(
        self, *words: str, stdout: int | IO[bytes] = subprocess.PIPE, **environment: str
    ) -> subprocess.Popen[bytes]:
        """Begin a command line in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "memory_rag", *words],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            env=self.all_of_it(**environment),
            # A suite that a shell runs in the background ignores Ctrl-C, and so would all that it starts.
            preexec_fn=_hear_ctrl_c,
        )

    def all_of_it(self, **environment: str) -> dict[str, str]:
        """Return this process's environment with the command line's own."""
        return {**os.environ, **self.environment, **environment}


def _hear_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
