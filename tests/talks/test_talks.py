"""Sessions and conversations as a whole: their summaries, and which of them a question is about."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import ModelError, QueryError
from memory_rag.memory import Memory
from memory_rag.prompt.events import EventKind
from memory_rag.retrieval.filters import Within
from memory_rag.summaries.summary import Kind
from memory_rag.talks.making import TURNS_DUE, WORDS
from memory_rag.talks.talk import TalkId
from tests.either_engine import Place
from tests.model_server import model_server
from tests.retrieval.given_vectors import GivenVectors
from tests.talks.conftest import START, tell

Opened = Callable[..., Memory]
Patch = pytest.MonkeyPatch


def test_a_question_finds_the_conversation_it_is_about(memory: Memory) -> None:
    found = memory.talks.search("What keeps butterflies off the kale?")

    assert found.conversation_ids[0] == "garden"
    assert found[0].turns[0].turn.text.startswith("The kale is full of caterpillars")
    assert found[0].score == pytest.approx(sum(found[0].signals.values()))
    assert (found[0].talk.n_turns, found[0].talk.first_said_at) == (2, START + timedelta(days=1))
    assert found.untold == 3


def test_words_spread_over_a_conversation_count_together(opened: Opened) -> None:
    memory = opened()
    tell(
        memory,
        {
            "a": (("user", "We looked at the harbour."), ("user", "And then at the lighthouse.")),
            "b": (("user", "The harbour was closed."), ("user", "Nobody went anywhere.")),
            "c": (("user", "The lighthouse was shut."), ("user", "It rained all day.")),
        },
    )

    assert memory.talks.search("harbour and lighthouse").conversation_ids[0] == "a"


@pytest.mark.parametrize("question", ["?!", " ", "\u00a0", '"', "zebra crossings in Lima"])
def test_nothing_is_found_for_what_nobody_spoke_of(memory: Memory, question: str) -> None:
    assert memory.talks.search(question).hits == ()


def test_an_empty_memory_has_no_talks(opened: Opened) -> None:
    memory = opened()

    assert memory.talks.search("anything").hits == ()
    assert memory.talks.newest() == []
    assert memory.talks.summarise() == 0


def test_a_unit_that_is_none_is_refused(memory: Memory) -> None:
    with pytest.raises(QueryError, match="unknown unit 'week'; a unit is one of: turn, session, conversation"):
        memory.talks.search("kale", unit="week")
    with pytest.raises(QueryError, match=r"memory\.search"):
        memory.talks.search("kale", unit="turn")
    with pytest.raises(QueryError, match="k must be at least 1, got 0"):
        memory.talks.search("kale", k=0)


def test_filters_come_before_the_best(memory: Memory) -> None:
    found = memory.talks.search("kale", within=Within(conversation="flat"), floor=False)

    assert set(found.conversation_ids) <= {"flat"}
    assert memory.talks.search("kale", within=Within(conversation="nowhere")).notes[0].startswith("no conversation")


def test_sessions_are_found_apart(opened: Opened) -> None:
    memory = opened()
    for day, text in enumerate(("The boiler leaks at the valve.", "The train to Bergen leaves at nine.")):
        memory.add(text, said_at=START + timedelta(days=day))

    found = memory.talks.search("When does the train to Bergen leave?", unit="session")

    assert (found[0].conversation_id, found[0].session_id) == ("main", "2026-04-11")
    assert memory.talks.search("When does the train to Bergen leave?")[0].session_id is None


def test_a_summary_is_made_of_each_session(memory: Memory) -> None:
    assert memory.talks.summarise() == 3

    summary = memory.talks.of("school")
    assert summary is not None
    assert summary.talk == TalkId("school", "2026-04-10")
    assert summary.made_by.startswith("extractive:")
    assert summary.n_turns == 3
    assert sum(line.n_words for line in summary.lines) <= WORDS
    assert "we decided to stop at half an hour a night" in summary.one_line
    assert {turn_id for line in summary.lines for turn_id in line.turn_ids} <= {"t1", "t2", "t3"}
    assert memory.talks.summarise() == 0


def test_a_conversation_of_several_sessions_has_one_made_of_theirs(opened: Opened) -> None:
    memory = opened()
    for day in range(3):
        memory.add(f"We decided to buy {day + 2} bags of lime for the wall.", said_at=START + timedelta(days=day))

    assert memory.talks.summarise("main") == 4
    summary = memory.talks.of("main")
    assert summary is not None
    assert summary.talk.session_id is None
    assert summary.n_turns == 3
    assert memory.talks.summarise("main") == 0
    memory.add("We decided on sand after all.", said_at=START + timedelta(days=4))
    assert memory.talks.summarise("main") == 2


def test_a_long_session_is_read_a_hundred_turns_at_a_time(opened: Opened, monkeypatch: Patch) -> None:
    with model_server() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        memory = opened(summarizer="openai:small")
        for n in range(205):
            memory.add(f"Stone number {n} is loose.", conversation_id="wall", said_at=START)
        for turn in ("t1", "t101", "t201"):
            server.will_say({"topics": [{"text": "walls", "turns": [turn]}]})

        assert memory.talks.summarise("wall") == 1

    summary = memory.talks.of("wall")
    assert summary is not None
    assert (summary.n_turns, len(server.requests)) == (205, 3)


def test_new_turns_extend_a_summary(memory: Memory) -> None:
    memory.talks.summarise("flat")
    memory.add(
        "We decided to paint it white ourselves.", conversation_id="flat", said_at=START + timedelta(days=2, hours=1)
    )

    assert memory.talks.summarise("flat") == 1
    summary = memory.talks.of("flat")
    assert summary is not None
    assert summary.n_turns == 3
    assert "white ourselves" in summary.one_line


def test_a_session_that_goes_on_waits_for_a_few_turns_in_the_background(opened: Opened) -> None:
    memory = opened()
    for n in range(TURNS_DUE - 1):
        memory.add(f"Stone number {n} of the wall is loose.", conversation_id="wall")
    memory.talks.nudge("wall")
    assert memory.talks.wait(timeout_s=10)
    assert memory.talks.of("wall") is None

    memory.add("Stone number nine of the wall is loose.", conversation_id="wall")
    memory.talks.nudge("wall")
    assert memory.talks.wait(timeout_s=10)
    assert memory.talks.of("wall") is not None


def test_what_somebody_wrote_is_found_and_never_made_over(memory: Memory) -> None:
    assert "school" not in memory.talks.search("How is calculus going?").conversation_ids
    written = memory.talks.write("school", "Help with homework.", subjects=["calculus", "derivatives"])

    found = memory.talks.search("How is calculus going?")

    assert (written.made_by, written.subjects) == ("user", ("calculus", "derivatives"))
    assert written.one_line == "calculus, derivatives; Help with homework."
    assert found.conversation_ids[0] == "school"
    assert found[0].signals["keyword_told"] > 0
    memory.add("And now the quotient rule.", conversation_id="school", said_at=START)
    memory.talks.summarise()
    assert memory.talks.of("school") == written


def test_the_meaning_of_a_summary_finds_a_paraphrase(opened: Opened) -> None:
    vectors = {"How goes the maths?": [1.0, 0.0], "derivatives, calculus": [0.9, 0.1]}
    memory = opened(embedder=GivenVectors(vectors, elsewhere=[0.0, 1.0]))
    tell(memory)
    for name, subjects in (
        ("garden", ["kale"]),
        ("school", ["derivatives", "calculus"]),
        ("flat", ["paint"]),
    ):
        memory.talks.write(name, subjects=subjects)

    found = memory.talks.search("How goes the maths?")

    assert found.conversation_ids[0] == "school"
    assert found[0].signals["dense_told"] > 0


def test_vectors_are_kept_beside_the_summary_and_go_with_it(opened: Opened, place: Place) -> None:
    embedder = GivenVectors({}, elsewhere=[0.0, 1.0])
    memory = opened(embedder=embedder)
    tell(memory)
    memory.talks.write("garden", subjects=["kale", "nets"])
    assert memory.talks.embed() == 1
    assert memory.talks.embed() == 0
    memory.close()
    again = opened(embedder=embedder)
    embedder.embedded.clear()

    again.talks.search("kale")

    assert "kale, nets" not in embedder.embedded
    assert again.talks.remove("garden")
    assert not again.talks.remove("garden")
    assert place.rows("SELECT talk FROM talk_vectors UNION ALL SELECT talk FROM talk_lines") == []


@pytest.mark.parametrize("how", ["forget", "correct"])
def test_a_summary_does_not_outlive_the_words_it_was_made_of(memory: Memory, place: Place, how: str) -> None:
    memory.talks.summarise()
    memory.talks.write("garden", "Kale and the zqcanary7731.", subjects=["kale"])
    memory.talks.search("kale")
    kale = memory.search("kale")[0].turn.turn_id

    if how == "forget":
        memory.forget([kale])
    else:
        memory.correct(kale, text="The cabbage is full of caterpillars.", keep_old=False)

    assert memory.talks.of("garden") is None
    assert memory.talks.of("school") is not None
    assert memory.talks.search("caterpillars net hoops", floor=False)[0].summary is None
    memory.close()
    assert b"zqcanary7731" not in place.everything()


def test_a_whole_conversation_can_be_forgotten(memory: Memory, place: Place) -> None:
    memory.talks.summarise()
    memory.forget([turn.turn_id for turn in memory.turns(conversation_id="flat")])

    assert "flat" not in memory.talks.search("grey hall landlord", floor=False).conversation_ids
    assert place.rows("SELECT count(*) FROM talk_summaries") == [(2,)]


def test_what_a_model_says_in_other_words_is_found(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    with model_server() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "")
        memory = opened(summarizer="openai:small")
        tell(memory)
        server.will_say(
            {
                "topics": [{"text": "calculus", "turns": ["t1"]}],
                "user_facts": [],
                "decisions": [{"text": "Half an hour a night", "reason": "", "turns": ["t3"]}],
                "open_questions": [],
                "todos": [],
            }
        )

        assert memory.talks.summarise("school") == 1

        summary = memory.talks.of("school")
        assert summary is not None
        assert [line.kind for line in summary.lines] == [Kind.TOPIC, Kind.DECISION]
        assert memory.talks.search("How is calculus going?").conversation_ids[0] == "school"


def test_a_model_that_fails_leaves_no_summary_and_the_log_says_so(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    with model_server() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        memory = opened(summarizer="openai:small")
        tell(memory)
        for _ in range(2):
            server.will_fail(404, "no such model")
        with pytest.raises(ModelError, match="404"):
            memory.talks.summarise("school")
        for n in range(TURNS_DUE):
            memory.add(f"Another word number {n}.", conversation_id="school", said_at=START)
        memory.talks.nudge("school")
        memory.talks.wait(timeout_s=10)

    assert memory.talks.of("school") is None
    warned = memory.prompt.events.events(kind=EventKind.WARNING)
    assert warned[-1].details["what"] == "summary of a session failed"


def test_a_turn_forgotten_while_a_model_writes_is_in_no_summary(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    with model_server() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        memory = opened(summarizer="openai:small")
        tell(memory)
        go_on = threading.Event()
        server.will_wait(go_on, {"topics": [{"text": "zqcanary", "turns": ["t1"]}]})
        made: list[int] = []
        writing = threading.Thread(target=lambda: made.append(memory.talks.summarise("school")))
        writing.start()
        while not server.requests:
            pass
        memory.forget(["t1"])
        go_on.set()
        writing.join(20)

    assert made == [0]
    assert memory.talks.of("school") is None


def test_the_newest_talks_come_first(memory: Memory) -> None:
    memory.talks.summarise("flat")

    newest = memory.talks.newest(n=2)

    assert [talk.talk.conversation_id for talk in newest] == ["flat", "garden"]
    assert newest[0].summary is not None
    assert [talk.talk.conversation_id for talk in memory.talks.newest(without=[TalkId("flat", "2026-04-12")])] == [
        "garden",
        "school",
    ]
    assert [talk.talk for talk in memory.talks.newest(unit="conversation", n=1)] == [TalkId("flat")]


def test_two_processes_see_each_others_summaries(opened: Opened) -> None:
    here, there = opened(), opened()
    tell(here)
    assert "school" not in there.talks.search("calculus").conversation_ids
    here.talks.write("school", subjects=["calculus"])

    assert there.talks.search("calculus").conversation_ids[0] == "school"
    here.talks.remove("school")
    assert "school" not in there.talks.search("calculus").conversation_ids


def test_a_summary_needs_words_and_turns(memory: Memory) -> None:
    with pytest.raises(QueryError, match="no turns in conversation 'nowhere'"):
        memory.talks.write("nowhere", "Words.")
    with pytest.raises(QueryError, match="needs words"):
        memory.talks.write("garden", " \n ")


class _Asked(GivenVectors):
    """Notes the questions that are embedded together."""

    def __init__(self) -> None:
        super().__init__({})
        self.asked: list[list[str]] = []

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(list(texts))
        return super().embed_queries(texts)


def test_what_a_question_is_about_is_embedded_ahead_together_with_it_where_a_summary_is_found_by_it(
    opened: Callable[..., Memory],
) -> None:
    memory = opened(embedder=(embedder := _Asked()))
    tell(memory)
    memory.talks.summarise()
    memory.embed()
    questions = [f"How is it going with the {what} for Ada?" for what in ("rule", "test", "net")]
    memory.context(questions[0])
    memory.talks.write("garden", "Ada grows kale under a net.")

    for question in questions[1:]:
        memory.foresee(question)
        memory.context(question)

    assert embedder.asked[0] == [questions[0]]
    assert embedder.asked[-1] == [questions[2], "the net for Ada?"]
