"""The running summary: when it is made, what it stands for, and what happens when something goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ModelError
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.summaries.extractive import ExtractiveSummarizer
from memory_rag.summaries.running import RunningSummaries
from memory_rag.summaries.summary import Kind, Level, Line
from memory_rag.summaries.triggers import Triggers
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Role, Turn
from tests.either_engine import Place

ANALYZER = Analyzer(("en",))
Open = Callable[..., RunningSummaries]


class Told:
    """Remembers the events."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def record(self, kind: str, **fields: Any) -> None:
        self.events.append((kind, fields))


class Scripted:
    """A summarizer that does what it is told for each call, and then cites every turn in a line of its own."""

    def __init__(self, *calls: Callable[[Sequence[Turn]], tuple[Line, ...]]) -> None:
        self.calls = list(calls)
        self.seen: list[tuple[int, int]] = []

    @property
    def fingerprint(self) -> str:
        return "scripted:1"

    def extend(
        self, earlier: Sequence[Line], turns: Sequence[Turn], *, focus: str = "", word_limit: int = 200
    ) -> tuple[Line, ...]:
        self.seen.append((len(earlier), len(turns)))
        if self.calls:
            return self.calls.pop(0)(turns)
        return (*earlier, *(Line(Kind.POINT, turn.text, (turn.turn_id,), verbatim=True) for turn in turns))


def fails(turns: Sequence[Turn]) -> tuple[Line, ...]:
    raise ModelError("the model is out of order")


def says_nothing(turns: Sequence[Turn]) -> tuple[Line, ...]:
    return (Line(Kind.POINT, "They talked.", (turns[0].turn_id,)),)


@pytest.fixture
def store(place: Place) -> Iterator[TurnWriter]:
    with place.stores() as open_it:
        yield open_it()


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def open_at(store: TurnWriter, told: Told) -> Iterator[Open]:
    opened: list[RunningSummaries] = []

    def open_at(summarizer: Any = None, **arguments: Any) -> RunningSummaries:
        given = {"triggers": Triggers(turns=10, keep_recent=4), "events": told, **arguments}
        made = (lambda: summarizer) if summarizer is not None else None
        opened.append(RunningSummaries(store, analyzer=lambda: ANALYZER, summarizer=made, **given))
        return opened[-1]

    yield open_at
    for one in opened:
        one.close()
        one.wait(timeout_s=10)


def say(store: TurnWriter, *texts: str, conversation_id: str = "c", role: Role = Role.USER) -> None:
    at = datetime(2026, 4, 10, tzinfo=UTC) + timedelta(minutes=len(store))
    store.append(
        Turn("", conversation_id, "s", -1, role, "Ebba", text, said_at=at + timedelta(seconds=n))
        for n, text in enumerate(texts)
    )


def covered(summaries: RunningSummaries, conversation_id: str = "c") -> list[list[str]]:
    return [
        [turn.turn_id for turn in summaries.shelf.turns_of(one.number)] for one in summaries.stored(conversation_id)
    ]


def ids(first: int, last: int) -> list[str]:
    return [f"t{number}" for number in range(first, last + 1)]


# -- triggers


def test_too_many_turns_are_summarised_but_for_the_newest(store: TurnWriter, open_at: Open, told: Told) -> None:
    summaries = open_at()
    say(store, *(f"The garden has {n} roses." for n in range(10)))
    assert summaries.summarise_if_due("c") is False

    say(store, "One more rose.")

    assert summaries.summarise_if_due("c") is True
    assert covered(summaries) == [ids(1, 7)]
    ((kind, fields),) = told.events
    assert (kind, fields["trigger"], fields["n_turns"], fields["model"]) == ("summary", "turns", 7, "extractive:1")


def test_too_many_tokens_are_summarised(store: TurnWriter, open_at: Open, told: Told) -> None:
    summaries = open_at(triggers=Triggers(tokens=100, turns=99, keep_recent=2))
    say(store, *("roses and stones of the garden " * 2 for _ in range(5)))

    assert summaries.summarise_if_due("c")
    assert (covered(summaries), told.events[0][1]["trigger"]) == ([ids(1, 3)], "tokens")


