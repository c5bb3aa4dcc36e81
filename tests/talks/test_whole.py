"""Whole talks by their vectors: found by what all of a talk is about, and gone with any turn of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from memory_rag.memory import Memory
from memory_rag.retrieval.scene import MISSING
from memory_rag.talks.ranking import WholeCosines
from memory_rag.talks.searching import WEAK
from tests.either_engine import Place
from tests.retrieval.given_vectors import GivenVectors
from tests.talks.conftest import TALKS, tell

Opened = Callable[..., Memory]
QUESTION = "How goes the maths?"


def whole(name: str) -> str:
    return "\n".join(text for _role, text in TALKS[name])


def of_user(name: str) -> str:
    return "\n".join(text for role, text in TALKS[name] if role == "user")


def maths(**more: list[float]) -> GivenVectors:
    """An embedder to which the question is near the talk at school as a whole, and near none of its turns."""
    vectors = {QUESTION: [1.0, 0.0], whole("school"): [0.8, 0.6], of_user("school"): [0.6, 0.8], **more}
    return GivenVectors(vectors, elsewhere=[0.0, 1.0])


def windows(memory: Memory) -> list[tuple[str, str, int]]:
    with memory.store.connections.reading() as connection:
        return connection.execute(
            "SELECT conversation_id, side, n_turns FROM talk_windows ORDER BY conversation_id, side, place"
        ).fetchall()


@pytest.mark.parametrize("unit", ["session", "conversation"])
def test_a_talk_is_found_by_its_whole_that_no_turn_of_it_tells(opened: Opened, unit: str) -> None:
    memory = opened(embedder=maths())
    tell(memory)
    memory.talks.embed()

    found = memory.talks.search(QUESTION, unit=unit)

    assert found.conversation_ids[0] == "school"
    assert found[0].signals["dense_talk"] > 0 < found[0].signals["dense_user"]
    assert found[0].signals["dense_turn"] == 0
    assert windows(memory) == [
        ("flat", "all", 2), ("flat", "user", 1), ("garden", "all", 2), ("garden", "user", 1),
        ("school", "all", 3), ("school", "user", 2),
    ]  # fmt: skip


def test_a_search_embeds_a_few_talks_in_passing_but_for_a_short_one_that_goes_on(opened: Opened) -> None:
    memory = opened(embedder=maths())
    tell(memory)

    memory.talks.search(QUESTION)

    assert windows(memory) == [("garden", "all", 2), ("garden", "user", 1), ("school", "all", 3), ("school", "user", 2)]


def test_what_another_process_embedded_is_found(opened: Opened) -> None:
    own = maths()
    memory, other = opened(embedder=own), opened(embedder=maths())
    memory.talks.search(QUESTION)
    tell(other)
    other.talks.embed()

    found = memory.talks.search(QUESTION)

    assert found[0].signals["dense_talk"] > 0
    assert whole("school") not in own.embedded


def test_new_turns_of_a_talk_wait_until_there_are_a_few(opened: Opened) -> None:
    memory = opened(embedder=maths())
    tell(memory)
    memory.talks.embed()
    before = windows(memory)
    for number in range(3):
        memory.add(f"More {number}.", conversation_id="flat", session_id="2026-04-12")
    memory.talks.search(QUESTION)
    assert windows(memory) == before

    memory.add("More 3.", conversation_id="flat", session_id="2026-04-12")
    memory.talks.search(QUESTION)

    assert windows(memory)[:2] == [("flat", "all", 6), ("flat", "user", 5)]


def test_a_talk_of_which_a_search_embedded_a_part_is_embedded_to_its_end(opened: Opened) -> None:
    memory = opened(embedder=maths())
    long = "A long turn. " * 200
    tell(memory, {"long": tuple(("user" if at % 2 == 0 else "assistant", f"{at} {long}") for at in range(12))})
    memory.add("Something else.", conversation_id="other")

    memory.talks.search(QUESTION)
    assert len(windows(memory)) == 4
    memory.talks.embed()

    assert [sum(n for name, of, n in windows(memory) if (name, of) == ("long", side)) for side in ("all", "user")] == [
        12,
        6,
    ]


@pytest.mark.parametrize("how", ["forget", "correct"])
def test_no_vector_of_a_talk_outlives_a_turn_of_it(opened: Opened, place: Place, how: str) -> None:
    memory = opened(embedder=maths())
    tell(memory)
    memory.talks.embed()
    memory.talks.search(QUESTION)
    vector = np.array([0.8, 0.6], "<f4").tobytes()
    assert vector in place.everything()
    turn = list(memory.turns(conversation_id="school"))[1]

    if how == "forget":
        memory.forget([turn.turn_id])
    else:
        memory.correct(turn.turn_id, text="Let her draw it.", keep_old=False)

    assert {name for name, _, _ in windows(memory)} == {"flat", "garden"}
    memory.close()
    assert vector not in place.everything()


def test_a_talk_that_was_forgotten_in_part_is_found_by_what_is_left(opened: Opened) -> None:
    left = "\n".join(text for _role, text in TALKS["school"][:2])
    memory = opened(embedder=maths(**{left: [0.9, 0.1]}))
    tell(memory)
    memory.talks.embed()
    memory.talks.search(QUESTION)
    memory.forget([list(memory.turns(conversation_id="school"))[2].turn_id])
    memory.talks.embed()

    assert memory.talks.search(QUESTION).conversation_ids[0] == "school"


def test_a_question_that_nothing_clearly_answers_gets_the_nearest_and_is_told_so(opened: Opened) -> None:
    memory = opened(embedder=maths())
    tell(memory)
    memory.talks.embed()

    asked = memory.talks.search(QUESTION)
    answered = memory.talks.search("What keeps the white butterflies off the kale full of caterpillars?")

    assert (asked.evidence, WEAK in asked.notes) == ("weak", True)
    assert (answered.evidence, WEAK in answered.notes) == ("strong", False)


def whole_cosines(*cosines: float, n_windows: Sequence[int]) -> WholeCosines:
    return WholeCosines(np.array(cosines), np.array(n_windows))


CODES = np.arange(3, dtype=np.int32)


def test_of_a_talk_of_many_windows_the_best_tells_the_less_the_more_it_has() -> None:
    once = whole_cosines(0.1, 0.3, 0.5, n_windows=(1, 1, 1)).standardized(CODES, otherwise=np.zeros(3))
    often = whole_cosines(0.1, 0.3, 0.5, n_windows=(1, 2, 40)).standardized(CODES, otherwise=np.zeros(3))

    assert once.tolist() == pytest.approx([-(1.5**0.5) / 4, 0.0, 1.5**0.5 / 4])
    assert often.tolist() == pytest.approx([once[0], 0.0, once[2] / 20])


def test_a_talk_without_a_window_has_what_its_nearest_turn_tells_held_back_as_others_are() -> None:
    values = whole_cosines(0.1, 0.5, MISSING, n_windows=(4, 4, 0)).standardized(CODES, otherwise=np.full(3, 0.4))

    assert values.tolist() == pytest.approx([-0.125, 0.125, 0.2])


def test_where_no_talk_has_a_window_nothing_is_told() -> None:
    assert WholeCosines.none(3).standardized(CODES, otherwise=np.ones(3)).tolist() == [0.0, 0.0, 0.0]
    assert not WholeCosines.none(3).or_else(whole_cosines(0.1, 0.2, 0.3, n_windows=(1, 1, 1))).has.any()


def test_in_place_of_the_user_s_words_stand_everybody_s_where_nobody_else_speaks() -> None:
    of_user = whole_cosines(0.1, MISSING, MISSING, n_windows=(1, 0, 0))
    of_all = whole_cosines(0.9, 0.3, MISSING, n_windows=(2, 3, 0))

    both = of_user.or_else(of_all)

    assert (both.cosine.tolist(), both.n_windows.tolist()) == ([0.1, 0.3, MISSING], [1, 3, 0])


def test_pruning_deletes_the_vectors_of_talks_that_another_embedder_made(opened: Opened, place: Place) -> None:
    before = opened(embedder=GivenVectors({}, name="before"))
    tell(before)
    before.talks.summarise()
    before.talks.write("school", "What Ada learns.")
    before.embed()
    before.talks.embed()
    assert made_by(before) == {"before-2"}
    now = opened(embedder=GivenVectors({}, name="now"))
    now.talks.embed()

    now.reindex()
    assert made_by(now) == {"before-2", "now-2"}
    now.reindex(prune=True)
    assert made_by(now) == {"now-2"}
    assert [hit.conversation_id for hit in now.talks.search("the chain rule", k=1)] == ["school"]

    bare = opened()
    bare.reindex(prune=True)
    assert made_by(bare) == set()
    vectors = place.rows("SELECT row FROM vectors") if place.server else list((place.folder / "vectors").iterdir())
    assert vectors == []


def made_by(memory: Memory) -> set[str]:
    with memory.store.connections.reading() as connection:
        found = connection.execute("SELECT fingerprint FROM talk_windows UNION SELECT fingerprint FROM talk_vectors")
        return {str(fingerprint) for (fingerprint,) in found}
