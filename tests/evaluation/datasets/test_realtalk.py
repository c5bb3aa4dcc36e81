"""REALTALK as a benchmark, written from the layout of its files."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.datasets import realtalk

Made = Callable[[str, Any], Path]


def test_a_chats_turns_are_documents_under_its_files_name(made: Made) -> None:
    path = made("data/Chat_1_Ada_Bo.json", _chat([_question(["D2:1"])]))

    benchmark = realtalk.load(path.parent)

    assert [document.doc_id for document in benchmark.documents] == [
        "Chat_1_Ada_Bo/D1:1",
        "Chat_1_Ada_Bo/D1:2",
        "Chat_1_Ada_Bo/D2:1",
    ]
    first = benchmark.documents[0].turns[0]
    assert (first.speaker, first.text, first.session_id) == ("Ada", "hello :)", "Chat_1_Ada_Bo/session_1")
    assert first.said_at == datetime(2023, 12, 29, 11, 23, 21, tzinfo=UTC)
    assert first.said_at_text == "29.12.2023, 11:23:21"
    assert benchmark.documents[1].turns[0].searchable == "look [shared image: a cat on a shelf]"


def test_questions_have_their_category_and_evidence(made: Made) -> None:
    questions = [_question(["D1:1", "D2:01"], category=1), _question(["D1:2"], category="3"), _question(["D2:1"], 2)]

    benchmark = realtalk.load(made("Chat_1_Ada_Bo.json", _chat(questions)))

    assert benchmark.qrels["Chat_1_Ada_Bo/q1"] == {"Chat_1_Ada_Bo/D1:1": 1, "Chat_1_Ada_Bo/D2:1": 1}
    assert [query.category for query in benchmark.queries] == ["1 multi-hop", "3 commonsense", "2 temporal"]


def test_ids_that_name_no_turn_are_counted_and_questions_left_without_any(made: Made) -> None:
    questions = [_question(["D9:9", "D1:1"]), _question(["D9:9"]), _question([]), _question(["?"])]

    benchmark = realtalk.load(made("Chat_8_Ada_Bo.json", _chat(questions)))

    assert [query.query_id for query in benchmark.queries] == ["Chat_8_Ada_Bo/q1"]
    assert benchmark.dropped.counts == {
        "evidence id of no turn": 2,
        "evidence that is no id": 1,
        "question without evidence": 3,
    }
    assert benchmark.denominators["questions in the files"] == 4


def test_questions_that_name_nobody_in_the_chat_are_told_apart(made: Made) -> None:
    questions = [_question(["D1:1"], text="What did Ada say?"), _question(["D1:1"], text="What did Kate's dog do?")]

    benchmark = realtalk.load(made("Chat_1_Ada_Bo.json", _chat(questions)))

    assert benchmark.denominators == {
        "questions in the files": 2,
        "with evidence": 2,
        "with evidence, naming a speaker": 1,
    }


def test_an_id_that_comes_twice_keeps_both_turns(made: Made) -> None:
    chat = _chat([_question(["D2:1"])])
    chat["session_2"].append(
        {"clean_text": "again", "speaker": "Bo", "dia_id": "D2:1", "date_time": "1.1.2024, 9:00:00"}
    )

    benchmark = realtalk.load(made("Chat_1_Ada_Bo.json", chat))

    assert [document.doc_id for document in benchmark.documents[2:]] == ["Chat_1_Ada_Bo/D2:1", "Chat_1_Ada_Bo/D2:1#2"]
    assert benchmark.dropped.counts == {
        "message kept, but: dia_id repeated, numbered": 1,
        "evidence id of several turns": 1,
        "question without evidence": 1,
    }


def test_a_turn_without_clean_text_has_its_text_and_one_without_either_is_counted(made: Made) -> None:
    chat = _chat([_question(["D1:1"])])
    chat["session_2"] = [
        {"text": "raw", "speaker": "Ada", "dia_id": "D2:1", "date_time": "yesterday"},
        {"speaker": "Bo", "dia_id": "D2:2", "date_time": "30.12.2023, 10:00:00"},
    ]

    benchmark = realtalk.load(made("Chat_1_Ada_Bo.json", chat))

    assert [document.turns[0].text for document in benchmark.documents] == ["hello :)", "look", "raw"]
    assert benchmark.dropped.counts == {
        "message kept, but: time not understood": 1,
        "message left out: no text": 1,
    }


def test_chats_come_in_the_order_of_their_numbers_and_other_files_are_counted(made: Made) -> None:
    made("data/Chat_10_Cy_Di.json", _chat([_question(["D1:1"])]))
    made("data/Chat_2_Ada_Bo.json", _chat([_question(["D1:1"])]))
    path = made("data/notes.json", {"about": "nothing"})

    benchmark = realtalk.load(path.parent)

    assert [query.conversation_id for query in benchmark.queries] == ["Chat_2_Ada_Bo", "Chat_10_Cy_Di"]
    assert benchmark.dropped.counts == {"file that is no chat": 1}


def test_a_file_or_folder_of_something_else_is_named(made: Made) -> None:
    path = made("data/notes.json", {"qa": []})

    with pytest.raises(ImportFormatError, match=r"notes\.json is not REALTALK: it has no 'qa' list, or no numbered"):
        realtalk.load(path)
    with pytest.raises(ImportFormatError, match=r"data holds no chat of REALTALK"):
        realtalk.load(path.parent)


def test_a_session_with_a_number_beyond_all_numbers_is_none(made: Made) -> None:
    chat = _chat([_question(["D1:1"])]) | {f"session_{'9' * 5000}": [_message("Ada", "D9:1", "late")]}

    assert len(realtalk.load(made("Chat_1_Ada_Bo.json", chat)).documents) == 3


def _chat(questions: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": {"speaker_1": "Ada", "speaker_2": "Bo"},
        "session_2_date_time": "30.12.2023, 09:00:00",
        "session_2": [_message("Ada", "D2:1", "morning", at="30.12.2023, 09:00:00")],
        "session_1_date_time": "29.12.2023, 11:23:21",
        "session_1": [
            _message("Ada", "D1:1", "hello :)"),
            _message("Bo", "D1:2", "look") | {"img_url": ["x.jpg"], "blip_caption": "a cat on a shelf"},
        ],
        "events_session_1": {"Ada": []},
        "qa": questions,
    }


def _message(speaker: str, dia_id: str, text: str, *, at: str = "29.12.2023, 11:23:21") -> dict[str, Any]:
    return {"speaker": speaker, "dia_id": dia_id, "clean_text": text, "date_time": at}


def _question(evidence: list[str], category: int | str = 2, *, text: str = "When?") -> dict[str, Any]:
    return {"question": text, "answer": "then", "evidence": evidence, "category": category}
