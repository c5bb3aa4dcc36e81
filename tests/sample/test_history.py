"""The sample history is what it says it is, so that the demo and its questions can be trusted."""

import ast
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import groupby, pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memory_rag.sample import SampleQuestion, history_path, questions
from memory_rag.turns import Block, Role, Source, Turn

STOCKHOLM = ZoneInfo("Europe/Stockholm")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
QUOTED = re.compile('[“”"]([^“”"]+)[“”"]')
SWEDISH = frozenset({"och", "att", "det", "är", "jag", "som", "på", "inte", "för", "med", "den", "av", "du", "ska"})
ENGLISH = frozenset({"and", "that", "the", "is", "i", "it", "to", "not", "of", "with", "this", "for", "you", "a"})
QUESTION_WORDS = frozenset(
    {"any", "den", "det", "did", "för", "has", "how", "hur", "jag", "much", "that", "the", "there", "which"}
)

LINES: list[dict[str, Any]] = [
    json.loads(line) for line in history_path().read_text(encoding="utf-8").split("\n") if line
]
RECORDS: list[dict[str, Any]] = [line["turn"] for line in LINES if "turn" in line]
ASKED = questions()


def turn_from(record: dict[str, Any]) -> Turn:
    return Turn(
        turn_id="",
        conversation_id=record["conversation_id"],
        session_id=record["session_id"],
        ordinal=record["ordinal"],
        role=Role.parse(record["role"]),
        speaker=record["speaker"],
        text=record["text"],
        said_at=datetime.fromisoformat(record["said_at"]),
        said_at_text=record["said_at"],
        blocks=tuple(Block(**block) for block in record.get("blocks", [])),
        source=Source(**record["source"]),
        recalled=record.get("recalled", True),
    )


TURNS = [turn_from(record) for record in RECORDS]
CONVERSATIONS = [list(turns) for _, turns in groupby(TURNS, key=lambda turn: turn.conversation_id)]


def native_id(turn: Turn) -> str:
    assert turn.source is not None
    return turn.source.native_id


def said_at(turn: Turn) -> datetime:
    assert turn.said_at is not None
    return turn.said_at


BY_NATIVE_ID = {native_id(turn): turn for turn in TURNS}


def words(text: str) -> list[str]:
    return re.findall(r"\w+", unicodedata.normalize("NFC", text).casefold())


def is_swedish(turns: Iterable[Turn]) -> bool:
    counts = Counter(word for turn in turns for word in words(turn.text))
    return sum(counts[word] for word in SWEDISH) > sum(counts[word] for word in ENGLISH)


def of_kind(kind: str) -> list[SampleQuestion]:
    return [question for question in ASKED if question.kind == kind]


def query_of(question: SampleQuestion) -> str:
    return question.query


def test_the_file_is_utf8_json_lines_with_plain_line_ends_and_no_escaped_letters() -> None:
    data = history_path().read_bytes()
    assert b"\r" not in data
    assert data.endswith(b"}\n")
    again = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in LINES)
    assert again.encode() == data


def test_the_first_line_names_the_format_and_its_version() -> None:
    assert LINES[0] == {"format": "memory_rag.turns", "version": 1}


def test_a_line_with_its_title_stands_before_the_turns_of_each_conversation() -> None:
    current = ""
    for line in LINES[1:]:
        if "conversation" in line:
            assert line["conversation"]["title"]
            current = line["conversation"]["conversation_id"]
        else:
            assert line["turn"]["conversation_id"] == current


def test_the_history_has_326_turns_in_29_conversations() -> None:
    assert len(TURNS) == 326
    assert len(CONVERSATIONS) == 29
    assert len({turn.conversation_id for turn in TURNS}) == 29
    assert all(6 <= len(turns) <= 20 for turns in CONVERSATIONS)


def test_native_ids_are_unique() -> None:
    assert len(BY_NATIVE_ID) == len(TURNS)


def test_ordinals_count_from_zero_without_a_gap() -> None:
    for turns in CONVERSATIONS:
        assert [turn.ordinal for turn in turns] == list(range(len(turns)))


def test_time_never_runs_backwards_within_a_conversation() -> None:
    for turns in CONVERSATIONS:
        assert all(said_at(before) <= said_at(after) for before, after in pairwise(turns))


def test_the_summer_is_told_in_stockholm_time_from_june_to_august() -> None:
    for turn in TURNS:
        local = said_at(turn).astimezone(STOCKHOLM)
        assert local.isoformat() == turn.said_at_text
        assert (local.year, local.month) in {(2026, 6), (2026, 7), (2026, 8)}
    assert {said_at(turn).month for turn in TURNS} == {6, 7, 8}


def test_a_conversation_is_named_after_the_day_it_began() -> None:
    for turns in CONVERSATIONS:
        assert turns[0].conversation_id.startswith(said_at(turns[0]).date().isoformat())


def test_a_new_session_begins_where_a_conversation_rests_for_hours() -> None:
    resumed = 0
    for before, after in pairwise(TURNS):
        if before.conversation_id == after.conversation_id:
            rests = said_at(after) - said_at(before) > timedelta(hours=3)
            assert rests == (before.session_id != after.session_id)
            resumed += rests
    assert resumed == 12


