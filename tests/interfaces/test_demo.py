"""The demo: the main job on the sample, right to the last line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.command_line import CommandLine, Ran


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The demo, run once as a newcomer runs it, its memory kept."""
    home = tmp_path_factory.mktemp("home")
    environment = {"MEMORY_RAG_HOME": str(home), "COLUMNS": "80"}
    return CommandLine(home, environment).process("demo", "--memory", "demo")


def test_it_runs_to_its_end_in_eighty_columns(shown: Ran) -> None:
    assert shown.code == 0, shown
    assert max(map(len, shown.lines[: shown.lines.index("9. Next")])) <= 80
    assert shown.lines[0] == "memory-rag demo"


def test_every_turn_of_the_sample_is_stored_and_embedded(shown: Ran) -> None:
    assert "  326 read = 326 kept + 0 already there + 0 skipped" in shown.lines
    assert any(line.startswith("  325 turns embedded in ") for line in shown.lines)


def test_hybrid_recall_puts_first_what_the_user_said(shown: Ran) -> None:
    table = section(shown, "compare")

    assert "t53 Ebba: We got invoice 4711-ZX" in table[1]
    assert table[1].split()[:2] == ["1", "3"]


def test_both_languages_find_their_answer_first(shown: Ran) -> None:
    assert "the price of the sourdough is 62 kronor" in joined(section(shown, "search", 0)[:6])
    assert "tar jag ett elavtal med rörligt månadspris" in joined(section(shown, "search", 1)[:3])


def test_quotes_are_exact_and_folded(shown: Ran) -> None:
    exact, folded = section(shown, "quote", 0), section(shown, "quote", 1)

    assert exact[0].startswith("exact · Ebba (user) · 2026-06-22 ")
    assert "»price is 49 euro«" in exact[1]
    assert folded[0].startswith("folded · Ebba (user) · 2026-06-29 ")
    assert "»ytterjackan av först, sedan tröjan«" in folded[1]


def test_the_answer_is_told_true_from_false(shown: Ran) -> None:
    verdicts = section(shown, "verify")

    assert [line.split("  ")[0] for line in verdicts if "  “" in line] == [
        "verbatim",
        "only the assistant",
        "not found",
    ]
    assert verdicts[-1] == "1 of 3 quotations verbatim"


def test_what_was_never_said_is_not_found(shown: Ran) -> None:
    assert section(shown, "search", 2) == ["not found"]


def test_a_memory_with_words_of_its_own_is_left_alone(memory_rag: CommandLine, talk: Path) -> None:
    refused = memory_rag("demo", "--memory", "main")

    assert refused.code == 1
    assert refused.err.startswith(f"error: {talk} holds a memory of its own")
    assert memory_rag("stats", "--json").json["n_turns"] == 5


def section(shown: Ran, command: str, number: int = 0) -> list[str]:
    """Return the lines that a command of the demo printed, up to the next heading."""
    starts = [at for at, line in enumerate(shown.lines) if line.startswith(f"$ memory-rag {command} ")]
    lines = shown.lines[starts[number] + 2 :]
    end = next(
        (at for at, line in enumerate(lines) if line[:2].rstrip(".").isdigit() and line[1:3] == ". "), len(lines)
    )
    return [line for line in lines[:end] if line]


def joined(lines: list[str]) -> str:
    return " ".join(line.strip() for line in lines)
