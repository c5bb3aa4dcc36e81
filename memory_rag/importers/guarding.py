"""One bad conversation doesn't lose the file: what it breaks on is counted, and the next one is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from memory_rag.importers.tally import Skipped

T = TypeVar("T")

FAULTS: Final = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What a shape that nobody foresaw may lead to."""


def guarded(read: Callable[[], Iterator[T]], *, where: str) -> Iterator[T | Skipped]:
    """Yield what ``read`` yields; if it breaks on a shape that nobody foresaw, a ``Skipped`` in place of the rest."""
    try:
        yield from read()
    except FAULTS as error:
        yield Skipped(f"a conversation of a shape that isn't known ({type(error).__name__})", where)
