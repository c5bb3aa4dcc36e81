"""A chat model's server on this machine that answers as it is told, for tests of whatever speaks to one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """One HTTP response."""

    body: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


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


@dataclass
class ModelServer:
    """Gives the answers it was told to, one a request, and then what ``says`` makes of a request; keeps what it was
    asked."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    says: Callable[[dict[str, Any]], str] = lambda request: "I have nothing to say."
    _answers: list[Callable[[], Answer]] = field(default_factory=list)

    def will_say(self, said: object, *, finish_reason: str = "stop") -> None:
        """Let the model say this once: a string as it is, anything else as JSON."""
        text = said if isinstance(said, str) else json.dumps(said)
        self.will_send(json.dumps(completion(text, finish_reason=finish_reason)))

    def will_send(self, body: str, *, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Send this body once."""
        self._answers.append(lambda: Answer(body, status, headers or {}))

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

    def answer(self, request: dict[str, Any], *, key: str | None) -> Answer:
        self.requests.append(request)
        self.keys.append(key)
        if self._answers:
            return self._answers.pop(0)()
        return Answer(json.dumps(completion(self.says(request))))


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """Serve on a free port of this machine until the end; ``url`` ends in /v1."""
    server = ModelServer()

    class Server(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = server.answer(request, key=self.headers["Authorization"])
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

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Say nothing on stderr."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as listener:
        listener.daemon_threads = True
        server.url = f"http://127.0.0.1:{listener.server_address[1]}/v1"
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown()
            thread.join()
