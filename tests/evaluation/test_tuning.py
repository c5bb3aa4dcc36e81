from __future__ import annotations

import numpy as np
import pytest

from memory_rag.errors import QueryError
from memory_rag.evaluation.tuning import Example, Lists, Values, cross_validated, fitted_weights, folds_of

START = {"good": 1.0, "noise": 1.0}


def example(conversation: str, seed: int, *, sign: float = 1.0, n: int = 30) -> Example:
    """Of n candidates the relevant one has a high first value; the second says nothing."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 2)).astype(np.float32)
    relevant = np.zeros(n, np.bool_)
    relevant[seed % n] = True
    values[relevant, 0] += sign * 2.5
    return Example(conversation, values, relevant)


def examples(n: int = 60) -> list[Example]:
    return [example(f"c{number % 4}", number) for number in range(n)]


def test_a_signal_that_tells_gains_and_one_that_does_not_loses() -> None:
    found = fitted_weights(examples(), start=START)

    assert found["good"] > 4 * abs(found["noise"])
    assert list(found) == list(START)


def test_the_same_questions_give_the_same_weights() -> None:
    assert fitted_weights(examples(), start=START) == fitted_weights(examples(), start=START)


def test_the_minimum_is_where_the_slope_is_nothing() -> None:
    start = np.ones(2)
    lists = Lists(examples(), start=start)
    best = lists.fitted()

    (part,) = lists.parts

    def loss(weights: Values) -> float:
        ahead = np.where(part.held, part.differences.astype(np.float64) @ weights, -np.inf)
        return float(part.shares @ np.log1p(np.exp(ahead).sum(axis=1)))

    # The prior is weak beside sixty questions: near the minimum of the loss alone no direction gains much.
    for step in ([0.3, 0.0], [-0.3, 0.0], [0.0, 0.3], [0.0, -0.3]):
        assert loss(best) < loss(best + np.array(step))


def test_few_questions_move_the_weights_little() -> None:
    few = Lists([example("c0", 1)], start=np.ones(2)).fitted()
    many = Lists(examples(), start=np.ones(2)).fitted()

    assert abs(few[0] / few[1]) < abs(many[0] / many[1])


def test_best_scores_stay_as_high_as_they_were() -> None:
    """A memory's floor was measured on such scores."""
    made = examples()
    found = np.array(list(fitted_weights(made, start=START).values()))
    start = np.array(list(START.values()))

    assert sum((e.values @ found).max() for e in made) == pytest.approx(sum((e.values @ start).max() for e in made))


def test_a_conversations_weights_have_not_seen_it() -> None:
    """Turning one conversation's evidence round changes the others' weights, and not its own."""
    plain = cross_validated(examples(), start=START)
    turned = [example(e.conversation_id, n, sign=-1.0 if n % 4 == 0 else 1.0) for n, e in enumerate(examples())]
    after = cross_validated(turned, start=START)

    assert after["c0"] == plain["c0"]
    assert all(after[name]["good"] < plain[name]["good"] for name in ("c1", "c2", "c3"))


def test_every_conversation_is_left_out_once_in_twenty_parts_at_most() -> None:
    names = [f"c{number}" for number in range(45)]
    folds = folds_of(names)

    assert len(folds) == 20
    assert sorted(name for fold in folds for name in fold) == sorted(names)
    assert folds_of(names[::-1]) == folds
    assert sorted(map(sorted, folds_of(["b", "a", "b"]))) == [["a"], ["b"]]


def test_one_conversation_cannot_be_left_out() -> None:
    with pytest.raises(QueryError, match="all questions are about one"):
        cross_validated([example("c", 1), example("c", 2)], start=START)


def test_without_evidence_among_the_candidates_nothing_is_fitted() -> None:
    nothing = Example("c", np.zeros((3, 2), np.float32), np.zeros(3, np.bool_))
    with pytest.raises(QueryError, match="nothing to fit weights to"):
        fitted_weights([nothing], start=START)


def test_without_any_question_there_is_nothing_to_fit_to() -> None:
    with pytest.raises(QueryError, match="no question has its evidence among the candidates"):
        cross_validated([], start=START)
