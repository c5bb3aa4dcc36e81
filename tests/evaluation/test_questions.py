"""Question sets: every question with the turns that answer it, and what was dropped, counted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.questions import beam_questions, locomo_questions


def test_locomos_questions_and_what_was_dropped_of_them_are_counted(data_dir: Path) -> None:
    asked = locomo_questions(data_dir / "locomo10.json")

    raw = json.loads((data_dir / "locomo10.json").read_bytes())
    assert sum(len(conversation["qa"]) for conversation in raw) == 1986
    assert len(asked.questions) == len(asked.answerable()) == 1982
    assert asked.dropped == {"evidence id of no turn": 2, "question without evidence": 4}
    assert Counter(question.category for question in asked.questions) == {
        "1 multi-hop": 282,
        "2 temporal": 321,
        "3 open-domain": 92,
        "4 single-hop": 841,
        "5 adversarial": 446,
    }
    assert sum(map(len, asked.turn_ids.values())) == 5882
    assert len(asked.turn_ids) == len(asked.people) == 10
    assert asked.people["conv-26"] == ("Caroline", "Melanie")
    assert asked.sha256 == "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"


def test_every_evidence_id_of_locomo_is_a_turn_of_its_conversation(data_dir: Path) -> None:
    asked = locomo_questions(data_dir / "locomo10.json")

    strangers = [q for q in asked.questions if not q.evidence <= set(asked.turn_ids[q.conversation_id])]
    assert strangers == []


def test_beams_questions_and_what_was_dropped_of_them_are_counted(data_dir: Path) -> None:
    asked = beam_questions(data_dir / "beam" / "100K")

    assert len(asked.answerable()) == 355
    without = [question for question in asked.questions if not question.evidence]
    assert Counter(question.category for question in without) == {"abstention": 40}
    assert asked.dropped == {"evidence id of no turn": 0, "question without evidence": 5}
    assert sum(map(len, asked.turn_ids.values())) == 5732
    assert len(asked.turn_ids) == 20
    assert asked.people == {}


def test_ids_written_together_or_with_zeros_are_mended(tmp_path: Path) -> None:
    path = _written(tmp_path, [["D1:1; D2:2"], ["D1:02"], ["D1:1", "D9:9"]])

    asked = locomo_questions(path)

    assert [sorted(question.evidence) for question in asked.questions] == [["D1:1", "D2:2"], ["D1:2"], ["D1:1"]]
    assert asked.dropped["evidence id of no turn"] == 1


def test_a_question_whose_evidence_is_nowhere_is_dropped_and_counted(tmp_path: Path) -> None:
    asked = locomo_questions(_written(tmp_path, [["D7:1"], [], ["D1:1"]]))

    assert len(asked.questions) == 1
    assert asked.dropped == {"evidence id of no turn": 1, "question without evidence": 2}


def test_turn_ids_are_in_spoken_order_beyond_the_ninth_session(tmp_path: Path) -> None:
    path = _written(tmp_path, [["D1:1"]], n_sessions=11)

    spoken = locomo_questions(path).turn_ids["conv-1"]

    assert spoken[:4] == ("D1:1", "D1:2", "D2:1", "D2:2")
    assert spoken[-1] == "D11:2"


def test_a_file_of_another_shape_is_named(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('[{"messages": []}]', encoding="utf-8")

    with pytest.raises(ImportFormatError, match=r"other\.json is not LoCoMo's questions: KeyError\('sample_id'\)"):
        locomo_questions(path)


def test_a_folder_without_chats_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImportFormatError, match=r"holds no numbered BEAM chats such as 1/chat\.json"):
        beam_questions(tmp_path)


def test_beams_evidence_may_be_a_list_or_lists_under_names(tmp_path: Path) -> None:
    chat = tmp_path / "100K" / "1"
    chat.mkdir(parents=True)
    turns = [{"role": "user", "id": number, "content": "x"} for number in range(4)]
    probing = {
        "information_extraction": [{"question": "a", "source_chat_ids": [1, 7]}],
        "temporal_reasoning": [{"question": "b", "source_chat_ids": {"first": [0], "second": [[2], 3]}}],
        "abstention": [{"question": "c"}],
    }
    (chat / "chat.json").write_text(json.dumps([{"turns": [turns[:2], turns[2:]]}]), encoding="utf-8")
    (chat / "probing_questions.json").write_text(json.dumps(probing), encoding="utf-8")

    asked = beam_questions(chat.parent)

    assert [(q.text, sorted(q.evidence), q.conversation_id) for q in asked.questions] == [
        ("a", ["1"], "beam-100K-1"),
        ("b", ["0", "2", "3"], "beam-100K-1"),
        ("c", [], "beam-100K-1"),
    ]
    assert asked.dropped == {"evidence id of no turn": 1}
    assert asked.turn_ids == {"beam-100K-1": ("0", "1", "2", "3")}


def _written(folder: Path, evidence: list[list[str]], *, n_sessions: int = 2) -> Path:
    talk: dict[str, Any] = {"speaker_a": "Ada", "speaker_b": "Bo"}
    for number in range(1, n_sessions + 1):
        talk[f"session_{number}"] = [
            {"speaker": name, "dia_id": f"D{number}:{place}", "text": "hello"}
            for place, name in enumerate(("Ada", "Bo"), start=1)
        ]
        talk[f"session_{number}_date_time"] = f"1:56 pm on {number} May, 2023"
    asked = [{"question": "who?", "answer": "x", "evidence": ids, "category": 4} for ids in evidence]
    path = folder / "locomo10.json"
    path.write_text(json.dumps([{"sample_id": "conv-1", "conversation": talk, "qa": asked}]), encoding="utf-8")
    return path
