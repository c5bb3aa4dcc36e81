"""What the official client's own helpers send and send back, and what agents do with it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from tests.interfaces.endpoint.conftest import Served
from tests.model_server import completion

TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "strict": True,
            "parameters": {
                "type": "object",
                "properties": {"place": {"type": "string"}},
                "required": ["place"],
                "additionalProperties": False,
            },
        },
    }
    for name in ("weather", "ferries")
]
ASKED: Any = {"role": "user", "content": "Can I sail to Visby?"}


def chunk(delta: dict[str, Any], finish: str | None = None, *, index: int = 0) -> str:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    said = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "small", "choices": [choice]}
    return f"data: {json.dumps(said)}\n\n"


def call(index: int, **fields: Any) -> str:
    return chunk({"tool_calls": [{"index": index, **fields}]})


def streams_two_calls(served: Served) -> None:
    body = chunk({"role": "assistant", "content": None})
    for index, name, place in ((0, "weather", "Visby"), (1, "ferries", "Oskarshamn")):
        body += call(index, id=f"c{index}", type="function", function={"name": name, "arguments": ""})
        body += call(index, function={"arguments": '{"place":'}) + call(index, function={"arguments": f' "{place}"}}'})
    body += chunk({}, "tool_calls")
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    last = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "small", "choices": [], "usage": usage}
    body += f"data: {json.dumps(last)}\n\ndata: [DONE]\n\n"
    served.model.will_send(body, headers={"Content-Type": "text/event-stream"})


def test_parallel_calls_streamed_through_the_helper_are_known_as_the_helper_gives_them_back(served: Served) -> None:
    streams_two_calls(served)
    served.model.will_say("Yes, at noon.")
    client = served.client()

    with client.chat.completions.stream(
        model="small", messages=[ASKED], tools=TOOLS, stream_options={"include_usage": True}
    ) as stream:
        kinds = [event.type for event in stream]
        first = stream.get_final_completion()
    message = first.choices[0].message
    results: list[Any] = [
        {"role": "tool", "tool_call_id": one.id, "content": f"{one.function.name} ok"}
        for one in reversed(message.tool_calls or [])
    ]
    # With every field that the helper has, those that are null among them, and what it parsed.
    history: list[Any] = [ASKED, message.model_dump(warnings=False), *results]
    client.chat.completions.create(model="small", messages=history, tools=TOOLS)

    calls = message.tool_calls or []
    assert [one.function.arguments for one in calls] == ['{"place": "Visby"}', '{"place": "Oskarshamn"}']
    assert kinds.count("tool_calls.function.arguments.done") == 2
    assert first.usage is not None
    assert served.told == [
        ("user", ASKED["content"]),
        ("assistant", ""),
        ("tool", "ferries ok"),
        ("tool", "weather ok"),
        ("assistant", "Yes, at noon."),
    ]
    assert len({turn.conversation_id for turn in served.turns}) == 1


class Crossing(BaseModel):
    """What the model is to answer in."""

    port: str
    hour: int


def test_an_answer_that_is_parsed_is_known_when_it_comes_back(served: Served) -> None:
    served.model.will_say('{"port": "Visby", "hour": 12}')
    client = served.client()

    parsed = client.chat.completions.parse(model="small", messages=[ASKED], response_format=Crossing)
    message = parsed.choices[0].message
    history: list[Any] = [ASKED, message.model_dump(warnings=False), {"role": "user", "content": "Thanks!"}]
    client.chat.completions.create(model="small", messages=history)

    assert message.parsed == Crossing(port="Visby", hour=12)
    assert served.model.requests[0]["response_format"]["json_schema"]["name"] == "Crossing"
    assert [text for _role, text in served.told] == [
        ASKED["content"],
        '{"port": "Visby", "hour": 12}',
        "Thanks!",
        "I have nothing to say.",
    ]


@pytest.mark.parametrize("who", ["user", "assistant"])
def test_words_that_come_back_as_parts_are_the_same_words(served: Served, who: str) -> None:
    served.model.will_say("Yes, at noon.")
    client = served.client()
    said: list[Any] = [dict(ASKED), {"role": "assistant", "content": "Yes, at noon."}]
    client.chat.completions.create(model="small", messages=said[:1])
    for message in said:
        if message["role"] == who:
            message["content"] = [{"type": "text", "text": message["content"]}]

    client.chat.completions.create(model="small", messages=[*said, {"role": "user", "content": "Good."}])

    assert [text for _role, text in served.told] == [
        "Can I sail to Visby?",
        "Yes, at noon.",
        "Good.",
        "I have nothing to say.",
    ]


@pytest.mark.parametrize("begins", ["<think>", ""], ids=["marked", "begun by the prompt"])
@pytest.mark.parametrize("kept", [99, 3], ids=["whole history", "newest messages"])
def test_an_answer_whose_thoughts_the_client_leaves_out_is_known(served: Served, begins: str, kept: int) -> None:
    client = served.client()
    history: list[Any] = []
    for number in range(4):
        history.append({"role": "user", "content": f"Question {number}?"})
        answer = f"{begins}{'Long thoughts about it. ' * 40}</think>\n\nAnswer {number}."
        served.model.will_say(answer)
        client.chat.completions.create(model="small", messages=history[-kept:])
        history.append({"role": "assistant", "content": f"Answer {number}."})

    assert [text for role, text in served.told if role == "user"] == [f"Question {n}?" for n in range(4)]
    assert [text.endswith(f"Answer {n}.") for n, (_role, text) in enumerate(served.told[1::2])] == [True] * 4
    assert len({turn.conversation_id for turn in served.turns}) == 1


def asked_and_answered(served: Served, *messages: tuple[str, str], answer: str) -> None:
    served.model.will_say(answer)
    sent: Any = [{"role": role, "content": content} for role, content in messages]
    served.client().chat.completions.create(model="small", messages=sent)


@pytest.mark.parametrize("kept", [99, 3], ids=["whole history", "newest messages"])
def test_a_question_that_was_sent_with_documents_around_it_is_known_without_them(served: Served, kept: int) -> None:
    history: list[tuple[str, str]] = []
    for number in range(3):
        question, answer = f"What did I say about boat {number}?", f"Boat {number} leaves at noon."
        with_documents = f"Answer from these.\n<document>timetable {number}</document>\n\n{question}"
        asked_and_answered(served, *history[-kept + 1 :], ("user", with_documents), answer=answer)
        history += [("user", question), ("assistant", answer)]

    assert [text for role, text in served.told if role == "assistant"] == [
        f"Boat {n} leaves at noon." for n in range(3)
    ]
    # What the client sends by itself isn't quoted to the model beside it.
    assert str(served.sent()).count("Boat 1 leaves") == 1
    assert len(served.told) == 6
    assert len({turn.conversation_id for turn in served.turns}) == 1


@pytest.mark.parametrize("before", [0, 2], ids=["the first answer", "a later answer"])
def test_an_answer_that_its_reader_has_edited_is_another_branch_of_the_same_talk(served: Served, before: int) -> None:
    talk = [("user", "When does the boat leave?"), ("assistant", "The boat to Visby leaves at noon.")]
    history: list[tuple[str, str]] = [("user", "Good morning."), ("assistant", "What can I do for you?")][:before]
    if before:
        asked_and_answered(served, history[0], answer=history[1][1])
    asked_and_answered(served, *history, talk[0], answer=talk[1][1])
    edited = [talk[0], ("assistant", "The boat to Visby leaves at one, on Sundays."), ("user", "And back?")]
    asked_and_answered(served, *history, *edited, answer="At six.")

    assert served.told == [*history, *talk, *edited[1:], ("assistant", "At six.")]
    assert len({turn.conversation_id for turn in served.turns}) == 1


def test_a_question_whose_image_the_client_sends_once_only_is_known_without_it(served: Served) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    served.model.will_say("A cat.")
    sent: Any = [{"role": "user", "content": [{"type": "text", "text": "What's this?"}, image]}]
    served.client().chat.completions.create(model="small", messages=sent)
    asked_and_answered(served, ("user", "What's this?"), ("assistant", "A cat."), ("user", "Sure?"), answer="Yes.")

    assert [text for _role, text in served.told] == ["What's this?", "A cat.", "Sure?", "Yes."]
    assert len({turn.conversation_id for turn in served.turns}) == 1


def test_a_refusal_that_comes_back_as_words_is_known(served: Served) -> None:
    body = completion("")
    message = {"role": "assistant", "content": None, "refusal": "I can't tell you that."}
    body["choices"] = [{"index": 0, "message": message, "finish_reason": "stop"}]
    served.model.will_send(json.dumps(body), headers={"Content-Type": "application/json"})
    client = served.client()
    client.chat.completions.create(model="small", messages=[ASKED])
    again = (("user", ASKED["content"]), ("assistant", "I can't tell you that."), ("user", "Why?"))
    asked_and_answered(served, *again, answer="I don't know when it sails.")

    assert [role for role, _text in served.told] == ["user", "assistant", "user", "assistant"]
    assert len({turn.conversation_id for turn in served.turns}) == 1


def test_two_talks_that_got_the_same_answer_stay_two(served: Served) -> None:
    refusal = "I'm sorry, but I can't help with that request."
    asked_and_answered(served, ("user", "How do I open the first lock?"), answer=refusal)
    again = (("user", "How do I open another lock?"), ("assistant", refusal), ("user", "Why not?"))
    asked_and_answered(served, *again, answer="Because it isn't yours.")

    assert ("user", "How do I open another lock?") in served.told
    assert (len(served.told), len({turn.conversation_id for turn in served.turns})) == (6, 2)


@pytest.mark.parametrize(
    "arguments",
    ['{"place":"Öja","days":[1,2]}', '{"place": "\\u00d6ja", "days": [1, 2]}', {"place": "Öja", "days": [1, 2]}],
    ids=["without spaces", "escaped", "an object"],
)
def test_a_call_whose_arguments_a_framework_writes_anew_is_known(served: Served, arguments: Any) -> None:
    def called(arguments: Any) -> Any:
        function = {"name": "weather", "arguments": arguments}
        message = {"role": "assistant", "content": None, "refusal": None}
        return {**message, "tool_calls": [{"id": "c1", "type": "function", "function": function}]}

    written = '{"place": "Öja", "days": [1, 2]}'
    body = completion("")
    body["choices"] = [{"index": 0, "message": called(written), "finish_reason": "tool_calls"}]
    served.model.will_send(json.dumps(body), headers={"Content-Type": "application/json"})
    client = served.client()
    client.chat.completions.create(model="small", messages=[ASKED], tools=TOOLS)
    history: list[Any] = [
        ASKED,
        {**called(arguments), "content": "", "refusal": ""},
        {"role": "tool", "tool_call_id": "c1", "content": "windy"},
    ]
    served.model.will_say("Better not.")
    client.chat.completions.create(model="small", messages=history, tools=TOOLS)
    history += [{"role": "assistant", "content": "Better not."}, {"role": "user", "content": "Thanks."}]
    client.chat.completions.create(model="small", messages=history, tools=TOOLS)

    assert [text for _role, text in served.told] == [
        ASKED["content"],
        "",
        "windy",
        "Better not.",
        "Thanks.",
        "I have nothing to say.",
    ]
    assert served.turns[1].blocks[0].data["function"]["arguments"] == written


def test_three_alternatives_are_streamed_by_the_async_client_and_stored_apart(served: Served) -> None:
    body = "".join(chunk({"content": f"Way {n}"}, index=n) for n in (2, 0, 1))
    body += "".join(chunk({"content": "."}, index=n) for n in (1, 2, 0))
    body += "".join(chunk({}, "stop", index=n) for n in (0, 1, 2)) + "data: [DONE]\n\n"
    served.model.will_send(body, headers={"Content-Type": "text/event-stream"})

    async def ask() -> dict[int, str]:
        heard: dict[int, str] = {}
        async with openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key="k", max_retries=0) as client:
            stream: Any = await client.chat.completions.create(model="small", messages=[ASKED], n=3, stream=True)
            async for one in stream:
                for choice in one.choices:
                    heard[choice.index] = heard.get(choice.index, "") + (choice.delta.content or "")
        return heard

    assert asyncio.run(ask()) == {0: "Way 0.", 1: "Way 1.", 2: "Way 2."}
    assert served.told[1:] == [("assistant", f"Way {n}.") for n in range(3)]
    assert [turn.recalled for turn in served.turns[1:]] == [True, False, False]


def test_bytes_of_a_raw_response_are_the_upstreams(served: Served) -> None:
    served.model.will_stream("At", " noon.")
    client = served.client()

    with client.chat.completions.with_streaming_response.create(
        model="small", messages=[ASKED], stream=True
    ) as response:
        told = b"".join(response.iter_bytes())
        conversation = response.headers["x-memory-conversation"]

    assert told.endswith(b"data: [DONE]\n\n")
    assert {turn.conversation_id for turn in served.turns} == {conversation}
