"""The evaluation set of our own is what its README says it is, so that a recall measured on it means something."""

import json
import re
import statistics
import unicodedata
from collections import Counter
from datetime import datetime, timedelta
from importlib.resources import files
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest

from memory_rag.importers import open_import
from memory_rag.turns import Conversation, Turn

DATA = Path(str(files("memory_rag"))) / "evaluation" / "data"
FUNCTION_WORDS = {
    "en": frozenset({"and", "the", "is", "it", "of", "with", "you", "not", "what", "are"}),
    "sv": frozenset({"och", "är", "inte", "på", "som", "jag", "för", "att", "av", "från"}),
    "nb": frozenset({"og", "er", "ikke", "på", "som", "jeg", "for", "å", "av", "fra"}),
}
# One word of each question about a thing that was never touched; the other nine are about details never given.
NEVER_SAID = {
    "heron-gauges": "suitcase",
    "bungalow": "kennel",
    "yeast-notebook": "bicycle",
    "ledger-firm": "hedge",
    "choir-tour": "driving",
    "kolonilotten": "madeira",
    "no-lektioner": "bilverkstad",
    "skarveggen": "katten",
    "italiensk": "tannlegen",
}
CATEGORIES = {
    "assistant's words": 19,
    "cross-language": 16,
    "exact words": 18,
    "half-remembered": 18,
    "identifier": 18,
    "knowledge update": 25,
    "multi-turn": 17,
    "paraphrase": 18,
    "preference": 18,
    "temporal": 18,
    "unanswerable": 18,
}

CHATS = DATA / "chats.jsonl"
LINES: list[dict[str, Any]] = [json.loads(line) for line in CHATS.read_text(encoding="utf-8").split("\n") if line]
TURNS: list[dict[str, Any]] = [line["turn"] for line in LINES if "turn" in line]
CONVERSATIONS = {name: list(turns) for name, turns in groupby(TURNS, key=lambda turn: str(turn["conversation_id"]))}
BY_ID = {str(turn["source"]["native_id"]): turn for turn in TURNS}
ASKED: list[dict[str, Any]] = [
    json.loads(line) for line in (DATA / "questions.jsonl").read_text(encoding="utf-8").split("\n") if line
]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", unicodedata.normalize("NFC", text).casefold())


# Words of four letters and more that carry no subject; a paraphrase may share these with its evidence.
FREE = frozenset(
    words(
        "what when where which with were have from that this them they does will about into after there your"
        " vilken vilket vilka hade från till hvilket hvilken hvilke hvem hvor etter"
    )
)


def stems(text: str) -> set[str]:
    return {word[:5] for word in words(text) if len(word) >= 4 and word not in FREE}


def n_words(turn: dict[str, Any]) -> int:
    return len(str(turn["text"]).split())


def by_role(role: str) -> list[dict[str, Any]]:
    return [turn for turn in TURNS if turn["role"] == role]


def language_of(turns: list[dict[str, Any]]) -> str:
    counts = Counter(word for turn in turns for word in words(turn["text"]))
    return max(FUNCTION_WORDS, key=lambda language: sum(counts[word] for word in FUNCTION_WORDS[language]))


def evidence_of(question: dict[str, Any]) -> list[dict[str, Any]]:
    return [BY_ID[native_id] for native_id in question["evidence"]]


def sessions_of(question: dict[str, Any]) -> set[str]:
    return {str(turn["session_id"]) for turn in evidence_of(question)}


def of_category(category: str) -> list[dict[str, Any]]:
    return [question for question in ASKED if question["category"] == category]


def query_of(question: dict[str, Any]) -> str:
    return str(question["query"])


@pytest.mark.parametrize("name", ["chats.jsonl", "questions.jsonl"])
def test_the_files_are_utf8_json_lines_with_plain_line_ends_and_no_escaped_letters(name: str) -> None:
    data = (DATA / name).read_bytes()
    assert b"\r" not in data
    lines = [json.loads(line) for line in data.decode().split("\n") if line]
    assert "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode() == data


