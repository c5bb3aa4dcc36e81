"""A server of ours for a fuzzer: ``python -m tests.interfaces.serving.fuzzed COMMAND…``.

In the command ``{url}`` is filled in; the exit code is the command's.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from memory_rag.interfaces.endpoint.upstream import Upstream
from memory_rag.interfaces.serving.app import Service, app_of
from memory_rag.interfaces.serving.memories import Memories
from tests.interfaces.serving.served import opened, serving
from tests.model_server import model_server


def main(command: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder, model_server() as model:
        memories = Memories(opened(Path(folder), "main"), name="main", home=Path(folder))
        try:
            with serving(app_of(Service(memories, Upstream(model.url), has_mcp=False))) as url:
                return subprocess.run([word.replace("{url}", url) for word in command], check=False).returncode
        finally:
            memories.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
