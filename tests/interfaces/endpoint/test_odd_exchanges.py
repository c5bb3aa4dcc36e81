"""Clients that change their mind, models that answer oddly or not at all, and two requests that meet."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from memory_rag.interfaces.endpoint.remembering import Exchange, Remembering
from memory_rag.interfaces.endpoint.upstream import Upstream
from memory_rag.interfaces.endpoint.wishes import ChatWish
from memory_rag.interfaces.serving.app import Service, app_of
from memory_rag.interfaces.serving.live_memory import LiveMemory
from memory_rag.interfaces.serving.memories import Memories
from memory_rag.memory import Memory
from memory_rag.prompt.unlogged import Unlogged
from memory_rag.settings import Settings
from tests.interfaces.endpoint.conftest import Served
from tests.interfaces.serving.served import PATIENCE_S, get, opened, post, serving, until

Message = tuple[str, str]


def ask(served: Served, *messages: Message, **options: Any) -> Any:
    sent: Any = [{"role": role, "content": content} for role, content in messages]
    return served.client().chat.completions.create(model="small", messages=sent, **options)


def said_in(served: Served, conversation_id: str) -> list[str]:
    return [turn.text for turn in served.memory.turns(conversation_id=conversation_id)]


# -- clients


def test_a_message_that_was_edited_is_stored_and_what_it_replaced_stays(served: Served) -> None:
    served.model.will_say("Yes?")
    ask(served, ("user", "Hello"))
    served.model.will_say("It rains.")
    ask(served, ("user", "Hello"), ("assistant", "Yes?"), ("user", "Weather in Visby?"))
    served.model.will_say("Sun.")
    ask(served, ("user", "Hello"), ("assistant", "Yes?"), ("user", "Weather in Malmö?"))

    assert [text for _role, text in served.told] == [
        "Hello", "Yes?", "Weather in Visby?", "It rains.", "Weather in Malmö?", "Sun.",
    ]  # fmt: skip
    assert len({turn.conversation_id for turn in served.turns}) == 1


def test_after_an_edit_the_talk_goes_on_from_either_branch(served: Served) -> None:
    for answer, last in (("A1", "Q2a"), ("A2", "Q2b")):
        served.model.will_say(answer)
        ask(served, ("user", "Q1"), ("assistant", "A0"), ("user", last))
    before = len(served.turns)
    served.model.will_say("A3")
    ask(served, ("user", "Q1"), ("assistant", "A0"), ("user", "Q2a"), ("assistant", "A1"), ("user", "Q3"))

    assert [text for _role, text in served.told][before:] == ["Q3", "A3"]


def test_two_clients_in_one_conversation_see_each_others_words(served: Served) -> None:
    header = {"X-Memory-Conversation": "kitchen"}
    served.model.will_say("Noted.")
    ask(served, ("user", "We need flour."), extra_headers={**header, "X-Memory-Speaker": "Ada"})
    served.model.will_say("Flour.")
    ask(served, ("user", "What do we need?"), extra_headers={**header, "X-Memory-Speaker": "Bo"})

    assert "We need flour." in json.dumps(served.sent())
    assert [(turn.speaker, turn.text) for turn in served.turns if turn.role.value == "user"] == [
        ("Ada", "We need flour."),
        ("Bo", "What do we need?"),
    ]


def test_two_alternatives_that_are_streamed_one_amid_the_other_are_stored_apart(served: Served) -> None:
    def chunk(index: int, text: str, finish: str | None = None) -> str:
        choice = {"index": index, "delta": {"content": text}, "finish_reason": finish}
        said = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "small", "choices": [choice]}
        return f"data: {json.dumps(said)}\n\n"

    body = chunk(1, "An") + chunk(0, "Bo ") + chunk(1, "na", "stop") + chunk(0, "Ek", "stop") + "data: [DONE]\n\n"
    served.model.will_send(body, headers={"Content-Type": "text/event-stream"})

    list(ask(served, ("user", "A name?"), n=2, stream=True))

    assert [(turn.text, turn.recalled) for turn in served.turns[1:]] == [("Bo Ek", True), ("Anna", False)]


def test_a_refusal_and_an_answer_in_json_are_kept_as_they_are(served: Served) -> None:
    refused = {"role": "assistant", "content": None, "refusal": "I can't help with that."}
    choice = {"index": 0, "finish_reason": "stop", "message": refused}
    served.model.will_send(json.dumps({"id": "x", "object": "chat.completion", "created": 0, "choices": [choice]}))
    ask(served, ("user", "Do it"))
    served.model.will_say({"price": 54, "word": "Åsa"})
    ask(served, ("user", "As JSON"), response_format={"type": "json_object"})

    assert served.model.requests[-1]["response_format"] == {"type": "json_object"}
    refusal, answer = (turn for turn in served.turns if turn.role.value == "assistant")
    assert (refusal.text, [dict(block.data) for block in refusal.blocks]) == ("", [{"refusal": refused["refusal"]}])
    assert answer.text == json.dumps({"price": 54, "word": "Åsa"})


PARTS = [
    {"type": "thinking", "thinking": []},
    {"type": "text", "text": "Rye, "},
    {"type": "text", "text": "of course."},
]


def test_an_answer_in_parts_is_stored(served: Served) -> None:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": PARTS}}
    served.model.will_send(json.dumps({"id": "x", "object": "chat.completion", "created": 0, "choices": [choice]}))
    request = {"model": "small", "messages": [{"role": "user", "content": "Bread?"}]}
    post(f"{served.url}/v1/chat/completions", json=request)

    assert served.told == [("user", "Bread?"), ("assistant", "Rye, \n\nof course.")]


def test_an_answer_that_is_streamed_in_parts_is_stored(served: Served) -> None:
    deltas = [{"content": [part]} for part in PARTS] + [{"content": " Warm."}, {"content": None}, {}]
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    served.model.will_send(body, headers={"Content-Type": "text/event-stream"})
    request = {"model": "small", "stream": True, "messages": [{"role": "user", "content": "Bread?"}]}
    post(f"{served.url}/v1/chat/completions", json=request)

    assert served.told == [("user", "Bread?"), ("assistant", "Rye, of course. Warm.")]


@pytest.mark.parametrize("header", ["X-Memory-Off-Record", "X-Memory-Record", "X-Memory-Nonsense"])
def test_a_header_that_only_looks_like_one_of_the_memorys_is_refused_and_nothing_is_stored(
    served: Served, header: str
) -> None:
    with pytest.raises(openai.BadRequestError, match=f"no header '{header.lower()}' is known.*x-memory: off-record"):
        ask(served, ("user", "Off the record, please"), extra_headers={header: "1"})

    assert served.told == []
    assert served.model.requests == []


@pytest.mark.parametrize("path", ["responses", "completions", "audio/speech", "files", "chat/completions/c1/messages"])
def test_other_parts_of_the_api_are_refused_in_words_and_nothing_is_asked(served: Served, path: str) -> None:
    answer = post(f"{served.url}/v1/{path}", json={"model": "small", "input": "Hello"})

    assert answer.status_code == 404
    assert answer.json()["error"]["type"] == "not_served"
    assert served.model.requests == []


def test_the_official_client_reads_why_the_responses_api_is_refused(served: Served) -> None:
    with pytest.raises(openai.NotFoundError, match=r"POST /v1/responses isn't served.*chat/completions"):
        served.client().responses.create(model="small", input="Hello")


def test_a_client_that_gives_up_before_the_first_word_leaves_its_question_and_no_answer(served: Served) -> None:
    never = threading.Event()
    served.model.will_wait(never)

    with pytest.raises(openai.APITimeoutError):
        served.client(timeout=0.5).chat.completions.create(
            model="small", messages=[{"role": "user", "content": "Are you there?"}]
        )
    until(lambda: len(served.model.requests) == 1)
    served.model.will_say("Now I am.")
    ask(served, ("user", "Are you there?"))
    never.set()

    assert served.told in (
        [("user", "Are you there?"), ("assistant", "Now I am.")],
        # Asked again while the first was still being let go: another talk.
        [("user", "Are you there?"), ("user", "Are you there?"), ("assistant", "Now I am.")],
    )


# -- models


@contextmanager
def speaking(said: bytes) -> Iterator[str]:
    """Serve one connection that says these bytes, whatever it is asked."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            client, _address = listener.accept()
            with client:
                client.recv(65536)
                client.sendall(said)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        thread.join(PATIENCE_S)


