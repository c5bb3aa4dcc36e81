"""Whether a prompt quotes what was said before: by wish, by what is asked, by what a search finds."""

from __future__ import annotations

import pytest

from memory_rag.errors import SettingsError
from memory_rag.memory import Memory
from memory_rag.prompt.events import EventKind
from memory_rag.prompt.prompt import Prompt
from memory_rag.prompt.retrieving import NOT_ASKED
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.ranking import Hit, Ranking
from memory_rag.turns import Span

PRICE = "The sourdough is 49 euro."


class Searched:
    """A search that always finds the same, and writes down what it was asked."""

    def __init__(self, memory: Memory, *, evidence: str) -> None:
        turn = memory.add(PRICE, conversation_id="other")
        self.asked: list[str] = []
        self._found = Ranking("", "hybrid", (Hit(turn, 1.0, 1, Span(0, len(PRICE))),), evidence=evidence)

    def __call__(self, question: str, within: Within) -> Ranking:
        self.asked.append(question)
        return self._found


def prompt_of(memory: Memory, search: Searched) -> Prompt:
    return Prompt(memory.store, search=search, clock=lambda: memory.prompt.events.log(EventKind.ANSWER).happened_at,
                  zone=memory.zone)  # fmt: skip


@pytest.mark.parametrize(
    ("retrieve", "said", "evidence", "is_quoted"),
    [
        ("auto", "What did I say about the price?", "strong", True),
        ("auto", "What did I say about the price?", "weak", True),
        ("auto", "Is sourdough hard to bake?", "strong", True),
        ("auto", "Is sourdough hard to bake?", "weak", False),
        ("always", "Is sourdough hard to bake?", "weak", True),
        ("always", "thanks!", "weak", True),
    ],
)
def test_weak_evidence_is_quoted_only_if_it_was_asked_for(
    memory: Memory, retrieve: str, said: str, evidence: str, is_quoted: bool
) -> None:
    search = Searched(memory, evidence=evidence)
    context = prompt_of(memory, search).context(said, retrieve=retrieve)

    assert search.asked == [said]
    assert (PRICE in context.quoted) is is_quoted
    assert any("nothing is quoted" in note for note in context.notes) is not is_quoted


@pytest.mark.parametrize(
    ("retrieve", "said"),
    [("auto", "thanks!"), ("never", "What did I say about the price?"), ("tool", "What did I say about the price?")],
)
def test_nothing_is_searched_for_where_nothing_is_wished(memory: Memory, retrieve: str, said: str) -> None:
    search = Searched(memory, evidence="strong")
    prompt = prompt_of(memory, search)
    context = prompt.context(said, retrieve=retrieve)

    assert search.asked == []
    assert context.quoted == ""
    assert (NOT_ASKED in context.notes) is (retrieve == "auto")
    assert prompt.events.events(kind=EventKind.RETRIEVAL) == []


def test_what_a_memory_holds_is_quoted_when_it_is_asked_for_and_not_for_a_thank_you(memory: Memory) -> None:
    memory.add(PRICE, role="assistant", conversation_id="other")

    assert PRICE in memory.context("what did you say about the price of sourdough?").quoted
    assert memory.context("Thanks, the sourdough was perfect!").quoted == ""


def test_an_unknown_way_is_an_error_that_names_the_ways(memory: Memory) -> None:
    with pytest.raises(
        SettingsError, match="unknown retrieve 'sometimes'; retrieve is one of: auto, always, never, to"
    ):
        memory.context("x", retrieve="sometimes")