def test_a_line_with_its_title_stands_before_the_turns_of_each_conversation() -> None:
    assert LINES[0] == {"format": "memory_rag.turns", "version": 1}
    current = ""
    for line in LINES[1:]:
        if "conversation" in line:
            assert line["conversation"]["title"]
            current = line["conversation"]["conversation_id"]
        else:
            assert line["turn"]["conversation_id"] == current


def test_there_are_648_turns_in_nine_conversations_of_72() -> None:
    assert len(TURNS) == 648
    assert [len(turns) for turns in CONVERSATIONS.values()] == [72] * 9


def test_native_ids_are_unique_and_count_with_the_ordinals_from_zero() -> None:
    assert len(BY_ID) == len(TURNS)
    for number, turns in enumerate(CONVERSATIONS.values(), start=1):
        assert [turn["ordinal"] for turn in turns] == list(range(72))
        assert [turn["source"]["native_id"] for turn in turns] == [f"c{number}-{n:03d}" for n in range(1, 73)]


def test_time_never_runs_backwards_and_a_new_session_begins_after_days() -> None:
    for turns in CONVERSATIONS.values():
        said = [(datetime.fromisoformat(turn["said_at"]), turn["session_id"]) for turn in turns]
        assert all(at.tzinfo is not None for at, _ in said)
        for (before, session), (after, next_session) in pairwise(said):
            assert timedelta(0) <= after - before
            assert (session != next_session) == (after - before > timedelta(days=5))
        assert 5 <= len({session for _, session in said}) <= 7


def test_one_person_and_the_assistant_speak_in_each_conversation() -> None:
    people = [{turn["speaker"] for turn in turns if turn["role"] == "user"} for turns in CONVERSATIONS.values()]
    assert all(len(names) == 1 for names in people)
    assert len(set.union(*people)) == 9
    assert {turn["speaker"] for turn in by_role("assistant")} == {"Assistant"}


def test_five_conversations_are_english_two_swedish_and_two_norwegian() -> None:
    languages = [language_of(turns) for turns in CONVERSATIONS.values()]
    assert languages == ["en"] * 5 + ["sv"] * 2 + ["nb"] * 2


def test_users_write_short_turns_and_the_assistant_long_ones() -> None:
    asked, answered = [list(map(n_words, by_role(role))) for role in ("user", "assistant")]
    assert min(asked) >= 8
    assert max(asked) <= 60
    assert 150 <= statistics.median(answered) <= 250
    assert max(answered) <= 400
    assert all(str(turn["text"]).count("```") % 2 == 0 for turn in TURNS)


def test_nine_tool_calls_are_followed_by_their_results_which_are_not_recalled() -> None:
    calls = [index for index, turn in enumerate(TURNS) if any(b["kind"] == "tool_call" for b in turn.get("blocks", []))]
    assert len(calls) == 9
    for index in calls:
        call, result = TURNS[index]["blocks"][0]["data"], TURNS[index + 1]
        assert json.loads(call["function"]["arguments"])
        assert (result["role"], result["speaker"], result["recalled"]) == ("tool", call["function"]["name"], False)
        assert result["blocks"][0]["data"]["tool_call_id"] == call["id"]
        assert json.loads(result["text"])
    assert [turn for turn in TURNS if turn.get("recalled") is False] == by_role("tool")


def test_import_gives_every_turn_as_it_is_written() -> None:
    with open_import(CHATS) as opened:
        (file,) = opened
        read = list(file)
        assert (file.importer.name, file.report.skipped, file.report.noted) == ("memory-rag", {}, {})
    turns = [item for item in read if isinstance(item, Turn)]
    assert [item.conversation_id for item in read if isinstance(item, Conversation)] == list(CONVERSATIONS)
    for turn, written in zip(turns, TURNS, strict=True):
        assert turn.source is not None
        assert (turn.source.name, turn.source.native_id) == ("own", written["source"]["native_id"])
        assert (turn.text, turn.said_at) == (written["text"], datetime.fromisoformat(written["said_at"]))
        assert (turn.ordinal, turn.role, turn.recalled) == (
            written["ordinal"],
            written["role"],
            written.get("recalled", True),
        )


