"""LongMemEval as a benchmark: a history a question, no id that tells, every denominator by its name."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.datasets import longmemeval
from memory_rag.evaluation.datasets.assembly import UNITS
from memory_rag.evaluation.datasets.leaks import leak_check
from tests.evaluation.datasets.haystacks import Size, write_haystacks

Made = Callable[[str, Any], Path]

LOADED = """
import json, sys
from pathlib import Path
from memory_rag.evaluation.datasets import longmemeval
from tests.peak import peak_bytes
benchmark = longmemeval.load(Path(sys.argv[1]), unit=sys.argv[2])
found = {"documents": len(benchmark.documents), "queries": len(benchmark.queries), "peak_bytes": peak_bytes()}
print(json.dumps(found | {"answerable": len(benchmark.answerable()), "denominators": dict(benchmark.denominators)}))
"""


def test_a_question_has_a_conversation_of_its_own_with_sessions_by_date(made: Made) -> None:
    entry = _entry("q1", sessions={"answer_a": ["hi", "there"], "u_1": ["early"]}, dates=["05/20", "05/19"])

    benchmark = longmemeval.load(made("s.json", [entry, _entry("q2", sessions={"answer_b": ["x"]}, dates=["05/20"])]))

    assert [(d.doc_id, d.conversation_id, d.turns[0].text) for d in benchmark.documents] == [
        ("history-001/s001/t01", "history-001", "early"),
        ("history-001/s002/t01", "history-001", "hi"),
        ("history-001/s002/t02", "history-001", "there"),
        ("history-002/s001/t01", "history-002", "x"),
    ]
    assert [document.turns[0].ordinal for document in benchmark.documents] == [0, 1, 2, 0]
    assert benchmark.documents[0].turns[0].said_at == datetime(2023, 5, 19, 9, 30, tzinfo=UTC)
    assert benchmark.documents[0].turns[0].said_at_text == "2023/05/19 (Fri) 09:30"


def test_a_session_that_comes_twice_and_a_turn_without_words_are_documents_as_they_stand(made: Made) -> None:
    """Thirteen histories of the S file hold a session twice, and seven a message that is empty."""
    entry = _entry("q1", sessions={"answer_a": ["+hi", ""], "u_1": ["early"], "u_2": ["late"]})
    entry["haystack_session_ids"][2] = "u_1"

    benchmark = longmemeval.load(made("s.json", [entry]), unit="session")

    assert [[turn.text for turn in document.turns] for document in benchmark.documents] == [
        ["hi", ""],
        ["early"],
        ["late"],
    ]
    assert benchmark.qrels == {"q1": {"history-001/s001": 1}}
    assert benchmark.dropped.counts == {}


def test_relevant_is_a_turn_that_has_the_answer_whoever_says_it(made: Made) -> None:
    entry = _entry("q1", sessions={"answer_a": ["hi", "+there"], "u_1": ["early"]})

    assert longmemeval.load(made("s.json", [entry])).qrels == {"q1": {"history-001/s001/t02": 1}}


def test_relevant_is_a_session_that_is_listed_as_evidence(made: Made) -> None:
    entry = _entry("q1", sessions={"u_1": ["early"], "answer_a_1": ["hi", "there"], "answer_a_2": ["+more"]})

    benchmark = longmemeval.load(made("s.json", [entry]), unit="session")

    assert [document.doc_id for document in benchmark.documents] == [f"history-001/s00{n}" for n in (1, 2, 3)]
    assert benchmark.qrels == {"q1": {"history-001/s002": 1, "history-001/s003": 1}}


def test_with_the_users_role_alone_only_what_the_user_gave_is_evidence(made: Made) -> None:
    path = made(
        "s.json",
        [
            _entry("q1", sessions={"u_1": ["early"], "answer_a_1": ["hi", "+there"], "answer_a_2": ["+more", "ok"]}),
            _entry("q2", sessions={"answer_b": ["hi", "+there"]}),
        ],
    )

    benchmark = longmemeval.load(path, unit="session", roles=["user"])

    assert benchmark.qrels == {"q1": {"history-001/s003": 1}}
    assert sum(len(document.turns) for document in benchmark.documents) == 4
    assert benchmark.dropped.counts == {"turn of another role than user": 3, "question without evidence": 1}


def test_the_three_denominators_are_named(made: Made) -> None:
    path = made(
        "s.json",
        [
            _entry("q1", sessions={"answer_a": ["+hi", "there"]}),
            _entry("q2", sessions={"answer_b": ["hi", "+there"]}),
            _entry("q3_abs", sessions={"answer_c": ["hi", "there"]}),
        ],
    )

    benchmark = longmemeval.load(path)

    assert benchmark.denominators == {
        "all questions": 3,
        "without abstention (print_retrieval_metrics)": 2,
        "with evidence of the user's (run_retrieval)": 1,
    }
    assert [query.query_id for query in benchmark.unanswerable()] == ["q3_abs"]


def test_nothing_of_what_a_document_is_called_names_the_evidence(made: Made) -> None:
    entry = _entry("q1", sessions={"answer_4be1b6b4_1": ["+hi"], "ultrachat_7": ["early"]})

    for document in longmemeval.load(made("s.json", [entry])).documents:
        assert "answer" not in repr(document)
        assert "ultrachat" not in repr(document)


def test_ids_of_histories_of_any_size_beat_chance_in_no_order(tmp_path: Path) -> None:
    write_haystacks(tmp_path / "s.json", Size(n_questions=120, n_turns=4, n_characters=40, n_fillers=200))

    for unit in UNITS:
        assert leak_check(longmemeval.load(tmp_path / "s.json", unit=unit)) == ()


def test_a_text_that_several_histories_hold_is_in_memory_once(made: Made) -> None:
    said = "the very same words, " * 20
    path = made("s.json", [_entry(q, sessions={"answer_a": ["+x"], "u_1": [said]}) for q in ("q1", "q2")])

    texts = [document.turns[0].text for document in longmemeval.load(path).documents]

    assert texts[1] == texts[3]
    assert texts[1] is texts[3]


def test_what_is_wrong_with_a_history_is_counted(made: Made) -> None:
    entry = _entry("q1", sessions={"answer_a": ["+hi"], "u_1": [], "u_2": ["late"]}, dates=["05/20", "05/21", "x"])
    entry["answer_session_ids"].append("answer_gone")
    entry["haystack_sessions"][2] += [{"role": "narrator", "content": "x"}, {"role": "user"}]

    benchmark = longmemeval.load(made("s.json", [entry]))

    assert len(benchmark.documents) == 2
    assert benchmark.dropped.counts == {
        "session kept, but: date not understood": 1,
        "session without turns": 1,
        "evidence id of no session": 1,
        "message left out: unknown role 'narrator'": 1,
        "message left out: no text": 1,
    }
    assert benchmark.dropped.places["evidence id of no session"] == ["q1: answer_gone"]


def test_a_question_without_a_marked_turn_is_dropped(made: Made) -> None:
    benchmark = longmemeval.load(made("s.json", [_entry("q1", sessions={"answer_a": ["hi"]})]))

    assert benchmark.queries == ()
    assert benchmark.dropped.as_json() == [{"reason": "question without evidence", "count": 1, "where": ["q1"]}]


def test_sessions_without_ids_or_dates_are_refused(made: Made) -> None:
    entry = _entry("q1", sessions={"answer_a": ["hi"]})
    entry["haystack_dates"] = []

    with pytest.raises(ImportFormatError, match="question q1: 1 sessions, but 1 ids and 0 dates of sessions"):
        longmemeval.load(made("s.json", [entry]))


def test_a_file_of_another_shape_is_named(made: Made) -> None:
    with pytest.raises(ImportFormatError, match=r"other\.json is not LongMemEval: item 1 has no question_id and no"):
        longmemeval.load(made("other.json", [{"messages": []}]))
    with pytest.raises(ImportFormatError, match=r"empty\.json holds no question"):
        longmemeval.load(made("empty.json", []))


def test_an_unknown_role_is_refused(made: Made) -> None:
    with pytest.raises(ImportFormatError, match=r"unknown roles \['tool'\]; give one or both of: user, assistant"):
        longmemeval.load(made("s.json", []), roles=["tool"])


def test_a_question_is_asked_on_its_date_and_one_without_is_counted(tmp_path: Path) -> None:
    dated = _entry("q1", sessions={"answer_1": ["+yes"]})
    path = tmp_path / "oracle.json"
    path.write_text(json.dumps([dated, {**dated, "question_id": "q2", "question_date": "yesterday"}]), encoding="utf-8")

    found = longmemeval.load(path)

    assert [query.asked_at for query in found.queries] == [datetime(2023, 5, 30, 23, 40, tzinfo=UTC), None]
    assert found.dropped.counts["question kept, but: date not understood"] == 1
    assert found.dropped.places["question kept, but: date not understood"] == ["q2: 'yesterday'"]


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "n_documents"), [("turn", 250_000), ("session", 25_000)])
def test_a_file_of_the_size_of_longmemeval_s_takes_less_than_a_gigabyte(
    tmp_path: Path, unit: str, n_documents: int
) -> None:
    path = tmp_path / "longmemeval_s.json"
    write_haystacks(path, Size())

    run = subprocess.run(
        [sys.executable, "-c", LOADED, str(path), unit], capture_output=True, text=True, check=True, timeout=600
    )
    found = json.loads(run.stdout)

    assert found["documents"] == n_documents
    assert (found["queries"], found["answerable"]) == (500, 470)
    assert list(found["denominators"].values()) == [500, 470, 470]
    assert found["peak_bytes"] < 10**9


def _entry(question_id: str, *, sessions: dict[str, list[str]], dates: list[str] | None = None) -> dict[str, Any]:
    """Make an item; a text that begins with + has the answer, speakers take turns, sessions are a day apart."""
    days = dates or [f"05/{day:02}" for day in range(1, len(sessions) + 1)]
    return {
        "question_id": question_id,
        "question_type": "multi-session",
        "question": "what?",
        "answer": "that",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": list(sessions),
        "haystack_dates": [f"2023/{day} (Fri) 09:30" for day in days],
        "haystack_sessions": [
            [
                {"role": ("user", "assistant")[at % 2], "content": text.lstrip("+"), "has_answer": text.startswith("+")}
                for at, text in enumerate(said)
            ]
            for said in sessions.values()
        ],
        "answer_session_ids": [name for name in sessions if name.startswith("answer")],
    }
