"""Verify: what became of each quotation of an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.command_line import CommandLine

pytestmark = pytest.mark.usefixtures("talk")

ANSWER = "You said “the price is 45 euro, jar included” and “not a cent below 60 euro”."


def test_json_has_a_verdict_for_each_quotation(memory_rag: CommandLine) -> None:
    verdicts = memory_rag("verify", "--text", ANSWER, "--json").json["verdicts"]

    assert [(verdict["status"], verdict["text"]) for verdict in verdicts] == [
        ("verbatim", "the price is 45 euro, jar included"),
        ("not_found", "not a cent below 60 euro"),
    ]
    assert list(verdicts[0]) == ["status", "text", "start", "end", "claimed", "count", "quotes", "message"]
    assert [quote["turn_id"] for quote in verdicts[0]["quotes"]] == ["t3"]


def test_a_reader_sees_each_verdict_and_their_count(memory_rag: CommandLine) -> None:
    assert memory_rag("verify", "--text", ANSWER).lines == [
        "verbatim   “the price is 45 euro, jar included”",
        "           Word for word by Ebba (2026-04-10, turn t3).",
        "not found  “not a cent below 60 euro”",
        "           Not found: no stored turn says this, nor anything close to it.",
        "1 of 2 quotations verbatim",
    ]


def test_the_answer_comes_from_a_file_or_from_stdin(memory_rag: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text(ANSWER, encoding="utf-8")
    expected = memory_rag("verify", "--text", ANSWER).out

    assert memory_rag("verify", str(tmp_path / "answer.md")).out == expected
    assert memory_rag("verify", "-", stdin=ANSWER).out == expected


def test_a_stored_answer_does_not_confirm_itself(memory_rag: CommandLine) -> None:
    answer = "As I told you: “a loaf never costs more than 60 kronor”."
    memory_rag("add", answer, "--role", "assistant")

    assert [one["status"] for one in memory_rag("verify", "--turn", "t6", "--json").json["verdicts"]] == ["not_found"]


def test_an_answer_without_quotations_says_so(memory_rag: CommandLine) -> None:
    assert memory_rag("verify", "--text", "It was 49 euro.").out == "no quotations in this text\n"
    assert memory_rag("verify", "--text", "It was 49 euro.", "--json").json == {"verdicts": []}


@pytest.mark.parametrize(
    ("answer", "code"),
    [(ANSWER, 1), ("You said “the price is 45 euro, jar included”.", 0), ("It was 49 euro.", 0)],
)
def test_the_exit_code_tells_if_it_is_asked_to(memory_rag: CommandLine, answer: str, code: int) -> None:
    assert memory_rag("verify", "--text", answer).code == 0
    assert memory_rag("verify", "--text", answer, "--exit-code").code == code


@pytest.mark.parametrize("words", [(), ("a.md", "--text", "b"), ("--text", "b", "--turn", "t1")])
def test_exactly_one_text_is_asked_for(memory_rag: CommandLine, words: tuple[str, ...]) -> None:
    refused = memory_rag("verify", *words)

    assert refused.code == 2
    assert "give one text to check: a FILE, - for stdin, --text TEXT or --turn ID" in refused.err


def test_a_file_that_cannot_be_read_is_an_error(memory_rag: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "latin.md").write_bytes(b"\x93yes\x94")

    assert memory_rag("verify", str(tmp_path / "none.md")).err == (
        f"error: {tmp_path / 'none.md'} can't be read (No such file or directory); give a file, - or --text\n"
    )
    assert "is not UTF-8 at byte 0 (0x93: " in memory_rag("verify", str(tmp_path / "latin.md")).err
