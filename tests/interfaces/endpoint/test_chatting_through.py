"""Chats of the official client through the endpoint: what is stored, what the model is told, what comes back."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import openai
import pytest

from memory_rag.memory import Memory
from tests.interfaces.endpoint.conftest import Served
from tests.interfaces.serving.served import post, until

PRICE = "The price is 49 euro for the first season."


def ask(served: Served, *messages: tuple[str, str] | dict[str, Any], **options: Any) -> Any:
    sent: Any = [one if isinstance(one, dict) else {"role": one[0], "content": one[1]} for one in messages]
    return served.client().chat.completions.create(model="small", messages=sent, **options)


def test_what_is_said_and_answered_is_stored_and_the_answer_comes_back_as_it_was_sent(served: Served) -> None:
    served.model.will_say("Noted: 49 euro.")

    answer = ask(served, ("user", PRICE))

    assert answer.choices[0].message.content == "Noted: 49 euro."
    assert served.told == [("user", PRICE), ("assistant", "Noted: 49 euro.")]
    assert served.sent() == [{"role": "user", "content": PRICE}]


def test_a_client_that_sends_its_whole_history_stores_nothing_twice(served: Served) -> None:
    history: list[Any] = [("system", "You are kind.")]
    for number in range(4):
        served.model.will_say(f"Answer {number}.")
        history.append(("user", f"Question {number}?"))
        ask(served, *history)
        history.append(("assistant", f"Answer {number}."))

    assert served.told == [
        pair for n in range(4) for pair in (("user", f"Question {n}?"), ("assistant", f"Answer {n}."))
    ]
    assert len({turn.conversation_id for turn in served.turns}) == 1


def test_the_same_words_said_twice_in_a_talk_are_two_turns(served: Served) -> None:
    history: list[Any] = []
    for _ in range(3):
        served.model.will_say("ok")
        history.append(("user", "yes"))
        ask(served, *history)
        history.append(("assistant", "ok"))

    assert served.told == [("user", "yes"), ("assistant", "ok")] * 3


def test_a_client_that_leaves_out_what_is_old_is_known_by_its_newest_answer(served: Served) -> None:
    history: list[Any] = []
    for number in range(6):
        served.model.will_say(f"Answer {number}.")
        history.append(("user", f"Question {number}?"))
        ask(served, *history[-3:])
        history.append(("assistant", f"Answer {number}."))

    assert len(served.turns) == 12
    assert len({turn.conversation_id for turn in served.turns}) == 1


def test_an_answer_that_comes_back_with_its_end_cut_off_is_still_the_stored_one(served: Served) -> None:
    served.model.will_say("The price is 49 euro. (checked by a tool)")
    served.model.will_say("Gladly.")

    ask(served, ("user", "What is the price?"))
    ask(served, ("user", "What is the price?"), ("assistant", "The price is 49 euro."), ("user", "Thanks"))

    assert served.told == [
        ("user", "What is the price?"),
        ("assistant", "The price is 49 euro. (checked by a tool)"),
        ("user", "Thanks"),
        ("assistant", "Gladly."),
    ]


def test_a_question_that_is_asked_again_is_stored_once_with_both_answers(served: Served) -> None:
    served.model.will_say("One.")
    served.model.will_say("Two.")

    ask(served, ("user", "Say a number."))
    ask(served, ("user", "Say a number."))

    assert served.told == [("user", "Say a number."), ("assistant", "One."), ("assistant", "Two.")]


def test_a_history_from_elsewhere_is_stored_once_and_its_times_are_not_known(served: Served) -> None:
    served.model.says = lambda _request: "Fine."
    talk: list[Any] = [("user", "Hello, I am Ebba."), ("assistant", "Hello Ebba."), ("user", "How are you?")]

    ask(served, *talk)
    ask(served, *talk, ("assistant", "Fine."), ("user", "Good."))

    assert [text for _role, text in served.told] == [
        "Hello, I am Ebba.",
        "Hello Ebba.",
        "How are you?",
        "Fine.",
        "Good.",
        "Fine.",
    ]
    assert [turn.said_at is None for turn in served.turns] == [True, True, False, False, False, False]


def test_what_was_said_long_ago_is_quoted_to_the_model_and_the_client_never_sees_it(served: Served) -> None:
    served.memory.add(PRICE, conversation_id="older")
    served.memory.add("Noted.", role="assistant", conversation_id="older")

    raw = served.client().chat.completions.with_raw_response.create(
        model="small", messages=[{"role": "user", "content": "What did I say about the price for the first season?"}]
    )

    (message,) = served.sent()
    assert PRICE in message["content"]
    assert message["content"].endswith("What did I say about the price for the first season?")
    assert raw.headers["x-memory-quoted"] == "t1 t2"
    assert served.turns[2].text == "What did I say about the price for the first season?"


def test_a_pinned_preference_goes_after_the_clients_own_instruction(served: Served) -> None:
    served.memory.prompt.pins.add("Answer in Swedish.")

    ask(served, ("system", "You are kind."), ("user", "Hello"))

    system, user = served.sent()
    assert system["role"] == "system"
    assert system["content"].startswith("You are kind.\n\n")
    assert "Answer in Swedish." in system["content"]
    assert user == {"role": "user", "content": "Hello"}


def test_a_client_that_names_its_conversation_need_not_send_its_history(served: Served) -> None:
    headers = {"X-Memory-Conversation": "b%C3%A5ten"}
    served.model.will_say("Blue, with a leak.")
    ask(served, ("user", "My kayak is blue and leaks."), extra_headers=headers)
    served.model.will_say("Yes?")
    ask(served, ("user", "yes"), extra_headers=headers)
    served.model.will_say("Yes!")
    ask(served, ("user", "yes"), extra_headers=headers)

    assert [turn.conversation_id for turn in served.turns] == ["båten"] * 6
    assert [one["content"] for one in served.sent()] == [
        "My kayak is blue and leaks.",
        "Blue, with a leak.",
        "yes",
        "Yes?",
        "yes",
    ]


def test_two_talks_that_begin_alike_at_once_stay_apart(served: Served) -> None:
    begun, both = threading.Event(), threading.Event()
    served.model.will_stream_slowly("One", both, " a")
    served.model.will_stream_slowly("Two", both, " b")

    def chat() -> str:
        stream = ask(served, ("user", "Hi"), stream=True)
        text = ""
        for chunk in stream:
            text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
            begun.set()
        return text

    said: list[str] = []
    first = threading.Thread(target=lambda: said.append(chat()))
    first.start()
    assert begun.wait(10)
    second = threading.Thread(target=lambda: said.append(chat()))
    second.start()
    until(lambda: len(served.model.requests) == 2)
    both.set()
    first.join()
    second.join()

    assert sorted(said) == ["One a", "Two b"]
    assert len({turn.conversation_id for turn in served.turns}) == 2
    assert len(served.turns) == 4


def test_a_stream_comes_back_byte_by_byte_as_the_model_sent_it(served: Served) -> None:
    body = {"model": "small", "messages": [{"role": "user", "content": "Hej"}], "stream": True}
    served.model.will_stream("Hej ", "på ", "dig, Åsa 🐝", usage=True)
    through = post(f"{served.url}/v1/chat/completions", json=body)
    served.model.will_stream("Hej ", "på ", "dig, Åsa 🐝", usage=True)
    straight = post(f"{served.model.url}/chat/completions", json=body)

    assert through.content == straight.content
    assert through.headers["content-type"] == straight.headers["content-type"]
    assert served.told == [("user", "Hej"), ("assistant", "Hej på dig, Åsa 🐝")]


def test_the_first_token_is_there_before_the_second_is_made(served: Served) -> None:
    go_on = threading.Event()
    served.model.will_stream_slowly("First", go_on, ", second")

    stream = iter(ask(served, ("user", "Count"), stream=True))
    first = next(stream)
    go_on.set()
    rest = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]

    assert first.choices[0].delta.content == "First"
    assert "".join(rest) == ", second"


def test_a_client_that_goes_away_stops_and_what_came_is_kept_and_marked(served: Served) -> None:
    never = threading.Event()
    served.model.will_stream_slowly("Half of", never, " it")

    stream = ask(served, ("user", "Tell me all"), stream=True)
    next(iter(stream))
    stream.close()
    until(lambda: len(served.turns) == 2)
    never.set()

    half = served.turns[1]
    assert half.text == "Half of"
    assert [(block.kind, block.data) for block in half.blocks] == [("cut_off", {"reason": "whoever asked went away"})]


def test_an_upstream_that_breaks_off_is_seen_by_the_client_and_what_came_is_kept(served: Served) -> None:
    served.model.will_stream("Half of", None)

    with pytest.raises(Exception, match=r"(?i)incomplete|peer closed|connection"):
        list(ask(served, ("user", "Tell me all"), stream=True))

    assert [(turn.text, turn.blocks[0].kind) for turn in served.turns[1:]] == [("Half of", "cut_off")]


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
def test_an_error_of_the_upstream_comes_through_with_its_headers(served: Served, status: int) -> None:
    served.model.will_fail(status, "as it says", code="it_happens", headers={"Retry-After": "7"})

    with pytest.raises(openai.APIStatusError) as caught:
        ask(served, ("user", "Hello"))

    assert caught.value.status_code == status
    assert caught.value.response.json() == {"error": {"message": "as it says", "code": "it_happens"}}
    assert caught.value.response.headers["retry-after"] == "7"
    assert served.told == [("user", "Hello")]


def test_a_question_whose_answer_failed_is_stored_once_when_the_client_tries_again(served: Served) -> None:
    served.model.will_fail(500)
    served.model.will_say("Now.")

    client = served.client(max_retries=2)
    client.chat.completions.create(model="small", messages=[{"role": "user", "content": "Hello"}])

    assert served.told == [("user", "Hello"), ("assistant", "Now.")]


def test_tool_calls_pass_through_and_are_kept_out_of_search(served: Served) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"place": "Visby"}'}}
    tools = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
    answered = {"role": "assistant", "content": None, "tool_calls": [call]}
    served.model.will_send(
        json.dumps({"id": "x", "object": "chat.completion", "created": 0, "model": "small",
                    "choices": [{"index": 0, "finish_reason": "tool_calls", "message": answered}]})
    )  # fmt: skip
    served.model.will_say("It rains in Visby.")

    first = ask(served, ("user", "Weather?"), tools=tools)
    history: list[Any] = [("user", "Weather?"), first.choices[0].message.model_dump(exclude_none=True)]
    history.append({"role": "tool", "tool_call_id": "c1", "content": "rain"})
    ask(served, *history, tools=tools)

    assert first.choices[0].message.tool_calls[0].function.arguments == '{"place": "Visby"}'
    assert served.model.requests[0]["tools"] == tools
    assert served.sent()[1]["tool_calls"] == [call]
    assert served.told == [
        ("user", "Weather?"),
        ("assistant", ""),
        ("tool", "rain"),
        ("assistant", "It rains in Visby."),
    ]
    assert [turn.recalled for turn in served.turns] == [True, False, False, True]


def test_a_streamed_tool_call_is_stored_whole_and_known_when_it_comes_back(served: Served) -> None:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        said = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "small", "choices": [choice]}
        return f"data: {json.dumps(said)}\n\n"

    function = {"name": "weather", "arguments": ""}
    body = chunk(
        {"role": "assistant", "tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]}
    )
    body += chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"place": '}}]})
    body += chunk({"tool_calls": [{"index": 0, "function": {"arguments": '"Visby"}'}}]})
    body += chunk({}, "tool_calls") + "data: [DONE]\n\n"
    served.model.will_send(body, headers={"Content-Type": "text/event-stream"})

    list(ask(served, ("user", "Weather?"), stream=True))
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"place": "Visby"}'}}
    ask(
        served,
        ("user", "Weather?"),
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
    )

    assert [turn.role.value for turn in served.turns] == ["user", "assistant", "tool", "assistant"]
    assert served.turns[1].blocks[0].data == call


def test_every_other_field_of_a_request_arrives_as_it_was(served: Served) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVq"}}
    content = [{"type": "text", "text": "What is it?"}, image]
    options = {
        "n": 2,
        "temperature": 0.25,
        "response_format": {"type": "json_object"},
        "stop": ["\n\n"],
        "logit_bias": {"50256": -100},
        "seed": 9007199254740993,
        "extra_body": {"top_k": 40, "future_option": {"a": [1, None]}},
    }

    ask(served, {"role": "user", "content": content}, **options)

    extra = options.pop("extra_body")
    assert served.model.requests[-1] == {
        "model": "small",
        "messages": [{"role": "user", "content": content}],
        **options,
        **extra,  # type: ignore[dict-item]
    }
    assert served.turns[0].text == "What is it?"
    assert "aGVq" not in str(served.turns[0].blocks)


def test_of_several_alternatives_the_first_is_found_and_all_are_stored(served: Served) -> None:
    choices = [
        {"index": n, "finish_reason": "stop", "message": {"role": "assistant", "content": f"Name {n}"}}
        for n in range(3)
    ]
    served.model.will_send(
        json.dumps({"id": "x", "object": "chat.completion", "created": 0, "model": "small", "choices": choices})
    )

    answer = ask(served, ("user", "A name?"), n=3)

    assert len(answer.choices) == 3
    assert [(turn.text, turn.recalled) for turn in served.turns[1:]] == [
        ("Name 0", True),
        ("Name 1", False),
        ("Name 2", False),
    ]


def test_off_the_record_nothing_is_stored_then_or_when_it_comes_back(served: Served) -> None:
    served.model.will_say("A secret answer.")
    ask(served, ("user", "A secret question."), extra_headers={"X-Memory": "off-record"})
    assert served.told == []

    served.model.will_say("Open.")
    ask(served, ("user", "A secret question."), ("assistant", "A secret answer."), ("user", "And now?"))

    assert served.told == [("user", "And now?"), ("assistant", "Open.")]


def test_what_was_said_while_the_memory_was_off_the_record_is_not_stored_when_it_is_on_again(served: Served) -> None:
    served.memory.off_record.on()
    served.model.will_say("A secret answer.")
    ask(served, ("user", "A secret question."))
    served.memory.off_record.off()

    served.model.will_say("Open.")
    ask(served, ("user", "A secret question."), ("assistant", "A secret answer."), ("user", "And now?"))

    assert served.told == [("user", "And now?"), ("assistant", "Open.")]


def test_a_password_is_not_stored_and_its_message_is_known_when_it_comes_back(served: Served) -> None:
    secret = "my password is kX9#vTq2Lm81, please remember"
    served.model.will_say("I would rather not.")
    ask(served, ("user", secret))
    served.model.will_say("Good.")
    ask(served, ("user", secret), ("assistant", "I would rather not."), ("user", "Fine"))

    assert len(served.turns) == 4
    assert served.sent()[0]["content"] == secret
    served.live.close()
    assert [path for path in served.home.rglob("*") if path.is_file() and b"kX9#vTq2Lm81" in path.read_bytes()] == []


def test_a_memory_is_chosen_by_header_or_by_the_models_name(served: Served) -> None:
    Memory.open(served.home / "work", embedder="none").close()

    served.client().chat.completions.create(model="small::work", messages=[{"role": "user", "content": "By the name"}])
    ask(served, ("user", "By the header"), extra_headers={"X-Memory-Name": "work"})

    assert [request["model"] for request in served.model.requests] == ["small", "small"]
    assert served.told == []
    with Memory.open(served.home / "work", embedder="none") as work:
        assert [turn.text for turn in work.turns() if turn.role.value == "user"] == ["By the name", "By the header"]


def test_a_memory_that_is_not_there_is_named_and_none_is_made(served: Served) -> None:
    with pytest.raises(openai.NotFoundError, match="no memory 'wrok'; it has: main"):
        served.client().chat.completions.create(model="small::wrok", messages=[{"role": "user", "content": "x"}])

    with pytest.raises(openai.BadRequestError, match="can't name a memory here"):
        ask(served, ("user", "x"), extra_headers={"X-Memory-Name": "../outside"})
    assert not (served.home / "wrok").exists()


def test_models_are_listed_with_every_other_memory(served: Served) -> None:
    served.memory.add("hello")
    Memory.open(served.home / "work", embedder="none").close()

    assert [model.id for model in served.client().models.list()] == ["small", "small::work"]


def test_the_clients_key_goes_to_the_upstream_and_into_no_file(served: Served) -> None:
    client = served.client(api_key="sk-not-for-keeping")

    client.chat.completions.create(model="small", messages=[{"role": "user", "content": "Hello"}])
    served.live.close()

    assert served.model.keys == ["Bearer sk-not-for-keeping"]
    assert [path for path in served.home.rglob("*") if path.is_file() and b"sk-not-for" in path.read_bytes()] == []


def test_the_async_client_streams_too(served: Served) -> None:
    served.model.will_stream("Hej ", "på dig")

    async def chat() -> str:
        async with openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key="sk", max_retries=0) as client:
            stream = await client.chat.completions.create(
                model="small",
                messages=[{"role": "user", "content": "Hej"}],
                stream=True,
                stream_options={"include_usage": True},
            )
            return "".join([c.choices[0].delta.content or "" async for c in stream if c.choices])

    assert asyncio.run(chat()) == "Hej på dig"
    assert served.told == [("user", "Hej"), ("assistant", "Hej på dig")]
    assert served.model.requests[0]["stream_options"] == {"include_usage": True}


def test_what_was_forgotten_does_not_come_back_with_the_clients_history(served: Served) -> None:
    served.model.will_say("Noted.")
    ask(served, ("user", "My code is 4711."))
    served.memory.forget([served.turns[0].turn_id])

    served.model.will_say("Sure.")
    ask(served, ("user", "My code is 4711."), ("assistant", "Noted."), ("user", "Forget it."))

    assert served.told == [("assistant", "Noted."), ("user", "Forget it."), ("assistant", "Sure.")]


def test_fifty_chats_at_once_lose_and_mix_nothing(served: Served) -> None:
    served.model.says = lambda request: "Echo: " + request["messages"][-1]["content"].rpartition("\n\n")[2]

    async def chat(client: openai.AsyncOpenAI, number: int) -> str:
        stream = await client.chat.completions.create(
            model="small", messages=[{"role": "user", "content": f"I am number {number}."}], stream=True
        )
        return "".join([c.choices[0].delta.content or "" async for c in stream if c.choices])

    async def all_of_them() -> list[str]:
        async with openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key="sk", max_retries=0) as client:
            return list(await asyncio.gather(*(chat(client, number) for number in range(50))))

    assert asyncio.run(all_of_them()) == [f"Echo: I am number {number}." for number in range(50)]
    by_talk: dict[str, list[str]] = {}
    for turn in served.turns:
        by_talk.setdefault(turn.conversation_id, []).append(turn.text)
    assert sorted(by_talk.values()) == sorted([f"I am number {n}.", f"Echo: I am number {n}."] for n in range(50))


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b"\xff", b'{"model": 1}', b'{"messages": 3}', b'{"messages": [null, 1, {"role": 5}]}',
     b'{"messages": [{"role": "user", "content": "\\ud800 \\u0000"}]}',
     b'{"messages": [{"role": "user", "content": {}}]}',
     b"[" * 100_000, b'{"messages": []}'],
)  # fmt: skip
def test_no_body_breaks_the_server(served: Served, body: bytes) -> None:
    answer = post(f"{served.url}/v1/chat/completions", content=body)

    assert answer.status_code in (200, 400)
    assert ask(served, ("user", "Still there?")).choices
