"""Compare: one question, three rankings, and how the turns moved."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_rag.interfaces.cli.comparing import comparison_lines
from memory_rag.interfaces.cli.terminal import Ink
from memory_rag.retrieval.comparison import Comparison, compare_rankings
from memory_rag.retrieval.ranking import Hit, Ranking
from memory_rag.turns import Role, Span, Turn
from tests.interfaces.command_line import CommandLine

PLAIN = Ink(colour=False)


def turn(turn_id: str) -> Turn:
    at = datetime(2026, 4, 10, tzinfo=UTC)
    return Turn(turn_id, "c", "s", 0, Role.USER, "Ada", f"the words of {turn_id}, which go on for a while", at)


def ranking(mode: str, *turn_ids: str) -> Ranking:
    hits = [Hit(turn(turn_id), 1 / rank, rank, Span(0, 9)) for rank, turn_id in enumerate(turn_ids, 1)]
    return Ranking("q", mode, tuple(hits))


@pytest.fixture
def comparison() -> Comparison:
    """Hybrid takes b from second place, a from none of dense, and leaves d and e out."""
    found = {"keyword": ("a", "b", "d"), "dense": ("b", "c", "e"), "hybrid": ("b", "a", "c")}
    return compare_rankings("q", {mode: ranking(mode, *ids) for mode, ids in found.items()})


def test_in_eighty_columns_a_turn_has_a_line_with_its_rank_in_each_mode(comparison: Comparison) -> None:
    lines = list(comparison_lines(comparison, width=80, ink=PLAIN))

    assert [line[:28].split() for line in lines] == [
        ["hybrid", "keyword", "dense"],
        ["1", "2", "↑1", "1", "="],
        ["2", "1", "↓1", "·", "new"],
        ["3", "·", "new", "2", "↓1"],
        ["·", "·", "3", "out"],
        ["·", "3", "out", "·"],
    ]
    assert lines[1].endswith("b Ada: the words of b, which go on for a while")
    assert max(map(len, lines)) <= 80


def test_in_forty_columns_the_words_stand_below_the_ranks(comparison: Comparison) -> None:
    lines = list(comparison_lines(comparison, width=40, ink=PLAIN))

    assert lines[1].split() == ["1", "2", "↑1", "1", "=", "b", "Ada"]
    assert lines[2] == "  the words of b, which go on for a whi…"
    assert len(lines) == 1 + 2 * 5
    assert max(map(len, lines)) <= 40


def test_in_a_hundred_and_twenty_columns_the_modes_stand_side_by_side(comparison: Comparison) -> None:
    lines = list(comparison_lines(comparison, width=120, ink=PLAIN))

    assert lines[0].split() == ["keyword", "dense", "hybrid", "keyword", "dense"]
    assert lines[2].split() == ["1", "a", "Ada", "1", "b", "Ada", "1", "b", "Ada", "↑1", "="]
    assert lines[4].split() == ["2", "b", "Ada", "2", "c", "Ada", "2", "a", "Ada", "↓1", "new"]
    assert max(map(len, lines)) <= 120


@pytest.mark.usefixtures("talk")
def test_json_has_the_rankings_and_the_turns(memory_rag: CommandLine) -> None:
    compared = memory_rag("compare", "säsongen", "--json", "--embedder", "minilm", "-k", "2").json

    assert list(compared) == ["query", "rankings", "turns"]
    assert list(compared["rankings"]) == ["keyword", "dense", "hybrid"]
    [hit] = compared["rankings"]["keyword"]
    assert {name: hit[name] for name in ("rank", "turn_id", "source_id")} == {
        "rank": 1,
        "turn_id": "t1",
        "source_id": "n0",
    }
    assert compared["turns"][0]["turn_id"] == "t1"
    assert compared["turns"][0]["ranks"]["hybrid"] == 1
    assert compared["turns"][0]["text"].startswith("Vi kör 49 euro")


@pytest.mark.usefixtures("talk")
def test_a_question_without_a_word_finds_nothing(memory_rag: CommandLine) -> None:
    assert memory_rag("compare", "?!", "--embedder", "minilm").lines == ["not found"]