def test_a_new_subject_is_summarised_up_to_where_it_begins_and_closes_the_summary(
    store: TurnWriter, open_at: Open, told: Told
) -> None:
    summaries = open_at(triggers=Triggers(turns=99, keep_recent=4, drift=0.5))
    say(store, *(f"The garden roses need water and garden soil, rose {n}." for n in range(20)))
    assert summaries.summarise_if_due("c") is False

    say(store, *(f"Invoice {n} shows a tax total and the invoice sum." for n in range(6)))

    assert summaries.summarise_if_due("c")
    assert (covered(summaries), told.events[0][1]["trigger"]) == ([ids(1, 20)], "subject")
    say(store, *(f"Invoice {n} has a tax total too." for n in range(6)))
    summaries.summarise("c")
    assert covered(summaries) == [ids(1, 20), ids(21, 28)]


def test_it_is_made_by_hand_with_a_focus(store: TurnWriter, open_at: Open) -> None:
    summaries = open_at()
    say(store, "The authentication fix lies in the second branch.", *(f"Rose {n} is red." for n in range(5)))

    assert summaries.summarise("c", focus="keep the authentication fix", keep_recent=0)
    (made,) = summaries.stored("c")
    assert made.focus == "keep the authentication fix"
    assert "The authentication fix lies in the second branch." in made.text
    assert summaries.summarise("c") is False


def test_a_tool_call_and_its_result_stay_together(store: TurnWriter, open_at: Open) -> None:
    summaries = open_at()
    say(store, "Look it up, please.", "I look it up.")
    say(store, "{}", role=Role.TOOL)
    say(store, "{}", role=Role.TOOL)
    say(store, "Here it is.")

    summaries.summarise("c", keep_recent=2)

    assert covered(summaries) == [ids(1, 1)]


# -- extending


def test_it_is_extended_with_the_new_turns_and_not_made_anew(store: TurnWriter, open_at: Open) -> None:
    scripted = Scripted()
    summaries = open_at(scripted)
    say(store, *(f"Rose {n}." for n in range(8)))
    summaries.summarise("c")
    say(store, *(f"Stone {n}." for n in range(3)))
    summaries.summarise("c")

    assert scripted.seen == [(0, 4), (4, 3)]
    assert covered(summaries) == [ids(1, 7)]


def test_a_hundred_turns_close_a_summary_and_ten_of_them_make_one_of_a_thousand(
    store: TurnWriter, open_at: Open
) -> None:
    summaries = open_at()
    say(store, *(f"We decided on rose {n} today." for n in range(1_030)))

    summaries.summarise("c", keep_recent=10)

    assert [len(one) for one in covered(summaries)] == [*[100] * 10, 20]
    (thousand,) = summaries.stored("c", level=Level.THOUSAND)
    (lifetime,) = summaries.stored("c", level=Level.LIFETIME)
    assert (thousand.n_turns, thousand.first_turn_id, thousand.last_turn_id) == (1_000, "t1", "t1000")
    assert lifetime.n_turns == 1_000
    assert all(one.n_words <= 200 for level in Level for one in summaries.stored("c", level=level))


def test_each_conversation_has_its_own(store: TurnWriter, open_at: Open) -> None:
    summaries = open_at()
    say(store, *(f"Rose {n}." for n in range(6)))
    say(store, *(f"Stone {n}." for n in range(6)), conversation_id="d")

    summaries.summarise("c")
    summaries.summarise("d")

    assert (covered(summaries, "c"), covered(summaries, "d")) == ([ids(1, 2)], [ids(7, 8)])


# -- the finest that fits


def test_the_finest_summary_that_fits_is_given_with_what_it_covers(store: TurnWriter, open_at: Open) -> None:
    summaries = open_at()
    say(store, *(f"We decided on rose {n} in May, and on stone {n}." for n in range(210)))
    assert summaries.of("c").at_most(9_999, count=len) is None
    summaries.summarise("c", keep_recent=5)
    source = summaries.of("c")

    fine = source.at_most(99_999, count=len)
    assert fine is not None
    coarse = source.at_most(len(fine.text) - 1, count=len)
    assert coarse is not None
    tight = source.at_most(len(coarse.text) - 1, count=len)

    assert (fine.level, fine.covers[0].last_ordinal, fine.covers[0].n_turns) == ("100 turns", 204, 205)
    assert (coarse.level, coarse.covers[0].n_turns) == ("lifetime", 205)
    assert tight is not None
    assert (tight.level, tight.covers[0].n_turns) == ("lifetime", 200)
    assert source.at_most(20, count=len) is None


