"""What scores take from a pool as a whole, kept in step with it at the cost of what changed."""

from __future__ import annotations

import random
from datetime import UTC

import numpy as np
import pytest

from memory_rag.evaluation.speed_counted import Work, counted
from memory_rag.retrieval.bm25 import Pool
from memory_rag.retrieval.filters import Within, scope_of
from memory_rag.retrieval.local_days import SaidDays
from memory_rag.retrieval.stage import Stage
from memory_rag.turns import Role
from tests.retrieval.talks import Talk, turn

SPEAKERS = ["user", "Ann", "Bob", "assistant"]
NAMED = [frozenset({0}), frozenset({1, 2}), frozenset({3})]


def grow(talk: Talk, draw: random.Random) -> None:
    """Say some turns in some conversations, correct some and let some end."""
    for _ in range(draw.randrange(4)):
        speaker = draw.choice(SPEAKERS)
        said = turn(
            draw.choice(["Please answer in bullet points from now on.", "We went to the sea."]),
            conversation_id=f"talk {draw.randrange(1 + len(talk.table))}",
            role=Role.ASSISTANT if speaker == "assistant" else Role.USER,
            speaker=speaker,
            recalled=draw.random() < 0.9,
        )
        earlier = [int(talk.table.row[entry]) for entry in talk.table.living()]
        talk.say(said, row=draw.choice(earlier) if earlier and draw.random() < 0.3 else None)
    living = talk.table.living().tolist()
    if living and draw.random() < 0.3:
        talk.table.end(int(talk.table.row[draw.choice(living)]))


def told(stage: Stage) -> list[object]:
    return [
        stage.has_assistant,
        stage.worth_of_first_person.tolist(),
        stage.wishes.tolist(),
        stage.sample.tobytes(),
        *(stage.conversations_with(speakers).tolist() for speakers in NAMED),
    ]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("within", [Within(), Within(conversation="talk 0"), Within(role="user")])
def test_a_stage_that_grew_tells_what_one_made_anew_does(seed: int, within: Within) -> None:
    talk, draw, days = Talk(), random.Random(seed), SaidDays(zone=UTC)
    for speaker in SPEAKERS:
        talk.say(turn("Hello.", speaker=speaker, conversation_id="talk 0"))
    scope, n_ended = scope_of(talk.table, within, zone=UTC), 0
    stage = Stage(talk.table, Pool(scope.context, talk.bm25.lengths), days=days)
    for _ in range(12):
        if draw.random() < 0.7:
            told(stage)
        grow(talk, draw)
        ended = np.array(talk.table.ended[n_ended:], np.int64)
        scope, n_ended = scope_of(talk.table, within, zone=UTC, earlier=scope, ended=ended), len(talk.table.ended)
        ended = ended[ended < stage.pool.n_entries]
        stage = stage.grown(stage.pool.grown(scope.context, talk.bm25.lengths, ended=ended), ended=ended)
        fresh = Stage(talk.table, Pool(scope.context, talk.bm25.lengths), days=days)

        assert told(stage) == told(fresh)


def test_the_sample_of_a_pool_that_has_grown_is_mostly_the_same_array() -> None:
    talk, days, nothing = Talk([turn("x")] * 5000), SaidDays(zone=UTC), np.zeros(0, np.int64)
    scope = scope_of(talk.table, Within(), zone=UTC)
    stage = Stage(talk.table, Pool(scope.context, talk.bm25.lengths), days=days)
    samples = [stage.sample]
    for _ in range(50):
        talk.say(turn("x"))
        scope = scope_of(talk.table, Within(), zone=UTC, earlier=scope, ended=nothing)
        stage = stage.grown(stage.pool.grown(scope.context, talk.bm25.lengths, ended=nothing), ended=nothing)
        samples.append(stage.sample)
        fresh = Stage(talk.table, Pool(scope.context, talk.bm25.lengths), days=days)

        assert stage.sample.tolist() == fresh.sample.tolist()

    # One in twenty turns takes a place.
    assert 1 <= len({id(sample) for sample in samples}) <= 10


def work_of_one_more(n: int) -> Work:
    """Return what it takes to bring scope, pool and stage up to date where n turns were said and one more is."""
    talk, days = Talk(), SaidDays(zone=UTC)
    for number in range(n):
        talk.say(turn("We went to the sea.", speaker=SPEAKERS[number % 4], conversation_id=f"talk {number % 9}"))
    scope, nothing = scope_of(talk.table, Within(), zone=UTC), np.zeros(0, np.int64)
    stage = Stage(talk.table, Pool(scope.context, talk.bm25.lengths), days=days)
    told(stage)

    def with_one_more() -> None:
        nonlocal scope, stage
        scope = scope_of(talk.table, Within(), zone=UTC, earlier=scope, ended=nothing)
        stage = stage.grown(stage.pool.grown(scope.context, talk.bm25.lengths, ended=nothing), ended=nothing)
        told(stage)

    for _ in range(2):
        talk.say(turn("And back.", speaker="Ann", conversation_id="talk 3"))
        work = counted(with_one_more)
    return work


def test_a_turn_more_is_looked_at_without_all_the_others() -> None:
    few, many = work_of_one_more(400), work_of_one_more(2500)

    assert many.more_than(few, tolerance=0.05) == []
