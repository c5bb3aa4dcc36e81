"""The decision log keeps what was decided with the reason, and prints as Markdown."""

from __future__ import annotations

import pytest

from memory_rag.errors import SettingsError
from memory_rag.memory import Memory
from memory_rag.prompt.decisions import as_markdown


def test_a_decision_is_kept_with_its_reason(memory: Memory) -> None:
    memory.add("Vi kör 49 euro.")
    decision = memory.prompt.decisions.add("The season costs 49 euro", because="the flyers are printed", turn_id="t1")

    assert memory.prompt.decisions.all() == [decision]
    assert (decision.decision_id, decision.because, decision.turn_id) == ("d1", "the flyers are printed", "t1")


def test_they_print_as_markdown(memory: Memory) -> None:
    memory.add("Vi kör 49 euro.")
    memory.prompt.decisions.add("49 euro\nfor the season", because="the flyers are printed", turn_id="t1")
    memory.prompt.decisions.add("No rye", because="the mill is shut")

    assert as_markdown(memory.prompt.decisions.all()) == (
        "# Decisions\n"
        "\n"
        "## 49 euro for the season\n"
        "\n"
        "2026-04-10, d1 (t1)\n"
        "\n"
        "**Because** the flyers are printed\n"
        "\n"
        "## No rye\n"
        "\n"
        "2026-04-10, d2\n"
        "\n"
        "**Because** the mill is shut\n"
    )
    assert as_markdown([]) == "# Decisions\n"


def test_a_decision_without_a_reason_is_refused(memory: Memory) -> None:
    with pytest.raises(SettingsError, match="the reason of a decision is a text with words in it, got ''"):
        memory.prompt.decisions.add("49 euro", because="")


def test_a_decision_is_taken_out(memory: Memory) -> None:
    memory.prompt.decisions.add("49 euro", because="printed")
    with pytest.raises(SettingsError, match="no decision 'd7'; decisions are: d1"):
        memory.prompt.decisions.remove("d7")
    memory.prompt.decisions.remove("d1")

    assert memory.prompt.decisions.all() == []
