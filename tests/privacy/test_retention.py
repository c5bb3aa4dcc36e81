"""Turns go when their time is over: what will go is told before, and a clock that jumps takes nothing by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from memory_rag.errors import SettingsError, TurnError
from memory_rag.memory import Memory
from memory_rag.privacy.retention import Rule, Scope
from memory_rag.summaries.summary import Kind, Line
from memory_rag.turns import Source, Turn
from tests.either_engine import Place

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def opened(place: Place, clock: Clock) -> Memory:
    return place.open(embedder="none", language="en", clock=clock)


@pytest.fixture
def memory(place: Place, clock: Clock) -> Iterator[Memory]:
    """Turns of 10, 20 and 40 days ago by a user, one of 40 days ago by a tool, one of 40 days ago in a diary."""
    memory = opened(place, clock)
    for days in (10, 20, 40):
        memory.add(f"said {days} days ago", said_at=NOW - timedelta(days=days))
    memory.add("tool output", role="tool", said_at=NOW - timedelta(days=40))
    memory.add("dear diary", conversation_id="diary", said_at=NOW - timedelta(days=40))
    yield memory
    memory.close()


def ids(memory: Memory) -> list[str]:
    return [turn.turn_id for turn in memory.turns()]


def test_without_a_rule_everything_is_kept(memory: Memory) -> None:
    schedule = memory.retention.schedule()

    assert (schedule.rules, schedule.expiries, schedule.n_kept) == ((), (), 5)
    assert memory.retention.apply() is None


def test_a_conversations_rule_counts_before_a_roles_and_that_before_the_memorys(memory: Memory) -> None:
    retention = memory.retention
    retention.set(Scope.MEMORY, days=30)
    retention.set(Scope.ROLE, "tool", days=100)
    retention.set(Scope.CONVERSATION, "diary", days=None)

    schedule = retention.schedule()

    assert [rule.scope for rule in schedule.rules] == [Scope.CONVERSATION, Scope.ROLE, Scope.MEMORY]
    assert [(one.turn_id, (one.at - NOW).days) for one in schedule.expiries] == [
        ("t3", -10),
        ("t2", 10),
        ("t1", 20),
        ("t4", 60),
    ]
    assert [one.turn_id for one in schedule.due] == ["t3"]
    assert schedule.n_kept == 1
    assert schedule.between(timedelta(0), timedelta(days=20)) == 2


def test_applied_it_forgets_what_is_due_and_that_stays_forgotten(memory: Memory, place: Place) -> None:
    memory.retention.set(Scope.MEMORY, days=15)

    done = memory.retention.apply()

    assert done is not None
    assert done.is_done
    assert ids(memory) == ["t1"]
    assert b"10 days ago" in place.everything()
    assert b"20 days ago" not in place.everything()


def test_an_expired_turn_is_not_imported_again(memory: Memory) -> None:
    memory.add("old", source=Source("chat", "1"), said_at=NOW - timedelta(days=99))
    memory.retention.set(Scope.MEMORY, days=50)
    memory.retention.apply()

    with pytest.raises(TurnError, match="was forgotten"):
        memory.add("old", source=Source("chat", "1"), said_at=NOW - timedelta(days=99))


def test_what_was_written_down_apart_stays_when_its_turn_goes(memory: Memory) -> None:
    memory.prompt.pins.add("said 40 days ago", turn_id="t3")
    memory.prompt.decisions.add("keep a diary", because="I like 40 days", turn_id="t3")
    memory.retention.set(Scope.MEMORY, days=30)

    memory.retention.apply()

    assert [(pin.text, pin.turn_id) for pin in memory.prompt.pins.all()] == [("said 40 days ago", None)]
    assert [one.turn_id for one in memory.prompt.decisions.all()] == [None]


def test_at_an_opening_what_is_due_goes_once_a_day(memory: Memory, place: Place, clock: Clock) -> None:
    memory.retention.set(Scope.MEMORY, days=30)
    memory.close()

    assert len(opened_and_read(place, clock)) == 5
    clock.now = NOW + timedelta(days=1)
    assert opened_and_read(place, clock) == ["t1", "t2"]
    clock.now = NOW + timedelta(days=1, hours=23)
    assert opened_and_read(place, clock) == ["t1", "t2"]
    clock.now = NOW + timedelta(days=12)
    assert opened_and_read(place, clock) == ["t1"]


def opened_and_read(place: Place, clock: Clock) -> list[str]:
    with opened(place, clock) as memory:
        return ids(memory)


def test_a_clock_that_jumps_ahead_takes_nothing_at_the_first_opening(
    memory: Memory, place: Place, clock: Clock
) -> None:
    memory.retention.set(Scope.MEMORY, days=60)
    memory.close()

    clock.now = NOW + timedelta(days=20_000)
    assert len(opened_and_read(place, clock)) == 5
    clock.now = NOW + timedelta(days=1)
    assert len(opened_and_read(place, clock)) == 5
    clock.now = NOW + timedelta(days=2)
    assert len(opened_and_read(place, clock)) == 5


class Slow:
    """A summarizer whose model isn't to be asked."""

    fingerprint = "slow"
    asked = 0

    def extend(
        self, earlier: Sequence[Line], turns: Sequence[Turn], *, focus: str = "", word_limit: int = 200
    ) -> tuple[Line, ...]:
        self.asked += 1
        return (Line(Kind.POINT, "days ago", (turns[0].turn_id,)),)


