"""A file that is read twice gives the same, whether it is small enough to be kept or not."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_rag.importers import ImportOptions, importers
from memory_rag.importers.reading_twice import HELD_BYTES, read_twice
from memory_rag.importers.source import SourceFile


@pytest.mark.parametrize(("size", "n_read"), [(0, 1), (HELD_BYTES, 1), (HELD_BYTES + 1, 3)])
def test_a_small_file_is_read_once(size: int, n_read: int) -> None:
    counted = []

    def read() -> Iterator[int]:
        counted.append(1)
        yield from (1, 2, 3)

    again = read_twice(read, size=size)

    assert [list(again()) for _ in range(3)] == [[1, 2, 3]] * 3
    assert len(counted) == n_read


@pytest.mark.parametrize("name", ["claude-code", "whatsapp"])
def test_a_large_file_gives_what_a_small_one_gives(name: str) -> None:
    def line(number: int, parent: int) -> str:
        said = {"role": "user", "content": f"rad {number}"}
        record = {"type": "user", "uuid": f"u{number}", "parentUuid": f"u{parent}", "sessionId": "s", "message": said}
        return json.dumps(record) + "\n"

    contents = {
        "claude-code": line(1, 0) + line(2, 1) + line(3, 1) + '{"type": "us',
        "whatsapp": "13/1/24, 07:10 - Ada: hej\r\nrad två\r\n1/2/24, 07:11 - Bo: ja\r\n",
    }
    content = contents[name].encode()

    def read(size: int) -> list[object]:
        source = SourceFile("f", Path("/x/f.jsonl"), size, lambda: io.BytesIO(content))
        return list(importers()[name].read(source, ImportOptions()))

    assert read(len(content)) == read(HELD_BYTES + 1)
    assert len(read(len(content))) >= 3
