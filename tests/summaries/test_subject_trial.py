"""Joined conversations: what is joined, which joints are heard, and what of a memory all its turns have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from memory_rag.embedding.embedder import Vectors
from memory_rag.embedding.minilm import MiniLmEmbedder
from memory_rag.evaluation.datasets.registry import load
from memory_rag.memory import Memory
from memory_rag.settings import Settings
from memory_rag.summaries.opening import MeaningVectors, sample_of_turns
from memory_rag.summaries.subject_trial import Heard, Joined, heard, in_a_row, joined_pieces
from memory_rag.text.analyzer import Analyzer
from memory_rag.trials.new_subjects import joined_of_benchmark, subjects_heard
from memory_rag.turns import Turn

Talk = Callable[..., list[Turn]]
AXES = {"garden": 0, "money": 1, "music": 2}


def by_subject(texts: Sequence[str]) -> Vectors:
    """Give each text the axis of its first word."""
    rows: Vectors = np.eye(3, dtype=np.float32)[[AXES[text.split()[0]] for text in texts]]
    return rows


def talks(talk: Talk, n: int) -> dict[str, list[Turn]]:
    return {name: talk(*(("Ebba", f"{name} {at}") for at in range(n)), conversation_id=name) for name in AXES}


def test_neighbouring_pieces_are_of_different_conversations(talk: Talk) -> None:
    runs = joined_pieces(talks(talk, 30), n_joined=4, n_pieces=5, lengths=(8, 12), seed=1)

    assert len(runs) == 4
    for run in runs:
        starts = [0, *run.joints, len(run.turns)]
        pieces = [run.turns[a:b] for a, b in pairwise(starts)]
        assert len(pieces) == 5
        assert all(8 <= len(piece) <= 12 for piece in pieces)
        assert all(len({turn.conversation_id for turn in piece}) == 1 for piece in pieces)
        names = [piece[0].conversation_id for piece in pieces]
        assert all(one != other for one, other in pairwise(names))


def test_the_same_seed_joins_the_same(talk: Talk) -> None:
    made = [joined_pieces(talks(talk, 30), n_joined=2, n_pieces=3, lengths=(8, 9), seed=s) for s in (3, 3, 4)]

    assert made[0] == made[1] != made[2]


def test_joints_heard_and_false_alarms_are_counted(talk: Talk) -> None:
    own = talks(talk, 8)
    run = in_a_row([own["garden"], own["money"], own["music"]])
    unmarked = Joined(run.turns, run.joints[:1])

    assert run.joints == (8, 16)
    assert heard([run], vectors_of=by_subject, least=0.95) == Heard(joints=2, found=2, told=2, n_turns=24)
    assert heard([unmarked], vectors_of=by_subject, least=0.95) == Heard(joints=1, found=1, told=2, n_turns=24)


def test_a_joint_is_found_a_turn_beside_it_but_no_further(talk: Talk) -> None:
    own = talks(talk, 8)
    turns = in_a_row([own["garden"], own["money"]]).turns

    found = [heard([Joined(turns, (at,))], vectors_of=by_subject, least=0.95).found for at in (6, 7, 8, 9, 10)]
    assert found == [0, 1, 1, 1, 0]


class Leaning:
    """An embedder all of whose vectors lean the same way, as multilingual ones do."""

    fingerprint, dim, max_tokens, reads_speaker = "leaning:4", 4, 512, False
    query_shift = np.zeros(4, np.float32)

    def __init__(self) -> None:
        self.passages = MiniLmEmbedder().passages

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        rows = np.hstack([0.1 * by_subject(texts), np.ones((len(texts), 1), np.float32)])
        unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return unit

    embed_queries = embed_turns


@pytest.mark.parametrize(("n_sampled", "n_heard"), [(63, 0), (66, 2)])
def test_what_all_turns_have_in_common_is_no_subject(talk: Talk, n_sampled: int, n_heard: int) -> None:
    own = talks(talk, 8)
    sample = [f"{list(AXES)[at % 3]} {at}" for at in range(n_sampled)]
    vectors_of = MeaningVectors(Leaning, analyzer=lambda: Analyzer(("en",)), sample=lambda: sample)
    run = in_a_row([own["garden"], own["money"], own["music"]])

    assert heard([run], vectors_of=vectors_of, least=Settings().summary_drift).found == n_heard


def test_a_sample_lies_spread_over_the_store(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "work", embedder="none") as memory:
        assert sample_of_turns(memory.store) == []
        for at in range(600):
            memory.add(f"turn {at}", role="tool" if at == 0 else "user")
        texts = sample_of_turns(memory.store)

    assert (len(texts), texts[0], texts[-1]) == (255, "turn 2", "turn 599")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least_heard", "least_joints"), [("locomo", 0.6, 0.55), ("beam", 0.7, 0.65)])
def test_most_joints_of_joined_conversations_are_heard(
    data_dir: Path, name: str, least_heard: float, least_joints: float
) -> None:
    path = {"locomo": "locomo10.json", "beam": "beam/100K"}[name]
    runs = joined_of_benchmark(load(name, data_dir / path), seed=0)[:5]
    drift = Settings().summary_drift
    found = subjects_heard({name: runs}, embedder=MiniLmEmbedder(), drift=drift)[name][str(drift)]

    assert found["joints"] == 35
    assert found["found"] / found["joints"] >= least_heard
    assert found["found"] / found["told"] >= least_joints
