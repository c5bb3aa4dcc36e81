"""A whole memory is written out from a server as from a file, line by line, and put back into either."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory_rag.memory import Memory
from memory_rag.store.whole import is_untouched, row_counts
from tests.end_to_end.full_memory import filled, opened


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The export of a memory with something in every table."""
    place = tmp_path_factory.mktemp("full")
    filled(place / "memory", place)
    return exported(place / "memory")


def exported(place: Path | str, **given: Any) -> bytes:
    with opened(place, **given) as memory:
        return "".join(memory.export()).encode()


def put_back(content: bytes, folder: Path, place: Path | str, **given: Any) -> None:
    (folder / "export.jsonl").write_bytes(content)
    with opened(place, **given) as memory:
        assert is_untouched(memory.store.connections)
        memory.import_path(folder / "export.jsonl")
        assert not is_untouched(memory.store.connections)


def test_an_export_goes_over_to_a_server_and_back_without_a_byte_changed(
    content: bytes, postgres_url: str, tmp_path: Path
) -> None:
    put_back(content, tmp_path, postgres_url, owner="moved")
    from_server = exported(postgres_url, owner="moved")
    put_back(from_server, tmp_path, tmp_path / "again")

    assert from_server == content
    assert exported(tmp_path / "again") == content


def test_what_was_put_back_on_a_server_goes_on_counting_where_it_was(
    content: bytes, postgres_url: str, tmp_path: Path
) -> None:
    put_back(content, tmp_path, tmp_path / "memory")
    put_back(content, tmp_path, postgres_url, owner="grows")
    added = []
    places: list[tuple[Path | str, dict[str, Any]]] = [(tmp_path / "memory", {}), (postgres_url, {"owner": "grows"})]
    for place, given in places:
        with opened(place, **given) as memory:
            turn_id, pin_id = memory.add("one more").turn_id, memory.prompt.pins.add("another").pin_id
            added.append((turn_id, pin_id, memory.store.last_seq))

    assert added[0] == added[1] == (turn_id, "p2", 16)


def test_rows_are_counted_alike(content: bytes, postgres_url: str, tmp_path: Path) -> None:
    put_back(content, tmp_path, tmp_path / "memory")
    put_back(content, tmp_path, postgres_url, owner="counted")
    counts = []
    places: list[tuple[Path | str, dict[str, Any]]] = [
        (tmp_path / "memory", {}),
        (postgres_url, {"owner": "counted"}),
    ]
    for place, given in places:
        with Memory.open(place, embedder="none", **given) as memory:
            counts.append(row_counts(memory.store.connections))

    assert counts[0] == counts[1]
    assert counts[0]["versions"] == 3
