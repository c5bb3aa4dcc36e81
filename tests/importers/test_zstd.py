"""Sessions that Codex compressed are read as what is in them, and named where nothing can read them."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]

needs_zstd = pytest.mark.skipif(
    find_spec("zstandard") is None, reason="needs the extra: pip install 'memory-rag[zstd]'"
)
REFUSED = """
import sys
sys.modules["zstandard"] = None
from memory_rag.errors import ImportFormatError
from memory_rag.importers import open_import
try:
    open_import(sys.argv[1])
except ImportFormatError as error:
    print(error)
"""


def session(*texts: str, first: int = 0) -> bytes:
    def line(number: int, text: str) -> str:
        message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        record = {"timestamp": f"2026-04-01T09:00:{number:02}Z", "type": "response_item", "payload": message}
        return json.dumps(record, ensure_ascii=False) + "\n"

    return "".join(line(number, text) for number, text in enumerate(texts, first)).encode()


def compressed(content: bytes) -> bytes:
    found: bytes = import_module("zstandard").ZstdCompressor(level=3).compress(content)
    return found


@needs_zstd
def test_a_compressed_session_is_the_same_as_the_plain_one(made: Made, import_all: ImportAll) -> None:
    content = session("hej", "på\u2028dig", "ord " * 200_000)
    plain = import_all(made("a/rollout-x.jsonl", content))
    packed = import_all(made("b/rollout-x.jsonl.zst", compressed(content)))

    assert packed.texts == plain.texts == ["hej", "på\u2028dig", "ord " * 200_000]
    assert packed.keys == plain.keys


@needs_zstd
def test_what_was_added_in_a_frame_of_its_own_is_read(made: Made, import_all: ImportAll) -> None:
    content = compressed(session("ett", "två")) + compressed(session("tre", first=2))

    assert import_all(made("rollout-x.jsonl.zst", content)).texts == ["ett", "två", "tre"]


@needs_zstd
def test_one_in_a_zip_or_beside_its_plain_twin_is_read(made: Made, import_all: ImportAll, tmp_path: Path) -> None:
    made("in/rollout-x.jsonl.zst", compressed(session("ett")))
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.write(tmp_path / "in" / "rollout-x.jsonl.zst", "sessions/rollout-x.jsonl.zst")
    made("in/rollout-x.jsonl", session("ett", "två"))

    assert import_all(tmp_path / "in.zip").texts == ["ett"]
    found = import_all(tmp_path / "in")
    assert set(found.keys) == set(import_all(tmp_path / "in" / "rollout-x.jsonl").keys)


@needs_zstd
@pytest.mark.parametrize("broken", [b"no zstd at all", b"\x28\xb5\x2f\xfd\x04\x00"])
def test_a_damaged_one_is_refused(made: Made, import_all: ImportAll, broken: bytes) -> None:
    with pytest.raises(ImportFormatError, match=r"rollout-x\.jsonl\.zst: (can't be read|nothing to import)"):
        import_all(made("rollout-x.jsonl.zst", broken))


@needs_zstd
def test_one_that_was_cut_costs_what_was_cut(made: Made, import_all: ImportAll) -> None:
    whole = compressed(session(*(f"rad {number}" for number in range(50)))) + compressed(session("sist", first=50))
    found = import_all(made("rollout-x.jsonl.zst", whole[:-8]))

    assert len(found.turns) >= 50


def test_without_what_reads_it_the_pip_line_is_named(made: Made) -> None:
    path = made("rollout-x.jsonl.zst", b"\x28\xb5\x2f\xfd")
    ended = subprocess.run([sys.executable, "-c", REFUSED, str(path)], capture_output=True, text=True, check=True)

    assert ended.stdout == (
        f"{path}: it is compressed, and zstandard is not installed; install it with: pip install 'memory-rag[zstd]'\n"
    )
