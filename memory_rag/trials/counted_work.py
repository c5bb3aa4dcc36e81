"""What an add and a search do, counted: a result that doesn't depend on how busy the machine is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from memory_rag.evaluation.provenance import provenance
from memory_rag.evaluation.speed_corpus import Corpus
from memory_rag.evaluation.speed_counted import Work, counted
from memory_rag.evaluation.speed_vectors import DIM, KnownVectors, MadeVectors
from memory_rag.memory import Memory
from memory_rag.retrieval.filters import Within
from memory_rag.turns import Turn

N_TURNS: Final = 3_000
"""Few enough for a test, many enough that work for each turn shows in a search."""
SEED: Final = 20
_TIMES: Final = 6


def counted_work(folder: Path, *, n_turns: int = N_TURNS) -> dict[str, Work]:
    """Return what each operation does on a memory of invented turns, the sum over six: by the operation's name."""
    corpus, vectors = Corpus(seed=SEED), MadeVectors(seed=SEED)
    embedder = KnownVectors(fingerprint="given", dim=DIM)
    rows = vectors.turns(0, n_turns)
    embedder.know((turn.text for turn in corpus.turns(0, n_turns)), rows)
    with Memory.open(folder, embedder=embedder, language="en") as memory:
        memory.add_many(corpus.turns(0, n_turns))
        memory.embed()
        questions = corpus.asked(_TIMES, among=n_turns)
        talks = [next(corpus.turns(about, about + 1)).conversation_id for about, _text in questions]
        asked = cycle(zip(questions, talks, strict=True))
        new = _new_turns(corpus, vectors, embedder, n_turns)

        def search(mode: str, *, within: bool = False) -> Callable[[], None]:
            (about, text), talk = next(asked)
            embedder.asked = vectors.question(about, rows=rows, about=about)
            narrowed = Within(conversation=talk) if within else None
            return lambda: _forgotten(memory.search(text, mode=mode, within=narrowed, floor=False))

        def add() -> Callable[[], None]:
            turn = next(new)
            return lambda: _forgotten(
                memory.add(
                    turn.text,
                    speaker=turn.speaker,
                    conversation_id=turn.conversation_id,
                    session_id=turn.session_id,
                    said_at=turn.said_at,
                )
            )

        def search_after_add() -> Callable[[], None]:
            add()()
            return search("hybrid")

        operations: dict[str, Callable[[], Callable[[], None]]] = {
            "search": lambda: search("hybrid"),
            "keyword": lambda: search("keyword"),
            "within one conversation": lambda: search("hybrid", within=True),
            "add": add,
            "search after an add": search_after_add,
        }
        return {name: _summed(memory, prepare) for name, prepare in operations.items()}


def counted_result(scratch: Path) -> dict[str, Any]:
    """Return the counted work as a result, by which later trees are judged."""
    work = counted_work(scratch / "counted")
    return {
        "provenance": provenance(seed=SEED, n_turns=N_TURNS, times=_TIMES),
        "result": {"work": {name: one.as_json() for name, one in work.items()}},
    }


def _summed(memory: Memory, prepare: Callable[[], Callable[[], None]]) -> Work:
    for _ in range(_TIMES):
        prepare()()
    counts = []
    for _ in range(_TIMES):
        operation = prepare()
        with memory.store.connections.reading() as reader, memory.store.connections.writing() as writer:
            connections: Any = {id(reader): reader, id(writer): writer}.values()
        counts.append(counted(operation, connections))
    return Work(
        *(sum(parts) for parts in zip(*((one.lines, one.array_bytes, one.sql_steps) for one in counts), strict=True))
    )


def _new_turns(corpus: Corpus, vectors: MadeVectors, embedder: KnownVectors, start: int) -> Iterator[Turn]:
    for number, turn in enumerate(corpus.turns(start, start + 400), start=start):
        embedder.give(turn.text, vectors.turns(number, number + 1)[0])
        yield turn


def _forgotten(found: object) -> None:
    """Let what was found go, so that it isn't counted against the next."""
