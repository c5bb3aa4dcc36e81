"""What is embedded together: turns that wait for their vectors, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

import numpy as np

from memory_rag.embedding.embedder import Embedder, as_embedded
from memory_rag.retrieval.turn_table import Mask, TurnTable, content_key
from memory_rag.store.turn_store import TurnStore
from memory_rag.turns import Span, Turn

_PASSAGES: Final = 256
_MOST_PASSAGES: Final = 8192
_SOON_S: Final = 0.5
_LONG: Final = 10_000
"""Code points of a text that takes some ten milliseconds to cut; one of 20 MB takes twenty seconds."""
Unlocked = Callable[[], AbstractContextManager[None]]
"""Gives up the memory's lock for as long as it is entered."""


class Pace:
    """How many passages make a batch: twice as many after one that was done soon, since to write takes a moment."""

    def __init__(self) -> None:
        self.n_passages = _PASSAGES

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Choose the next batch's size by how long this one takes."""
        began = monotonic()
        yield
        soon = monotonic() - began < _SOON_S
        self.n_passages = min(_MOST_PASSAGES, 2 * self.n_passages) if soon else _PASSAGES


@dataclass(slots=True)
class Batch:
    """Passages to embed together, whole turns at a time, read when the store's last change was ``seq`` or later."""

    seq: int
    texts: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    ids: list[tuple[int, int, int, int]] = field(default_factory=list)
    turn_ids: list[str] = field(default_factory=list)

    def add(self, turn: Turn, row: int, content: int, passages: Iterable[tuple[Span, str]]) -> None:
        self.turn_ids.append(turn.turn_id)
        for span, text in passages:
            self.texts.append(text)
            self.names.append(turn.turn_id)
            self.ids.append((row, content, span.start, span.end))

    def still_said(self, store: TurnStore) -> Mask:
        """Return which passages are of turns that are stored with the same words."""
        seq = store.last_seq
        if seq == self.seq:
            return np.ones(len(self.ids), np.bool_)
        turns = store.turns_at(list(dict.fromkeys(row for row, *_ in self.ids)))
        present = {row: content_key(turn) for row, turn in turns.items()}
        said = np.array([present.get(row) == content for row, content, *_ in self.ids], np.bool_)
        if said.all():
            self.seq = seq
        return said


def batches(
    waiting: Sequence[int],
    table: TurnTable,
    store: TurnStore,
    *,
    embedder: Embedder,
    pace: Pace,
    budget: int | None,
    put_off: set[int],
    unlocked: Unlocked,
) -> Iterator[Batch]:
    """Yield the entries that wait, whole turns at a time, of ``budget`` code points together.

    A turn that is longer than the budget alone is put off. A long one is cut into passages within ``unlocked()``.
    """
    batch: Batch | None = None
    used = 0
    for start in range(0, len(waiting), _PASSAGES):
        part = waiting[start : start + _PASSAGES]
        seq = store.last_seq
        turns = store.turns_at([int(table.row[entry]) for entry in part])
        for entry in part:
            row = int(table.row[entry])
            turn = turns.get(row)
            if turn is None:
                continue
            length = len(turn.searchable)
            if budget is not None and length > budget:
                put_off.add(entry)
                continue
            used += length
            if budget is not None and used > budget:
                break
            # The key of the words as they are read here: they may be newer than the table.
            batch = batch or Batch(seq)
            with unlocked() if length > _LONG else nullcontext():
                batch.add(turn, row, content_key(turn), _passages(turn, embedder))
            if len(batch.texts) >= pace.n_passages:
                yield batch
                batch = None
    if batch is not None:
        yield batch


def _passages(turn: Turn, embedder: Embedder) -> Iterator[tuple[Span, str]]:
    text = turn.searchable
    for span in embedder.passages(text):
        yield span, as_embedded(span.of(text), speaker=turn.speaker, embedder=embedder)
