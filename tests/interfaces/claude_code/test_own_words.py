"""What a session quotes from the memory isn't stored as if the person had said it, by the hook or by an import."""

from __future__ import annotations

import pytest

from memory_rag.memory import Memory
from memory_rag.retrieval.filters import Within
from tests.interfaces.claude_code.conftest import SESSION, Hook, Project, said
from tests.interfaces.command_line import CommandLine


def recalled(memory_rag: CommandLine) -> str:
    """Return a quoted turn as a prompt of this memory has it."""
    with Memory.open(memory_rag.home / "main", embedder="none", language="en") as memory:
        memory.add("The price of the workshop is 54 euro.", conversation_id="prices")
        quoted = memory.context(
            "What did I say about the price of the workshop?",
            conversation_id="other",
            within=Within(conversation="prices"),
        ).quoted
    assert "54 euro" in quoted
    return quoted


@pytest.mark.parametrize("way", ["hook", "import"])
def test_a_quoted_turn_that_is_pasted_back_is_not_stored_again(
    hook: Hook, project: Project, memory_rag: CommandLine, way: str
) -> None:
    quoted = recalled(memory_rag)
    project.write(
        said(0, "user", f"{quoted}\nMake it 60 from May."), said(1, "assistant", "Done."), said(2, "user", quoted)
    )

    if way == "hook":
        hook.pre_compact(trigger="auto")
        hook("SessionEnd", reason="exit")
    else:
        for _ in range(2):
            assert memory_rag("import", str(project.path())).code == 0

    with Memory.open(memory_rag.home / "main", embedder="none", create=False) as memory:
        assert [turn.text for turn in memory.turns(conversation_id=SESSION)] == ["Make it 60 from May.", "Done."]
        assert [one.conversation_id for one in memory.quote("is 54 euro")] == ["prices"]


def test_an_import_says_what_it_left_out(project: Project, memory_rag: CommandLine) -> None:
    quoted = recalled(memory_rag)
    project.write(said(0, "user", f"{quoted}\nMake it 60."), said(1, "user", quoted))

    ran = memory_rag("import", str(project.path()))

    assert "quoted from this memory and nothing else" in ran.out + ran.err


def test_words_that_only_look_quoted_stay(project: Project, memory_rag: CommandLine) -> None:
    altered = recalled(memory_rag).replace("54", "55")
    project.write(said(0, "user", altered))

    memory_rag("import", str(project.path()))

    with Memory.open(memory_rag.home / "main", embedder="none", create=False) as memory:
        assert [turn.text for turn in memory.turns(conversation_id=SESSION)] == [altered]


@pytest.mark.parametrize(
    ("setting", "event", "n_summaries"),
    [("off", "end", 0), ("off", "auto", 0), ("off", "manual", 1), ("chats", "end", 1), ("chats", "auto", 1)],
)
def test_with_summaries_off_a_session_is_summarised_only_when_the_person_asks(
    hook: Hook, project: Project, memory_rag: CommandLine, setting: str, event: str, n_summaries: int
) -> None:
    project.talk(40)
    memory_rag.home.mkdir(parents=True, exist_ok=True)
    (memory_rag.home / "memory-rag.toml").write_text(f'summaries = "{setting}"\n', encoding="utf-8")

    if event == "end":
        hook("SessionEnd", reason="exit")
    else:
        hook.pre_compact(trigger=event)

    with Memory.open(memory_rag.home / "main", embedder="none", create=False) as memory:
        assert len(memory) == 40
        assert len(memory.summaries.stored(SESSION)) == n_summaries
