"""A peer at the other end of a pipe: asked in JSON lines, timed at its own end."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from memory_rag.errors import MemoryRagError

_ENDS_WITHIN_S: Final = 5
_READ_AT_ONCE: Final = 1 << 24
_NO_MEMORY: Final = re.compile(
    r"\bMemoryError\b|std::bad_alloc|memory allocation of \d+ bytes failed|Cannot allocate memory"
)


class PeerError(MemoryRagError):
    """Somebody (``script``) who could not do what was asked of them."""

    def __init__(self, script: str, message: str) -> None:
        super().__init__(message)
        self.script = script


@dataclass(frozen=True, slots=True)
class Answer:
    """What a peer found (``found``), and the wall and processor seconds it took without the pipe."""

    found: Any
    s: float
    cpu_s: float
    process_cpu_s: float
    peak_mib: float | None


class PeerProcess:
    """A peer's script, run by its own Python on a folder of its own.

    ``max_mib`` bounds its data and ``within_s`` the time of each thing that it is asked; ``tracer`` goes before the
    command.
    """

    def __init__(
        self,
        script: Path,
        folder: Path,
        *,
        python: Path,
        words: tuple[str, ...] = (),
        max_mib: int | None = None,
        within_s: float | None = None,
        tracer: tuple[str, ...] = (),
        log: Path | None = None,
    ) -> None:
        def bounded() -> None:
            if max_mib is not None:
                resource.setrlimit(resource.RLIMIT_DATA, (max_mib << 20, max_mib << 20))

        self.name = script.stem
        self.within_s = within_s
        self._max_mib = max_mib
        self.began = time.perf_counter()
        self._log = log or folder.with_name(folder.name + ".log")
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as errors:
            self._process = subprocess.Popen(
                [*tracer, str(python), str(script), str(folder), *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
                env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
                preexec_fn=bounded,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.stop()

    def _end(self) -> str:
        """Tell how it ended, by the last line of its log."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDS_WITHIN_S)
        lines = self._log.read_text(encoding="utf-8", errors="replace").split("\n")
        said = next((line.strip() for line in reversed(lines) if line.strip()), "nothing")
        if self._max_mib is not None and _NO_MEMORY.search(said):
            return f"needed over {self._max_mib:,} MiB"
        return f"ended; the last words in {self._log.name} are: {said:.200}"

    def ask(self, what: str, /, *, within_s: float | None = None, **given: object) -> Answer:
        """Have it do something, and return its answer.

        Raises:
            PeerError: it failed, ended, or took longer than ``within_s``, or than anything of it may take.
        """
        [answer] = self.ask_each([(what, given)], within_s=within_s)
        return answer

    def ask_each(
        self, steps: Sequence[tuple[str, Mapping[str, object]]], *, within_s: float | None = None
    ) -> list[Answer]:
        """Have it do some things one after the other, without waiting for us between them, and return each answer.

        ``within_s`` is the time of each.

        Raises:
            PeerError: it failed, ended, or took longer, or longer than anything of it may take.
        """
        within_s = self.within_s if within_s is None else within_s
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        # The watch ends the process, and so nobody waits for an answer that won't come.
        watch = None if within_s is None else threading.Timer(within_s * len(steps), self._process.kill)
        if watch is not None:
            watch.start()
        try:
            stdin.write(json.dumps([{"do": what, "with": given} for what, given in steps]) + "\n")
            stdin.flush()
            line = stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            late = watch is not None and watch.finished.is_set()
            if watch is not None:
                watch.cancel()
        if not line:
            why = f"took over {within_s:g} s" if late else self._end()
            raise PeerError(self.name, f"{steps[0][0]}: {why}")
        answers = []
        for (what, _), told in zip(steps, json.loads(line), strict=False):
            if "error" in told:
                raise PeerError(self.name, f"{what}: {told['error']}")
            answers.append(Answer(told["answer"], told["s"], told["cpu_s"], told["process_cpu_s"], told["peak_mib"]))
        return answers

    def stop(self) -> None:
        """End it as it ends by itself: with the end of its input."""
        stdin = self._process.stdin
        if stdin is not None and not stdin.closed:
            with suppress(BrokenPipeError):
                stdin.close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def strace() -> str | None:
    """Return where strace lies, which counts how often a peer waits for the disk; None if it isn't installed."""
    return shutil.which("strace")


def read_through(folder: Path) -> None:
    """Read all files under a folder once, so that none of what is timed next waits for the disk to read them."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb", buffering=0) as file:
                while file.read(_READ_AT_ONCE):
                    pass


def disk_bytes(folder: Path) -> int:
    """Return the bytes of all files under a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
