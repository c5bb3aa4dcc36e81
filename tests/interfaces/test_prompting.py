"""Context and events: the prompt for a question with its account, and the log of what was done to prompts."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_rag.memory import Memory
from memory_rag.prompt.events import EventKind
from tests.interfaces.command_line import CommandLine

pytestmark = pytest.mark.usefixtures("talk")


def test_a_prompt_is_printed_to_be_pasted_and_its_account_beside_it(memory_rag: CommandLine) -> None:
    memory_rag("pin", "Svara kort.")
    made = memory_rag("context", "Vad kostar säsongen?", "--system", "Be kind.", "--conversation", "other")

    assert made.lines[:5] == [
        "--- system",
        "Be kind.",
        "",
        "Preferences of the user, which always hold:",
        "- Svara kort.",
    ]
    assert "> Vi kör 49 euro för första säsongen, inte ett öre mindre." in made.lines
    assert made.lines[-2:] == ["--- user", "Vad kostar säsongen?"]
    account = made.err.splitlines()
    assert account[0].endswith(" of 6,000 tokens (estimated, erring high)")
    assert any(line.startswith("  retrieved turns ") for line in account)


def test_the_window_holds_the_newest_turns(memory_rag: CommandLine) -> None:
    made = memory_rag(
        "context", "Och nu?", "--conversation", "pricing", "--keep-recent", "3", "--retrieve", "never", "--json"
    )
    included = [one["turn_id"] for one in made.json["included"]]

    assert included == ["t3", "t4"]
    assert made.json["notes"][0] == "1 answers of no call left out of the newest turns"
    assert [message["role"] for message in made.json["request"]["messages"]] == ["user", "assistant", "user"]


@pytest.mark.parametrize(
    ("shape", "field"), [("openai", "messages"), ("anthropic", "messages"), ("responses", "input")]
)
def test_the_request_comes_in_the_shape_of_a_provider(memory_rag: CommandLine, shape: str, field: str) -> None:
    made = memory_rag("context", "Vad kostar säsongen?", "--for", shape, "--json").json

    assert made["request"][field][-1]["role"] == "user"
    assert made["account"]["total"] == sum(one["tokens"] for one in made["account"]["parts"])


def test_an_unknown_shape_is_wrong_usage(memory_rag: CommandLine) -> None:
    refused = memory_rag("context", "x", "--for", "gemini")

    assert refused.code == 2
    assert "unknown shape 'gemini'; a shape is one of: openai, anthropic, responses" in refused.err


def test_a_fixed_part_over_the_budget_fails_and_names_it(memory_rag: CommandLine) -> None:
    refused = memory_rag("context", "x", "--system", "word " * 200, "--token-budget", "100")

    assert refused.code == 1
    assert "over the budget of 100; the largest part is system prompt" in refused.err


def test_events_are_listed_with_what_they_did(memory_rag: CommandLine, talk: Path) -> None:
    assert memory_rag("events").lines == ["nothing was logged"]
    memory_rag("context", "Vad kostar säsongen?", "--conversation", "other")
    with Memory.open(talk, embedder="none") as memory:
        memory.prompt.events.log(
            EventKind.COMPACTION, conversation_id="pricing", turn_id="t4", model="claude-opus-5", tokens_before=170_000,
            tokens_after=20_000, cost=0.25,
        )  # fmt: skip
    retrieval, compaction = memory_rag("events").lines

    assert " · retrieval · other · ? to " in retrieval
    assert compaction.endswith(" · compaction · pricing · t4 · 170,000 to 20,000 tokens · claude-opus-5 · cost 0.2500")
    [event] = memory_rag("events", "--kind", "compaction", "--json").json["events"]
    assert (event["turn_id"], event["tokens_before"], event["cost"]) == ("t4", 170_000, 0.25)
    assert len(memory_rag("events", "--newest", "1").lines) == 1


def test_an_unknown_kind_of_event_is_wrong_usage(memory_rag: CommandLine) -> None:
    assert memory_rag("events", "--kind", "edit").code == 2


def test_a_stored_text_in_a_prompt_cannot_write_to_the_terminal(memory_rag: CommandLine, talk: Path) -> None:
    with Memory.open(talk, embedder="none") as memory:
        memory.add("kanelbulle \x1b[31m red", conversation_id="pricing")
    made = memory_rag("context", "kanelbulle", "--conversation", "pricing")

    assert "\x1b" not in made.out


@pytest.mark.parametrize(
    ("retrieve", "said", "is_quoted"),
    [
        ("auto", "Vad sa jag om första säsongen?", True),
        ("auto", "Tack, säsongen blev perfekt!", False),
        ("always", "Tack, säsongen blev perfekt!", True),
        ("never", "Vad sa jag om första säsongen?", False),
        ("tool", "Vad sa jag om första säsongen?", False),
    ],
)
def test_what_was_said_is_quoted_when_it_is_wished_or_asked_for(
    memory_rag: CommandLine, retrieve: str, said: str, is_quoted: bool
) -> None:
    made = memory_rag("context", said, "--conversation", "other", "--retrieve", retrieve)

    assert ("> Vi kör 49 euro" in made.out) is is_quoted
    assert made.code == 0


def test_a_prompt_that_nothing_was_searched_for_says_so(memory_rag: CommandLine) -> None:
    assert "these words ask for nothing that was said before" in memory_rag("context", "tack!").err


def test_an_unknown_way_to_retrieve_is_wrong_usage(memory_rag: CommandLine) -> None:
    refused = memory_rag("context", "x", "--retrieve", "sometimes")

    assert refused.code == 2
    assert "one of: auto, always, never, tool" in refused.err
