"""How well "not found" is told from an answer, without the easy way out of unknown names.

Three kinds of questions that a conversation doesn't answer, each beside those that it does:

- *foreign*: a LoCoMo question asked of another conversation of like length, the names mapped onto its people;
- *removed*: a question asked of its own conversation without its evidence turns and their neighbours;
- *abstention*: BEAM's own questions that its chats don't answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from memory_rag.evaluation.questions import Question, QuestionSet
from memory_rag.evaluation.recall import Search, recall_of
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.ranking import Ranking

_PARTNERS: Final = (
    ("conv-30", "conv-26"),
    ("conv-49", "conv-50"),
    ("conv-42", "conv-41"),
    ("conv-44", "conv-43"),
    ("conv-48", "conv-47"),
)
"""LoCoMo conversations of like length."""
_TURN_IDS = Mapping[tuple[str, str], str]


def not_found_trial(
    search: Search,
    asked: QuestionSet,
    *,
    turn_ids: _TURN_IDS,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Return, as JSON, how many unanswerable questions are rightly empty, and what that costs the answerable ones.

    ``search`` must rank without a floor and judge all the same; ``turn_ids`` maps (conversation, native id) to the
    memory's turn ids. ``auroc`` is the chance that an answerable question has more evidence than an unanswerable one.
    """
    own = [question for question in asked.answerable() if question.category != "5 adversarial"]
    kinds: dict[str, list[tuple[str, Within]]] = {
        "removed": [(question.text, _without_evidence(question, asked, turn_ids)) for question in own]
    }
    if asked.people:
        kinds["foreign"] = list(_foreign(own, asked))
    abstention = [question for question in asked.questions if not question.evidence]
    if abstention:
        kinds["abstention"] = [(q.text, Within(conversation=q.conversation_id)) for q in abstention]
    total, done = len(own) + sum(map(len, kinds.values())), 0

    def judged(text: str, within: Within) -> Ranking:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)
        return search(text, within)

    answered = [judged(question.text, Within(conversation=question.conversation_id)) for question in own]
    recall = np.array([recall_of(question, ranking) for question, ranking in zip(own, answered, strict=True)])
    empty = np.array([ranking.evidence == "none" for ranking in answered])
    weak = np.array([ranking.evidence != "strong" for ranking in answered])
    result: dict[str, Any] = {
        "own": {
            "n": len(own),
            "wrongly_empty": float(empty.mean()),
            "marked_weak_or_empty": float(weak.mean()),
            "recall_without_floor": float(recall.mean()),
            "recall_lost": float((recall * empty).mean()),
        }
    }
    of_own = _values(answered)
    for kind, cases in kinds.items():
        rankings = [judged(text, within) for text, within in cases]
        result[kind] = {
            "n": len(rankings),
            "rightly_empty": float(np.mean([ranking.evidence == "none" for ranking in rankings])),
            "marked_weak_or_empty": float(np.mean([ranking.evidence != "strong" for ranking in rankings])),
            "auroc": auroc(of_own, _values(rankings)),
        }
    return result


def auroc(positive: npt.NDArray[np.float64], negative: npt.NDArray[np.float64]) -> float:
    """Return the chance that a positive value is above a negative one, ties counted half (Mann-Whitney U / n m)."""
    both = np.concatenate([positive, negative])
    order = np.argsort(both, kind="stable")
    ranks = np.empty(len(both))
    ranks[order] = np.arange(1, len(both) + 1)
    _, inverse, counts = np.unique(both, return_inverse=True, return_counts=True)
    mean_ranks = (np.bincount(inverse, weights=ranks) / counts)[inverse]
    n, m = len(positive), len(negative)
    return float((mean_ranks[:n].sum() - n * (n + 1) / 2) / (n * m))


def _values(rankings: Sequence[Ranking]) -> npt.NDArray[np.float64]:
    return np.array([-np.inf if r.evidence_value is None else r.evidence_value for r in rankings])


def _without_evidence(question: Question, asked: QuestionSet, turn_ids: _TURN_IDS) -> Within:
    spoken = asked.turn_ids[question.conversation_id]
    places = [place for place, native in enumerate(spoken) if native in question.evidence]
    near = sorted({p for place in places for p in (place - 1, place, place + 1) if 0 <= p < len(spoken)})
    removed = tuple(turn_ids[question.conversation_id, spoken[place]] for place in near)
    return Within(conversation=question.conversation_id, without=removed)


def _foreign(own: Sequence[Question], asked: QuestionSet) -> Iterator[tuple[str, Within]]:
    partner = {**dict(_PARTNERS), **{second: first for first, second in _PARTNERS}}
    for question in own:
        other = partner[question.conversation_id]
        new_names = dict(zip(asked.people[question.conversation_id], asked.people[other], strict=True))
        pattern = r"\b(" + "|".join(map(re.escape, new_names)) + r")\b"
        # One pass: a name may be one of the other conversation's people too.
        text = re.sub(pattern, lambda found, names=new_names: names[found[0]], question.text)  # type: ignore[misc]
        yield text, Within(conversation=other)