def test_an_opening_asks_no_model_for_a_summary_that_lost_its_lines(memory: Memory) -> None:
    slow = Slow()
    memory.summaries._summarizer = lambda: slow
    memory.summaries.summarise("main", keep_recent=0)
    asked = slow.asked
    memory.retention.set(Scope.MEMORY, days=30)

    done = memory.retention.apply(timeout_s=0, mend=False)

    assert done is not None
    assert (slow.asked, done.summaries) == (asked, ())
    assert [one.lines for one in memory.summaries.stored("main")] == [()]
    assert memory.summaries.mend("main")


def test_a_memory_that_lay_for_a_year_is_cleared_at_the_second_opening(
    memory: Memory, place: Place, clock: Clock
) -> None:
    memory.retention.set(Scope.MEMORY, days=60)
    memory.close()

    clock.now = NOW + timedelta(days=365)
    assert len(opened_and_read(place, clock)) == 5
    assert opened_and_read(place, clock) == []


def test_a_turn_whose_time_is_not_known_counts_from_when_it_was_stored(place: Place, clock: Clock) -> None:
    from memory_rag.turns import Role, Turn

    clock.now = datetime.now(UTC)
    with opened(place, clock) as memory:
        memory.add_many([Turn("t1", "c", "s", 0, Role.USER, "Ada", "some time")])
        memory.retention.set(Scope.MEMORY, days=1)
        (expiry,) = memory.retention.schedule().expiries

    assert timedelta(hours=23) < expiry.at - clock.now < timedelta(hours=25)


def test_rules_can_be_changed_and_taken_away(memory: Memory) -> None:
    retention = memory.retention
    retention.set(Scope.ROLE, "function", days=3)
    assert retention.set(Scope.ROLE, "tool", days=4) == Rule(Scope.ROLE, "tool", 4)
    assert list(map(str, retention.rules())) == ["role tool: 4 days"]

    retention.unset(Scope.ROLE, "tool")

    assert retention.rules() == ()
    with pytest.raises(SettingsError, match="there is no rule for role tool; rules are: none"):
        retention.unset(Scope.ROLE, "tool")


@pytest.mark.parametrize("days", [-1, 36_501, 10**12])
def test_a_number_of_days_that_is_none_is_refused(memory: Memory, days: int) -> None:
    with pytest.raises(SettingsError, match="0 to 36,500 days"):
        memory.retention.set(Scope.MEMORY, days=days)


def test_a_rule_for_nobody_is_refused(memory: Memory) -> None:
    with pytest.raises(SettingsError, match="needs a name"):
        memory.retention.set(Scope.CONVERSATION, days=3)
    with pytest.raises(SettingsError, match="has no name"):
        memory.retention.set(Scope.MEMORY, "talk", days=3)
    with pytest.raises(TurnError, match="unknown role 'boss'"):
        memory.retention.set(Scope.ROLE, "boss", days=3)