def test_of_a_summary_that_does_not_fit_the_most_important_lines_stay_and_it_covers_the_same(
    store: TurnWriter, open_at: Open
) -> None:
    summaries = open_at(
        Scripted(
            lambda turns: (
                Line(Kind.FACT, "Ebba grows roses.", ("t1",)),
                Line(Kind.DECISION, "The stone is red.", ("t2",)),
                Line(Kind.DECISION, "The rose is white.", ("t3",)),
                Line(Kind.POINT, "It rained.", ("t4",)),
            )
        )
    )
    source = summaries.of("c")
    say(store, "One.", "Two.", "Three.", "Four.")
    assert source.shortened(999, count=len) is None
    summaries.summarise("c", keep_recent=0)
    texts = []
    for n_tokens in (0, 77, 999):
        given = source.shortened(n_tokens, count=len)
        assert given is not None
        assert (given.level, given.covers[0].n_turns) == ("100 turns, shortened", 4)
        texts.append(given.text)

    assert texts[0] == "Turns t1 to t4:\nDecisions:\n- The rose is white. [t3]"
    assert texts[1] == "Turns t1 to t4:\nDecisions:\n- The stone is red. [t2]\n- The rose is white. [t3]"
    assert len(texts[1]) == 77
    whole = source.at_most(999, count=len)
    assert whole is not None
    assert texts[2] == whole.text


def test_what_is_newer_than_the_lifetimes_summary_is_in_its_short_form_too(store: TurnWriter, open_at: Open) -> None:
    summaries = open_at()
    say(store, *(f"We decided on rose {n} in May, and on stone {n}." for n in range(210)))
    summaries.summarise("c", keep_recent=5)
    given = summaries.of("c").shortened(0, count=len)

    assert given is not None
    assert (given.level, given.covers[0].n_turns) == ("lifetime, shortened", 205)
    assert given.text.count("\n- ") == 1


def test_a_turn_that_comes_in_later_before_others_ends_what_is_covered(store: TurnWriter, open_at: Open) -> None:
    summaries = open_at()
    say(store, "Rose one.", "Rose two.", "Rose three.")
    summaries.summarise("c", keep_recent=0)
    store.append([Turn("", "c", "s", 1, Role.USER, "Ebba", "Between them.")])

    given = summaries.of("c").at_most(999, count=len)

    assert given is not None
    assert [(one.last_ordinal, one.n_turns) for one in given.covers] == [(0, 1)]


# -- what goes wrong


def test_when_the_model_fails_the_turns_stay_and_the_log_says_so(store: TurnWriter, open_at: Open, told: Told) -> None:
    summaries = open_at(Scripted(fails))
    say(store, *(f"Rose {n}." for n in range(6)))

    assert summaries.summarise("c") is False

    assert summaries.stored("c") == []
    assert [turn.turn_id for turn in summaries.shelf.uncovered("c")] == ids(1, 6)
    ((kind, fields),) = told.events
    assert (kind, fields["what"], fields["reason"]) == ("warning", "summary failed", "the model is out of order")
    assert summaries.summarise("c") is True


def test_after_a_failure_it_rests_a_minute(store: TurnWriter, open_at: Open) -> None:
    now = [datetime(2026, 4, 10, tzinfo=UTC)]
    summaries = open_at(Scripted(fails), clock=lambda: now[0])
    say(store, *(f"Rose {n}." for n in range(12)))

    assert [summaries.summarise_if_due("c") for _ in range(2)] == [False, False]
    now[0] += timedelta(seconds=61)
    assert summaries.summarise_if_due("c") is True


def test_one_that_loses_decisions_is_replaced_by_the_extractive_one_and_says_why(
    store: TurnWriter, open_at: Open, told: Told
) -> None:
    summaries = open_at(Scripted(says_nothing))
    say(store, "We decided to charge 49 euro.", "I prefer trains.", "Rose three.")

    summaries.summarise("c", keep_recent=0)

    (made,) = summaries.stored("c")
    assert made.made_by == "extractive:1"
    assert made.note == ("stands in for scripted:1, which kept 0 of 2 decisions and preferences, 50% are asked for")
    assert "We decided to charge 49 euro." in made.text
    assert told.events[0][1]["note"] == made.note