def test_only_ebba_the_assistant_and_one_tool_speak() -> None:
    speakers = {(turn.role, turn.speaker) for turn in TURNS}
    assert speakers == {
        (Role.USER, "Ebba"),
        (Role.ASSISTANT, "Assistant"),
        (Role.TOOL, "search_trains"),
    }


def test_the_tool_call_is_followed_by_its_result_which_is_not_recalled() -> None:
    calls = [turn for turn in TURNS if any(block.kind == "tool_call" for block in turn.blocks)]
    assert [native_id(turn) for turn in calls] == ["c13-t03"]
    result = TURNS[TURNS.index(calls[0]) + 1]
    assert (result.role, result.blocks[0].kind) == (Role.TOOL, "tool_result")
    assert result.blocks[0].data["tool_call_id"] == calls[0].blocks[0].data["id"]
    assert json.loads(result.text)["connections"][1]["depart"] == "07:12"
    assert [turn for turn in TURNS if not turn.recalled] == [result]


def test_about_a_third_is_swedish() -> None:
    swedish = sum(len(turns) for turns in CONVERSATIONS if is_swedish(turns))
    assert 0.30 <= swedish / len(TURNS) <= 0.40
    assert sum(is_swedish(turns) for turns in CONVERSATIONS) == 11


def test_at_least_25_answers_are_longer_than_150_words() -> None:
    lengths = [len(turn.text.split()) for turn in TURNS if turn.role is Role.ASSISTANT]
    assert sum(length > 150 for length in lengths) >= 25
    assert max(lengths) <= 500


def test_code_is_fenced_and_the_python_in_it_parses() -> None:
    fences = [fence for turn in TURNS for fence in FENCE.findall(turn.text)]
    assert len(fences) >= 5
    python = [code for language, code in fences if language == "python"]
    assert len(python) >= 5
    for code in python:
        ast.parse(code)
    assert all(turn.text.count("```") % 2 == 0 for turn in TURNS)


def test_the_texts_hold_what_trips_up_a_search() -> None:
    whole = "\n".join(turn.text for turn in TURNS)
    decomposed = unicodedata.normalize("NFD", "påsk-kvitton.pdf")
    for needle in (
        decomposed,
        "谢谢，面包很好吃",
        "4711-ZX",
        "2.4.10",
        "https://example.org/",
        "“",
        "”",
        "🎉",
    ):
        assert needle in whole


def test_there_are_24_questions_and_none_is_asked_twice() -> None:
    assert len(ASKED) == 24
    assert len({question.query for question in ASKED}) == 24
    assert Counter(question.kind for question in ASKED) == {
        "exact": 4,
        "identifier": 3,
        "half-remembered": 5,
        "paraphrase": 5,
        "temporal": 3,
        "not-found": 4,
    }
    assert Counter(question.language for question in ASKED) == {"en": 16, "sv": 8}


@pytest.mark.parametrize("question", ASKED, ids=query_of)
def test_the_evidence_of_a_question_exists_and_only_not_found_has_none(question: SampleQuestion) -> None:
    found = [BY_NATIVE_ID[evidence] for evidence in question.evidence]
    assert sorted(found, key=said_at) == found
    assert bool(found) == (question.kind != "not-found")


@pytest.mark.parametrize("question", of_kind("exact"), ids=query_of)
def test_the_words_quoted_in_an_exact_question_were_said(question: SampleQuestion) -> None:
    (quoted,) = QUOTED.findall(question.query)
    assert quoted.casefold() in BY_NATIVE_ID[question.evidence[0]].text.casefold()


@pytest.mark.parametrize("question", of_kind("identifier"), ids=query_of)
def test_the_identifier_asked_for_stands_in_the_evidence(question: SampleQuestion) -> None:
    (identifier,) = re.findall(r"\S*\d[\w.-]*\w", question.query)
    assert identifier in BY_NATIVE_ID[question.evidence[0]].text


@pytest.mark.parametrize("question", of_kind("paraphrase"), ids=query_of)
def test_a_paraphrase_shares_no_content_word_with_its_evidence(question: SampleQuestion) -> None:
    # The first four letters stand for the stem: stricter than a stemmer, and the same in both languages.
    asked = {word[:4] for word in words(question.query) if len(word) > 2 and word not in QUESTION_WORDS}
    said = {word[:4] for evidence in question.evidence for word in words(BY_NATIVE_ID[evidence].text)}
    assert len(asked) >= 2
    assert asked & said == set()


@pytest.mark.parametrize("question", of_kind("temporal"), ids=query_of)
def test_the_evidence_of_a_question_about_a_month_was_said_in_that_month(question: SampleQuestion) -> None:
    month = {"june": 6, "juni": 6, "july": 7, "juli": 7}[words(question.query)[-1]]
    assert {said_at(BY_NATIVE_ID[evidence]).month for evidence in question.evidence} == {month}


@pytest.mark.parametrize("word", ["baguette", "hotel", "köket"])
def test_what_a_not_found_question_asks_about_was_never_mentioned(word: str) -> None:
    assert [native_id(turn) for turn in TURNS if word in words(turn.text)] == []
