"""``search --unit``, ``brief`` and ``where``: what they print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory_rag.memory import Memory
from tests.interfaces.command_line import CommandLine


@pytest.mark.usefixtures("talk")
def test_a_conversation_is_shown_with_its_days_and_what_it_was_about(memory_rag: CommandLine) -> None:
    ran = memory_rag("search", "--unit", "conversation", "what does the workshop cost?")

    assert ran.lines[0] == "1  2026-04-10 · pricing · 4 turns"
    assert ran.lines[-1].startswith("   best turn t")
    assert "note: 1 conversation has no summary yet; make them with: memory-rag summary --make" in ran.err


def test_the_json_has_what_a_program_needs(memory_rag: CommandLine, talk: Path) -> None:
    with Memory.open(talk, embedder="none") as memory:
        memory.talks.write("pricing", "What a workshop costs.", subjects=["prices"])

    found = memory_rag("search", "--unit", "conversation", "workshop prices", "--json").json

    assert (found["unit"], found["untold"]) == ("conversation", 0)
    hit = found["hits"][0]
    assert sorted(hit) == sorted(
        [
            *("rank", "score", "conversation", "session", "title", "turns", "first_said_at", "last_said_at"),
            *("summary", "about", "best_turns", "signals"),
        ]
    )
    assert (hit["conversation"], hit["session"], hit["turns"]) == ("pricing", None, 4)
    assert hit["about"] == "prices; What a workshop costs."
    assert (hit["first_said_at"], hit["last_said_at"]) == ("2026-04-10T08:00:00Z", "2026-04-10T08:03:00Z")


@pytest.mark.usefixtures("talk")
def test_what_is_no_unit_or_has_no_modes_is_wrong_usage(memory_rag: CommandLine) -> None:
    assert "a unit is one of: turn, session, conversation" in memory_rag("search", "x", "--unit", "week").err
    ran = memory_rag("search", "x", "--unit", "session", "--mode", "dense")

    assert ran.code == 2
    assert "--mode dense ranks turns; --unit session has no modes" in ran.err


@pytest.mark.usefixtures("talk")
def test_nothing_found_says_what_to_do(memory_rag: CommandLine) -> None:
    ran = memory_rag("search", "--unit", "session", "zebra crossings")

    assert (ran.code, ran.out) == (0, "not found\n")
    assert "no session here is likely to be about this; see what comes nearest with --no-floor" in ran.err


@pytest.mark.usefixtures("talk")
def test_where_says_whether_the_model_is_told(memory_rag: CommandLine) -> None:
    ran = memory_rag("where", "45 euro, jar included", "--question", "Hello")

    assert ran.lines[0] == "The model is told these words in the prompt for 'Hello' (pricing)."
    assert ran.lines[1] == "- in the window: turn t3 is among the newest turns, word for word"
    assert "see: memory-rag show t3" in ran.err
    assert max(map(len, ran.lines)) <= 80


@pytest.mark.usefixtures("talk")
def test_where_as_json(memory_rag: CommandLine) -> None:
    found = memory_rag("where", "zebra", "--json").json

    assert (found["in_prompt"], [one["where"] for one in found["answers"]]) == (False, ["never"])
    assert sorted(found) == ["answers", "conversation_id", "in_prompt", "question", "words"]


def test_a_brief_has_its_parts_under_headings(memory_rag: CommandLine, talk: Path) -> None:
    with Memory.open(talk, embedder="none") as memory:
        memory.prompt.pins.add("Answer in Swedish.")
        memory.prompt.state.set("season", {"first": "2026"})
        memory.talks.write("pricing", "What a workshop costs.", session_id="2026-04-10")

    ran = memory_rag("brief")

    assert ran.lines == [
        "Preferences",
        "- Answer in Swedish. (p1)",
        "",
        "State of the task",
        '- season: {"first": "2026"}',
        "",
        "Earlier sessions",
        "- 2026-04-10, pricing: What a workshop costs.",
    ]
    assert memory_rag("brief", "--json").json["preferences"][0]["text"] == "Answer in Swedish."


@pytest.mark.usefixtures("talk")
def test_a_brief_of_what_was_never_summarised_says_how(memory_rag: CommandLine) -> None:
    ran = memory_rag("brief")

    assert ran.lines == ["Earlier sessions", "- 2026-04-10, pricing: no summary yet"]
    assert "1 session has no summary yet; make them with: memory-rag summary --make" in ran.err


def test_a_new_memory_knows_nothing(memory_rag: CommandLine) -> None:
    memory_rag("pin", "x")
    memory_rag("pin", "--remove", "p1")

    assert memory_rag("brief").out in ("A new session knows nothing yet.\n", "")


def test_a_conversation_whose_id_says_nothing_is_shown_by_its_title(memory_rag: CommandLine, tmp_path: Path) -> None:
    made, named = "14c15c91-0b11-4d28-8c21-ce88d0060cc5", "2026-06-10-invoice"
    said = {
        "author": {"role": "user"},
        "create_time": 1778488544.0,
        "content": {"content_type": "text", "parts": ["Students pay 2,900."]},
    }
    chats = [
        {
            "id": one,
            "title": "Pricing the course",
            "current_node": f"{one}-1",
            "mapping": {f"{one}-1": {"message": {**said, "id": f"{one}-1"}, "parent": None}},
        }
        for one in (made, named)
    ]
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(chats), encoding="utf-8")
    assert memory_rag("import", str(file)).code == 0

    found, quoted = memory_rag("search", "students", "--no-floor"), memory_rag("quote", "Students pay")
    shown = memory_rag("show", "t1")

    assert {line[3:] for line in found.lines if " · " in line} == {
        "user · 2026-05-11 08:35 UTC · t1 · Pricing the course",
        f"user · 2026-05-11 08:35 UTC · t2 · {named}",
    }
    assert [line for line in quoted.lines if " · " in line] == [
        "exact · user · 2026-05-11 08:35 UTC · t1 · Pricing the course",
        f"exact · user · 2026-05-11 08:35 UTC · t2 · {named}",
    ]
    assert shown.lines[0] == "user · 2026-05-11 08:35 UTC · t1 · Pricing the course"
    assert shown.lines[1] == f"  role user · conversation {made} · session"
    hits = memory_rag("search", "students", "--no-floor", "--json").json["hits"]
    assert {hit["conversation_id"] for hit in hits} == {made, named}
