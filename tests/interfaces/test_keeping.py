"""State, pin, decide and pin-file: what is in every prompt is set, listed and taken away."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.command_line import CommandLine


def test_the_state_is_set_patched_and_shown(memory_rag: CommandLine) -> None:
    memory_rag("state", "--set", "goal=höstmenyn", "--set", "customer.seats=12")
    memory_rag("state", "--merge", '{"goal": null, "open": ["price"]}')

    assert memory_rag("state", "--json").json == {"customer": {"seats": 12}, "open": ["price"]}
    assert memory_rag("state", "--unset", "open").out == '{\n  "customer": {\n    "seats": 12\n  }\n}\n'
    assert memory_rag("state", "--clear", "--set", "a=1", "--json").json == {"a": 1}


def test_what_a_summary_proposes_for_the_state_is_listed_taken_and_dismissed(memory_rag: CommandLine) -> None:
    assert memory_rag("add", "We decided to charge 49 euro for the season.", "--speaker", "Ebba").code == 0
    assert memory_rag("add", "We also decided to bake on Sundays.", "--speaker", "Ebba").code == 0
    assert memory_rag("state", "--proposed").lines == ["nothing is proposed"]
    memory_rag("summary", "--make", MEMORY_RAG_KEEP_RECENT="0")
    first, second = memory_rag("state", "--proposed", "--json").json["proposals"]

    assert memory_rag("state", "--proposed").lines == [
        f"{first['proposal']}  decisions: We decided to charge 49 euro for the season. [t1]",
        f"{second['proposal']}  decisions: We also decided to bake on Sundays. [t2]",
    ]
    taken = memory_rag("state", "--take", first["proposal"], "--dismiss", second["proposal"], "--json").json
    assert taken == {"decisions": [{"text": "We decided to charge 49 euro for the season.", "turns": ["t1"]}]}
    assert memory_rag("state", "--proposed").lines == ["nothing is proposed"]
    refused = memory_rag("state", "--take", first["proposal"])
    assert refused.code == 1
    assert "is open in conversation 'main'; open: none" in refused.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", "goal"), "--set 'goal' has no value; give PATH=VALUE, such as customer.name=Åsa"),
        (("--merge", "[1]"), "--merge is a JSON object, got '[1]'"),
        (("--merge", "{"), "--merge is a JSON object, got '{'"),
    ],
)
def test_a_change_that_cannot_be_read_is_wrong_usage(
    memory_rag: CommandLine, words: tuple[str, ...], message: str
) -> None:
    refused = memory_rag("state", *words)

    assert refused.code == 2
    assert refused.err.startswith(f"error: {message}")
    assert not memory_rag.home.exists()


@pytest.mark.usefixtures("talk")
def test_a_field_that_is_not_there_is_an_error(memory_rag: CommandLine) -> None:
    refused = memory_rag("state", "--unset", "goal")

    assert (refused.code, refused.err) == (1, "error: the state has no 'goal'; it has: nothing\n")


@pytest.mark.usefixtures("talk")
def test_preferences_are_pinned_and_taken_off(memory_rag: CommandLine) -> None:
    assert memory_rag("pin").lines == ["nothing is pinned"]
    assert memory_rag("pin", "Svara kort.", "--turn", "t1").lines == ["p1  Svara kort. (t1)"]
    memory_rag("pin", "Euro, never kronor.")

    assert memory_rag("pin", "--remove", "p1", "--json").json["pins"][0]["text"] == "Euro, never kronor."
    assert memory_rag("pin", "--remove", "p1").err == "error: no pin 'p1'; pins are: p2\n"


@pytest.mark.usefixtures("talk")
def test_a_decision_is_written_down_with_its_reason(memory_rag: CommandLine) -> None:
    assert memory_rag("decide").lines == ["nothing was decided"]
    decided = memory_rag("decide", "49 euro", "--because", "the flyers are printed", "--turn", "t1")

    assert decided.lines == ["d1  49 euro, because the flyers are printed (t1)"]
    assert memory_rag("decide", "--markdown").lines[:3] == ["# Decisions", "", "## 49 euro"]
    assert memory_rag("decide", "--json").json["decisions"][0]["because"] == "the flyers are printed"
    assert memory_rag("decide", "--remove", "d1").lines == ["nothing was decided"]


def test_a_decision_without_a_reason_is_wrong_usage(memory_rag: CommandLine) -> None:
    refused = memory_rag("decide", "49 euro")

    assert refused.code == 2
    assert refused.err.startswith("error: a decision needs its reason, give it with --because")
    assert memory_rag("decide", "--because", "printed").code == 2


@pytest.mark.usefixtures("talk")
def test_a_pinned_file_is_told_as_it_is_now(memory_rag: CommandLine, tmp_path: Path) -> None:
    rules = tmp_path / "RULES.md"
    rules.write_text("Answer in Swedish.\n", encoding="utf-8")

    assert memory_rag("pin-file").lines == ["no file is pinned"]
    assert memory_rag("pin-file", str(rules)).lines[0].startswith(f"{rules}: as pinned, 1 line, 19 bytes, sha256 ")
    rules.write_text("Answer in Norwegian.\n", encoding="utf-8")
    [changed] = memory_rag("pin-file", "--json").json["files"]
    assert (changed["status"], changed["first_line"], changed["is_cut"]) == ("changed", "Answer in Norwegian.", False)
    rules.unlink()
    assert memory_rag("pin-file").lines == [f"{rules}: missing (no such file)"]
    assert memory_rag("pin-file", "--remove", str(rules)).lines == ["no file is pinned"]
    assert memory_rag("pin-file", str(rules)).code == 1
