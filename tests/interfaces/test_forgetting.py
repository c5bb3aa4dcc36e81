"""``memory-rag forget``, ``correct`` and ``retain``: what goes is shown first, and what is left is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_rag.memory import Memory
from tests.interfaces.command_line import CommandLine


def ids(talk: Path) -> list[str]:
    with Memory.open(talk, embedder="none") as memory:
        return [turn.turn_id for turn in memory.turns()]


def test_a_dry_run_shows_what_would_go_and_removes_nothing(memory_rag: CommandLine, talk: Path) -> None:
    memory_rag("pin", "the price is 45 euro, jar included")

    ran = memory_rag("forget", "--speaker", "ebba", "--dry-run")

    assert ran.code == 0
    assert ran.lines[0].startswith("t1 Ebba: Vi kör 49 euro")
    assert ran.lines[1].startswith("t3 Ebba: And the workshop?")
    assert ran.lines[2:] == [
        "also: pin p1 the price is 45 euro, jar included (it says the same)",
        "would forget 2 turns; nothing was removed",
    ]
    assert len(ids(talk)) == 5


@pytest.mark.usefixtures("talk")
def test_one_thing_beside_a_turn_is_told_as_one(memory_rag: CommandLine) -> None:
    memory_rag("correct", "t1", "Vi kör 59 euro.")
    once = memory_rag("forget", "t1", "--dry-run")
    memory_rag("correct", "t1", "Vi kör 69 euro.")
    twice = memory_rag("forget", "t1", "--dry-run")

    assert "also: 1 earlier version" in once.lines
    assert "also: 2 earlier versions" in twice.lines


@pytest.mark.usefixtures("talk")
def test_a_dry_run_says_the_same_as_json(memory_rag: CommandLine) -> None:
    told = memory_rag("forget", "t1", "--dry-run", "--json").json

    assert told["dry_run"] is True
    assert told["forgotten"] == ["t1"]
    assert told["proof"] is None


@pytest.mark.parametrize(
    ("given", "left"),
    [
        (["--speaker", "Ebba"], ["t2", "t4", "t5"]),
        (["--role", "assistant"], ["t1", "t3", "t5"]),
        (["--query", "workshop", "-k", "1", "--speaker", "Ebba"], ["t1", "t2", "t4", "t5"]),
        (["t1", "t2", "--speaker", "Ebba"], ["t2", "t3", "t4", "t5"]),
        (["--since", "2026-04-10"], []),
    ],
)
def test_turns_are_forgotten_by_what_they_have_in_common(
    memory_rag: CommandLine, talk: Path, given: list[str], left: list[str]
) -> None:
    assert memory_rag("forget", *given, "--yes").code == 0
    assert ids(talk) == left


@pytest.mark.usefixtures("talk")
def test_a_filter_that_fits_nothing_ends_with_one(memory_rag: CommandLine) -> None:
    ran = memory_rag("forget", "--speaker", "nobody", "--yes")

    assert (ran.code, ran.out, ran.err) == (1, "", "no such turn; nothing was removed\n")


@pytest.mark.usefixtures("talk")
def test_forgetting_nothing_in_particular_is_wrong_usage(memory_rag: CommandLine) -> None:
    ran = memory_rag("forget", "--yes")

    assert ran.code == 2
    assert "nothing to forget; give ids, --query, or a filter" in ran.err


@pytest.mark.usefixtures("talk")
def test_the_proof_is_printed_with_what_was_searched(memory_rag: CommandLine) -> None:
    ran = memory_rag("forget", "t3", "--yes", "--prove")

    assert ran.code == 0
    assert ran.lines[0] == "forgot 1 turn"
    assert ran.lines[1].startswith("looked at every byte of ")
    assert any(line.startswith("  for ") and "text in UTF-16 little-endian" in line for line in ran.lines)
    assert ran.lines[-1] == "nothing of it is there any more"


@pytest.mark.usefixtures("talk")
def test_the_proof_as_json_holds(memory_rag: CommandLine) -> None:
    told = memory_rag("forget", "t3", "--yes", "--prove", "--json").json

    assert told["proof"]["holds"] is True
    assert told["proof"]["found"] == told["proof"]["unreadable"] == []


def test_a_proof_that_fails_ends_with_one(memory_rag: CommandLine, talk: Path) -> None:
    (talk / "notes.txt").write_text("And the workshop? I’d say the price is 45 euro, jar included.", encoding="utf-8")

    ran = memory_rag("forget", "t3", "--yes", "--prove")

    assert ran.code == 1
    assert any(line.startswith("  FOUND notes.txt, byte 0: text") for line in ran.lines)
    assert ran.lines[-1] == "this proves nothing: see above"


def test_a_version_is_erased_with_proof(memory_rag: CommandLine, talk: Path) -> None:
    ran = memory_rag("correct", "t1", "Vi kör 59 euro.", "--drop-old", "--prove")

    assert ran.code == 0
    assert ran.lines[0] == "corrected t1"
    assert ran.lines[-1] == "nothing of it is there any more"
    assert "note: a backup made earlier still holds the old version\n" in ran.err
    assert "säsongen".encode() not in (talk / "turns.sqlite").read_bytes()


@pytest.mark.usefixtures("talk")
def test_a_proof_of_a_version_that_is_kept_is_wrong_usage(memory_rag: CommandLine) -> None:
    ran = memory_rag("correct", "t1", "Vi kör 59 euro.", "--prove")

    assert ran.code == 2
    assert "--prove shows that what was wrong is gone; give --drop-old too" in ran.err


def test_a_pin_that_would_go_with_an_erased_version_is_shown_and_asked_for(memory_rag: CommandLine, talk: Path) -> None:
    memory_rag("pin", "första säsongen: ring Ebba")
    wrong = ("correct", "t1", "Vi kör 59 euro.", "--drop-old")

    plan = memory_rag(*wrong, "--dry-run")
    told = memory_rag(*wrong, "--dry-run", "--json").json
    unanswered = memory_rag(*wrong)

    also = "also: pin p1 första säsongen: ring Ebba (only the turn says säsongen)"
    assert (plan.code, plan.lines[1:]) == (0, [also, "would erase this; nothing was changed"])
    assert [one["name"] for one in told["beside"]] == ["p1"]
    assert (unanswered.code, unanswered.out) == (1, "")
    assert also in unanswered.err
    assert "nobody answered: nothing was changed; agree beforehand with --yes" in unanswered.err
    assert memory_rag(*wrong, stdin="n\n").err.endswith("nothing was changed\n")
    with Memory.open(talk, embedder="none") as memory:
        assert memory.get("t1").text.startswith("Vi kör 49 euro")
        assert len(memory.prompt.pins.all()) == 1

    assert memory_rag(*wrong, "--yes").lines == ["corrected t1", "also pin p1: only the turn says säsongen"]
    with Memory.open(talk, embedder="none") as memory:
        assert memory.prompt.pins.all() == []


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["correct", "t1", "Vi kör.", "--dry-run"], "--dry-run shows what --drop-old would erase"),
        (
            ["forget", "t1", "--dry-run", "--prove"],
            "--prove looks at what is left after a removal; leave out --dry-run",
        ),
    ],
)
def test_a_wish_that_would_do_nothing_is_wrong_usage(memory_rag: CommandLine, words: list[str], told: str) -> None:
    ran = memory_rag(*words)

    assert ran.code == 2
    assert told in ran.err


def test_ids_that_the_filter_does_not_allow_are_left_alone_and_told(memory_rag: CommandLine, talk: Path) -> None:
    ran = memory_rag("forget", "t1", "t2", "nope", "--speaker", "Ebba", "--yes")

    assert ran.code == 0
    assert "note: not what the filter says, or no turn, so left alone: t2, nope\n" in ran.err
    assert ids(talk) == ["t2", "t3", "t4", "t5"]
    assert memory_rag("forget", "t2", "--speaker", "Ebba", "--yes").err == "no turn is all that; nothing was removed\n"


def test_a_filter_holds_for_ids_beside_a_search_too(memory_rag: CommandLine, talk: Path) -> None:
    ran = memory_rag("forget", "t2", "--query", "workshop", "--speaker", "Ebba", "--yes")

    assert ran.code == 0
    assert "so left alone: t2\n" in ran.err
    assert "t2" in ids(talk)
    assert "t3" not in ids(talk)


@pytest.mark.usefixtures("talk")
def test_a_quote_of_a_corrected_turn_says_so(memory_rag: CommandLine) -> None:
    memory_rag("correct", "t1", "Vi kör 59 euro för andra säsongen.")

    ran = memory_rag("quote", "59 euro för andra säsongen")

    assert any(line.startswith("  corrected 20") and line.endswith("; see: memory-rag show t1") for line in ran.lines)


# -- retain


@pytest.mark.usefixtures("talk")
def test_without_a_rule_retain_says_how_to_set_one(memory_rag: CommandLine) -> None:
    assert memory_rag("retain").out == (
        "no rule: everything is kept for ever; set one with: memory-rag retain --set 365\n"
    )


def test_a_rule_is_set_shown_and_applied(memory_rag: CommandLine, talk: Path) -> None:
    shown = memory_rag("retain", "--set", "1", "--role", "assistant")
    assert shown.err == (
        "set: role assistant: 1 day\n"
        "note: 2 turns of old go with --apply, or by themselves at an opening from tomorrow on\n"
    )
    assert shown.lines[0] == "role assistant: 1 day"
    assert shown.lines[1] == "goes now: 2 turns"

    tried = memory_rag("retain", "--dry-run")
    assert tried.lines[-1] == "would forget 2 turns; nothing was removed"
    assert any(line.startswith("  t2 ") for line in tried.lines)
    assert len(ids(talk)) == 5

    assert memory_rag("retain", "--apply").out == "forgot 2 turns\n"
    assert ids(talk) == ["t1", "t3", "t5"]
    assert memory_rag("retain", "--apply", "--json").json == {"forgotten": []}


@pytest.mark.usefixtures("talk")
def test_a_rule_is_taken_away(memory_rag: CommandLine) -> None:
    memory_rag("retain", "--set", "forever")

    assert memory_rag("retain", "--unset").err == "the rule is gone\n"
    assert memory_rag("retain", "--unset").err == "error: there is no rule for memory; rules are: none\n"


@pytest.mark.usefixtures("talk")
def test_what_goes_and_when_is_told_as_json(memory_rag: CommandLine) -> None:
    memory_rag("retain", "--set", "9999")

    told = memory_rag("retain", "--json").json

    assert told["rules"] == [{"scope": "memory", "name": None, "days": 9999}]
    assert [one["turn_id"] for one in told["later"]][:2] == ["t1", "t2"]
    assert told["due"] == []


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize(
    "given", [["--set", "soon"], ["--set", "-1"], ["--set", "1", "--apply"], ["--role", "user", "--conversation", "c"]]
)
def test_a_rule_that_can_not_be_is_wrong_usage(memory_rag: CommandLine, given: list[str]) -> None:
    assert memory_rag("retain", *given).code == 2
