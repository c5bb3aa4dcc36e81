"""What is retrieved: hits in spoken order, answers with their questions, neighbours up to a share, all of it within."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.prompt.fencing import CLOSING, OPENING
from memory_rag.prompt.retrieved import Retrieved, retrieved_turns
from memory_rag.retrieval.ranking import Hit, Ranking
from memory_rag.turns import Span, Turn
from tests.prompt.made_turns import answer, numbered, turn
from tests.prompt.word_counter import Words

COUNT = Words()
FENCE = 3 * (COUNT.count(OPENING) + COUNT.count(CLOSING)) // 2 + 4
HEADING = 9
"""Words of ``[t1 · Ebba · 2026-04-10 08:00 UTC · talk]``."""


class Talk:
    """Turns of conversations, with the search's hits among them and what stands around each."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = list(turns)

    def around(self, before: Mapping[str, int], *, after: int) -> dict[str, list[Turn]]:
        found: dict[str, list[Turn]] = {}
        for own in self.turns:
            if own.turn_id in before:
                same = [one for one in self.turns if one.conversation_id == own.conversation_id]
                at = same.index(own)
                found[own.turn_id] = same[max(0, at - before[own.turn_id]) : at + after + 1]
        return found

    def retrieved(self, *turn_ids: str, n_tokens: int = 10_000, share: float = 0.0, **more: Any) -> Retrieved:
        by_id = {one.turn_id: one for one in self.turns}
        hits = [
            Hit(by_id[name], 1.0 / rank, rank, more.pop("span", None) or Span(0, len(by_id[name].text)))
            for rank, name in enumerate(turn_ids, 1)
        ]
        return retrieved_turns(
            Ranking("?", "hybrid", tuple(hits)),
            around=self.around,
            n_tokens=n_tokens,
            counter=COUNT,
            zone=UTC,
            neighbour_share=share,
            **more,
        )


TEN = Talk(numbered([turn(f"word{at}", role="assistant" if at % 2 else "user") for at in range(10)]))


def ids(found: Retrieved) -> list[str]:
    return [one.turn.turn_id for one in found.excerpts]


def test_hits_come_in_spoken_order() -> None:
    assert ids(TEN.retrieved("t7", "t1", "t5")) == ["t1", "t5", "t7"]


def test_an_answer_comes_with_the_question_before_it() -> None:
    found = TEN.retrieved("t4")

    assert ids(found) == ["t3", "t4"]
    assert found.why == {"t3": "the question before hit 1", "t4": "hit 1"}


def test_the_question_is_found_behind_the_tools_that_were_called_for_it() -> None:
    talk = Talk(
        numbered(
            [
                turn("What is in the file?"),
                turn("", role="assistant", recalled=False),
                turn("x", role="tool", blocks=[answer("A", "x")], recalled=False),
                turn("An x.", role="assistant"),
            ]
        )
    )

    assert ids(talk.retrieved("t4")) == ["t1", "t4"]


def test_an_answer_for_whose_question_there_is_no_room_is_not_quoted() -> None:
    cost_of_one = HEADING + 2
    found = TEN.retrieved("t4", n_tokens=FENCE + int(cost_of_one / 0.6) + 1)

    assert (ids(found), found.n_left_out, found.text, found.n_tokens) == ([], 1, "", 0)


def test_a_question_in_the_window_is_not_told_again() -> None:
    assert ids(TEN.retrieved("t4", without=frozenset({"t3"}))) == ["t4"]


def test_neighbours_come_along_up_to_a_share() -> None:
    assert ids(TEN.retrieved("t5", share=0.5)) == ["t4", "t5", "t6"]
    assert TEN.retrieved("t5", share=0.5).why["t6"] == "said just after hit 1"
    room_for_one = (HEADING + 2) / 1000
    assert ids(TEN.retrieved("t5", n_tokens=1000, share=room_for_one)) == ["t4", "t5"]


def test_neighbours_that_overlap_are_told_once() -> None:
    found = TEN.retrieved("t5", "t7", share=0.5)

    assert ids(found) == ["t4", "t5", "t6", "t7", "t8"]
    assert "[…]" not in found.text


def test_hidden_neighbours_stay_hidden() -> None:
    talk = Talk(numbered([turn("a"), turn("secret", recalled=False), turn("b")]))

    assert ids(talk.retrieved("t3", share=0.5)) == ["t3"]


def test_conversations_come_in_the_order_in_which_they_were_held() -> None:
    late = [turn("late", turn_id="a1", conversation_id="a", minutes=500)]
    early = [turn("early", turn_id="b1", conversation_id="b", minutes=1)]

    assert ids(Talk([*late, *early]).retrieved("a1", "b1")) == ["b1", "a1"]


def test_a_long_turn_is_quoted_around_its_best_passage() -> None:
    words = [f"w{at}" for at in range(500)]
    text = " ".join(words)
    start = text.index("w400 ")
    talk = Talk([turn(text)])
    found = talk.retrieved("t1", n_tokens=FENCE + 200, span=Span(start, start + 20))
    [excerpt] = found.excerpts

    assert "w400" in excerpt.text
    assert not excerpt.is_whole
    assert excerpt.text == text[excerpt.span.start : excerpt.span.end]
    assert set(excerpt.text.split()) <= set(words)
    assert found.n_tokens <= FENCE + 200


def test_hits_without_room_are_counted() -> None:
    found = TEN.retrieved("t1", "t3", "t5", n_tokens=FENCE + 2 * (HEADING + 1))

    assert (ids(found), found.n_left_out) == (["t1"], 2)


@pytest.mark.parametrize("n_tokens", [-5, 0, 10, FENCE])
def test_no_room_gives_nothing(n_tokens: int) -> None:
    assert TEN.retrieved("t1", n_tokens=n_tokens) == Retrieved(n_left_out=1)


def test_a_hit_that_was_forgotten_meanwhile_is_not_quoted() -> None:
    def gone(before: Mapping[str, int], *, after: int) -> dict[str, list[Turn]]:
        return {}

    ranking = Ranking("?", "hybrid", (Hit(TEN.turns[0], 1.0, 1, Span(0, 5)),))
    found = retrieved_turns(ranking, around=gone, n_tokens=1000, counter=COUNT, zone=UTC)

    assert found == Retrieved(n_left_out=1)


def test_no_hits_give_nothing() -> None:
    assert TEN.retrieved() == Retrieved()


@given(
    st.lists(st.sampled_from([f"t{n}" for n in range(1, 11)]), unique=True),
    st.integers(0, 400),
    st.floats(0, 1),
    st.lists(st.integers(0, 90), min_size=10, max_size=10),
)
def test_it_never_costs_more_than_there_is(hits: list[str], n_tokens: int, share: float, lengths: list[int]) -> None:
    roles = ("user", "assistant")
    talk = Talk(numbered([turn(" ".join(["word"] * n), role=roles[at % 2]) for at, n in enumerate(lengths)]))
    found = talk.retrieved(*hits, n_tokens=n_tokens, share=share)

    assert found.n_tokens <= max(0, n_tokens)
    assert found.n_tokens == (COUNT.count(found.text) + 4 if found.text else 0)
    assert found.n_left_out + sum(why.startswith("hit") for why in found.why.values()) <= len(hits)
    assert [one.turn.ordinal for one in found.excerpts] == sorted(one.turn.ordinal for one in found.excerpts)
    assert set(found.why) == set(found.costs) == set(ids(found))
