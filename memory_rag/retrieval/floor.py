"""When "not found" is the answer: how much evidence a pool holds for a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from memory_rag.retrieval.dense import MISSING
from memory_rag.retrieval.ranking import Entries
from memory_rag.retrieval.scene import Scene

Evidence = Literal["strong", "weak", "none"]


@dataclass(frozen=True, slots=True)
class Floor:
    """A logistic over three signs, and the two lines below which evidence is weak, or none."""

    coverage: float = 4.0
    cosine: float = 8.0
    contrast: float = 4.0
    constant: float = -6.0
    weak_below: float = 0.0
    none_below: float = -1.5

    def value(self, scene: Scene, entries: Entries) -> float:
        """Return the log-odds that the pool answers the question; the entries are the ranked candidates."""
        signs = evidence_signs(scene, entries)
        return (
            self.coverage * signs.coverage
            + self.cosine * signs.cosine
            + self.contrast * signs.contrast
            + self.constant
        )

    def judge(self, value: float) -> Evidence:
        if value < self.none_below:
            return "none"
        return "weak" if value < self.weak_below else "strong"


@dataclass(frozen=True, slots=True)
class EvidenceSigns:
    """What tells a question that the pool answers from one that it doesn't; none depends on names alone.

    ``coverage`` is the best turn's BM25, with its question's, over what a turn with every word of the query would
    have; ``cosine`` is the best turn's; ``contrast`` how far that stands out from the pool, in standard deviations / 4.
    """

    coverage: float
    cosine: float
    contrast: float


def evidence_signs(scene: Scene, entries: Entries) -> EvidenceSigns:
    """Return the three signs for a question before a pool; all 0 without a candidate."""
    if len(entries) == 0:
        return EvidenceSigns(0.0, 0.0, 0.0)
    possible = scene.possible_bm25
    of_question = scene.order.of_question(entries, scene.bm25, scene.table)
    covered = (scene.bm25[entries] + 0.25 * of_question) / possible if possible > 0 else np.zeros(len(entries))
    if scene.cosine is None:
        return EvidenceSigns(float(covered.max()), 0.0, 0.0)
    cosines = scene.cosine[entries]
    known = cosines > MISSING
    joint = covered + np.where(known, 1.5 * cosines, 0.0)
    best = int(np.argmax(joint))
    top = float(cosines[known].max()) if known.any() else 0.0
    return EvidenceSigns(float(covered[best]), top, float(scene.dense[entries].max()))