@contextmanager
def before(upstream: Upstream, home: Path) -> Iterator[tuple[str, Memories]]:
    memories = Memories(opened(home, "main"), name="main", home=home)
    with serving(app_of(Service(memories, upstream, has_mcp=False))) as url:
        yield url, memories
    memories.close()


def posted(url: str, **more: Any) -> httpx2.Response:
    body = {"model": "small", "messages": [{"role": "user", "content": "Hello"}], **more}
    return post(f"{url}/v1/chat/completions", json=body)


@pytest.mark.parametrize("said", [b"", b"I am no server\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"])
def test_what_is_no_answer_is_told_as_a_bad_gateway_and_the_question_is_kept(tmp_path: Path, said: bytes) -> None:
    with speaking(said) as upstream, before(Upstream(upstream), tmp_path) as (url, memories):
        answer = posted(url)

        assert answer.status_code == 502
        assert answer.json()["error"]["type"] == "upstream_error"
        assert [turn.text for turn in memories.own.get().turns()] == ["Hello"]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/html", b"<html>down for maintenance</html>"),
        ("application/json", b"{"),
        ("application/json", b'{"choices": "none"}'),
        ("application/json", b'{"choices": [null, 3, {"message": 7}]}'),
        ("text/event-stream", b"data: {broken\n\ndata: [1]\n\nevent: x\n\n: comment\n\ndata: [DONE]\n\n"),
        ("text/event-stream", b"\xff\xfe\x00data: \xc3"),
    ],
)
def test_garbage_passes_through_untouched_and_nothing_of_it_is_stored(tmp_path: Path, kind: str, body: bytes) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with speaking(head + body) as upstream, before(Upstream(upstream), tmp_path) as (url, memories):
        answer = posted(url)

        assert (answer.status_code, answer.content) == (200, body)
        assert answer.headers["content-type"] == kind
        assert [turn.text for turn in memories.own.get().turns()] == ["Hello"]


