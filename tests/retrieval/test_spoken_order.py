"""Who spoke before whom, against a naive reading of the transcript."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_rag.retrieval.spoken_order import NOBODY, SpokenOrder
from memory_rag.retrieval.turn_table import TurnTable
from tests.retrieval.talks import Talk, turn

LONGEST = 32


@dataclass(frozen=True, slots=True)
class Spoken:
    """What the naive reading needs to know of a turn."""

    entry: int
    conversation: str
    session: str
    ordinal: int
    row: int
    speaker: str
    asks: bool


@dataclass(slots=True)
class Transcript:
    """All living, recalled turns, sorted as they were spoken; looked through from the start for every answer."""

    turns: dict[int, Spoken] = field(default_factory=dict)

    def order(self) -> list[Spoken]:
        return sorted(self.turns.values(), key=lambda one: (one.conversation, one.ordinal, one.row))

    def neighbour(self, entry: int, step: int) -> Spoken | None:
        order = self.order()
        place = next((i for i, one in enumerate(order) if one.entry == entry), None)
        if place is None or not 0 <= place + step < len(order):
            return None
        one, other = order[place], order[place + step]
        return other if (one.conversation, one.session) == (other.conversation, other.session) else None

    def run_beyond(self, entry: int, step: int) -> tuple[int, list[Spoken]]:
        """Return the entry's place in its run, seen from one side, and the other speaker's run on that side."""
        place, here = 0, next(one for one in self.turns.values() if one.entry == entry)
        while (beyond := self.neighbour(here.entry, step)) is not None and beyond.speaker == here.speaker:
            place, here = place + 1, beyond
        run: list[Spoken] = []
        while beyond is not None and (not run or beyond.speaker == run[0].speaker):
            run.append(beyond)
            beyond = self.neighbour(beyond.entry, step)
        return place, run[:LONGEST]

    def of_question(self, entry: int, values: list[float]) -> float:
        place, run = self.run_beyond(entry, -1)
        asked = [values[one.entry] for one in run if one.asks]
        return max(asked) * 0.7**place if asked and place <= LONGEST else 0.0

    def of_reply(self, entry: int, values: list[float]) -> float:
        place, run = self.run_beyond(entry, 1)
        said = [values[one.entry] for one in run]
        return max(said) * 0.7**place if said and place <= LONGEST else 0.0


TURNS = st.tuples(
    st.sampled_from(["c", "d"]),
    st.sampled_from(["s", "s", "r"]),
    st.integers(0, 12) | st.none(),
    st.sampled_from(["Ada", "Ada", "Bo"]),
    st.sampled_from(["Why?", "Because", "Oh. Really?"]),
    st.sampled_from([True, True, True, False]),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), TURNS),
        st.tuples(st.just("correct"), TURNS),
        st.tuples(st.just("end"), TURNS),
        st.tuples(st.just("look"), TURNS),
    ),
    max_size=25,
)


@settings(max_examples=300)
@given(STEPS)
def test_the_order_agrees_with_the_transcript_after_any_changes(
    steps: list[tuple[str, tuple[str, str, int | None, str, str, bool]]],
) -> None:
    table, order, transcript = TurnTable(), SpokenOrder(), Transcript()
    rows: list[int] = []
    for number, (what, (conversation, session, ordinal, speaker, text, recalled)) in enumerate(steps):
        row = number
        if what in ("correct", "end") and rows:
            row = rows[(ordinal or 0) % len(rows)]
        if what == "look":
            order.catch_up(table)
            continue
        transcript.turns.pop(row, None)
        if what == "end":
            table.end(row)
            continue
        # Most turns are added at the end of their conversation.
        place = number + 20 if ordinal is None else ordinal
        said = turn(
            text,
            turn_id=f"t{number}",
            conversation_id=conversation,
            session_id=session,
            ordinal=place,
            speaker=speaker,
            recalled=recalled,
        )
        entry = table.append(row, said, seq=number)
        rows.append(row)
        if recalled:
            transcript.turns[row] = Spoken(entry, conversation, session, place, row, speaker, "?" in text)
    order.catch_up(table)
    spoken = np.array(sorted(one.entry for one in transcript.turns.values()), np.int64)
    values = np.random.default_rng(len(steps)).normal(size=len(table))

    before, after = order.before(spoken), order.after(spoken)

    for entry, earlier, later in zip(spoken.tolist(), before.tolist(), after.tolist(), strict=True):
        for found, step in ((earlier, -1), (later, 1)):
            expected = transcript.neighbour(entry, step)
            assert found == (NOBODY if expected is None else expected.entry)
    if len(spoken):
        asked, replied = of_question(order, spoken, values, table), of_reply(order, spoken, values, table)
        listed = values.tolist()
        assert asked.tolist() == pytest.approx([transcript.of_question(e, listed) for e in spoken.tolist()])
        assert replied.tolist() == pytest.approx([transcript.of_reply(e, listed) for e in spoken.tolist()])


def of_question(order: SpokenOrder, entries: np.ndarray, values: np.ndarray, table: TurnTable) -> np.ndarray:
    questions = order.questions(entries, table)
    return questions.best(values[questions.said])


def of_reply(order: SpokenOrder, entries: np.ndarray, values: np.ndarray, table: TurnTable) -> np.ndarray:
    replies = order.replies(entries)
    return replies.best(values[replies.said])


def ordered(talk: Talk) -> SpokenOrder:
    talk.order.catch_up(talk.table)
    return talk.order


def everyone(talk: Talk) -> np.ndarray:
    return np.arange(len(talk.table))


def test_an_answer_gets_the_best_of_the_questions_before_it_fading_along_its_run() -> None:
    talk = Talk(
        [
            turn("Where is it?", speaker="Ada"),
            turn("Just wondering.", speaker="Ada"),
            turn("When did you go?", speaker="Ada"),
            turn("In May.", speaker="Bo"),
            turn("To Rome.", speaker="Bo"),
            turn("Nice.", speaker="Ada"),
        ]
    )
    values = np.array([0.5, 0.9, 0.3, 0.1, 0.2, 0.8])

    asked = of_question(ordered(talk), everyone(talk), values, talk.table)
    replied = of_reply(ordered(talk), everyone(talk), values, talk.table)

    assert asked.tolist() == pytest.approx([0, 0, 0, 0.5, 0.7 * 0.5, 0])
    assert replied.tolist() == pytest.approx([0.49 * 0.2, 0.7 * 0.2, 0.2, 0.7 * 0.8, 0.8, 0])


def test_a_negative_value_stays_negative() -> None:
    talk = Talk([turn("Why?", speaker="Ada"), turn("So.", speaker="Bo")])

    assert of_question(ordered(talk), np.array([1]), np.array([-0.5, 0]), talk.table).tolist() == [-0.5]


def test_tool_traffic_does_not_come_between_a_question_and_its_answer() -> None:
    talk = Talk(
        [
            turn("What is the weather?", speaker="user"),
            turn("calling", speaker="tool", recalled=False),
            turn("22 degrees", speaker="tool", recalled=False),
            turn("It is warm.", speaker="assistant"),
        ]
    )

    assert of_question(ordered(talk), np.array([3]), np.array([0.5, 0, 0, 0]), talk.table).tolist() == [0.5]
    assert ordered(talk).after(np.array([0, 1, 2, 3])).tolist() == [3, NOBODY, NOBODY, NOBODY]


def test_a_question_of_another_session_or_conversation_is_not_answered() -> None:
    talk = Talk(
        [
            turn("Why?", speaker="Ada", session_id="monday"),
            turn("So.", speaker="Bo", session_id="tuesday"),
            turn("So.", speaker="Bo", conversation_id="other", session_id="monday"),
        ]
    )

    assert of_question(ordered(talk), everyone(talk), np.ones(3), talk.table).tolist() == [0, 0, 0]


def test_interleaved_conversations_keep_their_own_order() -> None:
    talk = Talk([turn(f"{n}", conversation_id="cd"[n % 2], speaker="AB"[n // 2 % 2]) for n in range(6)])

    assert ordered(talk).before(everyone(talk)).tolist() == [NOBODY, NOBODY, 0, 1, 2, 3]


def test_a_very_long_run_counts_from_the_change_of_speaker() -> None:
    talk = Talk([turn("Why?", speaker="Ada"), *(turn(f"{n}", speaker="Bo") for n in range(40))])
    values = np.zeros(41)
    values[0] = 1.0

    asked = of_question(ordered(talk), everyone(talk), values, talk.table)

    assert asked[1:34].tolist() == pytest.approx([0.7**n for n in range(33)])
    assert not asked[34:].any()


def test_turns_that_are_added_later_are_linked_as_if_they_had_been_there() -> None:
    talk = Talk()
    for n in range(50):
        talk.say(turn(f"{n}", conversation_id="cde"[n % 3], ordinal=(n * 7) % 50))
        ordered(talk)
    anew = SpokenOrder()
    anew.catch_up(talk.table)

    assert ordered(talk).before(everyone(talk)).tolist() == anew.before(everyone(talk)).tolist()
    assert ordered(talk).after(everyone(talk)).tolist() == anew.after(everyone(talk)).tolist()


def test_runs_that_grow_turn_by_turn_are_those_of_the_whole_talk() -> None:
    speakers = ["Ada", "Bo", *["Ada"] * 45, "Bo", "Bo", *["Ada"] * 33, "Bo"]
    talk, values = Talk(), np.random.default_rng(0).random(len(speakers))
    for n, speaker in enumerate(speakers):
        talk.say(turn(f"{n}?", speaker=speaker))
        grown, anew = ordered(talk), SpokenOrder()
        anew.catch_up(talk.table)
        for of in (of_question, of_reply):
            assert (
                of(grown, everyone(talk), values, talk.table).tolist()
                == of(anew, everyone(talk), values, talk.table).tolist()
            )


def test_nobody_stands_before_nobody() -> None:
    talk = Talk([turn("a"), turn("b")])
    nobody = np.array([NOBODY])

    assert ordered(talk).before(nobody).tolist() == ordered(talk).after(nobody).tolist() == [NOBODY]
    assert SpokenOrder().before(nobody).tolist() == [NOBODY]
