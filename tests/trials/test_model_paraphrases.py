"""Paraphrases from a chat model, asked for over a real connection, and kept while they are needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_rag.embedding.retry import RetryPolicy
from memory_rag.errors import ModelError, SettingsError
from memory_rag.evaluation.datasets.paraphrases import INSTRUCTION, LONGEST_PASSAGE
from memory_rag.summaries.chat_endpoint import ChatEndpoint
from memory_rag.trials.model_paraphrases import KeptParaphrases, ModelParaphraser
from tests.model_server import ModelServer, model_server


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as serving:
        yield serving


@pytest.fixture
def paraphraser(server: ModelServer) -> Iterator[ModelParaphraser]:
    made = ModelParaphraser(ChatEndpoint("small", base_url=server.url, retry=RetryPolicy(attempts=1)))
    yield made
    made.close()


def test_the_model_is_given_the_passage_and_its_answer_is_the_question(
    server: ModelServer, paraphraser: ModelParaphraser
) -> None:
    server.will_say('\n"Vilken väska\nvill mormor ha?"\n')

    assert paraphraser.question_for("She wants the green suitcase.") == "Vilken väska vill mormor ha?"

    (request,) = server.requests
    assert paraphraser.name == "openai:small"
    assert (request["model"], request["temperature"]) == ("small", 0)
    assert [message["content"] for message in request["messages"]] == [INSTRUCTION, "She wants the green suitcase."]


def test_an_answer_that_was_cut_off_is_no_question(server: ModelServer, paraphraser: ModelParaphraser) -> None:
    server.will_say("Which bag does", finish_reason="length")

    assert paraphraser.question_for("x") == ""


def test_only_the_beginning_of_a_long_turn_is_sent_and_only_what_can_be_sent(
    server: ModelServer, paraphraser: ModelParaphraser
) -> None:
    paraphraser.question_for("\ud83d" + "x" * 10_000)

    assert server.requests[0]["messages"][-1]["content"] == "\ufffd" + "x" * (LONGEST_PASSAGE - 1)


def test_a_model_that_takes_no_temperature_is_asked_without(server: ModelServer, paraphraser: ModelParaphraser) -> None:
    server.will_fail(400, "temperature is not supported with this model")
    server.will_say("Which bag?")
    server.will_say("Which hat?")

    assert [paraphraser.question_for(text) for text in ("bag", "hat")] == ["Which bag?", "Which hat?"]
    assert ["temperature" in request for request in server.requests] == [True, False, False]


def test_a_server_that_refuses_is_named_with_what_to_check(server: ModelServer, paraphraser: ModelParaphraser) -> None:
    server.will_fail(401, "no such key")

    with pytest.raises(ModelError, match=r"127\.0\.0\.1.* answered 401: .*no such key; check "):
        paraphraser.question_for("x")


@pytest.mark.parametrize("spec", ["small", "openai:", "openai", "e5:small", ""])
def test_a_name_that_is_no_model_of_an_endpoint_is_refused(spec: str) -> None:
    with pytest.raises(SettingsError, match=r"unknown paraphraser .*; one is named as openai:<model>"):
        ModelParaphraser.named(spec)


def test_a_model_without_a_key_or_a_server_is_refused() -> None:
    with pytest.raises(ModelError, match="openai:small needs a key; set OPENAI_API_KEY"):
        ModelParaphraser.named("openai:small")


class Counting:
    """A paraphraser that writes something else each time, and nothing for the word "nothing"."""

    def __init__(self, name: str = "openai:small") -> None:
        self.name = name
        self.n = 0

    def question_for(self, passage: str) -> str:
        self.n += 1
        return "" if passage == "nothing" else f"{passage}, number {self.n}?"


def test_a_passage_is_asked_for_once_even_if_the_run_was_stopped(tmp_path: Path) -> None:
    asked = Counting()
    first = KeptParaphrases(asked, tmp_path)
    questions = [first.question_for(passage) for passage in ("a", "b\ud83d", "nothing", "a")]

    told: list[int] = []
    again = KeptParaphrases(asked, tmp_path, told=told.append)

    assert questions == ["a, number 1?", "b\ud83d, number 2?", "", "a, number 1?"]
    assert [again.question_for(passage) for passage in ("a", "b\ud83d", "nothing")] == questions[:3]
    assert (len(again), asked.n, told) == (3, 3, [1, 2, 3])


def test_another_models_words_are_not_taken(tmp_path: Path) -> None:
    KeptParaphrases(Counting(), tmp_path).question_for("a")

    assert len(KeptParaphrases(Counting("openai:large"), tmp_path)) == 0


def test_a_line_that_a_killed_process_was_writing_is_written_over(tmp_path: Path) -> None:
    KeptParaphrases(Counting(), tmp_path).question_for("a")
    [path] = tmp_path.iterdir()
    path.write_bytes(path.read_bytes() + b'["half a li')

    KeptParaphrases(Counting(), tmp_path).question_for("b")

    assert [json.loads(line)[1] for line in path.read_text().splitlines()] == ["a, number 1?", "b, number 1?"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_nothing_is_left_once_it_is_told_to_forget(tmp_path: Path) -> None:
    kept = KeptParaphrases(Counting(), tmp_path)
    kept.question_for("a")

    kept.forget()
    kept.forget()

    assert [*tmp_path.iterdir()] == []
