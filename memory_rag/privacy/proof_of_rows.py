"""Every value of every row of one owner on a server, looked at for what was forgotten; and what can't be known."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from memory_rag.privacy.byte_search import ByteSearch
from memory_rag.privacy.proof import Proof, Trace, kinds_of
from memory_rag.privacy.sought import Needle
from memory_rag.store.erasing import Cell, ServerEraser

_AT_ONCE: Final = 2**20
"""Bytes of values that are looked at together."""


def prove_rows(
    place: str,
    eraser: ServerEraser,
    texts: Sequence[Needle],
    others: Sequence[Needle],
    *,
    left_out: int = 0,
    named: tuple[str, ...] = (),
    unlooked: tuple[str, ...] = (),
) -> Proof:
    """Look at every value that a server keeps of a memory; ``unlooked`` is what can't be looked at yet."""
    in_text, in_bytes = ByteSearch([one.data for one in texts]), ByteSearch([one.data for one in others])
    found: list[Trace] = []
    n_rows = n_bytes = 0
    window = _Window()
    for row in eraser.rows():
        n_rows += 1
        for cell in row:
            n_bytes += len(cell.data)
            window.take(cell)
        if window.n_bytes >= _AT_ONCE:
            found += window.traces(in_text, texts, in_bytes, others)
            window = _Window()
    found += window.traces(in_text, texts, in_bytes, others)
    aftermath = eraser.aftermath
    return Proof(
        place,
        n_rows,
        n_bytes,
        kinds_of(texts, others),
        tuple(found),
        unlooked,
        left_out,
        named,
        unit="rows",
        done=aftermath.done,
        beyond=aftermath.beyond,
    )


@dataclass(slots=True)
class _Window:
    """Values side by side, each of which is told by where it begins."""

    cells: list[Cell] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    n_bytes: int = 0

    def take(self, cell: Cell) -> None:
        self.cells.append(cell)
        self.starts.append(self.n_bytes)
        self.n_bytes += len(cell.data)

    def traces(
        self, in_text: ByteSearch, texts: Sequence[Needle], in_bytes: ByteSearch, others: Sequence[Needle]
    ) -> Iterator[Trace]:
        """Yield what a value holds, the first place of each in it."""
        data = b"".join(cell.data for cell in self.cells)
        for search, needles, looked_at in ((in_text, texts, data.lower()), (in_bytes, others, data)):
            seen: set[tuple[int, int]] = set()
            for number, at in search.found_in(looked_at):
                place = bisect_right(self.starts, at) - 1
                inside = at - self.starts[place]
                needle = needles[number]
                # Not what only stands across the border of two values.
                if inside + len(needle.data) <= len(self.cells[place].data) and (number, place) not in seen:
                    seen.add((number, place))
                    yield Trace(self.cells[place].name, inside, needle.kind, needle.encoding, needle.words)
