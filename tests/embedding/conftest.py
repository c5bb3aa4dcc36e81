"""An embeddings server on this machine that answers as it is told, and the default embedder, loaded once."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from memory_rag.embedding.minilm import MiniLmEmbedder

DIM = 8


@dataclass(frozen=True)
class Answer:
    """One HTTP response."""

    body: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class EmbeddingsServer:
    """Gives the answers it was told to, one a request, and then embeddings; keeps what it was asked."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    _answers: list[Callable[[], Answer]] = field(default_factory=list)

    def will_answer(self, body: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Give this body once: a string as it is, anything else as JSON."""
        text = body if isinstance(body, str) else json.dumps(body)
        self._answers.append(lambda: Answer(text, status, headers or {}))

    def will_give(self, *vectors: Sequence[float], indexes: Sequence[int] | None = None) -> None:
        """Give these vectors once, with these indexes or in order."""
        numbers = range(len(vectors)) if indexes is None else indexes
        rows = [{"index": index, "embedding": row} for index, row in zip(numbers, vectors, strict=True)]
        self.will_answer({"object": "list", "data": rows})

    def will_fail(
        self, status: int, message: str = "no", *, code: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        """Fail once as the API does."""
        self.will_answer({"error": {"message": message, "code": code}}, status=status, headers=headers)

    def will_hang(self, until: threading.Event) -> None:
        """Answer once only after the event is set."""
        self._answers.append(lambda: Answer("{}" if until.wait(10) else ""))

    @staticmethod
    def vector(text: str, *, dim: int = DIM) -> list[float]:
        """What is given for a text when nothing else was told: bytes of its hash, around zero."""
        return [(byte - 127.5) / 128 for byte in hashlib.sha256(text.encode()).digest()[:dim]]

    def answer(self, request: dict[str, Any], *, key: str) -> Answer:
        self.requests.append(request)
        self.keys.append(key)
        if not self._answers:
            dim = request.get("dimensions", DIM)
            self.will_give(*[self.vector(text, dim=dim) for text in request["input"]])
        return self._answers.pop(0)()


@pytest.fixture
def embeddings_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingsServer]:
    server = EmbeddingsServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = server.answer(request, key=self.headers["Authorization"])
            body = answer.body.encode()
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Say nothing on stderr."""

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        server.url = f"http://127.0.0.1:{listener.server_address[1]}/v1"
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        listener.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def minilm() -> MiniLmEmbedder:
    return MiniLmEmbedder()
