"""Many processes on one memory: one that imports everything once, and forks the others.

``python -m tests.end_to_end.crowd FOLDER WRITERS READERS TURNS``: each writer stores so many turns, in order and
partly in batches; each reader searches and quotes what it finds until the writers are done. What goes wrong in any of
them is printed, a line each; "done" at the end.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

import faiss  # noqa: F401  loaded before the fork, and used in the children only

import memory_rag.retrieval.dense
import memory_rag.retrieval.quotes  # noqa: F401
from memory_rag.memory import Memory
from memory_rag.turns import Role, Turn
from tests.end_to_end.hashed_words import HashedWords

BATCH = 7


def text_of(writer: int, number: int) -> str:
    return f"writer{writer}x says number{number}x of the day"


def opened(folder: Path) -> Memory:
    return Memory.open(folder, embedder=HashedWords(), language="en")


def write(folder: Path, writer: int, n_turns: int) -> None:
    """Store turns one by one and, every third time, some together."""
    with opened(folder) as memory:
        number = 0
        while number < n_turns:
            some = range(number, min(number + (BATCH if number % 3 == 2 else 1), n_turns))
            if len(some) == 1:
                memory.add(text_of(writer, number), speaker=f"w{writer}")
            else:
                memory.add_many(
                    Turn("", "main", "s", -1, Role.USER, f"w{writer}", text_of(writer, one)) for one in some
                )
            number = some[-1] + 1


def read(folder: Path, done: Path) -> None:
    """Search and quote as long as others write; every turn that is found is one that somebody wrote, whole."""
    with opened(folder) as memory:
        seen = 0
        while not done.exists():
            found = memory.search(f"number{seen % 50}x", mode="keyword", k=5)
            for hit in found:
                writer, number = (int(word[6:-1]) for word in hit.turn.text.split()[:3:2])
                assert hit.turn.text == text_of(writer, number), hit.turn.text
                assert memory.quote(hit.turn.text)[0].text == hit.turn.text
            assert len(memory) >= seen, f"{seen} turns were there, now {len(memory)}"
            seen = len(memory)
            time.sleep(0.01)


def started(work: Callable[[], None]) -> int:
    """Fork a child that does some work and ends, and return its id."""
    child = os.fork()
    if child:
        return child
    code = 0
    try:
        work()
    except BaseException:
        os.write(1, ("problem " + traceback.format_exc().replace("\n", " | ") + "\n").encode())
        code = 1
    os._exit(code)


def main(folder: Path, n_writers: int, n_readers: int, n_turns: int) -> None:
    done = folder.with_name("done")
    writers = [started(partial(write, folder, writer, n_turns)) for writer in range(n_writers)]
    readers = [started(partial(read, folder, done)) for _ in range(n_readers)]
    for child in writers:
        os.waitpid(child, 0)
    done.touch()
    for child in readers:
        os.waitpid(child, 0)
    os.write(1, b"done\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
