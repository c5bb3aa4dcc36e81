"""A summary that a model writes over HTTP: what it is asked, what it may answer, and what is done when it fails."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memory_rag.embedding.retry import RetryPolicy
from memory_rag.errors import ModelError
from memory_rag.summaries.chat_endpoint import ChatEndpoint
from memory_rag.summaries.model_written import ModelSummarizer
from memory_rag.summaries.summary import Kind, Line
from memory_rag.turns import Turn
from tests.model_server import ModelServer, completion

Open = Callable[..., ModelSummarizer]
Talk = Callable[..., list[Turn]]
PRICE = {"decisions": [{"text": "49 euro for the first season", "reason": "the jars cost more", "turns": ["t1"]}]}
LINES = (Line(Kind.DECISION, "49 euro for the first season", ("t1",), reason="the jars cost more"),)


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def turns(talk: Talk) -> list[Turn]:
    return talk(("Ebba", "We decided on 49 euro because the jars cost more."), ("Assistant", "Noted."))


@pytest.fixture
def open_at(model_server: ModelServer, slept: list[float]) -> Iterator[Open]:
    """Open a summarizer at the server of these tests; its waits are written down instead of waited."""
    endpoints: list[ChatEndpoint] = []

    def open_at(*, timeout_s: float = 10.0, **arguments: Any) -> ModelSummarizer:
        retry = RetryPolicy(attempts=3, seed=1, sleep=slept.append)
        endpoints.append(
            ChatEndpoint(
                "small", api_key="sk-example-7731", base_url=model_server.url, timeout_s=timeout_s, retry=retry
            )
        )
        return ModelSummarizer(endpoints[-1], **arguments)

    yield open_at
    for endpoint in endpoints:
        endpoint.close()


def test_the_model_is_asked_at_temperature_0_for_json_in_at_most_200_words_and_told_what_to_keep(
    open_at: Open, model_server: ModelServer, turns: list[Turn]
) -> None:
    model_server.will_say(PRICE)

    assert open_at().extend((), turns, focus="the price") == LINES

    (request,) = model_server.requests
    assert (request["model"], request["temperature"]) == ("small", 0)
    assert request["response_format"]["type"] == "json_schema"
    assert request["response_format"]["json_schema"]["strict"] is True
    asked, said = (message["content"] for message in request["messages"])
    for wanted in ("at most 200 words", "every decision with the reason", "every preference", "every open question"):
        assert wanted in asked
    assert "everything that somebody asked" in asked
    assert "keep what bears on this: the price" in asked
    assert "[t1] Ebba (2026-04-10): We decided on 49 euro because the jars cost more." in said
    assert model_server.keys == ["Bearer sk-example-7731"]


def test_the_summary_so_far_is_extended_and_keeps_its_citations(
    open_at: Open, model_server: ModelServer, talk: Talk
) -> None:
    model_server.will_say({"points": [{"text": "Ebba pays in May", "reason": "", "turns": ["t1", "t9"]}]})

    lines = open_at().extend(LINES, talk(("Ebba", "I pay in May."), first=9))

    assert lines == (Line(Kind.POINT, "Ebba pays in May", ("t1", "t9")),)
    assert '"text": "49 euro for the first season"' in model_server.requests[0]["messages"][1]["content"]


def test_a_citation_that_does_not_exist_is_rejected_with_its_line(
    open_at: Open, model_server: ModelServer, turns: list[Turn]
) -> None:
    made_up = [
        {"text": "Mats pays", "reason": "", "turns": ["t77"]},
        {"text": "x", "reason": "", "turns": ["t2", "t3"]},
    ]
    model_server.will_say({**PRICE, "points": made_up})

    assert open_at().extend((), turns) == (*LINES, Line(Kind.POINT, "x", ("t2",)))


def test_a_summary_whose_citations_are_all_made_up_is_none(
    open_at: Open, model_server: ModelServer, turns: list[Turn]
) -> None:
    model_server.says = lambda request: '{"points": [{"text": "Mats pays", "reason": "", "turns": ["t77"]}]}'

    with pytest.raises(ModelError, match="no line of its answer cites a turn that exists"):
        open_at().extend((), turns)


def test_a_line_with_a_number_that_nobody_said_is_rejected_and_one_said_elsewhere_is_cited_from_there(
    open_at: Open, model_server: ModelServer, talk: Talk
) -> None:
    said = talk(("Ebba", "Let us take 49 euro."), ("Assistant", "Then 1,200 a year, from 14 July."), ("Ebba", "Good."))
    points = [
        {"text": "It is 59 euro", "reason": "", "turns": ["t1"]},
        {"text": "49 euro, 1200 a year", "reason": "", "turns": ["t1"]},
        {"text": "it begins on 14 July, after 3 talks", "reason": "", "turns": ["t2"]},
    ]
    model_server.will_say({"points": points})

    assert open_at().extend((), said) == (
        Line(Kind.POINT, "49 euro, 1200 a year", ("t1", "t2")),
        Line(Kind.POINT, "it begins on 14 July, after 3 talks", ("t2",)),
    )


def test_what_the_summary_so_far_says_stands_for_turns_that_are_read_no_more(
    open_at: Open, model_server: ModelServer, talk: Talk
) -> None:
    model_server.will_say(PRICE)

    assert open_at().extend(LINES, talk(("Ebba", "Thanks."), first=9)) == LINES


def test_a_summary_of_numbers_that_nobody_said_is_none(
    open_at: Open, model_server: ModelServer, turns: list[Turn]
) -> None:
    model_server.says = lambda request: '{"points": [{"text": "59 euro", "reason": "", "turns": ["t1"]}]}'

    with pytest.raises(ModelError, match="every line of its answer has a number that no turn has"):
        open_at().extend((), turns)


def test_words_over_the_limit_go_and_decisions_go_last(
    open_at: Open, model_server: ModelServer, turns: list[Turn]
) -> None:
    long = [{"text": "word " * 60, "reason": "", "turns": ["t2"]} for _ in range(5)]
    model_server.will_say({**PRICE, "points": long})

    lines = open_at().extend((), turns)

    assert [line.kind for line in lines] == [Kind.DECISION, *[Kind.POINT] * 3]
    assert sum(line.n_words for line in lines) <= 200


@pytest.mark.parametrize("message", ["response_format is not supported", "Invalid schema for response"])
def test_an_endpoint_without_json_schemas_is_asked_for_json_and_then_in_plain_words_once_for_all(
    open_at: Open, model_server: ModelServer, turns: list[Turn], message: str
) -> None:
    model_server.will_fail(400, message)
    model_server.will_fail(400, "response_format: json_object is unknown here")
    model_server.will_say("decision: 49 euro [t1]\n- Open question: who brings the jars? [t2, t5]\nThat is all.")
    model_server.will_say("point: nothing new [t1]")
    summarizer = open_at()

    lines = summarizer.extend((), turns)
    summarizer.extend((), turns)

    assert lines == (Line(Kind.DECISION, "49 euro", ("t1",)), Line(Kind.QUESTION, "who brings the jars?", ("t2",)))
    formats = [request.get("response_format", {}).get("type") for request in model_server.requests]
    assert formats == ["json_schema", "json_object", None, None]


def test_a_model_that_takes_no_temperature_is_asked_without_one(
    open_at: Open, model_server: ModelServer, turns: list[Turn]
) -> None:
    model_server.will_fail(400, "Unsupported value: 'temperature' does not support 0 with this model")
    model_server.will_say(PRICE)

    assert open_at().extend((), turns) == LINES
    assert ["temperature" in request for request in model_server.requests] == [True, False]


def test_json_between_other_words_is_read(open_at: Open, model_server: ModelServer, turns: list[Turn]) -> None:
    model_server.will_say('Here you are:\n```json\n{"points": [{"text": "x", "turns": ["[t1]"]}]}\n```')

    assert open_at().extend((), turns) == (Line(Kind.POINT, "x", ("t1",)),)


def test_what_a_model_thinks_aloud_is_no_part_of_its_answer(
    open_at: Open, model_server: ModelServer, turns: list[Turn]
) -> None:
    draft = '<think>Perhaps {"points": [{"text": "59 euro", "turns": ["t1"]}]}? No, wait: {</think>'
    model_server.will_say(f"{draft}\n{json.dumps(PRICE)}")

    assert open_at().extend((), turns) == LINES


def test_an_answer_in_parts_is_read_together(open_at: Open, model_server: ModelServer, turns: list[Turn]) -> None:
    said = json.dumps(PRICE)
    parts = [
        {"type": "thinking", "thinking": []},
        {"type": "text", "text": said[:9]},
        {"type": "text", "text": said[9:]},
    ]
    message = {"role": "assistant", "content": parts}
    model_server.will_send(json.dumps({**completion(""), "choices": [{"message": message, "finish_reason": "stop"}]}))

    assert open_at().extend((), turns) == LINES


def test_broken_json_and_an_answer_that_was_cut_off_are_asked_for_in_another_form(
    open_at: Open, model_server: ModelServer, turns: list[Turn]
) -> None:
    model_server.will_say('{"decisions": [{"text": "49')
    model_server.will_say(PRICE, finish_reason="length")
    model_server.will_say("decision: 49 euro [t1]")

    assert open_at().extend((), turns) == (Line(Kind.DECISION, "49 euro", ("t1",)),)


def test_nothing_to_tell_is_no_failure(open_at: Open, model_server: ModelServer, turns: list[Turn]) -> None:
    model_server.will_say({"points": []})

    assert open_at().extend((), turns) == ()


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_fault_is_tried_again_after_the_wait_that_is_asked_for(
    open_at: Open, model_server: ModelServer, turns: list[Turn], slept: list[float], status: int
) -> None:
    model_server.will_fail(status, headers={"Retry-After": "7"})
    model_server.will_say(PRICE)

    assert open_at().extend((), turns) == LINES
    assert slept == [7]


def test_a_server_that_stays_broken_is_given_up_and_the_key_is_not_told(
    open_at: Open, model_server: ModelServer, turns: list[Turn]
) -> None:
    for _ in range(3):
        model_server.will_fail(500, "no memory for sk-example-7731")

    with pytest.raises(ModelError, match=r"answered 500: .*no memory for \*\*\*.*; tried 3 times"):
        open_at().extend((), turns)


def test_a_slow_server_is_not_waited_for_for_ever(open_at: Open, model_server: ModelServer, turns: list[Turn]) -> None:
    done = threading.Event()
    for _ in range(3):
        model_server.will_wait(done)

    with pytest.raises(ModelError, match=r"gave no answer within 0\.05 s; tried 3 times"):
        open_at(timeout_s=0.05).extend((), turns)
    done.set()


@pytest.mark.parametrize("body", ["<html>not found</html>", "{}", "[1, 2", '{"choices": []}'])
def test_an_answer_of_another_service_is_told_with_what_to_check(
    open_at: Open, model_server: ModelServer, turns: list[Turn], body: str
) -> None:
    model_server.will_send(body)

    with pytest.raises(ModelError, match=r"isn't one of the chat completions API.*it usually ends in /v1"):
        open_at().extend((), turns)


def test_many_words_are_read_in_several_requests_and_a_long_turn_loses_none(
    open_at: Open, model_server: ModelServer, talk: Talk
) -> None:
    model_server.says = lambda request: '{"points": [{"text": "so far", "reason": "", "turns": ["t1"]}]}'
    long = " ".join(f"word{number}" for number in range(400))

    open_at(request_tokens=900).extend((), talk(("Ebba", "Hello there."), ("Ebba", long)))

    said = " ".join(request["messages"][1]["content"] for request in model_server.requests)
    assert len(model_server.requests) > 1
    assert sum(f"word{number}" in said for number in range(400)) >= 396
    assert '"so far"' in model_server.requests[-1]["messages"][1]["content"]


def test_without_a_key_and_without_a_server_it_says_what_to_set() -> None:
    with pytest.raises(ModelError, match="openai:small needs a key; set OPENAI_API_KEY"):
        ChatEndpoint("small")