def test_there_are_203_questions_none_asked_twice_and_at_least_20_about_each_conversation() -> None:
    assert len({query_of(question) for question in ASKED}) == len(ASKED) == 203
    about = Counter(question["conversation_id"] for question in ASKED)
    assert set(about) == set(CONVERSATIONS)
    assert min(about.values()) >= 20
    assert Counter(question["category"] for question in ASKED) == CATEGORIES
    assert Counter(question["language"] for question in ASKED) == {"en": 114, "sv": 45, "nb": 44}


def test_a_question_has_these_fields_and_no_other() -> None:
    for question in ASKED:
        assert list(question) == ["query", "conversation_id", "evidence", "category", "language", "role"]
        assert question["role"] in {"user", "assistant", "both"}


@pytest.mark.parametrize("question", ASKED, ids=query_of)
def test_the_evidence_exists_is_of_the_conversation_and_only_the_unanswerable_has_none(
    question: dict[str, Any],
) -> None:
    found = evidence_of(question)
    assert bool(found) == (question["category"] != "unanswerable")
    assert {turn["conversation_id"] for turn in found} <= {question["conversation_id"]}
    assert len(set(question["evidence"])) == len(found)
    assert sorted(question["evidence"]) == question["evidence"]
    allowed = {"user", "assistant"} if question["role"] == "both" else {question["role"]}
    assert {turn["role"] for turn in found} <= allowed


@pytest.mark.parametrize("question", of_category("exact words"), ids=query_of)
def test_quoted_words_stand_in_the_evidence_and_nowhere_else_in_the_conversation(question: dict[str, Any]) -> None:
    (quoted,) = re.findall('"([^"]+)"', query_of(question))
    said = [
        turn["source"]["native_id"]
        for turn in CONVERSATIONS[question["conversation_id"]]
        if quoted.casefold() in turn["text"].casefold()
    ]
    assert said == question["evidence"]


@pytest.mark.parametrize("question", of_category("paraphrase"), ids=query_of)
def test_a_paraphrase_shares_no_stem_with_its_evidence(question: dict[str, Any]) -> None:
    asked = stems(query_of(question))
    assert len(asked) >= 2
    assert [asked & stems(turn["text"]) for turn in evidence_of(question)] == [set()] * len(question["evidence"])


@pytest.mark.parametrize("question", of_category("multi-turn"), ids=query_of)
def test_a_multi_turn_question_needs_two_to_five_turns_of_more_than_one_session(question: dict[str, Any]) -> None:
    assert 2 <= len(question["evidence"]) <= 5
    assert len(sessions_of(question)) > 1


@pytest.mark.parametrize("question", of_category("knowledge update"), ids=query_of)
def test_a_knowledge_update_has_an_old_and_a_new_statement(question: dict[str, Any]) -> None:
    assert len(question["evidence"]) >= 2


@pytest.mark.parametrize("question", of_category("assistant's words"), ids=query_of)
def test_the_assistants_words_are_asked_for_with_the_assistants_turns(question: dict[str, Any]) -> None:
    assert question["role"] == "assistant"


def test_a_question_is_asked_in_another_language_than_the_talk_only_where_it_says_so() -> None:
    languages = {name: language_of(turns) for name, turns in CONVERSATIONS.items()}
    for question in ASKED:
        foreign = question["language"] != languages[question["conversation_id"]]
        assert foreign == (question["category"] == "cross-language")


def test_half_of_the_unanswerable_ask_about_what_was_never_touched() -> None:
    asked = of_category("unanswerable")
    assert Counter(question["conversation_id"] for question in asked) == dict.fromkeys(CONVERSATIONS, 2)
    for name, word in NEVER_SAID.items():
        assert sum(word in words(query_of(question)) for question in asked if question["conversation_id"] == name) == 1
        assert not any(word in words(turn["text"]) for turn in CONVERSATIONS[name])


def test_the_readme_counts_the_questions_of_each_category() -> None:
    rows = re.findall(r"^\| ([a-z' -]+?) \| (\d+) \|", (DATA / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {name: int(count) for name, count in rows if name in CATEGORIES} == CATEGORIES
