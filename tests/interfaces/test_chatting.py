"""``memory-rag chat``: as a person on a terminal meets it, against a server on this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from memory_rag.memory import Memory
from memory_rag.prompt.events import EventKind
from memory_rag.turns import Turn
from tests.interfaces.command_line import CommandLine
from tests.interfaces.pseudo_terminal import PseudoTerminal, on_a_terminal
from tests.model_server import ModelServer, model_server

KEY = "sk-zqcanary7731"
Chat = Callable[..., AbstractContextManager[PseudoTerminal]]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as served:
        yield served


@pytest.fixture
def environment(memory_rag: CommandLine) -> dict[str, str]:
    """What a chat runs in: no key, no server, a terminal without colours."""
    given = memory_rag.all_of_it(TERM="xterm", NO_COLOR="1", MEMORY_RAG_LANGUAGE="en")
    return {name: value for name, value in given.items() if not name.startswith("OPENAI_") and name != "COLUMNS"}


@pytest.fixture
def chat(environment: dict[str, str], server: ModelServer) -> Chat:
    """Return a function that begins a chat with the server."""

    def begin(*words: str, **more: str) -> AbstractContextManager[PseudoTerminal]:
        with_server = ("chat", "--base-url", server.url, "--model", "small", *words)
        return on_a_terminal(*with_server, environment={**environment, **more})

    return begin


def kept(memory_rag: CommandLine) -> list[Turn]:
    """Return what the memory holds, as another process sees it."""
    with Memory.open(memory_rag.home / "main", embedder="none") as memory:
        return list(memory.turns())


def test_an_answer_streams_and_both_sides_are_kept(chat: Chat, server: ModelServer, memory_rag: CommandLine) -> None:
    server.will_stream("The price ", "is 49 ", "euro.")
    with chat() as terminal:
        terminal.waits_for("small · main, a new memory")
        terminal.waits_for("> ")
        terminal.types("What is the price?")
        terminal.waits_for("The price is 49 euro.")
        terminal.waits_for("> ")
        terminal.presses("d")
        assert terminal.ends() == 0

    assert [(turn.role.value, turn.speaker, turn.text) for turn in kept(memory_rag)] == [
        ("user", "user", "What is the price?"),
        ("assistant", "small", "The price is 49 euro."),
    ]
    assert server.requests[0]["messages"][-1] == {"role": "user", "content": "What is the price?"}
    with Memory.open(memory_rag.home / "main", embedder="none") as memory:
        event = memory.prompt.events.events(kind=EventKind.ANSWER)[0]
    assert (event.model, event.turn_id, event.tokens_before) == ("small", "t2", 11)


@pytest.mark.slow
def test_the_next_sitting_is_told_what_was_said(chat: Chat, server: ModelServer) -> None:
    server.will_stream("Noted.")
    with chat() as terminal:
        terminal.types("My name is Dorothea.")
        terminal.waits_for("Noted.")
        terminal.waits_for("> ")
        terminal.types("/quit")
        assert terminal.ends() == 0
    server.will_stream("Dorothea.")
    with chat() as terminal:
        terminal.waits_for("2 turns are remembered")
        terminal.types("What is my name?")
        terminal.waits_for("Dorothea.")

    assert "My name is Dorothea." in str(server.requests[1]["messages"])


@pytest.mark.slow
def test_words_are_not_broken_at_the_edge(chat: Chat, server: ModelServer) -> None:
    server.will_stream(*[f"{word} " for word in ["lighthouse"] * 20], "\n```\n" + "x" * 90 + "\n```\nend")
    with chat() as terminal:
        terminal.types("Go on")
        terminal.waits_for("end\n")
        lines = terminal.shown.splitlines()

    assert [line for line in lines if line.startswith("lighthouse")] == [
        " ".join(["lighthouse"] * 7),
        " ".join(["lighthouse"] * 7),
        " ".join(["lighthouse"] * 6),
    ]


def test_ctrl_c_stops_the_answer_and_keeps_what_came(chat: Chat, server: ModelServer, memory_rag: CommandLine) -> None:
    go_on = threading.Event()
    server.will_stream_slowly("The first half and ", go_on, "the second.")
    server.will_stream("Whole.")
    with chat() as terminal:
        terminal.types("Tell me")
        terminal.waits_for("The first half")
        terminal.presses("c")
        terminal.waits_for("(cut off: stopped by the user; what came is kept as t2 and marked so; /again asks again)")
        go_on.set()
        terminal.waits_for("> ")
        terminal.types("/again")
        terminal.waits_for("Whole.")
        terminal.waits_for("> ")
        terminal.presses("c")
        terminal.waits_for("(Ctrl-D or /quit leaves)")
        terminal.types("/quit")
        assert terminal.ends() == 0

    turns = kept(memory_rag)
    assert [turn.text for turn in turns] == ["Tell me", "The first half and ", "Whole."]
    assert [(block.kind, dict(block.data)) for block in turns[1].blocks] == [
        ("cut_off", {"reason": "stopped by the user"})
    ]


def test_a_server_that_goes_in_the_middle_leaves_what_came(
    chat: Chat, server: ModelServer, memory_rag: CommandLine
) -> None:
    server.will_stream("Half an answer", None)
    with chat() as terminal:
        terminal.types("Tell me")
        came = terminal.waits_for("/again asks again)")
        terminal.waits_for("> ")
        terminal.types("/quit")
        assert terminal.ends() == 0

    assert "Half an answer" in came
    assert "the answer broke off; what came is kept as t2 and marked so" in " ".join(came.split())
    assert [turn.text for turn in kept(memory_rag)] == ["Tell me", "Half an answer"]


def test_a_busy_server_is_asked_again(chat: Chat, server: ModelServer, memory_rag: CommandLine) -> None:
    server.will_fail(429, "slow down", headers={"Retry-After": "1"})
    server.will_stream("Now.")
    with chat() as terminal:
        terminal.types("Hello")
        terminal.waits_for("the server gives no answer yet; asking again in 1 s (Ctrl-C stops)")
        terminal.waits_for("Now.")
        terminal.waits_for("> ")

    assert [turn.text for turn in kept(memory_rag)] == ["Hello", "Now."]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('{"error": {"message": "no such model"}}', "answered 404"),
        ("data: {broken\n\n", "isn't one of the chat completions API"),
    ],
)
def test_a_server_that_fails_costs_no_words(
    chat: Chat, server: ModelServer, memory_rag: CommandLine, body: str, told: str
) -> None:
    is_fault = body.startswith("{")
    server.will_send(
        body, status=404 if is_fault else 200, headers={} if is_fault else {"Content-Type": "text/event-stream"}
    )
    server.will_stream("Better.")
    with chat() as terminal:
        terminal.types("Hello")
        came = terminal.waits_for("what you said is stored as t1; /again asks it again")
        terminal.types("/again")
        terminal.waits_for("Better.")
        terminal.waits_for("> ")

    assert told in " ".join(came.split())
    assert [turn.text for turn in kept(memory_rag)] == ["Hello", "Better."]


def test_kill_9_in_the_middle_of_an_answer_keeps_the_users_turn(
    chat: Chat, server: ModelServer, memory_rag: CommandLine
) -> None:
    go_on = threading.Event()
    server.will_stream_slowly("The first half", go_on, "the second.")
    with chat() as terminal:
        terminal.types("Remember the zq lighthouse")
        terminal.waits_for("The first")
        terminal.kill()
        go_on.set()
    assert [turn.text for turn in kept(memory_rag)] == ["Remember the zq lighthouse"]

    server.will_stream("Whole.")
    with chat() as terminal:
        terminal.waits_for("t1 got no answer; /again asks it again")
        terminal.types("/again")
        terminal.waits_for("Whole.")
        terminal.waits_for("> ")
    assert server.requests[-1]["messages"][-1]["content"] == "Remember the zq lighthouse"
    assert [turn.text for turn in kept(memory_rag)] == ["Remember the zq lighthouse", "Whole."]


def test_the_key_is_sent_and_neither_kept_nor_shown(chat: Chat, server: ModelServer, memory_rag: CommandLine) -> None:
    server.will_fail(401, f"Incorrect API key provided: {KEY}")
    with chat(OPENAI_API_KEY=KEY) as terminal:
        terminal.types("Hello")
        terminal.waits_for("answered 401")
        terminal.waits_for("/again")
        terminal.types("/quit")
        assert terminal.ends() == 0
        assert KEY not in terminal.shown

    assert server.keys == [f"Bearer {KEY}"]
    assert not any(KEY.encode() in path.read_bytes() for path in memory_rag.home.rglob("*") if path.is_file())


def test_the_commands_answer(chat: Chat, server: ModelServer, memory_rag: CommandLine, tmp_path: Path) -> None:
    server.will_stream("Noted: 49 euro.")
    with chat() as terminal:
        terminal.types("/why")
        terminal.waits_for("no prompt was made yet")
        terminal.types("The price is 49 euro.")
        terminal.waits_for("Noted: 49 euro.")
        terminal.waits_for("> ")
        terminal.types("/why")
        terminal.waits_for("of 6,000 tokens (estimated, erring high):")
        terminal.waits_for("system prompt")
        terminal.types("/quote price is 49 euro")
        terminal.waits_for("exact: t1")
        terminal.waits_for('"price is 49 euro"')
        terminal.types("/quote nothing like it was ever said")
        terminal.waits_for("not found")
        terminal.types("/where 49 euro")
        terminal.waits_for("- in the question itself, turn t1")
        terminal.types("/pin Answer briefly.")
        terminal.waits_for("pinned as p1")
        terminal.types("/summary")
        terminal.waits_for("no summary yet")
        terminal.types("/brief")
        terminal.waits_for("- Answer briefly. (p1)")
        terminal.types(f"/export {tmp_path / 'talk.md'}")
        terminal.waits_for("2 turns")
        terminal.types(f"/export {tmp_path / 'talk.md'}")
        terminal.waits_for("name another file")
        terminal.types(f"/export {tmp_path / 'talk.jsonl'}")
        terminal.waits_for("2 turns")
        terminal.types("/nonsense")
        terminal.waits_for("unknown command /nonsense; /help lists them")
        terminal.types("/help")
        terminal.waits_for("Ctrl-C stops an answer")
        terminal.types("/forget t99")
        terminal.waits_for("error: no turn has the id 't99'")
        terminal.types("/forget last")
        terminal.waits_for("forget these 2 turns for good? [y/N] ")
        terminal.types("n")
        terminal.waits_for("nothing was forgotten")
        terminal.types("/forget last")
        terminal.waits_for("[y/N] ")
        terminal.types("y")
        terminal.waits_for("forgotten: 2 turns")
        terminal.types("/quit")
        assert terminal.ends() == 0
        lines = [line for line in terminal.shown.splitlines() if str(tmp_path) not in line]
        assert max(map(len, lines)) <= 80

    assert kept(memory_rag) == []
    assert "The price is 49 euro." in (tmp_path / "talk.md").read_text(encoding="utf-8")
    assert memory_rag("import", str(tmp_path / "talk.jsonl"), "--memory", "again").code == 0
    assert (tmp_path / "talk.md").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_a_message_may_have_several_lines(chat: Chat, memory_rag: CommandLine) -> None:
    with chat() as terminal:
        terminal.types("First line\\")
        terminal.types("second line")
        terminal.waits_for("I have nothing to say.")
        terminal.types("/quit")
        assert terminal.ends() == 0

    assert kept(memory_rag)[0].text == "First line\nsecond line"


def test_a_prompt_that_is_pasted_back_is_not_stored_as_if_it_had_been_said(
    memory_rag: CommandLine, environment: dict[str, str], server: ModelServer
) -> None:
    with Memory.open(memory_rag.home / "main", embedder="none", language="en", keep_recent=2) as memory:
        memory.add("The kayak is red and leaks at the bow.", conversation_id="spring")
        memory.add("It rains.", conversation_id="spring")
        prompt = memory.context("What colour is the kayak?", token_budget=1500)
    (recalled,) = (str(one["content"]) for one in prompt.messages if "<quoted_turns" in str(one["content"]))
    server.will_stream("Red.")
    pasted = f"{recalled}\n\nWhy is it red?".replace("\n", "\\\n") + "\n"

    ran = memory_rag("chat", "--base-url", server.url, "--model", "small", stdin=pasted, **environment)

    assert "note: left out, since the memory quoted it: t1" in ran.err
    assert [turn.text for turn in kept(memory_rag)][2:] == ["Why is it red?", "Red."]


def test_without_a_server_it_says_how_and_gives_the_prompt_for_pasting(
    environment: dict[str, str], memory_rag: CommandLine
) -> None:
    with on_a_terminal("chat", environment=environment) as terminal:
        told = terminal.waits_for("remembered too.")
        terminal.waits_for("> ")
        terminal.types("What is the price?")
        terminal.waits_for("--- user\nWhat is the price?")
        terminal.waits_for("paste the answer, then a line with '.' alone")
        terminal.types("It is 49 euro.")
        terminal.types("More than that is not known.")
        terminal.types(".")
        terminal.waits_for("kept as t2")
        terminal.types("/quit")
        assert terminal.ends() == 0

    assert all(name in told for name in ("Ollama", "llama.cpp", "vLLM", "OpenAI", "OPENAI_API_KEY"))
    assert max(map(len, told.splitlines())) <= 80
    assert kept(memory_rag)[1].text == "It is 49 euro.\nMore than that is not known."


@pytest.mark.slow
def test_a_server_with_one_model_needs_none_named(
    environment: dict[str, str], server: ModelServer, memory_rag: CommandLine
) -> None:
    with on_a_terminal("chat", "--base-url", server.url, environment=environment) as terminal:
        terminal.waits_for("small · main")
    server.models = ("large", "small")
    ran = memory_rag("chat", "--base-url", server.url, OPENAI_API_KEY="")

    assert ran.code == 2
    assert "name one of the server's models with --model: large, small" in ran.err


def test_over_pipes_only_answers_are_on_stdout(server: ModelServer, memory_rag: CommandLine) -> None:
    server.will_stream("One ", "answer.")
    ran = memory_rag.process(
        "chat", "--base-url", server.url, "--model", "small", stdin=b"A question\n", OPENAI_API_KEY=""
    )

    assert (ran.code, ran.out) == (0, "One answer.\n")


@pytest.mark.slow
def test_control_characters_of_a_model_do_not_reach_the_terminal(chat: Chat, server: ModelServer) -> None:
    server.will_stream("red \x1b[31malert\x07 end of it")
    with chat() as terminal:
        terminal.types("Hello")
        terminal.waits_for("end of it")
        assert "\x1b[31m" not in terminal._seen
        assert "\ufffd[31malert\ufffd" in terminal.shown


def test_over_pipes_an_answer_that_fails_is_a_failure(server: ModelServer, memory_rag: CommandLine) -> None:
    server.will_fail(404, "no such model")
    ran = memory_rag.process(
        "chat", "--base-url", server.url, "--model", "small", stdin=b"A question\n", OPENAI_API_KEY=""
    )

    assert (ran.code, ran.out) == (1, "")
    assert "what you said is stored as t1; /again asks it again" in ran.err


@pytest.mark.slow
def test_a_message_over_the_budget_is_stored_and_said_to_be(server: ModelServer, memory_rag: CommandLine) -> None:
    ran = memory_rag.process(
        "chat", "--base-url", server.url, "--model", "small", stdin=b"x" * 100_000 + b"\n", OPENAI_API_KEY=""
    )

    assert ran.code == 1
    assert "over the budget of 6,000; the largest part is question" in ran.err
    assert "what you said is stored as t1" in ran.err
    assert len(kept(memory_rag)[0].text) == 100_000


def test_what_is_no_address_or_needs_a_server_is_wrong_usage(memory_rag: CommandLine) -> None:
    without = {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}
    assert memory_rag("chat", "--base-url", "localhost", "--model", "x", **without).code == 2
    ran = memory_rag("chat", "--model", "x", **without)

    assert ran.code == 2
    assert "--model x needs a server: name it with --base-url, or set OPENAI_API_KEY" in ran.err
