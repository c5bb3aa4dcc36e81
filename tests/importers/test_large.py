"""A gigabyte is read in little memory, and fast."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

GIGABYTE = 1_000_000_000
MOST_MEMORY = 400_000_000
N_MESSAGES = 60

IMPORT = """
import json, sys, time
from pathlib import Path
from typing import Any
from memory_rag.memory import Memory
from tests.peak import peak_bytes

with Memory.open(Path(sys.argv[2]), embedder="none") as memory:
    began = time.process_time()
    report = memory.import_path(sys.argv[1])
    seconds = time.process_time() - began
print(json.dumps({"read": report.read, "kept": report.kept, "seconds": seconds, "peak": peak_bytes()}))
"""


def write_export(path: Path) -> int:
    """Write a ChatGPT export of a gigabyte, one conversation like the other but for its ids, and count its messages."""
    nodes: dict[str, dict[str, Any]] = {"n0": {"id": "n0", "parent": None, "children": ["n1"], "message": None}}
    for at in range(1, N_MESSAGES + 1):
        words = f"message {at} of a talk about bread, rivers and winter mornings " * (3 if at % 2 else 9)
        message = {
            "id": f"n{at}",
            "author": {"role": "user" if at % 2 else "assistant", "name": None, "metadata": {}},
            "create_time": 1764460800.25 + at,
            "content": {"content_type": "text", "parts": [words]},
            "metadata": {"model_slug": "some-model", "parent_id": f"n{at - 1}", "request_id": "r" * 36},
            "recipient": "all",
        }
        nodes[f"n{at}"] = {"id": f"n{at}", "parent": f"n{at - 1}", "children": [f"n{at + 1}"], "message": message}
    body = json.dumps({"title": "Talk", "mapping": nodes, "current_node": f"n{N_MESSAGES}"})[1:]
    n_talks = GIGABYTE // (len(body) + 40)
    with path.open("w", encoding="utf-8") as file:
        for number in range(n_talks):
            file.write(f'{"," if number else "["}{{"conversation_id": "talk-{number}", {body}\n')
        file.write("]")
    return n_talks * N_MESSAGES


def test_an_export_of_a_gigabyte_takes_less_than_400_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    n_messages = write_export(path)

    ended = subprocess.run(
        [sys.executable, "-c", IMPORT, str(path), str(tmp_path / "memory")], capture_output=True, check=True
    )

    found = json.loads(ended.stdout)
    assert (found["read"], found["kept"]) == (n_messages, n_messages)
    assert found["peak"] < MOST_MEMORY, found
