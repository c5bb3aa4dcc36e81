"""The command from data to a result: a small talk in LoCoMo's format, no model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import memory_rag.evaluation.__main__ as command
from memory_rag.evaluation.speed_tables import SPEED_TABLES
from memory_rag.evaluation.tables import load_results, tables_of


def test_not_found_is_measured_from_a_file_to_a_result(data: Path, tmp_path: Path) -> None:
    code = command.main(
        ["not-found", "--data", str(data), "--out", str(tmp_path), "--sets", "locomo", "--embedder", "none"]
    )

    result = json.loads((tmp_path / "not-found-locomo-none.json").read_text(encoding="utf-8"))["result"]
    assert code == 0
    assert {kind: of["n"] for kind, of in result.items()} == {"own": 3, "removed": 3, "foreign": 3}
    assert result["own"]["wrongly_empty"] == 0.0
    # Without an embedder there is no number behind the floor, and every pair is a tie.
    assert result["foreign"]["auroc"] == 0.5


def test_what_was_embedded_is_kept_where_it_is_said(data: Path, tmp_path: Path) -> None:
    words = ["not-found", "--data", str(data), "--out", str(tmp_path), "--sets", "locomo", "--embedder", "none"]

    assert [command.main([*words, "--work", str(tmp_path / "work")]) for _ in range(2)] == [0, 0]

    assert len([*(tmp_path / "work").glob("locomo10-*/turns.sqlite")]) == 1


def test_a_second_run_embeds_nothing(data: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    words = ["not-found", "--data", str(data), "--out", str(tmp_path), "--sets", "locomo", "--work", str(work)]

    assert command.main(words) == 0
    first = {path: path.stat().st_mtime_ns for path in [*work.glob("questions-*"), *work.glob("*/vectors/*")]}
    assert command.main(words) == 0

    assert {path.suffix for path in first} == {".npz", ".f32", ".ids"}
    # What is embedded is written, so nothing was.
    assert {path: path.stat().st_mtime_ns for path in [*work.glob("questions-*"), *work.glob("*/vectors/*")]} == first


def test_data_that_is_not_there_ends_with_1_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = command.main(["not-found", "--data", str(tmp_path / "no"), "--out", str(tmp_path), "--embedder", "none"])

    assert code == 1
    assert "locomo10.json" in capsys.readouterr().err


def test_a_set_that_is_none_ends_with_1_and_says_which_there_are(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = command.main(["not-found", "--data", str(data), "--out", str(tmp_path), "--sets", "locomo,chats"])

    assert code == 1
    assert capsys.readouterr().err == "error: unknown set 'chats'; sets are: locomo, beam\n"


def test_tables_are_made_from_results(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- table: not-found -->\n<!-- end -->\n", encoding="utf-8")
    command.main(["not-found", "--data", str(data), "--out", str(tmp_path), "--sets", "locomo", "--embedder", "none"])

    code = command.main(["tables", "--results", str(tmp_path), "--pages", str(page)])

    assert code == 0
    assert capsys.readouterr().out == f"{page}: not-found\n"
    assert "| LoCoMo, none: evidence and its neighbours removed | 3 |" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_speed_is_measured_and_fills_every_table_that_its_result_is_for(tmp_path: Path) -> None:
    code = command.main(["speed", "--out", str(tmp_path), "--sizes", "60,120", "--repetitions", "1"])

    found = load_results(tmp_path)
    result = found["speed"]["result"]
    assert code == 0
    assert result["sizes"].keys() == {"0", "60", "120"}
    assert set(result["sizes"]["120"]["query"]) == {
        "keyword",
        "dense",
        "hybrid",
        "rank_bm25",
        "faiss",
        "faiss_threads",
    }
    assert result["sizes"]["60"]["disk_bytes_per_turn"]["vectors"] > 384 * 4
    assert result["sizes"]["60"]["times_as_long"]["rank_bm25"]["rank_bm25"] == 1.0
    assert found["speed"]["provenance"]["settings"]["load_average_before"] >= 0
    tables = tables_of(found)
    assert [name for name in SPEED_TABLES if "Not measured" in tables[name]] == []
    assert "| add one turn, `normal`, 0 / 10,000 / 100,000 turns | ≤ 0.15 ms |" in tables["speed"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a locomo10.json: two talks of three turns each, five questions."""
    folder = tmp_path / "data"
    folder.mkdir()
    talks = [
        _talk(
            "conv-26",
            ("Ada", "Bo"),
            ["My violin is from Cremona.", "I keep bees behind the shed.", "The honey was sold by noon."],
            [
                ("Where is Ada's violin from?", ["D1:1"], 4),
                ("Who keeps bees and sold honey?", ["D1:2", "D1:3"], 1),
                ("Did Bo ever play the violin?", ["D1:1"], 5),
            ],
        ),
        _talk(
            "conv-30",
            ("Cy", "Di"),
            ["The ferry left at seven.", "We forgot the tickets.", "They let us board anyway."],
            [("When did the ferry leave?", ["D1:1"], 2), ("Who lost a shoe?", ["D4:4"], 4)],
        ),
    ]
    (folder / "locomo10.json").write_text(json.dumps(talks), encoding="utf-8")
    return folder


def _talk(
    name: str, people: tuple[str, str], texts: list[str], asked: list[tuple[str, list[str], int]]
) -> dict[str, Any]:
    turns = [
        {"speaker": people[place % 2], "dia_id": f"D1:{place + 1}", "text": text} for place, text in enumerate(texts)
    ]
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": people[0],
            "speaker_b": people[1],
            "session_1": turns,
            "session_1_date_time": "1:56 pm on 8 May, 2023",
        },
        "qa": [
            {"question": question, "answer": "-", "evidence": evidence, "category": category}
            for question, evidence, category in asked
        ],
    }
