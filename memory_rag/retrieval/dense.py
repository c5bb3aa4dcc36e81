"""Dense recall: vectors of turns and passages, kept in step with the store, and found by meaning."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Embedder, Vectors, checked_vectors
from memory_rag.retrieval.codes import CodedVectors
from memory_rag.retrieval.embedding_batches import Batch, Pace, Unlocked, batches
from memory_rag.retrieval.faiss_indexes import FlatVectors
from memory_rag.retrieval.kept_codes import KEPT_FROM, KeptCodes
from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.sampled_vectors import SampledVectors
from memory_rag.retrieval.scene import MISSING
from memory_rag.retrieval.selected import Selected
from memory_rag.retrieval.turn_table import Mask, TurnTable
from memory_rag.retrieval.vector_groups import NOTHING, MadeFrom, VectorGroups
from memory_rag.retrieval.vectors import KeptVectors, VectorRows, ids_of
from memory_rag.store.turn_store import TurnStore
from memory_rag.turns import Span

_DEAD_SHARE: Final = 0.3
_MANY: Final = 64
"""Turns to embed from which on it is worth to look whether their words were embedded before."""
_UNKEPT_SHARE: Final = 0.1
_FEW: Final = 1 / 8
"""Of all vectors, so many are compared one by one: sooner done than to look for them among the nearest of all."""


class DenseIndex:
    """The vectors of one embedder: kept by turn and words, in memory in FAISS, matched to the table's entries."""

    def __init__(
        self,
        kept: KeptVectors,
        embedder: Embedder,
        *,
        alone: Callable[[], AbstractContextManager[None]],
        codes_path: Path | None = None,
        kept_from: int = KEPT_FROM,
    ) -> None:
        """Follow the vectors that are kept; ``alone()`` lets nobody else write vectors meanwhile.

        Codes of ``kept_from`` vectors or more are kept in the file ``codes_path``, if there is to be one.
        """
        self.embedder = embedder
        self._kept = kept
        self._alone = alone
        self._flat = FlatVectors(kept.rows)
        self._codes = CodedVectors(self._flat)
        self._codes_path = codes_path
        self._kept_from, self._n_kept = kept_from, 0
        self._groups = VectorGroups()
        self._table: TurnTable | None = None
        self._waiting: Entries | None = None
        self._put_off: set[int] = set()
        self._sampled = SampledVectors()
        self._generation: object = None
        self._are_codes_right = True

    def __len__(self) -> int:
        """The number of vectors, those of removed turns included until the next compaction."""
        return len(self._flat)

    def catch_up(self, table: TurnTable) -> None:
        """Take in vectors that were written since, by this process or another, and match them to the table."""
        saved = self._saved_codes() if self._kept.n_read == 0 else None
        self._take_in_kept()
        if saved is not None and self._kept.checked is not None:
            self._codes, self._n_kept = CodedVectors(self._flat, codes=saved.codes), len(saved.codes)
        if self._table is not table:
            self._table = table
            self._put_off.clear()
        if self._groups.catch_up(table):
            self._sampled.look_again()
            self._waiting = None

    def pending(self, table: TurnTable) -> npt.NDArray[np.int64]:
        """Return the living entries that have no vector yet, oldest first. Call after :meth:`catch_up`.

        What is left out of recall (tool traffic) isn't embedded; keyword search finds it when asked.
        """
        if self._waiting is None:
            self._waiting = self._groups.waiting(table)
        return self._waiting

    def embed(
        self,
        table: TurnTable,
        store: TurnStore,
        *,
        limit: int | None = None,
        budget: int | None = None,
        progress: Callable[[int, int], None] | None = None,
        unlocked: Unlocked = nullcontext,
    ) -> int:
        """Embed pending turns in batches, each durable when it is done, and return how many turns.

        At most ``limit`` turns of ``budget`` code points together; a longer turn is left pending for a call without.
        ``progress`` is called with (done, all) turns after each batch. May be stopped at any time and called again.
        The embedder works within ``unlocked()``, where others may search and catch up.
        """
        waiting = [entry for entry in self.pending(table).tolist() if budget is None or entry not in self._put_off]
        waiting = waiting[:limit]
        done = 0
        if progress is not None:
            progress(0, len(waiting))
        pace = Pace()
        groups: VectorGroups | None = None
        made: MadeFrom | None = None
        try:
            for batch in batches(
                waiting,
                table,
                store,
                embedder=self.embedder,
                pace=pace,
                budget=budget,
                put_off=self._put_off,
                unlocked=unlocked,
            ):
                if len(waiting) >= _MANY and groups is not self._groups:
                    # Another process may write the file anew meanwhile, with other numbers.
                    groups, made = self._groups, self._groups.by_words()
                with pace.measured():
                    self._write(batch, store, unlocked, made=made, at_once=pace.n_passages)
                done += len(batch.turn_ids)
                if progress is not None:
                    progress(done, len(waiting))
        finally:
            self.catch_up(table)
        return done

    def cosines(self, query: Vectors, entries: Entries) -> Scores:
        """Return each entry's best passage's inner product with a query vector; ``MISSING`` without a vector."""
        places = self._groups.of_entry[entries]
        found = np.full(len(entries), MISSING)
        known = np.flatnonzero(places != NOTHING)
        if len(known) == 0:
            return found
        places = places[known]
        if self._groups.are_single:
            found[known] = self._flat.scores_of(query, self._groups.starts[places])
        else:
            numbers, firsts = self._groups.vectors_of(places)
            found[known] = np.maximum.reduceat(self._flat.scores_of(query, numbers), firsts)
        return found

    def spread(self, query: Vectors, entries: Entries, *, without: Entries | None = None) -> tuple[float, float]:
        """Return mean and standard deviation of the cosines of those of these entries that have a vector.

        But for those ``without`` which it is asked. It is quickest for an array that it was asked about before.
        """
        return self._sampled.spread(query, entries, groups=self._groups, vectors=self._flat, without=without)

    def nearest(self, query: Vectors, *, n: int, searched: Selected) -> Entries:
        """Return the n nearest of the entries that are searched, best first; fewer if fewer have a vector.

        One of the last may be missed where many are searched of many.
        """
        n_vectors = len(self)
        if len(searched) <= n_vectors * _FEW:
            entries = searched.holding(lambda at: self._groups.covered[at])
            return entries[np.argsort(-self.cosines(query, entries), kind="stable")[:n]]
        # A little more than one asks for: some vectors are of removed turns, or of others that aren't searched.
        wanted = n * n_vectors // max(1, min(len(searched), len(self._groups.starts))) + n // 8 + 8
        while True:
            numbers = self._codes.nearest(query, k=min(wanted, n_vectors))
            entries = self._groups.entry_of[numbers]
            entries = entries[(entries >= 0) & searched[entries]]
            if not self._groups.are_single:
                _, first = np.unique(entries, return_index=True)
                entries = entries[np.sort(first)]
            if len(entries) >= n or wanted >= n_vectors:
                return entries[:n]
            wanted *= 8

    def best_spans(self, query: Vectors, entries: Entries) -> list[Span | None]:
        """Return where, in the searchable text, each entry's best passage lies; None without a vector."""
        places = self._groups.of_entry[entries]
        known = places[places != NOTHING]
        best = self._groups.starts[known]
        if len(known) and not self._groups.are_single:
            numbers, firsts = self._groups.vectors_of(known)
            scores = np.split(self._flat.scores_of(query, numbers), firsts[1:])
            best = best + np.array([np.argmax(one) for one in scores], np.int64)
        spans = iter(self._groups.ids[best][["start", "end"]].tolist())
        return [None if place == NOTHING else Span(*next(spans)) for place in places.tolist()]

    @property
    def covered(self) -> Mask:
        """Which entries have a vector."""
        return self._groups.covered

    @property
    def is_worth_saving(self) -> bool:
        """Whether there are many vectors whose codes aren't kept."""
        enough = self._codes_path is not None and len(self) >= self._kept_from
        return enough and len(self) - self._n_kept > len(self) * _UNKEPT_SHARE

    def save(self) -> None:
        """Keep the codes of many vectors for the next process. Call under the memory's lock, caught up.

        Raises:
            StoreError: they can't be written, which costs the next process a few seconds.
        """
        path = self._codes_path
        if not self._are_codes_right:
            self._codes.close()
            self._codes, self._are_codes_right = CodedVectors(self._flat), True
        if path is not None and self.is_worth_saving and (codes := self._codes.of_all()) is not None:
            KeptCodes(codes, self._kept.as_checked()).write(path)
            self._n_kept = len(codes)

    def close(self) -> None:
        """Stop what works in the background."""
        self._codes.close()

    def compact(self, table: TurnTable) -> bool:
        """Write the file anew without the vectors of removed turns if they are many, or a block of it is damaged.

        Tells whether it was done.
        """
        living = self._living_vectors(table)
        if len(self._groups.ids) == 0 or (living.mean() >= 1 - _DEAD_SHARE and not self._kept.n_damaged):
            return False
        with self._alone():
            self.catch_up(table)
            living = self._living_vectors(table)
            self._kept.replace_with(VectorRows(self._flat.rows(np.flatnonzero(living)), self._groups.ids[living]))
        self.catch_up(table)
        return True

    def _living_vectors(self, table: TurnTable) -> Mask:
        """Return which vectors are of use; those of turns that the table hasn't heard of yet are another process's."""
        newest = int(table.row.max()) if len(table) else 0
        living: Mask = (self._groups.owners(table) != NOTHING) | (self._groups.ids["row"] > newest)
        return living

    def _write(
        self, batch: Batch, store: TurnStore, unlocked: Unlocked, *, made: MadeFrom | None, at_once: int
    ) -> None:
        ids = ids_of(batch.ids)
        same = np.full(len(ids), NOTHING) if made is None else made.numbers(ids)
        known, new = np.flatnonzero(same != NOTHING), np.flatnonzero(same == NOTHING)
        vectors = np.empty((len(ids), self.embedder.dim), np.float32)
        vectors[known] = self._flat.rows(same[known])
        is_made = same != NOTHING
        # A turn of 20 MB has 50,000 passages. Between parts of them it is seen that it was forgotten, and a memory
        # that was closed meanwhile raises.
        for start in range(0, len(new), at_once):
            part = new[start : start + at_once]
            places = (part[batch.still_said(store)[part]] if start else part).tolist()
            if not places:
                continue
            with unlocked():
                given = self.embedder.embed_turns([batch.texts[place] for place in places])
            names = [batch.names[place] for place in places]
            vectors[places] = checked_vectors(given, n=len(places), dim=self.embedder.dim, names=names)
            is_made[places] = True
        with self._alone():
            self._take_in_kept()
            # Under the lock: a turn that was forgotten while it was embedded must not come after it.
            said = is_made & batch.still_said(store)
            self._kept.append(vectors[said], ids[said])

    def _saved_codes(self) -> KeptCodes | None:
        path = self._codes_path
        saved = KeptCodes.read(path) if path is not None and path.exists() else None
        self._kept.checked = None if saved is None else saved.checked
        return saved

    def _take_in_kept(self) -> None:
        """Read what was kept since, by this process or another, so that our rows go behind it."""
        rows = self._kept.read_new()
        if rows is None:
            while rows is None:
                rows = self._kept.read_new()
            self._forget(rows)
        if len(rows.ids):
            self._flat.put(self._kept.rows)
            self._groups.add(rows.ids)
        self._generation = self._kept.generation

    def _forget(self, rows: VectorRows) -> None:
        """Forget what was read before these: all of it, or only whose the vectors are, if they are the same ones."""
        self._n_kept, self._groups = 0, VectorGroups()
        self._sampled.forget()
        if self._generation is None or self._kept.generation != self._generation or len(rows.ids) < len(self):
            self._codes.close()
            self._flat = FlatVectors(self._kept.rows)
            self._codes = CodedVectors(self._flat)
            self._are_codes_right = True
        else:
            # Some were taken out. Their codes name them still, and they are nobody's; kept, they would tell of them.
            self._are_codes_right = False

    def agreement(self, *, n: int = 20) -> float | None:
        """Return what share of the 10 nearest vectors a search finds, of n questions that lie between its own vectors.

        None where every vector is compared, so that none is missed.
        """
        return self._codes.agreement(n)
