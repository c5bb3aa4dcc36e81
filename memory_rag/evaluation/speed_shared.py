"""The same invented turns, vectors and questions for everybody who is compared, as files that any program can read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from memory_rag.evaluation.speed_corpus import Corpus, Vectors
from memory_rag.evaluation.speed_vectors import MadeVectors
from memory_rag.turns import Turn

_BLOCK: Final = 50_000
K: Final = 10


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its vector, the conversation of the turn that it is about, and the ten nearest turns of all."""

    text: str
    vector: list[float]
    conversation: str
    nearest: list[str]


class SharedCorpus:
    """Invented turns in a folder: ``turns.jsonl`` (one a line) and ``vectors.npy`` (float32, as many rows)."""

    def __init__(self, folder: Path, *, seed: int) -> None:
        self.folder = folder
        self.corpus = Corpus(seed=seed)
        self.vectors = MadeVectors(seed=seed)

    @property
    def turns_path(self) -> Path:
        return self.folder / "turns.jsonl"

    @property
    def vectors_path(self) -> Path:
        return self.folder / "vectors.npy"

    def write(self, n: int) -> None:
        """Write the first n turns and their vectors, if not as many are there already."""
        if self.vectors_path.exists() and len(np.load(self.vectors_path, mmap_mode="r")) >= n:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.turns_path.open("w", encoding="utf-8") as file:
            for number, turn in enumerate(self.corpus.turns(0, n)):
                file.write(json.dumps(as_json(turn, number), ensure_ascii=False) + "\n")
        part = self.vectors_path.with_suffix(".part.npy")
        rows = np.lib.format.open_memmap(part, mode="w+", dtype=np.float32, shape=(n, self.vectors.dim))
        for start in range(0, n, _BLOCK):
            rows[start : start + _BLOCK] = self.vectors.turns(start, min(n, start + _BLOCK))
        rows.flush()
        part.rename(self.vectors_path)

    def new_turns(self, start: int) -> Iterator[tuple[dict[str, str], list[float]]]:
        """Yield turns that aren't in the files, and their vectors, from a number on."""
        number = start
        while True:
            [turn] = self.corpus.turns(number, number + 1)
            yield as_json(turn, number), self.vectors.turns(number, number + 1)[0].tolist()
            number += 1

    def questions(self, n: int, *, among: int) -> list[Question]:
        """Return questions about the first ``among`` turns."""
        asked = self.corpus.asked(n, among=among)
        rows = np.load(self.vectors_path, mmap_mode="r")[:among]
        vectors = np.array(
            [self.vectors.question(number, rows=rows, about=about) for number, (about, _) in enumerate(asked)]
        )
        nearest = exactly_nearest(vectors, rows)
        return [
            Question(
                text,
                vector.tolist(),
                next(self.corpus.turns(about, about + 1)).conversation_id,
                [turn_id(number) for number in numbers],
            )
            for (about, text), vector, numbers in zip(asked, vectors, nearest.tolist(), strict=True)
        ]


def exactly_nearest(queries: Vectors, rows: Vectors) -> npt.NDArray[np.int64]:
    """Return the numbers of the ten rows nearest to each query, best first, every row compared."""
    kept = np.zeros((len(queries), 0), np.float32)
    numbers = np.zeros((len(queries), 0), np.int64)
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        here = np.broadcast_to(np.arange(start, start + len(block)), (len(queries), len(block)))
        kept, numbers = np.hstack([kept, queries @ block.T]), np.hstack([numbers, here])
        best = np.argsort(-kept, axis=1, kind="stable")[:, :K]
        kept, numbers = np.take_along_axis(kept, best, 1), np.take_along_axis(numbers, best, 1)
    return numbers


def agreement(found: Sequence[Sequence[str]], exact: Sequence[Sequence[str]]) -> float:
    """Return the share of the exactly nearest that were found."""
    shares = [len(set(ours[:K]) & set(right)) / max(1, len(right)) for ours, right in zip(found, exact, strict=True)]
    return float(np.mean(shares))


def turn_id(number: int) -> str:
    return f"turn-{number}"


def as_json(turn: Turn, number: int) -> dict[str, Any]:
    """Return a turn as every peer reads it: strings by name."""
    assert turn.said_at is not None
    return {
        "id": turn_id(number),
        "conversation": turn.conversation_id,
        "session": turn.session_id,
        "ordinal": str(turn.ordinal),
        "speaker": turn.speaker,
        "text": turn.text,
        "said_at": turn.said_at.isoformat(),
    }