def test_the_share_that_has_to_be_kept_can_be_set(store: TurnWriter, open_at: Open) -> None:
    summaries = open_at(Scripted(says_nothing), kept_share=0.0)
    say(store, "We decided to charge 49 euro.")

    summaries.summarise("c", keep_recent=0)

    assert [one.made_by for one in summaries.stored("c")] == ["scripted:1"]


def test_an_extension_that_would_lose_too_much_begins_a_summary_of_its_own(store: TurnWriter, open_at: Open) -> None:
    summaries = open_at(word_limit=40)
    for part in range(3):
        say(store, *(f"We decided to plant rose {part}{n} beside the wall." for n in range(4)))
        summaries.summarise("c", keep_recent=0)

    assert [len(one) for one in covered(summaries)] == [4, 4, 4]
    assert all(one.audit.is_good_enough(0.5) for one in summaries.audited("c"))


# -- corrected and forgotten


def test_a_forgotten_turn_is_in_no_line_of_any_level_and_the_rest_stays(store: TurnWriter, open_at: Open) -> None:
    summaries = open_at()
    say(store, *(f"We decided on rose {n} today." for n in range(210)))
    summaries.summarise("c", keep_recent=0)
    gone = summaries.stored("c", level=Level.LIFETIME)[0].of_kind(Kind.DECISION)[0]
    before = summaries.stored("c")[0]

    store.remove(list(gone.turn_ids))

    shown = "\n".join(one.text for level in Level for one in summaries.stored("c", level=level))
    assert gone.text not in shown
    after = summaries.stored("c")[0]
    assert after.n_turns == before.n_turns - 1
    assert set(after.lines) == {line for line in before.lines if line.verbatim and line.text != gone.text}
    assert summaries.shelf.stored("c", Level.LIFETIME)[0].is_stale


def test_what_a_model_wrote_goes_with_any_turn_that_it_stood_for(store: TurnWriter, open_at: Open) -> None:
    summaries = open_at(Scripted(says_nothing))
    say(store, "Rose one.", "Rose two.")
    summaries.summarise("c", keep_recent=0)

    store.remove(["t2"])

    assert [one.lines for one in summaries.stored("c")] == [()]


def test_a_corrected_turn_is_summarised_anew(store: TurnWriter, open_at: Open) -> None:
    summaries = open_at()
    say(store, "We decided to charge 49 euro.", "I prefer trains.")
    summaries.summarise("c", keep_recent=0)

    store.correct("t1", text="We decided to charge 59 euro.")

    assert "49" not in summaries.stored("c")[0].text
    assert summaries.summarise_if_due("c") is True
    (made,) = summaries.stored("c")
    assert "We decided to charge 59 euro." in made.text
    assert "I prefer trains." in made.text


def test_a_summary_of_which_every_turn_was_forgotten_is_made_anew_as_nothing(store: TurnWriter, open_at: Open) -> None:
    summaries = open_at()
    say(store, "We decided to charge 49 euro.", "I prefer trains.")
    summaries.summarise("c", keep_recent=0)

    store.remove(["t1", "t2"])

    assert summaries.mend("c") is True
    assert [(one.lines, one.n_turns) for one in summaries.stored("c")] == [((), 0)]
    assert summaries.mend("c") is False


def test_a_turn_that_is_forgotten_while_its_summary_is_made_gets_into_none(
    store: TurnWriter, open_at: Open, told: Told
) -> None:
    def forgets(turns: Sequence[Turn]) -> tuple[Line, ...]:
        store.remove(["t1"])
        return (Line(Kind.POINT, "Rose one.", ("t1",)),)

    summaries = open_at(Scripted(forgets))
    say(store, "Rose one.", "Rose two.")
    summaries.nudge("c")
    assert summaries.wait(timeout_s=10)

    assert summaries.summarise("c", keep_recent=0) is False
    assert summaries.stored("c") == []
    assert told.events[-1][1]["what"] == "summary failed"
    assert summaries.summarise("c", keep_recent=0) is True
    assert covered(summaries) == [["t2"]]


# -- in the background


