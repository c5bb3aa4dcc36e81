"""A small made data set in LoCoMo's form, and an embedder that knows a few words."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memory_rag.embedding.embedder import Vectors
from memory_rag.turns import Span

THINGS = [
    *("kayak", "piano", "violin", "ferry", "harbour", "garden", "tulip", "ladder", "bakery", "oven"),
    *("bicycle", "tunnel", "island", "lantern", "meadow", "orchard", "castle", "bridge", "pottery", "sailor"),
    *("compass", "blanket", "kettle", "marble", "pigeon", "rocket", "saddle", "thimble", "umbrella", "walnut"),
]
TOWNS = ("Lund", "Oslo", "Turku")
PEOPLE = (("Ada", "Bo"), ("Cleo", "Dan"), ("Edda", "Finn"))


def locomo_file(folder: Path, *, n_turns: int = 36) -> Path:
    """Write three talks of two people; each question asks for one thing that one turn is about."""
    samples = [_sample(number, n_turns) for number in range(len(PEOPLE))]
    path = folder / "made_talks.json"
    path.write_text(json.dumps(samples), encoding="utf-8")
    return path


def _sample(number: int, n_turns: int) -> dict[str, Any]:
    rng = random.Random(number)
    people = PEOPLE[number]
    things = rng.sample(THINGS, len(THINGS))
    conversation: dict[str, Any] = {"speaker_a": people[0], "speaker_b": people[1]}
    questions: list[dict[str, Any]] = []
    per_session = n_turns // 3
    for session in range(1, 4):
        conversation[f"session_{session}_date_time"] = f"1:56 pm on {session} May, 2023"
        said = []
        for place in range(1, per_session + 1):
            thing = things[((session - 1) * per_session + place) % len(things)]
            other = rng.choice(THINGS)
            dia_id, speaker = f"D{session}:{place}", people[place % 2]
            said.append(
                {
                    "speaker": speaker,
                    "dia_id": dia_id,
                    "text": f"I saw the {thing} in {TOWNS[number]}, near the {other}.",
                }
            )
            if place % 3 == 0:
                questions.append(
                    {
                        "question": f"What did {speaker} say about the {thing}?",
                        "answer": thing,
                        "evidence": [dia_id],
                        "category": 1 + place % 4,
                    }
                )
        conversation[f"session_{session}"] = said
    return {"sample_id": f"talk-{number}", "conversation": conversation, "qa": questions}


class HashedWords:
    """An embedder whose vector is the sum of random directions of the text's words, and that counts its calls."""

    fingerprint = "hashed-words:32:1"
    dim = 32
    max_tokens = 10_000
    reads_speaker = False
    query_shift: Vectors = np.zeros(32, np.float32)

    def __init__(self) -> None:
        self.n_turns = 0
        self.n_queries = 0

    def passages(self, text: str) -> tuple[Span, ...]:
        return (Span(0, len(text)),)

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        self.n_turns += len(texts)
        return self._of(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.n_queries += len(texts)
        return self._of(texts)

    def _of(self, texts: Sequence[str]) -> Vectors:
        return np.array([_direction(text) for text in texts], np.float32).reshape(len(texts), self.dim)


def _direction(text: str) -> Vectors:
    total = np.full(32, 1e-3)
    for word in text.lower().replace(".", "").replace("?", "").replace(",", "").split():
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
        total += np.random.default_rng(seed).normal(size=32)
    unit: Vectors = (total / np.linalg.norm(total)).astype(np.float32)
    return unit
