"""One server under load: what is measured, and that what is lost is seen."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_rag.evaluation.load import Chat, Streamed, searches_at_once, streamed, words_of
from memory_rag.evaluation.load_tables import load_table
from memory_rag.memory import Memory
from memory_rag.store.chat_messages import SOURCE
from memory_rag.trials.load_result import Load, LostError, check_nothing_lost, load_result
from memory_rag.trials.scripted_model import answer_to, scripted_model
from memory_rag.turns import Role, Source


def stored(folder: Path, *said: tuple[str, str]) -> None:
    with Memory.open(folder, embedder="none") as memory:
        for number, (role, text) in enumerate(said):
            memory.add(text, role=Role(role), conversation_id="c", source=Source(SOURCE, f"{number}:{number}"))


def chat(*said: tuple[str, str]) -> Chat:
    made = Chat([text for role, text in said if role == "user"])
    made.said += said
    return made


def test_the_model_answers_in_words_that_the_question_decides() -> None:
    import httpx2

    async def asked() -> Streamed:
        async with scripted_model() as url, httpx2.AsyncClient() as client:
            return await streamed(client, url, [{"role": "user", "content": "Hello [c1 m2]"}])

    answer = asyncio.run(asked())

    assert answer.text == "".join(answer_to("[c1 m2]"))
    assert answer.text.startswith("Answer to c1 m2: word 0 of c1 m2,")
    assert 0 < answer.first_s <= answer.all_s


def test_a_streams_words_are_heard_whatever_else_is_in_it() -> None:
    body = 'data: {"choices": [{"delta": {"content": "Å"}}]}\n\ndata: {"choices": [{"delta": {}}]}\n\ndata: [DONE]\n\n'

    assert words_of(body.encode()) == "Å"


def test_searches_go_on_for_their_time_and_failures_are_counted() -> None:
    async def search(question: str) -> bool:
        await asyncio.sleep(0)
        return question != "1"

    questions: Iterator[str] = map(str, range(10_000_000))
    found = asyncio.run(searches_at_once(search, questions, clients=3, seconds=0.05))

    assert found.n_failed == 1
    assert len(found.took) > 3
    assert found.as_json()["per_second"] == len(found.took) / found.seconds


def test_what_is_stored_as_it_was_said_is_not_lost(tmp_path: Path) -> None:
    said = (("user", "A [c0 m0]"), ("assistant", "B"))
    stored(tmp_path / "m", *said)

    assert check_nothing_lost(tmp_path / "m", [chat(*said)]) == {"n_chats": 1, "n_turns": 2}


@pytest.mark.parametrize(
    "said",
    [
        (("user", "A"),),
        (("user", "A"), ("assistant", "b")),
        (("user", "A"), ("assistant", "B"), ("assistant", "B")),
        (("user", "Z"), ("assistant", "B")),
    ],
)
def test_what_is_missing_altered_or_stored_twice_is_lost(tmp_path: Path, said: tuple[tuple[str, str], ...]) -> None:
    stored(tmp_path / "m", *said)

    with pytest.raises(LostError):
        check_nothing_lost(tmp_path / "m", [chat(("user", "A"), ("assistant", "B"))])


@pytest.mark.slow
def test_a_small_load_is_measured_and_nothing_of_it_lost(tmp_path: Path) -> None:
    load = Load(n_turns=300, n_chats=4, n_questions=2, pace_s=0.01, n_alone=2, clients=2, seconds=0.5)

    result = load_result(tmp_path, load=load, seed=1, embedder="none", tell=lambda what, done, total: None)

    assert result["result"]["stored"] == {"n_chats": 4, "n_turns": 16}
    assert all(one["per_second"] > 0 and one["n_failed"] == 0 for one in result["result"]["searches"].values())
    assert "Afterwards all 16 messages of the 4 chats were stored" in load_table(result)