def test_a_model_that_isnt_there_or_says_nothing_is_told(tmp_path: Path, served: Served) -> None:
    with before(Upstream("http://127.0.0.1:9/v1"), tmp_path / "a") as (url, _memories):
        absent = posted(url)
    never = threading.Event()
    served.model.will_wait(never)
    with before(Upstream(served.model.url, silence_s=0.2), tmp_path / "b") as (url, _memories):
        silent = posted(url)
    never.set()

    assert (absent.status_code, silent.status_code) == (502, 504)
    assert "can't be reached" in absent.json()["error"]["message"]
    assert "didn't answer in time" in silent.json()["error"]["message"]


# -- the memory


class Faulty(Memory):
    """A memory with a fault of ours in it."""

    def unlogged_context(self, user_message: str, *, system: str = "", **wish: Any) -> Unlogged:
        raise ZeroDivisionError("secret of a client")


def test_a_fault_of_ours_is_told_in_the_apis_shape_and_the_model_isnt_asked(tmp_path: Path, served: Served) -> None:
    live = LiveMemory(
        tmp_path / "m", lambda create: Faulty(tmp_path / "m", settings=Settings(embedder="none"), create=create)
    )
    memories = Memories(live, name="m", home=tmp_path)
    with serving(app_of(Service(memories, Upstream(served.model.url), has_mcp=False))) as url:
        answer = posted(url)
    memories.close()

    assert answer.status_code == 500
    assert answer.json()["error"]["type"] == "memory_error"
    assert "secret" not in answer.text
    assert served.model.requests == []


class Interrupted(Memory):
    """A memory that hears another request while the first is told what is known."""

    meanwhile: Callable[[], None] | None = None

    def unlogged_context(self, user_message: str, *, system: str = "", **wish: Any) -> Unlogged:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return super().unlogged_context(user_message, system=system, **wish)


def test_two_requests_that_meet_are_two_talks_and_nothing_is_stored_twice(tmp_path: Path) -> None:
    body = {"model": "small", "messages": [{"role": "user", "content": "Hello"}]}
    remembering = Remembering()
    met: list[Exchange] = []
    with Interrupted(tmp_path / "m", settings=Settings(embedder="none")) as memory:
        memory.meanwhile = lambda: met.append(remembering.hear(memory, body, ChatWish()))
        met.append(remembering.hear(memory, body, ChatWish()))

        first, second = met
        assert first.thread.conversation_id != second.thread.conversation_id
        assert [turn.text for turn in memory.turns()] == ["Hello", "Hello"]
        assert [one.stored for one in met] == [("t1",), ("t2",)]
        for one in met:
            remembering.done(one)


def test_a_question_is_not_told_of_itself(served: Served) -> None:
    alone, amid = "What did I say about the price of the workshop?", "Do you remember the workshop's price?"
    served.memory.add("The price of the workshop is 54 euro.", conversation_id="earlier")

    ask(served, ("user", alone))
    ask(served, ("user", "Hej"), ("assistant", "Hej!"), ("user", amid))

    for sent, question in ((served.sent(0), alone), (served.sent(1), amid)):
        assert sent[-1]["content"].count(question) == 1
        assert "54 euro" in sent[-1]["content"]


def test_the_server_answers_others_while_a_write_waits(served: Served) -> None:
    """A second process that writes holds up who speaks, and nobody who asks for something else."""
    import sqlite3

    served.memory.add("A word.")
    blocker = sqlite3.connect(served.home / "main" / "turns.sqlite", isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    chat = threading.Thread(target=ask, args=(served, ("user", "Hello")))
    chat.start()
    try:
        assert get(f"{served.url}/v1/models").status_code == 200
        assert served.model.requests == []
    finally:
        blocker.execute("ROLLBACK")
        blocker.close()
    chat.join(PATIENCE_S)

    assert ("user", "Hello") in served.told


def test_streams_of_the_async_client_may_be_left_in_the_middle_many_at_once(served: Served) -> None:
    never = threading.Event()

    async def leave(client: openai.AsyncOpenAI, number: int) -> None:
        stream = await client.chat.completions.create(
            model="small", messages=[{"role": "user", "content": f"Talk {number}"}], stream=True
        )
        async for _chunk in stream:
            await stream.close()
            return

    async def all_of_them() -> None:
        async with openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key="sk", max_retries=0) as client:
            await asyncio.gather(*(leave(client, number) for number in range(10)))

    for _ in range(10):
        served.model.will_stream_slowly("Half", never, " more")
    asyncio.run(all_of_them())
    until(lambda: len(served.turns) == 20)
    never.set()

    kept = [turn for turn in served.turns if turn.role.value == "assistant"]
    assert {turn.text for turn in kept} == {"Half"}
    assert {block.kind for turn in kept for block in turn.blocks} == {"cut_off"}
