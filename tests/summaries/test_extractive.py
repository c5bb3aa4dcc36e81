"""A summary of the turns' own sentences: what must hold first, verbatim, cited, within its words."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.summaries.extractive import ExtractiveSummarizer
from memory_rag.summaries.summary import Kind, Line
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Role, Turn

Talk = Callable[..., list[Turn]]

PRICING = (
    ("Ebba", "Hi! I've been thinking about the workshop for a while now, and the hall is nice."),
    ("Assistant", "Great! What would you like to charge? A fair price covers the jars and the hall."),
    ("Ebba", "We decided to charge 49 euro because the jars cost more than last year. The weather is fine."),
    ("Assistant", "Noted. You need to count the jars. I am a model."),
    ("Ebba", "I prefer trains when we go to Gothenburg. I still need to call Mats about the hall."),
    ("Assistant", "I can draft that call for you."),
    ("Ebba", "How many jars does the workshop need?"),
)


@pytest.fixture
def summarizer(analyzer: Analyzer) -> ExtractiveSummarizer:
    return ExtractiveSummarizer(analyzer)


def test_what_must_hold_comes_with_its_turn_and_its_reason(summarizer: ExtractiveSummarizer, talk: Talk) -> None:
    lines = {line.kind: line for line in summarizer.extend((), talk(*PRICING)) if line.kind is not Kind.POINT}

    decision = lines[Kind.DECISION]
    assert decision.text == "We decided to charge 49 euro because the jars cost more than last year."
    assert (decision.turn_ids, decision.speaker, decision.verbatim) == (("t3",), "Ebba", True)
    assert decision.reason == "because the jars cost more than last year"
    assert lines[Kind.PREFERENCE].text == "I prefer trains when we go to Gothenburg."
    assert lines[Kind.TODO].text == "I still need to call Mats about the hall."
    assert lines[Kind.QUESTION].text == "How many jars does the workshop need?"


def test_every_line_but_the_subject_words_is_a_verbatim_sentence_of_the_turn_it_cites(
    summarizer: ExtractiveSummarizer, talk: Talk
) -> None:
    turns = talk(*PRICING)
    texts = {turn.turn_id: turn.text for turn in turns}

    lines = summarizer.extend((), turns)

    assert all(line.text in texts[line.turn_ids[0]] for line in lines if line.verbatim)
    assert {line.kind for line in lines if not line.verbatim} == {Kind.TOPIC}
    assert {line.text for line in lines if line.kind is Kind.TOPIC} >= {"workshop", "jars", "hall"}


def test_a_question_that_somebody_answered_is_not_open(summarizer: ExtractiveSummarizer, talk: Talk) -> None:
    open_one = summarizer.extend((), talk(*PRICING))
    answered = summarizer.extend(open_one, talk(("Assistant", "The workshop needs forty jars."), first=8))

    assert [line.kind for line in open_one].count(Kind.QUESTION) == 1
    assert Kind.QUESTION not in [line.kind for line in answered]


def test_a_reason_in_the_next_sentence_goes_along(summarizer: ExtractiveSummarizer, talk: Talk) -> None:
    (line,) = (
        one
        for one in summarizer.extend((), talk(("Ebba", "We chose Postgres. The reason is that it has many writers.")))
        if one.kind is Kind.DECISION
    )

    assert line.shown == "Ebba: We chose Postgres. (why: The reason is that it has many writers.)"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Vi kör 49 euro för första säsongen. Jag måste ringa Mats om lokalen.", {Kind.DECISION, Kind.TODO}),
        (
            "Vi ble enige om 49 euro for første sesong. Jeg foretrekker tog til Bergen.",
            {Kind.DECISION, Kind.PREFERENCE},
        ),
    ],
)
def test_swedish_and_norwegian_are_read_by_their_own_cues(
    summarizer: ExtractiveSummarizer, talk: Talk, said: str, expected: set[Kind]
) -> None:
    assert {line.kind for line in summarizer.extend((), talk(("Ebba", said)))} >= expected


def test_a_language_without_cues_or_spaces_gives_central_sentences(talk: Talk) -> None:
    turns = talk(
        ("Ebba", "ワークショップの値段は四十九ユーロです。会場はきれいです。"), ("Mats", "会場は駅の近くにあります。")
    )

    lines = ExtractiveSummarizer(Analyzer(("ja",))).extend((), turns)

    assert "会場は駅の近くにあります。" in [line.text for line in lines if line.kind is Kind.POINT]


def test_it_never_has_more_words_than_allowed(summarizer: ExtractiveSummarizer, talk: Talk) -> None:
    turns = talk(*((f"P{n}", f"We decided on thing {n} because reason {n} is good enough for us.") for n in range(60)))

    for word_limit in (200, 50, 10):
        lines = summarizer.extend((), turns, word_limit=word_limit)
        assert 0 < sum(line.n_words for line in lines) <= word_limit


def test_earlier_lines_are_extended_and_keep_what_must_hold(summarizer: ExtractiveSummarizer, talk: Talk) -> None:
    earlier = summarizer.extend((), talk(*PRICING))
    later = talk(*(("Ebba", f"The garden has {n} roses and a wall of stone number {n}.") for n in range(40)), first=8)

    lines = summarizer.extend(earlier, later)

    kept = [line for line in lines if line.turn_ids == ("t3",)]
    assert [line.text for line in kept if line.kind is Kind.DECISION] == [
        "We decided to charge 49 euro because the jars cost more than last year."
    ]
    assert any(line.turn_ids[0] in {turn.turn_id for turn in later} for line in lines if line.verbatim)


def test_a_focus_brings_what_bears_on_it(summarizer: ExtractiveSummarizer, talk: Talk) -> None:
    turns = talk(
        *(("Ebba", f"I prefer garden {n} with its roses near Ghent.") for n in range(60)),
        *(("Ebba", f"We met Anna {n} at the wall in Bruges on {n} May, and walked along it.") for n in range(1, 31)),
        ("Ebba", "The authentication fix lies in the second branch of ours."),
    )

    without = [line.text for line in summarizer.extend((), turns)]
    with_it = [line.text for line in summarizer.extend((), turns, focus="keep the authentication fix")]

    assert "The authentication fix lies in the second branch of ours." not in without
    assert "The authentication fix lies in the second branch of ours." in with_it


def test_tool_traffic_and_the_systems_words_are_not_summarised(summarizer: ExtractiveSummarizer) -> None:
    turns = [
        Turn(f"t{role}", "c", "s", 0, role, "x", "We decided to go home today.") for role in (Role.TOOL, Role.SYSTEM)
    ]

    assert summarizer.extend((), turns) == ()


@given(st.lists(st.tuples(st.sampled_from(["Ebba", "Assistant"]), st.text(max_size=80)), max_size=12))
def test_any_talk_gives_the_same_lines_twice(said: list[tuple[str, str]]) -> None:
    turns = [
        Turn(f"t{n}", "c", "s", n, Role.USER if who == "Ebba" else Role.ASSISTANT, who, text)
        for n, (who, text) in enumerate(said)
    ]
    one = ExtractiveSummarizer(Analyzer(("en", "sv"))).extend((), turns, word_limit=20)

    assert one == ExtractiveSummarizer(Analyzer(("en", "sv"))).extend((), turns, word_limit=20)
    assert sum(line.n_words for line in one) <= 20


def test_no_turns_give_no_lines(summarizer: ExtractiveSummarizer) -> None:
    lines: tuple[Line, ...] = summarizer.extend((), ())

    assert lines == ()


def test_a_question_is_nothing_to_do(summarizer: ExtractiveSummarizer, talk: Talk) -> None:
    (line,) = (
        one
        for one in summarizer.extend((), talk(("Ebba", "Hur många burkar behöver vi till workshopen?")))
        if one.kind is not Kind.TOPIC
    )

    assert line.kind is Kind.QUESTION
