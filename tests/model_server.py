"""A chat model's server on this machine that answers as it is told, for tests of whatever speaks to one."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """One HTTP response. With ``pieces`` it is sent in those, each when its turn comes; None breaks it off there."""

    body: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: Iterable[str | None] | None = None


def completion(text: str, *, finish_reason: str = "stop") -> dict[str, Any]:
    """What ``/chat/completions`` gives for a model that said this."""
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 0,
        "model": "small",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason},
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


def streamed(*texts: str | None, usage: bool = True, ends: bool = True) -> Iterator[str | None]:
    """What ``/chat/completions`` streams for a model that says these pieces; None breaks the connection off."""
    for text in texts:
        if text is None:
            yield None
            return
        yield _event({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})
    if ends:
        yield _event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    if usage:
        yield _event({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}})
    yield "data: [DONE]\n\n"


def _event(chunk: dict[str, Any]) -> str:
    whole = {"id": "chat-1", "object": "chat.completion.chunk", "created": 0, "model": "small", **chunk}
    return f"data: {json.dumps(whole)}\n\n"


def embeddings(texts: Sequence[str], *, dim: int = 4) -> dict[str, Any]:
    """What ``/embeddings`` gives: vectors that only tell texts of different lengths apart."""
    rows = [[1.0, *(float(len(text) >> shift & 1) for shift in range(dim - 1))] for text in texts]
    return {
        "object": "list",
        "model": "small",
        "data": [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)],
        "usage": {"prompt_tokens": 3, "total_tokens": 3},
    }


def response(text: str) -> dict[str, Any]:
    """What ``/responses`` gives for a model that said this."""
    said = {"type": "output_text", "text": text, "annotations": []}
    return {
        "id": "resp-1",
        "object": "response",
        "created_at": 0,
        "model": "small",
        "status": "completed",
        "output": [{"type": "message", "id": "msg-1", "role": "assistant", "status": "completed", "content": [said]}],
        "usage": {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18},
    }


@dataclass
class ModelServer:
    """Gives the answers it was told to, one a request, and then what ``says`` makes of a request; keeps what it was
    asked."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    says: Callable[[dict[str, Any]], str] = lambda request: "I have nothing to say."
    paths: list[str] = field(default_factory=list)
    models: tuple[str, ...] = ("small",)
    _answers: list[Callable[[], Answer]] = field(default_factory=list)

    def will_say(self, said: object, *, finish_reason: str = "stop") -> None:
        """Let the model say this once: a string as it is, anything else as JSON."""
        text = said if isinstance(said, str) else json.dumps(said)
        self.will_send(json.dumps(completion(text, finish_reason=finish_reason)))

    def will_send(self, body: str, *, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Send this body once."""
        self._answers.append(lambda: Answer(body, status, headers or {}))

    def will_stream(self, *texts: str | None, usage: bool = True, ends: bool = True) -> None:
        """Let the model stream these pieces once; None breaks the connection off there."""
        self._answers.append(lambda: Answer(pieces=streamed(*texts, usage=usage, ends=ends)))

    def will_stream_slowly(self, first: str, until: threading.Event, *rest: str) -> None:
        """Let the model stream one piece, and the rest only after the event is set (or ten seconds)."""

        def pieces() -> Iterator[str | None]:
            chunks = list(streamed(first, *rest))
            yield chunks[0]
            until.wait(10)
            yield from chunks[1:]

        self._answers.append(lambda: Answer(pieces=pieces()))

    def will_fail(
        self, status: int, message: str = "no", *, code: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        """Fail once as the API does."""
        self.will_send(json.dumps({"error": {"message": message, "code": code}}), status=status, headers=headers)

    def will_wait(self, until: threading.Event, said: object = "Late.") -> None:
        """Let the model say this once, only after the event is set (or ten seconds)."""
        text = said if isinstance(said, str) else json.dumps(said)

        def answer() -> Answer:
            until.wait(10)
            return Answer(json.dumps(completion(text)))

        self._answers.append(answer)

    def answer(self, request: dict[str, Any], *, key: str | None, path: str = "/v1/chat/completions") -> Answer:
        self.requests.append(request)
        self.keys.append(key)
        self.paths.append(path)
        if self._answers:
            return self._answers.pop(0)()
        if path.endswith("/embeddings"):
            texts = request["input"]
            return Answer(json.dumps(embeddings([str(one) for one in (texts if isinstance(texts, list) else [texts])])))
        if path.endswith("/responses"):
            return Answer(json.dumps(response(self.says(request))))
        if request.get("stream"):
            return Answer(pieces=streamed(self.says(request)))
        return Answer(json.dumps(completion(self.says(request))))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ModelServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = self.model.answer(request, key=self.headers["Authorization"], path=self.path)
        if answer.pieces is not None:
            self.stream(answer.pieces)
            return
        self.send(answer)

    def do_GET(self) -> None:
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "me"} for name in self.model.models]
        self.send(Answer(json.dumps({"object": "list", "data": listed})))

    def send(self, answer: Answer) -> None:
        body = answer.body.encode()
        try:
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            # Whoever asked didn't wait for it.
            return

    def stream(self, pieces: Iterable[str | None]) -> None:
        try:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in pieces:
                if piece is None:
                    # Gone in the middle: the body that was promised doesn't end.
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                data = piece.encode()
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            return

    def end_headers(self) -> None:
        # Whoever asks and never closes is left with no open socket.
        self.send_header("Connection", "close")
        super().end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing on stderr."""


class _Listener(ThreadingHTTPServer):
    """Takes as many clients at once as come; the five that are usual may be reset."""

    request_queue_size = 128


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """Serve on a free port of this machine until the end; ``url`` ends in /v1."""
    server = ModelServer()

    handler = type("Handler", (_Handler,), {"model": server})
    with _Listener(("127.0.0.1", 0), handler) as listener:
        listener.daemon_threads = True
        server.url = f"http://127.0.0.1:{listener.server_address[1]}/v1"
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown()
            thread.join()
