"""An app of ours on a free port of this machine."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from memory_rag.interfaces.serving.live_memory import LiveMemory
from memory_rag.interfaces.serving.patience import PatientProtocol
from memory_rag.memory import Memory

PATIENCE_S = 60.0
"""For what must happen; a machine that others use may take its time."""


def until(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


def get(url: str, **wishes: Any) -> httpx2.Response:
    return httpx2.get(url, **{"timeout": PATIENCE_S, **wishes})


def post(url: str, **wishes: Any) -> httpx2.Response:
    return httpx2.post(url, **{"timeout": PATIENCE_S, **wishes})


def opened(home: Path, name: str) -> LiveMemory:
    return LiveMemory(home / name, lambda create: Memory.open(home / name, embedder="none", create=create))


@contextmanager
def serving(app: Any, *, http: type[PatientProtocol] = PatientProtocol) -> Iterator[str]:
    """Serve an app until the end, and give its URL."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(
        app, http=http, ws="none", lifespan="on", log_config=None, access_log=False, timeout_graceful_shutdown=2
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
