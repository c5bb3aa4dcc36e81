"""A process that stores, embeds and saves without end, and says so each time something is done; made to be killed.

It reads lines "<folder> <seed>" and runs each in a forked child, so that the imports are paid for once:
``python -m tests.end_to_end.adding_child``. The child prints "+ <turn id> <number>" after a turn was stored,
"= <turn id> <number>" after it was corrected, "- <turn id>" after it was forgotten, and "~ <turn id> <number>" or
"? <turn id>" before either; the parent "dead".
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import faiss  # noqa: F401  loaded before the fork, and used in the child only

import memory_rag.retrieval.comparison
import memory_rag.retrieval.dense
import memory_rag.retrieval.quotes  # noqa: F401
from memory_rag.memory import Memory
from memory_rag.turns import Role, Turn
from tests.end_to_end.hashed_words import HashedWords

OFTEN = {"add": 40, "many": 8, "correct": 6, "forget": 3, "embed": 3, "save": 3, "search": 2}
FILLER = ["the", "of", "kayak", "tax", "bread", "and", "boats", "in", "Malmö", "är", "på", "väg", "東京", "\x00", "�"]


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
    number = seed * 1_000_000
    memory = Memory.open(folder, embedder=HashedWords(), language="en")
    mine: list[str] = []
    while True:
        number += 1
        match chance.choices(list(OFTEN), list(OFTEN.values()))[0]:
            case "add":
                mine.append(memory.add(text_of(number)).turn_id)
                say(f"+ {mine[-1]} {number}")
            case "many":
                numbers = range(number, number + chance.randrange(1, 9))
                turns = [Turn("", "c", "s", -1, Role.USER, "Ada", text_of(one)) for one in numbers]
                number = numbers[-1]
                for turn_id, one in zip(memory.add_many(turns).turn_ids, numbers, strict=True):
                    mine.append(turn_id)
                    say(f"+ {turn_id} {one}")
            case "correct" if mine:
                turn_id = chance.choice(mine)
                say(f"~ {turn_id} {number}")
                memory.correct(turn_id, text=text_of(number), keep_old=chance.random() < 0.5)
                say(f"= {turn_id} {number}")
            case "forget" if mine:
                turn_id = mine.pop(chance.randrange(len(mine)))
                say(f"? {turn_id}")
                memory.forget([turn_id])
                say(f"- {turn_id}")
            case "embed":
                memory.embed()
            case "save":
                memory.indexes.catch_up()
                memory.indexes.save()
            case "search":
                memory.search(mark_of(number - 1), k=3)


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
