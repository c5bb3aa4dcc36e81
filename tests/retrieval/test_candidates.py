"""Which entries are worth the signals."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from memory_rag.memory import Memory
from memory_rag.retrieval.candidates import ALL_UP_TO, candidates
from memory_rag.retrieval.filters import Within, scope_of
from memory_rag.retrieval.ranker import ConversationRanker
from memory_rag.retrieval.scene import Scene
from memory_rag.retrieval.shortlist import Shortlist
from memory_rag.turns import Role, Turn
from tests.end_to_end.hashed_words import HashedWords
from tests.retrieval.talks import Talk, turn

N = 2 * ALL_UP_TO
FIRST_DAY = datetime(2025, 1, 1, 12, tzinfo=UTC)


def filler(n: int) -> Turn:
    return turn(f"word{n % 97} other{n % 89}", session_id=f"s{n // 20}", speaker="AB"[n % 2], said_at=FIRST_DAY)


def talk_with(special: dict[int, Turn], make: Callable[[int], Turn] = filler) -> Talk:
    """Return a talk too large for all of its turns to be candidates, with some turns in given places."""
    return Talk([special.get(n, make(n)) for n in range(N)])


def chosen(talk: Talk, scene: Scene, *, depth: int = 50, within: Within | None = None) -> list[int]:
    allowed = scope_of(talk.table, within or Within(), zone=UTC).allowed
    found: list[int] = candidates(scene, allowed=allowed, depth=depth).tolist()
    assert found == sorted(set(found))
    assert allowed[np.array(found, np.int64)].all()
    return found


def test_all_turns_of_a_small_pool_are_candidates() -> None:
    talk = Talk([filler(n) for n in range(ALL_UP_TO)])

    assert chosen(talk, talk.scene("snow")) == list(range(ALL_UP_TO))
    assert chosen(Talk(), Talk().scene("snow")) == []


@pytest.mark.parametrize("place", [0, 1234, N - 1])
def test_the_only_turn_with_a_rare_word_is_a_candidate_wherever_it_stands(place: int) -> None:
    talk = talk_with({place: turn("the kayak", session_id="s0" if place else "other")})

    assert place in chosen(talk, talk.scene("kayak"), depth=5)


@pytest.mark.parametrize("place", [0, 1234, N - 1])
def test_the_only_near_turn_is_a_candidate_though_all_others_tie(place: int) -> None:
    talk = talk_with({})
    cosines = dict.fromkeys(range(N), 0.1) | {place: 0.2}

    assert place in chosen(talk, talk.scene("snow", cosines=cosines), depth=5)


def test_the_question_before_and_the_answer_after_a_good_turn_are_candidates() -> None:
    talk = talk_with({})
    talk.say(turn("?", session_id="end", speaker="A"))
    talk.say(turn("kayak", session_id="end", speaker="B"))
    talk.say(turn("!", session_id="end", speaker="A"))

    assert {N, N + 1, N + 2} <= set(chosen(talk, talk.scene("kayak"), depth=1))


def test_turns_of_a_named_date_are_candidates() -> None:
    day = FIRST_DAY + timedelta(days=60)
    talk = talk_with({n: turn("nothing", session_id=f"s{n // 20}", said_at=day) for n in (3, 3210)})

    assert {3, 3210} <= set(chosen(talk, talk.scene("What about 2 March 2025?"), depth=1))


def test_turns_around_the_best_are_candidates_within_their_session() -> None:
    talk = talk_with({3518: turn("kayak", session_id="s175")})

    found = set(chosen(talk, talk.scene("kayak"), depth=1))

    assert {3516, 3517, 3518, 3519} <= found
    assert 3520 not in found


def test_the_best_of_the_part_and_of_the_person_meant_are_candidates() -> None:
    answer = turn("kayak", session_id="x", role=Role.ASSISTANT, speaker="Eva")
    talk = talk_with(
        {3000: answer},
        lambda n: turn("kayak kayak" if n % 2 else "word", session_id=f"s{n // 20}", speaker="B"),
    )

    assert 3000 in chosen(talk, talk.scene("What did you say about the kayak?"), depth=5)
    assert 3000 in chosen(talk, talk.scene("What did Eva say about the kayak?"), depth=5)


def test_a_filter_on_who_spoke_leaves_that_persons_best() -> None:
    talk = talk_with(
        {},
        lambda n: turn(
            "kayak kayak" if n % 3 else f"kayak {'word ' * (n % 7)}", speaker="AAB"[n % 3], session_id=f"s{n}"
        ),
    )
    within = Within(speaker="B")
    scene = talk.scene("kayak", within=within)

    found = np.array(chosen(talk, scene, depth=10, within=within))

    # Whoever ties with the tenth may be named in its stead.
    everybody = scope_of(talk.table, within, zone=UTC).allowed.entries
    best, kept = (np.sort(scene.bm25[entries])[::-1][:10] for entries in (everybody, found))
    assert kept.tolist() == best.tolist()


def test_deeper_candidates_hold_the_shallower_ones() -> None:
    talk = talk_with({})
    cosines = dict(enumerate(np.random.default_rng(5).normal(size=N).tolist()))
    scene = talk.scene("word3 other5", cosines=cosines)

    by_depth = [set(chosen(talk, scene, depth=depth)) for depth in (1, 10, 50, 200)]

    assert all(shallow <= deep for shallow, deep in pairwise(by_depth))


@pytest.mark.parametrize("n_turns_of_conversation", [N, 400])
def test_a_longer_list_leaves_the_scores_of_its_core(n_turns_of_conversation: int) -> None:
    talk = talk_with({}, lambda n: replace(filler(n), conversation_id=f"c{n // n_turns_of_conversation}"))
    cosines = dict(enumerate(np.random.default_rng(6).normal(size=N).tolist()))
    scene = talk.scene("What did A say about word3 on 1 January 2025?", cosines=cosines)
    core, more = (np.array(chosen(talk, scene, depth=depth)) for depth in (20, 200))

    alone = {one.entry: one.score for one in ConversationRanker().rank(Shortlist(scene, core), k=N)}
    longer = {one.entry: one.score for one in ConversationRanker().rank(Shortlist(scene, more, core=core), k=N)}

    assert len(alone) < len(longer)
    assert {entry: longer[entry] for entry in alone} == alone


def test_candidates_lose_at_most_a_point_of_recall_even_with_weak_vectors(data_dir: Path, tmp_path: Path) -> None:
    """All of LoCoMo in one memory, 5,882 turns, and every sixth of its questions; vectors of hashed words.

    With MiniLM's vectors and all questions nothing is lost: .806 of either.
    """
    conversations = json.loads((data_dir / "locomo10.json").read_text(encoding="utf-8"))
    memory = Memory.open(tmp_path / "memory", embedder=HashedWords(dim=128), language="en")
    memory.import_path(data_dir / "locomo10.json")
    memory.embed()
    source_ids = {
        said.turn_id: (said.conversation_id, said.source.native_id)
        for said in memory.turns()
        if said.source is not None
    }
    searcher, dense = memory.indexes.searcher(), memory.indexes.dense()
    scope, stage = searcher.pool(Within())
    ranker = ConversationRanker()
    of_all: list[float] = []
    of_candidates: list[float] = []
    for conversation in conversations:
        for asked in conversation["qa"][::6]:
            wanted = {(conversation["sample_id"], evidence) for evidence in asked.get("evidence", [])}
            if not wanted:
                continue
            scene = searcher.scene(searcher.analyze(asked["question"]), stage, dense)
            chosen = candidates(scene, allowed=scope.allowed, depth=50)
            for entries, recalls in ((stage.pool.entries, of_all), (chosen, of_candidates)):
                found = {
                    source_ids[stage.table.turn_id(one.entry)] for one in ranker.rank(Shortlist(scene, entries), k=10)
                }
                recalls.append(len(found & wanted) / len(wanted))
    memory.close()

    assert stage.pool.n == 5882
    assert len(of_all) > 300
    assert np.mean(of_all) > 0.55
    assert np.mean(of_candidates) >= np.mean(of_all) - 0.01