def test_it_runs_in_the_background_and_delays_neither_an_add_nor_a_summary_that_is_read(
    store: TurnWriter, open_at: Open
) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def waits(turns: Sequence[Turn]) -> tuple[Line, ...]:
        begun.set()
        may_end.wait(10)
        return tuple(Line(Kind.POINT, turn.text, (turn.turn_id,)) for turn in turns)

    summaries = open_at(Scripted(waits))
    say(store, *(f"Rose {n}." for n in range(12)))
    summaries.nudge("c")
    assert begun.wait(10)

    before = time.perf_counter()
    say(store, "One more.")
    assert summaries.of("c").at_most(999, count=len) is None
    took_s = time.perf_counter() - before
    assert summaries.wait(timeout_s=0) is False
    may_end.set()

    assert summaries.wait(timeout_s=10)
    assert covered(summaries) == [ids(1, 8)]
    assert took_s < 1


def test_two_at_once_never_summarise_the_same_turns(store: TurnWriter, open_at: Open) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def waits(turns: Sequence[Turn]) -> tuple[Line, ...]:
        begun.set()
        may_end.wait(10)
        return tuple(Line(Kind.POINT, turn.text, (turn.turn_id,)) for turn in turns)

    one, other = open_at(Scripted(waits)), open_at(Scripted())
    say(store, *(f"Rose {n}." for n in range(12)))
    one.nudge("c")
    assert begun.wait(10)

    assert other.summarise("c") is False
    may_end.set()
    assert one.wait(timeout_s=10)
    assert other.summarise("c") is False
    assert covered(other) == [ids(1, 8)]


CHILD = """
import sys, time
from pathlib import Path
from memory_rag.summaries.running import RunningSummaries
from memory_rag.text.analyzer import Analyzer
from tests.either_engine import Place

class Hangs:
    fingerprint = "hangs:1"
    def extend(self, earlier, turns, *, focus="", word_limit=200):
        print("begun", flush=True)
        time.sleep(60)

store = Place(Path(sys.argv[1]), sys.argv[2]).open_store()
RunningSummaries(store, analyzer=lambda: Analyzer(("en",)), summarizer=Hangs).summarise("c")
"""


def test_a_process_that_is_killed_in_the_middle_leaves_its_turns_to_the_next(
    store: TurnWriter, open_at: Open, place: Place
) -> None:
    say(store, *(f"Rose {n}." for n in range(12)))
    summaries = open_at()
    command = [sys.executable, "-c", CHILD, str(place.folder), place.server]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"begun\n"
        assert summaries.summarise("c") is False
        os.kill(child.pid, signal.SIGKILL)
        child.wait()

    assert summaries.summarise("c") is True
    assert covered(summaries) == [ids(1, 8)]
    assert store.check() == []


def test_a_closed_one_begins_nothing_more(store: TurnWriter, open_at: Open) -> None:
    summaries = open_at()
    say(store, *(f"Rose {n}." for n in range(12)))
    summaries.close()
    summaries.nudge("c")

    assert summaries.wait(timeout_s=5)
    assert summaries.stored("c") == []


def test_the_extractive_one_is_what_is_made_without_a_summarizer(store: TurnWriter, open_at: Open) -> None:
    say(store, "We decided to charge 49 euro.")
    summaries = open_at()
    summaries.summarise("c", keep_recent=0)

    assert summaries.stored("c")[0].made_by == ExtractiveSummarizer(ANALYZER).fingerprint


def test_what_was_read_before_is_read_again_when_something_changed(store: TurnWriter, open_at: Open) -> None:
    summaries = open_at()
    say(store, "Rose one.", "Rose two.", "Rose three.", "Rose four.")
    summaries.summarise("c", keep_recent=1)
    source = summaries.of("c")

    def given() -> tuple[int, bool]:
        found = source.at_most(999, count=len)
        assert found is not None
        return found.covers[0].n_turns, "Rose three." in found.text

    assert given() == (3, True)
    say(store, "Rose five.")
    assert given() == (3, True)
    summaries.summarise("c", keep_recent=0)
    assert given() == (5, True)
    store.correct("t3", text="Stone three.")
    assert given() == (5, False)
    store.append([Turn("", "c", "s", 1, Role.USER, "Ebba", "Between them.")])
    assert given() == (1, False)
