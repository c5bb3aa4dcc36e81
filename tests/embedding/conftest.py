"""An embeddings server on this machine that answers as it is told, and the default embedder, loaded once."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from memory_rag.embedding.minilm import MiniLmEmbedder


@dataclass(frozen=True)
class Answer:
    """One HTTP response."""

    body: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def vector_of(text: str, dim: int) -> list[float]:
    """A vector that depends on the text alone: bytes of its hash, around zero."""
    digest = b"".join(hashlib.sha256(f"{part}{text}".encode()).digest() for part in range(dim // 32 + 1))
    return [(byte - 127.5) / 128 for byte in digest[:dim]]


def embeddings(request: dict[str, Any]) -> Answer:
    """The answer of a server that works: a vector of 8 numbers, or of as many as asked for, per text."""
    rows = [
        {"object": "embedding", "index": index, "embedding": vector_of(text, request.get("dimensions", 8))}
        for index, text in enumerate(request["input"])
    ]
    return Answer(json.dumps({"object": "list", "model": request["model"], "data": rows}))


@dataclass
class EmbeddingsServer:
    """Answers the first requests from a script and later ones with embeddings; keeps what it was asked."""

    url: str = ""
    script: list[Callable[[dict[str, Any]], Answer]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def answer(self, request: dict[str, Any], *, key: str) -> Answer:
        self.requests.append(request)
        self.keys.append(key)
        return self.script.pop(0)(request) if self.script else embeddings(request)


@pytest.fixture
def embeddings_server() -> Iterator[EmbeddingsServer]:
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
