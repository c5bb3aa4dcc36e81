"""``memory-rag serve`` as it is started by hand."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from tests.interfaces.serving.served import get, post

RUN = [sys.executable, "-m", "memory_rag", "--embedder", "none"]


def test_it_says_where_it_serves_and_leaves_when_it_is_told_to(tmp_path: Path) -> None:
    environment = {**os.environ, "MEMORY_RAG_HOME": str(tmp_path)}
    command = [*RUN, "serve", "--port", "0", "--upstream", "http://127.0.0.1:9/v1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        told = [process.stderr.readline() for _ in range(4)]
        url = re.search(r"http://\S+", told[1])
        assert url is not None
        page = get(url[0])
        keyed = {"Authorization": "Bearer sk-not-for-logs", "X-Memory-Token": "sk-not-for-logs"}
        chat = post(f"{url[0]}v1/chat/completions", json={"model": "m", "messages": []}, headers=keyed)
        get(f"{url[0]}turn?id=sk-not-for-logs")
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        rest = process.stderr.read()

    assert page.status_code == 200
    assert chat.status_code == 502
    assert "can't be reached" in chat.text
    assert rest == ""
    assert told[2].strip() == f"chat      {url[0]}v1, answered by http://127.0.0.1:9/v1"


def test_another_address_needs_a_token_and_an_upstream_is_a_url_without_a_key(tmp_path: Path) -> None:
    environment = {**os.environ, "MEMORY_RAG_HOME": str(tmp_path)}

    def said(*options: str) -> str:
        command = [*RUN, "serve", "--port", "0", *options]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
        assert done.returncode == 1
        return done.stderr

    assert "a token is needed" in said("--host", "0.0.0.0")
    assert "is no http or https URL" in said("--upstream", "localhost:11434")
    keyed = said("--upstream", "http://user:sk-secret@localhost/v1")
    assert "MEMORY_RAG_UPSTREAM_KEY" in keyed
    assert "sk-secret" not in keyed
