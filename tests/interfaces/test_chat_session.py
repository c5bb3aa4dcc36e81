"""A chat from a program: what is said is stored, the model is given what matters, its quotations are checked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_rag import ChatSession, Memory
from memory_rag.errors import ModelError, SettingsError
from memory_rag.turns import Role
from tests.html.reading import shown_by
from tests.model_server import ModelServer, model_server

PRICE = "Let us say the price is 49 euro for the first season."


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "MEMORY_RAG_CHAT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    with Memory.open(tmp_path / "memory", embedder="none") as opened:
        opened.add(PRICE, speaker="Ebba", conversation_id="pricing")
        yield opened


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as served:
        yield served


def test_a_model_answers_from_what_was_said_before(memory: Memory, server: ModelServer) -> None:
    server.says = lambda request: "You said “the price is 49 euro”, and “it is free on Sundays”."
    chat = ChatSession.open(memory, conversation_id="new", base_url=server.url, speaker="Ebba")

    exchange = chat.say("What did I actually say about the price?")

    assert PRICE in str(server.requests[0]["messages"])
    assert exchange.answer is not None
    assert (exchange.answer.role, exchange.answer.speaker) == (Role.ASSISTANT, "small")
    assert [turn.text for turn in memory.turns(conversation_id="new")] == [exchange.said.text, exchange.answer.text]
    assert [verdict.status for verdict in chat.verify(exchange)] == ["verbatim", "not_found"]
    shown = shown_by(exchange).text
    assert shown.index("What did I actually say") < shown.index("it is free on Sundays")
    chat.close()


def test_without_a_model_the_prompt_is_made_and_nobody_is_asked(memory: Memory) -> None:
    chat = ChatSession.open(memory, conversation_id="new")

    exchange = chat.say("What did I actually say about the price?")

    assert exchange.answer is None
    assert PRICE in exchange.prompt.quoted
    assert chat.verify(exchange) == ()
    assert [turn.text for turn in memory.turns(conversation_id="new")] == [exchange.said.text]
    assert "nobody was asked" in shown_by(exchange).text
    chat.close()


def test_an_answer_that_breaks_off_is_kept_as_far_as_it_came(memory: Memory, server: ModelServer) -> None:
    server.will_stream("The price is", None)
    chat = ChatSession.open(memory, base_url=server.url)

    exchange = chat.say("What is the price?")

    assert exchange.answer is not None
    assert exchange.answer.text == "The price is"
    assert "broke off" in exchange.cut_off
    assert "cut off: " in shown_by(exchange).text
    chat.close()


def test_a_model_that_refuses_is_an_error_and_what_was_said_is_stored(memory: Memory, server: ModelServer) -> None:
    server.will_fail(401, "no such key")
    chat = ChatSession.open(memory, base_url=server.url)

    with pytest.raises(ModelError):
        chat.say("Are you there?")

    assert [turn.text for turn in memory.turns(conversation_id="main")] == ["Are you there?"]
    chat.close()


def test_server_and_model_may_come_from_the_environment(
    memory: Memory, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("MEMORY_RAG_CHAT_MODEL", "large")
    chat = ChatSession.open(memory)

    chat.say("Hello.")

    assert server.requests[0]["model"] == "large"
    chat.close()


def test_what_is_wrong_is_said_in_the_words_of_a_program(memory: Memory, server: ModelServer) -> None:
    server.models = ("large", "small")

    with pytest.raises(SettingsError, match="name one of the server's models with model: large, small"):
        ChatSession.open(memory, base_url=server.url)
    with pytest.raises(SettingsError, match="base_url 'localhost:11434' is no address; write it whole"):
        ChatSession.open(memory, base_url="localhost:11434")
    with pytest.raises(SettingsError, match="model llama3 needs a server: name it with base_url"):
        ChatSession.open(memory, model="llama3")
