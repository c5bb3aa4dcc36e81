"""A peer behind a pipe: one JSON line asks for some steps, one JSON line answers with what each found and took."""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

K = 10


def serve(peer_class: Any) -> None:
    """Answer until the pipe is closed; whatever a library prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    peer = peer_class(Path(sys.argv[1]))
    for line in sys.stdin:
        steps = json.loads(line)
        # All of it before the first is timed: what was just read from a pipe would lie in the processor's caches.
        for step in steps:
            if "vector" in step["with"]:
                step["with"]["vector"] = np.array(step["with"]["vector"], np.float32)
        told: list[dict[str, Any]] = []
        for step in steps:
            told.append(done(peer, step["do"], step["with"]))
            if "error" in told[-1]:
                break
        answers.write(json.dumps(told) + "\n")
        answers.flush()


def done(peer: Any, what: str, given: dict[str, Any]) -> dict[str, Any]:
    """Have the peer do something, and return what it found and took, or its error."""
    before = getattr(peer, "before", None)
    if before is not None:
        before(what, given)
    began, cpu = time.perf_counter(), time.process_time()
    try:
        found = getattr(peer, what)(**given)
    except Exception as error:
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}"[:500]}
    took = {"s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu}
    return {"answer": found, **took, "process_cpu_s": time.process_time(), "peak_mib": peak_mib()}


def peak_mib() -> float | None:
    """Return the most memory that this process has held, in MiB; None where the system doesn't tell."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def turns_of(path: str, n: int) -> Iterator[dict[str, str]]:
    """Yield the first n turns of a file of JSON lines: id, conversation, speaker, text, said_at."""
    with Path(path).open(encoding="utf-8") as lines:
        for line in islice(lines, n):
            yield json.loads(line)


def in_batches(turns: Iterator[dict[str, str]], size: int) -> Iterator[list[dict[str, str]]]:
    """Yield the turns in lists of so many."""
    batch: list[dict[str, str]] = []
    for turn in turns:
        batch.append(turn)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def vectors_of(path: str) -> Any:
    """Return the turns' vectors, float32, shape (turns, numbers), by memory map."""
    return np.load(path, mmap_mode="r")


def searchable(turn: dict[str, str]) -> str:
    """Return what is searched by words: who said it and what."""
    return f"{turn['speaker']} {turn['text']}"
