"""How well "not found" is told from an answer, without the easy way out of unknown names.

Three kinds of questions that a conversation doesn't answer, each beside those that it does:

- *foreign*: a question of people's talk asked of another talk of like length, the names mapped onto its people;
- *removed*: a question asked of its own conversation without its evidence turns and their neighbours;
- *abstention*: the data set's own questions that nothing answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from memory_rag.evaluation.benchmark import Benchmark, Query
from memory_rag.evaluation.datasets.conversations import people_of, spoken_order
from memory_rag.evaluation.measures import measure
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.ranking import Ranking
from memory_rag.turns import Role

Search = Callable[[str, Within], Ranking]
"""A search that returns its k best hits for a question within a filter."""
K: Final = 10
_ADVERSARIAL: Final = "5 adversarial"
_RECALL: Final = measure(f"recall@{K}")


def not_found_trial(
    search: Search, benchmark: Benchmark, *, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """Return, as JSON, how many unanswerable questions are rightly empty, and what that costs the answerable ones.

    ``search`` must rank without a floor and judge all the same, over a memory whose turns have the benchmark's ids.
    ``auroc`` is the chance that an answerable question has more evidence than an unanswerable one.
    """
    own = [query for query in benchmark.answerable() if query.category != _ADVERSARIAL]
    kinds: dict[str, list[tuple[str, Within]]] = {"removed": list(_without_evidence(own, benchmark))}
    foreign = list(_foreign(own, benchmark))
    if foreign:
        kinds["foreign"] = foreign
    if benchmark.unanswerable():
        kinds["abstention"] = [(q.text, Within(conversation=q.conversation_id)) for q in benchmark.unanswerable()]
    total, done = len(own) + sum(map(len, kinds.values())), 0

    def judged(text: str, within: Within) -> Ranking:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)
        return search(text, within)

    answered = [judged(query.text, Within(conversation=query.conversation_id)) for query in own]
    recall = np.array(
        [
            _RECALL.value_of(benchmark.qrels[query.query_id], ranking.turn_ids)
            for query, ranking in zip(own, answered, strict=True)
        ]
    )
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


def partners(benchmark: Benchmark) -> dict[str, str]:
    """Return for each talk of two people another of like length: by length, they are paired two by two.

    Of an odd number the longest is left without one. A person and a model are no two people.
    """
    spoken = spoken_order(benchmark)
    talks = [
        name
        for name, people in people_of(benchmark).items()
        if len(people) == 2 and all(turn.role is Role.USER for turn in spoken[name])
    ]
    talks.sort(key=lambda name: (len(spoken[name]), name))
    pairs = list(zip(talks[::2], talks[1::2], strict=False))
    return dict(pairs) | {second: first for first, second in pairs}


def _values(rankings: Sequence[Ranking]) -> npt.NDArray[np.float64]:
    return np.array([-np.inf if r.evidence_value is None else r.evidence_value for r in rankings])


def _without_evidence(own: Sequence[Query], benchmark: Benchmark) -> Iterator[tuple[str, Within]]:
    spoken = {name: [turn.turn_id for turn in turns] for name, turns in spoken_order(benchmark).items()}
    for query in own:
        said = spoken[query.conversation_id]
        evidence = {doc_id for doc_id, grade in benchmark.qrels[query.query_id].items() if grade > 0}
        places = [place for place, turn_id in enumerate(said) if turn_id in evidence]
        near = sorted({p for place in places for p in (place - 1, place, place + 1) if 0 <= p < len(said)})
        yield query.text, Within(conversation=query.conversation_id, without=tuple(said[place] for place in near))


def _foreign(own: Sequence[Query], benchmark: Benchmark) -> Iterator[tuple[str, Within]]:
    partner_of, people = partners(benchmark), people_of(benchmark)
    for query in own:
        other = partner_of.get(query.conversation_id)
        if other is None:
            continue
        new_names = dict(zip(people[query.conversation_id], people[other], strict=True))
        yield _renamed(query.text, new_names), Within(conversation=other)


def _renamed(text: str, new_names: Mapping[str, str]) -> str:
    # One pass: a name may be one of the other conversation's people too.
    pattern = r"\b(" + "|".join(map(re.escape, new_names)) + r")\b"
    return re.sub(pattern, lambda found: new_names[found[0]], text)
