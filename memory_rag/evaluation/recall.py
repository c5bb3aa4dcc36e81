"""Turn-level recall@k of a memory on a question set, within a conversation and over the whole memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from memory_rag.evaluation.questions import Question
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.ranking import Ranking

PoolName = Literal["conversation", "memory"]
Search = Callable[[str, Within], Ranking]
"""A search that returns its k best hits for a question within a filter."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over questions and its 95 % bootstrap interval (2,000 resamples of questions, seed 0)."""

    mean: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Interval:
        if not values:
            raise ValueError("an interval needs at least one value; a missing value is not 0")
        array = np.array(values)
        picks = np.random.default_rng(0).integers(0, len(array), (2000, len(array)))
        low, high = np.quantile(array[picks].mean(axis=1), [0.025, 0.975])
        return cls(float(array.mean()), float(low), float(high), len(array))

    def as_json(self) -> dict[str, Any]:
        return {"mean": self.mean, "low": self.low, "high": self.high, "n": self.n}


def recall_of(question: Question, ranking: Ranking) -> float:
    """Return the share of a question's evidence among the hits; a question without hits has 0."""
    found = {
        hit.turn.source.native_id
        for hit in ranking
        if hit.turn.source is not None and hit.turn.conversation_id == question.conversation_id
    }
    return len(question.evidence & found) / len(question.evidence)


def recall_trial(
    search: Search, questions: Sequence[Question], *, pool: PoolName, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """Return recall over all questions and by category, as JSON: ``{"all": …, "by_category": {…}}``."""
    values: list[float] = []
    by_category: dict[str, list[float]] = defaultdict(list)
    for done, question in enumerate(questions, start=1):
        within = Within(conversation=question.conversation_id) if pool == "conversation" else Within()
        value = recall_of(question, search(question.text, within))
        values.append(value)
        by_category[question.category].append(value)
        if progress is not None:
            progress(done, len(questions))
    return {
        "all": Interval.of(values).as_json(),
        "by_category": {name: Interval.of(part).as_json() for name, part in sorted(by_category.items())},
    }
