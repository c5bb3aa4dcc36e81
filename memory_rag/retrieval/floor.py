"""When "not found" is the answer: how much evidence a pool holds for a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

import numpy as np

from memory_rag.retrieval.ascending import are_among
from memory_rag.retrieval.scene import Scene
from memory_rag.retrieval.shortlist import Shortlist

Evidence = Literal["strong", "weak", "none"]

_SETTLED: Final = 50
"""Turns from which on the lines hold; in a smaller pool nothing can stand out as much, and they lie lower."""
_QUESTION_SHARE: Final = 0.25
_MANY_WORDS: Final = 0.4
"""Of words half-remembered, the best turn of the right conversation holds as many in 9 of 10 cases, of another in 4."""


@dataclass(frozen=True, slots=True)
class Floor:
    """A linear score of three signs, and the two lines below which evidence is weak, or none.

    The signs and their kind of sum come from a study of abstention; the numbers are round and set by hand so that at
    most 2 points of recall@10 are lost (README, "Not found", with what the floor can't tell).
    """

    coverage: float = 2.5
    cosine: float = 3.0
    top: float = 0.25
    none_below: float = 4.4
    weak_below: float = 4.9
    none_below_alone: float = 1.5
    """The lower line for a memory of a single turn."""

    def value(self, signs: EvidenceSigns) -> float:
        """Return how much speaks for an answer being in the pool; comparable between questions, not a probability."""
        return self.coverage * signs.coverage + self.cosine * signs.cosine + self.top * signs.top

    def judge(self, value: float, *, n_turns: int) -> Evidence:
        """Say whether evidence of this value, in a pool of so many turns, is strong, weak or none."""
        settled = min(1.0, max(0, n_turns - 1) / (_SETTLED - 1))
        none_below = self.none_below_alone + settled * (self.none_below - self.none_below_alone)
        if value < none_below:
            return "none"
        return "weak" if value < none_below + self.weak_below - self.none_below else "strong"


FLOORS: Final[Mapping[str, Floor]] = {
    "minilm": Floor(),
    "e5": Floor(cosine=15.0, none_below=6.65, weak_below=7.15, none_below_alone=4.2),
}
"""Lines by embedder: the cosines of another model lie elsewhere, so each has to be measured."""


@cache
def floor_for(fingerprint: str | None) -> Floor | None:
    """Return the floor that was measured for an embedder; None where none was: then only "no word in common" is."""
    if fingerprint is None:
        return None
    return next((floor for name, floor in FLOORS.items() if fingerprint.startswith(name)), None)


@dataclass(frozen=True, slots=True)
class EvidenceSigns:
    """What tells a question that the pool answers from one that it doesn't; none depends on names alone.

    ``coverage`` is the best turn's BM25, with a quarter of its question's, over what a turn with every word of the
    query would have; ``cosine`` is the best passage's; ``top`` the best turn's whole score.
    """

    coverage: float
    cosine: float
    top: float


def evidence_signs(short: Shortlist, *, top: float) -> EvidenceSigns:
    """Return the three signs of a question before a pool; ``top`` is the best of the shortlist's scores."""
    scene = short.scene
    if len(short) == 0 or scene.possible_bm25 == 0:
        return EvidenceSigns(0.0, 0.0, top)
    of_question = short.questions.best(scene.bm25[short.questions.said])
    of_question *= _QUESTION_SHARE
    of_question += scene.bm25[short.entries]
    return EvidenceSigns(float(of_question.max()) / scene.possible_bm25, max(0.0, float(short.cosine.max())), top)


def lifted_by_words(evidence: Evidence, scene: Scene, hits: Sequence[int]) -> Evidence:
    """Return the evidence, raised where the hits (entries) hold the very words that a question gives or quotes.

    A phrase that was said as it stands is there. Where words are given and nothing is asked, a turn with many of them
    may be meant.
    """
    words = scene.wording
    if evidence == "strong" or words is None or len(hits) == 0:
        return evidence
    entries = np.array(hits, np.int64)
    if are_among(words.literal, entries).any():
        return "strong"
    if scene.query.gives_words and words.share(entries).max() >= _MANY_WORDS:
        return "weak"
    return evidence
