"""A process that stores, embeds and saves without end, and says so each time something is done; made to be killed.

It reads lines "<folder> <seed>" and runs each in a forked child, so that the imports are paid for once:
``python -m tests.end_to_end.adding_child``. The child prints "+ <turn id> <number>" after a turn was stored,
"= <turn id> <number>" after it was corrected, "- <turn id>" after it was forgotten, and "~ <turn id> <number>" or
"? <turn id>" before either; "p - <number>" after a preference was pinned, "s - <number>" after the state was set to it
and "S - <number>" before; the parent "dead".
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import faiss  # noqa: F401  loaded before the fork, and used in the child only

import memory_rag.importers
import memory_rag.ingest
import memory_rag.prompt.prompt
import memory_rag.retrieval.comparison
import memory_rag.retrieval.dense
import memory_rag.retrieval.quotes
import memory_rag.summaries.opening  # noqa: F401
from memory_rag.importers.turn_lines import export_lines
from memory_rag.memory import Memory
from memory_rag.turns import Role, Turn
from tests.end_to_end.hashed_words import HashedWords

OFTEN = {"add": 40, "add_many": 8, "correct": 6, "forget": 3, "embed": 3, "save": 3, "search": 2}
OFTEN |= {"import_file": 3, "pin": 2, "set_state": 3, "summarise": 2}
# No name, and no word of eight letters: a pin goes with the last turn that says such a word of it.
FILLER = ["the", "of", "kayak", "tax", "bread", "and", "boats", "in", "malmö", "är", "på", "väg", "東京", "\x00", "�"]


def text_of(number: int) -> str:
    """Return the words of a number: some that others have too, and one that nobody else has."""
    words = random.Random(number).choices(FILLER, k=number % 30)
    return " ".join([*words, mark_of(number), *words[: number % 7]])


def mark_of(number: int) -> str:
    """Return the word that only this number's text has."""
    return f"mark{number}x"


def work(folder: Path, seed: int) -> None:
    """Store, correct, forget, embed and save at random, until somebody ends this process."""
    chance = random.Random(seed)
    worker = Worker(Memory.open(folder, embedder=HashedWords(), language="en"), chance, number=seed * 1_000_000)
    while True:
        worker.number += 1
        getattr(worker, chance.choices(list(OFTEN), list(OFTEN.values()))[0])()


@dataclass
class Worker:
    """What may be done to a memory, each thing said when it is done; ``number`` makes the words of the next turn."""

    memory: Memory
    chance: random.Random
    number: int
    mine: list[str] = field(default_factory=list)

    def add(self) -> None:
        self.mine.append(self.memory.add(text_of(self.number)).turn_id)
        say(f"+ {self.mine[-1]} {self.number}")

    def add_many(self) -> None:
        numbers = self._next(self.chance.randrange(1, 9))
        turns = [Turn("", "c", "s", -1, Role.USER, "Ada", text_of(one)) for one in numbers]
        for turn_id, one in zip(self.memory.add_many(turns).turn_ids, numbers, strict=True):
            self.mine.append(turn_id)
            say(f"+ {turn_id} {one}")

    def import_file(self) -> None:
        # All of a file or nothing of it: its conversation's name says how many turns it has.
        numbers = self._next(self.chance.randrange(2, 30))
        conversation_id = f"import-{numbers[0]}-{len(numbers)}"
        path = self.memory.folder.with_name(f"{conversation_id}.jsonl")
        path.write_bytes(exported(conversation_id, numbers))
        self.memory.import_path(path)
        for turn in self.memory.turns(conversation_id=conversation_id):
            say(f"+ {turn.turn_id} {numbers[turn.ordinal]}")

    def correct(self) -> None:
        if self.mine:
            turn_id = self.chance.choice(self.mine)
            say(f"~ {turn_id} {self.number}")
            self.memory.correct(turn_id, text=text_of(self.number), keep_old=self.chance.random() < 0.5)
            say(f"= {turn_id} {self.number}")

    def forget(self) -> None:
        if self.mine:
            turn_id = self.mine.pop(self.chance.randrange(len(self.mine)))
            say(f"? {turn_id}")
            self.memory.forget([turn_id])
            say(f"- {turn_id}")

    def pin(self) -> None:
        self.memory.prompt.pins.add(text_of(self.number))
        say(f"p - {self.number}")

    def set_state(self) -> None:
        say(f"S - {self.number}")
        self.memory.prompt.state.merge({"number": self.number, "text": text_of(self.number)})
        say(f"s - {self.number}")

    def summarise(self) -> None:
        self.memory.summaries.summarise("c", keep_recent=0)

    def embed(self) -> None:
        self.memory.embed()

    def save(self) -> None:
        self.memory.indexes.catch_up()
        self.memory.indexes.save()

    def search(self) -> None:
        self.memory.search(mark_of(self.number - 1), k=3)

    def _next(self, n: int) -> range:
        numbers = range(self.number, self.number + n)
        self.number = numbers[-1]
        return numbers


def exported(conversation_id: str, numbers: Sequence[int]) -> bytes:
    """Return a file of turns with the words of these numbers."""
    turns = [Turn("", conversation_id, "s", at, Role.USER, "Bo", text_of(number)) for at, number in enumerate(numbers)]
    return "".join(export_lines([], turns)).encode()


def say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


if __name__ == "__main__":
    for line in sys.stdin:
        folder, seed = line.split()
        child = os.fork()
        if child == 0:
            work(Path(folder), int(seed))
        say(f"child {child}")
        os.waitpid(child, 0)
        say("dead")
