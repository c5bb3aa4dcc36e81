"""What breaks on one conversation is counted, and what came before it is kept."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.importers.guarding import guarded
from memory_rag.importers.tally import Skipped


@pytest.mark.parametrize(
    "error", [TypeError("x"), KeyError("x"), AttributeError("x"), OverflowError("x"), RecursionError()]
)
def test_a_shape_that_nobody_foresaw_is_skipped(error: Exception) -> None:
    def read() -> Iterator[str]:
        yield "a"
        raise error

    assert list(guarded(read, where="item 3")) == [
        "a",
        Skipped(f"a conversation of a shape that isn't known ({type(error).__name__})", "item 3"),
    ]


def test_a_file_that_cannot_be_read_is_refused_all_the_same() -> None:
    def read() -> Iterator[str]:
        raise ImportFormatError("broken")
        yield ""

    with pytest.raises(ImportFormatError, match="broken"):
        list(guarded(read, where="item 3"))
