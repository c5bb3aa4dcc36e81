"""Paraphrases from a chat model, asked for over a real connection."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from openai import OpenAI

from memory_rag.errors import ModelError
from memory_rag.evaluation.datasets.paraphrases import LONGEST_PASSAGE, ModelParaphraser


@dataclass
class ChatServer:
    """Answers every chat request with the same words, or a failure, and keeps what it was asked."""

    url: str = ""
    answer: str | None = "Which bag does grandmother want?"
    status: int = 200
    asked: list[dict[str, Any]] = field(default_factory=list)

    def reply(self, request: dict[str, Any]) -> bytes:
        self.asked.append(request)
        if self.status != 200:
            return json.dumps({"error": {"message": "no such model"}}).encode()
        message = {"role": "assistant", "content": self.answer}
        return json.dumps({"id": "1", "choices": [{"index": 0, "message": message}], "object": "x"}).encode()


@pytest.fixture
def server() -> Iterator[ChatServer]:
    chat = ChatServer()

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = chat.reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(chat.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        chat.url = f"http://127.0.0.1:{http.server_port}/v1"
        yield chat
        http.shutdown()
        thread.join()


@pytest.fixture
def paraphraser(server: ChatServer) -> Iterator[ModelParaphraser]:
    with OpenAI(api_key="none", base_url=server.url, max_retries=0) as client:
        yield ModelParaphraser(client, model="tiny", temperature=0)


def test_the_model_is_given_the_passage_and_its_answer_is_the_question(
    server: ChatServer, paraphraser: ModelParaphraser
) -> None:
    assert paraphraser.question_for("She wants the green suitcase.") == "Which bag does grandmother want?"

    (request,) = server.asked
    assert request["model"] == paraphraser.name == "tiny"
    assert request["temperature"] == 0
    assert request["messages"][-1] == {"role": "user", "content": "She wants the green suitcase."}


def test_quotation_marks_and_line_breaks_around_the_question_are_left_out(
    server: ChatServer, paraphraser: ModelParaphraser
) -> None:
    server.answer = '\n"Vilken väska\nvill mormor ha?"\n'

    assert paraphraser.question_for("x") == "Vilken väska vill mormor ha?"


def test_no_answer_is_no_question(server: ChatServer, paraphraser: ModelParaphraser) -> None:
    server.answer = None

    assert paraphraser.question_for("x") == ""


def test_only_the_beginning_of_a_long_turn_is_sent_and_only_what_can_be_sent(
    server: ChatServer, paraphraser: ModelParaphraser
) -> None:
    paraphraser.question_for("\ud83d" + "x" * 10_000)

    assert server.asked[0]["messages"][-1]["content"] == "\ufffd" + "x" * (LONGEST_PASSAGE - 1)


def test_a_server_that_refuses_is_named_with_what_to_check(server: ChatServer, paraphraser: ModelParaphraser) -> None:
    server.status = 404

    with pytest.raises(ModelError, match=r"127\.0\.0\.1.* gave no paraphrase with tiny: .*404.*; check the address"):
        paraphraser.question_for("x")
