"""Where words are that a model seems to have forgotten; each kind of answer, checked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_rag.errors import PromptError
from memory_rag.memory import Memory
from memory_rag.prompt.events import EventKind
from memory_rag.prompt.prompt import Prompt
from memory_rag.prompt.whereabouts import Where, Whereabouts
from memory_rag.summaries.summary import Level
from tests.either_engine import Place
from tests.prompt.made_turns import answer, call

START = datetime(2026, 4, 10, 8, 0, tzinfo=UTC)


def say(memory: Memory, text: str, *, minute: int, role: str = "user", conversation_id: str = "main") -> str:
    """Store a turn of a minute and return its id."""
    said_at = START + timedelta(minutes=minute)
    return memory.add(text, role=role, conversation_id=conversation_id, said_at=said_at).turn_id


def kinds(found: Whereabouts) -> list[Where]:
    return [one.where for one in found.answers]


def fill(memory: Memory, *, first: int, n: int) -> None:
    """Say n turns about a wall, so that what came before leaves the window."""
    for number in range(first, first + n):
        role = "user" if number % 2 == 0 else "assistant"
        say(memory, f"Stone number {number} of the garden wall is loose.", minute=number, role=role)


def test_words_of_the_newest_turns_are_in_the_window(memory: Memory) -> None:
    turn = say(memory, "The price is 49 euro.", minute=0)
    say(memory, "Noted.", minute=1, role="assistant")

    found = memory.prompt.where("the PRICE is 49\u00a0euro", question="And then?")

    assert (found.in_prompt, kinds(found)) == (True, [Where.WINDOW])
    assert found.answers[0].told == f"in the window: turn {turn} is among the newest turns, word for word"


def test_words_of_the_question_are_in_the_prompt(memory: Memory) -> None:
    say(memory, "Is the price 49 euro?", minute=0)

    assert [one.told for one in memory.prompt.where("49 euro").answers] == ["in the question itself, turn t1"]


def test_words_that_were_retrieved_are_quoted(memory: Memory) -> None:
    say(memory, "The price of the workshop is 49 euro.", minute=0, conversation_id="pricing")
    fill(memory, first=1, n=3)

    found = memory.prompt.where(
        "price of the workshop", conversation_id="main", question="What did I say the workshop costs, the price?"
    )

    assert kinds(found) == [Where.RETRIEVED]
    assert found.answers[0].told == "quoted in the prompt: turn t1 was retrieved (hit 1)"


def test_words_that_are_stored_have_a_rank_for_the_last_question(memory: Memory) -> None:
    say(memory, "The price of the workshop is 49 euro.", minute=0, conversation_id="pricing")
    fill(memory, first=2, n=10)
    say(memory, "Thanks!", minute=20)

    found = memory.prompt.where("price of the workshop", question="see you at the workshop")

    assert (found.in_prompt, kinds(found)) == (False, [Where.STORED])
    assert found.answers[0].rank == 1
    assert found.answers[0].told == (
        "stored word for word in t1, said by user on 2026-04-10 08:00 UTC; rank 1 for the question 'see you at the "
        "workshop'"
    )


def test_a_tools_words_that_were_cleared_have_their_time(memory: Memory) -> None:
    for number in range(6):
        memory.add(
            "",
            role="assistant",
            blocks=[call(f"c{number}")],
            recalled=False,
            said_at=START + timedelta(minutes=2 * number),
        )
        memory.add(
            f"The sensor zq{number} reads {number} degrees. " + "Filling words go here. " * 60,
            role="tool",
            blocks=[answer(f"c{number}", f"The sensor zq{number} reads {number} degrees.")],
            recalled=False,
            said_at=START + timedelta(minutes=2 * number + 1),
        )
    made = memory.context("Hello", keep_recent=12, token_budget=2200, retrieve="never")
    assert made.window.cleared
    event = memory.prompt.events.events(kind=EventKind.CLEARED_TOOL_USES)[-1]

    found = memory.prompt.where("sensor zq0 reads", question="Hello")

    assert Where.CLEARED in kinds(found)
    cleared = found.of(Where.CLEARED)[0]
    assert cleared.at == event.happened_at
    assert (
        cleared.told == f"cleared as a tool result at {event.happened_at:%Y-%m-%d %H:%M %Z}: get_turn t2 gives it back"
    )


def test_words_that_a_summary_kept_have_their_line(memory: Memory) -> None:
    say(memory, "We decided to charge 49 euro because the jars cost more.", minute=0)
    fill(memory, first=1, n=12)
    assert memory.summaries.summarise("main", keep_recent=8)

    found = memory.prompt.where("charge 49 euro", question="And now?")

    summary = found.of(Where.SUMMARY)[0]
    assert summary.in_prompt
    assert "in the summary (hundred), in the prompt, in its decision of turns t1: " in summary.told
    assert summary.line.endswith("We decided to charge 49 euro because the jars cost more.")
    assert found.of(Where.DROPPED) == ()


def test_words_that_a_summary_dropped_name_the_summary(memory: Memory) -> None:
    say(memory, "Hm, zqcanary, well.", minute=0)
    say(memory, "We decided to charge 49 euro because the jars cost more.", minute=1)
    for number in range(2, 30):
        say(
            memory, f"We decided to move stone number {number} of the wall because it was loose and wet.", minute=number
        )
    assert memory.summaries.summarise("main", keep_recent=8)
    made = memory.summaries.stored("main", level=Level.HUNDRED)[0]

    found = memory.prompt.where("zqcanary", question="And now?")

    assert kinds(found) == [Where.DROPPED, Where.STORED]
    dropped = found.answers[0]
    assert (dropped.summary, dropped.at, found.in_prompt) == (made.number, made.made_at, False)
    assert dropped.told == (
        f"dropped by the summary of {made.made_at:%Y-%m-%d %H:%M %Z} (by extractive:1), which stands for turns t1 to "
        f"{made.last_turn_id} and doesn't have them"
    )


def test_words_before_a_compaction_name_its_time(memory: Memory) -> None:
    say(memory, "The zqcanary sings.", minute=0)
    fill(memory, first=1, n=12)
    memory.prompt.events.log(EventKind.COMPACTION, conversation_id="main", details={"made_by": "anthropic"})
    event = memory.prompt.events.events(kind=EventKind.COMPACTION)[0]

    found = memory.prompt.where("zqcanary", question="And now?")

    assert found.of(Where.DROPPED)[0].told == (
        f"before the compaction of {event.happened_at:%Y-%m-%d %H:%M %Z} by anthropic, which took its place"
    )


def test_words_that_always_go_along_name_where(memory: Memory, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# Notes\nThe till code is 4711.\n", encoding="utf-8")
    memory.prompt.pins.add("Answer in Swedish.")
    memory.prompt.state.set("city", "Malmö")
    memory.prompt.decisions.add("No ads", because="they cost more than they bring")
    memory.prompt.files.pin(notes)

    told = {
        words: memory.prompt.where(words, question="Hi").answers[0]
        for words in ("in swedish", "malmö", "they cost more", "till code is 4711")
    }

    assert all(one.where is Where.FIXED and one.in_prompt for one in told.values())
    assert [one.told for one in told.values()] == [
        "in every prompt, as the preference p1",
        "in every prompt, in the state under 'city'",
        "in the decision d1, in the prompt",
        f"in every prompt, in the pinned file {notes}, line 2",
    ]


@pytest.mark.parametrize("how", ["gone", "changed"])
def test_words_of_a_pinned_file_that_is_gone_name_the_file(memory: Memory, tmp_path: Path, how: str) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# Notes\nThe till code is 4711.\n", encoding="utf-8")
    memory.prompt.files.pin(notes)
    memory.context("Hello", retrieve="never")
    if how == "gone":
        notes.unlink()
    else:
        notes.write_text("# Notes\n", encoding="utf-8")

    found = memory.prompt.where("the till code is 4711", question="Hi")

    assert kinds(found) == [Where.FILE_GONE]
    ending = "is missing (no such file)" if how == "gone" else "has changed and has them no more"
    assert found.answers[0].told.startswith(f"in the pinned file {notes} as it was read until 2026-")
    assert found.answers[0].told.endswith(f"; the file {ending}")
    assert kinds(memory.prompt.where("the till code is 4712", question="Hi")) == [Where.NEVER]
    memory.prompt.files.unpin(notes)
    assert kinds(memory.prompt.where("the till code is 4711", question="Hi")) == [Where.NEVER]


def test_no_words_of_a_pinned_file_are_kept(memory: Memory, place: Place, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("The zqcanary7731 is secret.\n", encoding="utf-8")
    memory.prompt.files.pin(notes)
    memory.context("Hello", retrieve="never")
    memory.close()

    assert b"zqcanary" not in place.everything()


def test_words_that_were_corrected_name_the_turn(memory: Memory) -> None:
    turn = say(memory, "The price is 45 euro.", minute=0)
    memory.correct(turn, text="The price is 49 euro.")

    found = memory.prompt.where("45 euro", question="Hi")

    assert kinds(found) == [Where.CORRECTED]
    assert found.answers[0].told == "in an earlier version of t1, which was corrected since; see: memory-rag show t1"


def test_what_was_never_said_has_the_nearest_quote(memory: Memory) -> None:
    say(memory, "We said that the price is 49 euro for the first season.", minute=0)

    near = memory.prompt.where("that the price is 94 euro for the first season", question="Hi")
    nothing = memory.prompt.where("zebra", question="Hi")

    assert kinds(near) == kinds(nothing) == [Where.NEVER]
    assert near.answers[0].told.startswith("never said; the nearest is 'that the price is 49 euro")
    assert nothing.answers[0].told == "never said: no stored turn, summary or pinned file has these words"


@pytest.mark.parametrize("words", ["", " ", "?!", "\u200b"])
def test_no_words_are_nowhere(memory: Memory, words: str) -> None:
    assert memory.prompt.where(words).answers[0].told == "there are no words to look for"


def test_an_empty_memory_says_never(memory: Memory) -> None:
    found = memory.prompt.where("anything")

    assert (found.conversation_id, found.question, kinds(found)) == ("main", "", [Where.NEVER])


def test_looking_logs_nothing(memory: Memory) -> None:
    say(memory, "The price is 49 euro, what did I say about it?", minute=0)
    memory.prompt.where("49 euro")

    assert memory.prompt.events.events() == []


def test_without_a_memory_it_says_so(memory: Memory) -> None:
    alone = Prompt(memory.store, search=lambda q, w: memory.search(q, within=w), clock=lambda: START, zone=UTC)

    with pytest.raises(PromptError, match=r"take it from memory\.prompt"):
        alone.where("words")


def test_the_prompt_that_is_looked_at_may_be_as_large_as_the_real_one(memory: Memory, tmp_path: Path) -> None:
    memory.add("the code is 1234")
    path = tmp_path / "rules.md"
    path.write_text("a rule of the house\n" * 400)
    memory.prompt.files.pin(path)

    with pytest.raises(PromptError, match="over the budget of 1,000"):
        memory.prompt.where("1234", token_budget=1_000)
    assert memory.prompt.where("1234", token_budget=9_000).in_prompt


def test_looking_writes_nothing_down(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "rules.md"
    path.write_text("no nuts")
    memory.prompt.files.pin(path)
    path.write_text("no milk")
    memory.add("hello")
    memory.prompt.where("milk")

    assert memory.prompt.file_words.with_words("milk") == []


def test_a_file_that_is_gone_before_any_prompt_read_it_is_told(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "rules.md"
    path.write_text("no nuts")
    memory.prompt.files.pin(path)
    path.unlink()
    [found] = memory.prompt.where("nuts").answers

    assert found.where is Where.FILE_GONE
    assert found.told.endswith("the file is missing (no such file)")
