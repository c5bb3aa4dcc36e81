"""A memory's indexes as one: loaded when first needed, caught up before they answer, saved when it pays."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from memory_rag.embedding.catalogue import open_embedder
from memory_rag.embedding.loading import load_ahead
from memory_rag.errors import EmbedderError, MissingExtraError, StoreError
from memory_rag.retrieval.derived import Derived
from memory_rag.retrieval.filters import EVERYWHERE, Within
from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.retrieval.memory_languages import MemoryLanguages
from memory_rag.retrieval.passing import embed_in_passing
from memory_rag.retrieval.pools import PoolsOf
from memory_rag.retrieval.quote_source import StoredTurns
from memory_rag.retrieval.ranking import Entries, Ranking
from memory_rag.retrieval.ready import FAULTS, Ready
from memory_rag.retrieval.searcher import Mode, Searcher, SearchOptions
from memory_rag.retrieval.sides import Sides
from memory_rag.retrieval.snapshots import Snapshots
from memory_rag.retrieval.weights_file import ranker_by
from memory_rag.settings import Settings
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.text.analyzer import Analyzer
from memory_rag.text.instants import zone

if TYPE_CHECKING:
    from memory_rag.embedding.embedder import Embedder
    from memory_rag.retrieval.dense import DenseIndex
    from memory_rag.retrieval.embedding_batches import Unlocked
    from memory_rag.retrieval.quotes import QuoteSource

Progress = Callable[[str, int, int], None]
Answer = TypeVar("Answer")


class Indexes:
    """The keyword and dense index of one store. Not safe for threads by itself: the memory holds a lock around it."""

    def __init__(
        self, store: TurnWriter, derived: Derived, *, settings: Settings, embedder: Embedder | None = None
    ) -> None:
        self._store = store
        self._derived = derived
        self._settings = settings
        self._embedder = embedder
        self.languages = MemoryLanguages(store, setting=settings.language)
        self._keyword: KeywordIndex | None = None
        self._searcher: Searcher | None = None
        self._dense: DenseIndex | None = None
        self.snapshots = Snapshots(derived)
        self.n_uses = 0
        """Grows with every search; what works in the background waits until it doesn't."""
        self._embedding = False

    # -- searching

    def search(self, query: str, options: SearchOptions, *, today: date, unlocked: Unlocked = nullcontext) -> Ranking:
        """Catch up, embed a few pending turns (within ``unlocked()``) if vectors are asked for, and search."""
        if options.mode.uses_vectors:
            by = partial(self._searched, query=query, options=options, today=today)
            return self._once_ready(
                query, unlocked, lambda ready: ready.ranking(by, is_dense=options.mode is Mode.DENSE)
            )
        with self._store.connections.reading():
            return self._searched(self._caught_up(), None, query=query, options=options, today=today)

    def _searched(
        self, searcher: Searcher, dense: DenseIndex | None, *, query: str, options: SearchOptions, today: date
    ) -> Ranking:
        return searcher.search(query, options, dense=dense, today=today)

    def sides(self, query: str, *, within: Within = EVERYWHERE, unlocked: Unlocked = nullcontext) -> Sides:
        """Return both sides for other searches than those for turns, as ready for a question as :meth:`search` is."""
        return self._once_ready(query, unlocked, lambda ready: ready.sides(query))

    def embedding_of(self, query: str, *, today: date, by_matter: bool = False) -> Callable[[], None]:
        """Return what embeds a question that will be searched for, for others to search meanwhile."""
        if self._searcher is None or self._dense is None:
            return lambda: None
        return self._searcher.questions.embedding_of(query, self._dense.embedder, today=today, by_matter=by_matter)

    def _once_ready(self, query: str, unlocked: Unlocked, answer: Callable[[Ready], Answer]) -> Answer:
        """Answer from both sides as they stand, after a few pending turns were embedded if any wait."""
        if self._dense is None:
            # The model loads beside the keyword index; what can't be loaded is told where it is needed.
            with suppress(EmbedderError, MissingExtraError):
                load_ahead(self.embedder)
        with self._store.connections.reading():
            ready = self._ready()
            if self._embedding or not self._settings.pending_limit or not self._may_wait(ready.dense):
                return answer(ready)
        trouble = self._embed_some(query, ready, unlocked)
        with self._store.connections.reading():
            return answer(self._ready()._replace(trouble=trouble))

    def _ready(self) -> Ready:
        searcher = self._caught_up()
        try:
            return Ready(searcher, self._dense_caught_up())
        except FAULTS as error:
            return Ready(searcher, None, fault=error)

    def _may_wait(self, dense: DenseIndex | None) -> bool:
        """Tell whether turns may wait to be embedded, in a dense index that has caught up."""
        return dense is not None and len(dense.pending(self.keyword.table)) > 0

    def _embed_some(self, query: str, ready: Ready, unlocked: Unlocked) -> str:
        """Embed a few pending turns, and say why not if it can't be done."""
        limit, dense = self._settings.pending_limit, ready.dense
        if dense is None:
            return ""
        questions = ready.searcher.questions
        self._embedding = True
        try:
            if len(self._pending(dense, limit)) == 0:
                return ""
            if not questions.is_embedded(query, dense.embedder):
                # The question first: an embedder that doesn't answer is waited for only once.
                with unlocked():
                    can_embed = questions.prepare(query, dense.embedder)
                # What others did meanwhile may have numbered all entries anew.
                dense = self._ready().dense if can_embed else None
                if dense is None or len(self._pending(dense, limit)) == 0:
                    return ""
            return embed_in_passing(dense, self.keyword.table, self._store, limit=limit, unlocked=unlocked)
        except FAULTS:  # The search tells it.
            return ""
        finally:
            self._embedding = False

    def _pending(self, dense: DenseIndex, limit: int) -> Entries:
        """Return the entries that wait for a vector, at least ``limit`` if so many do."""
        return dense.pending(self.keyword.table)

    def quote_source(self, within: Within | None) -> QuoteSource:
        """Return the turns that quotes are looked up in."""
        self._caught_up()
        return StoredTurns(self._store, self.keyword, self._searcher_made(), within or Within(unrecalled=True))

    def select(self, within: Within) -> list[str]:
        """Return the ids of the turns that a filter allows, in stored order.

        Raises:
            QueryError: a bound that is no time.
        """
        scope, _stage = self._caught_up().pool(within)
        table = self.keyword.table
        places = sorted(scope.allowed.entries.tolist(), key=lambda entry: int(table.row[entry]))
        return [table.turn_id(entry) for entry in places]

    def rows_with(self, term: str) -> list[int]:
        """Return the rows of turns that have one of the analyzer's terms, as far as the index knows."""
        self._caught_up()
        table = self.keyword.table
        rows: list[int] = table.row[self.keyword.bm25.matching([term]) & table.alive].tolist()
        return rows

    def notes_on(self, within: Within) -> tuple[str, ...]:
        """Return what is to be said of a filter: names in it that nothing here has."""
        return self._caught_up().pool(within)[0].notes

    def n_recalled(self) -> int:
        """Count the turns that a search looks at."""
        self._caught_up()
        return int((self.keyword.table.alive & self.keyword.table.recalled).sum())

    def n_pending(self) -> int:
        """Count the turns that a search looks at and that have no vector; all of them if there is no embedder.

        Raises:
            EmbedderError: it can't be loaded.
            MissingExtraError: it needs an extra that isn't installed.
        """
        dense = self.dense()
        return self.n_recalled() if dense is None else len(dense.pending(self.keyword.table))

    # -- keeping up

    @property
    def keyword(self) -> KeywordIndex:
        """The keyword index as it is; :meth:`catch_up` brings it up to date."""
        if self._keyword is None:
            analyzer = Analyzer(self.languages())
            saved = self._derived.keyword(analyzer)
            self._keyword = saved if saved.follows(self._store) else self._derived.empty_keyword(analyzer)
            self.snapshots.was_read(self._keyword)
        return self._keyword

    @property
    def embedder(self) -> Embedder | None:
        """The embedder, loaded; None if the memory is set to have none.

        Raises:
            EmbedderError: it can't be loaded.
            MissingExtraError: it needs an extra that isn't installed.
        """
        if self._embedder is None and self._settings.embedder != "none":
            self._embedder = open_embedder(self._settings.embedder, threads=self._settings.threads)
        return self._embedder

    @property
    def analyzer(self) -> Analyzer:
        """What takes this memory's texts apart."""
        return self.keyword.analyzer

    def spoken_languages(self) -> tuple[str, ...]:
        """Return the languages by which turns are indexed, looked up only while there is no index; safe for threads."""
        keyword = self._keyword
        return self.languages() if keyword is None else keyword.analyzer.languages

    def searcher(self) -> Searcher:
        """Return what searches, caught up with the store."""
        return self._caught_up()

    def dense(self) -> DenseIndex | None:
        """Return the dense index, caught up; None if the memory has no embedder."""
        self._caught_up()
        return self._dense_caught_up()

    def catch_up(self, *, progress: Progress | None = None) -> None:
        """Apply every change of the store to the keyword index."""
        self._caught_up(progress=progress)

    def embed(self, *, progress: Progress | None = None, unlocked: Unlocked = nullcontext) -> int:
        """Embed all pending turns and return how many; the embedder works within ``unlocked()``."""
        self._caught_up(progress=progress)
        dense = self._dense_caught_up()
        if dense is None:
            return 0
        tell = None if progress is None else lambda done, total: progress("embedding", done, total)
        self._embedding = True
        try:
            return dense.embed(self.keyword.table, self._store, progress=tell, unlocked=unlocked)
        finally:
            self._embedding = False

    def compact(self) -> None:
        """Drop the vectors of removed turns from memory and, if they are many, from the file."""
        if self._dense is not None:
            self._dense.catch_up(self.keyword.table)
            self._dense.compact(self.keyword.table)

    def rebuild(
        self,
        *,
        language: str | None,
        prune: bool,
        progress: Progress | None,
        unlocked: Unlocked = nullcontext,
    ) -> int:
        """Build the keyword index from the store alone, then embed what is pending, and return how many turns."""
        if language is not None:
            self.languages.remember(language)
        self._keyword = self._derived.empty_keyword(Analyzer(self.languages()))
        self._searcher = None
        self._caught_up(progress=progress)
        self.save()
        embedded = self.embed(progress=progress, unlocked=unlocked)
        self.compact()
        if prune:
            # An embedder that can't be loaded has raised by now.
            self._derived.prune(None if self._dense is None else self._dense.embedder)
        return embedded

    # -- saving

    def save_if_worth_it(self) -> None:
        """Save what a good deal happened to since, if it can be: the next start catches up without."""
        with suppress(StoreError):
            if self._keyword is not None and self.snapshots.is_worth_saving(self._keyword):
                self.save(timeout_s=0.0)
            if self._dense is not None and self._dense.is_worth_saving:
                self._save_codes()

    def _save_codes(self) -> None:
        with self._derived.alone(timeout_s=0.0):
            # Under the lock: what was forgotten while this waited must not be written after the forgetting is done.
            self._caught_up()
            if (dense := self._dense_caught_up()) is not None:
                dense.save()

    def save(self, *, timeout_s: float | None = None) -> None:
        """Write the keyword snapshot and the manifest, with nothing in them of turns that are not stored any more.

        Raises:
            MemoryLockedError: another process is writing them.
            StoreError: they can't be written; the words are safe.
        """
        wait = self._settings.lock_timeout_s if timeout_s is None else timeout_s
        self._caught_up()
        with self._derived.alone(timeout_s=wait):
            # Again: what was forgotten while this waited must not be written after the forgetting is done.
            self._caught_up()
            self.snapshots.write(self.keyword, embedder=self._dense.embedder.fingerprint if self._dense else None)

    def saving(self) -> Callable[[], None]:
        """Return what writes the snapshot of what the keyword index holds now, beside those who search and change it.

        Both are done while others are kept from saving (``snapshots.alone()``), and what is returned soon after.
        """
        self._caught_up()
        return self.snapshots.writing(self.keyword, embedder=self._dense.embedder.fingerprint if self._dense else None)

    def close(self) -> None:
        """Stop what works in the background."""
        if self._dense is not None:
            self._dense.close()

    def _caught_up(self, *, progress: Progress | None = None) -> Searcher:
        self.n_uses += 1
        tell = None if progress is None else lambda done, total: progress("indexing", done, total)
        try:
            n_changes = self.keyword.catch_up(self._store, progress=tell)
            if self.languages.may_have_changed(n_changes=n_changes):
                self.languages.settle()
                languages = self.languages()
                if languages != self.keyword.analyzer.languages:
                    self._keyword, self._searcher = self._derived.empty_keyword(Analyzer(languages)), None
                    self._keyword.catch_up(self._store, progress=tell)
        except BaseException:
            # Stopped half-way, by Ctrl-C for instance: half of a change may be applied.
            self._keyword = self._searcher = None
            raise
        return self._searcher_made()

    def _searcher_made(self) -> Searcher:
        if self._searcher is None:
            ranker, where = ranker_by(self._settings.weights), zone(self._settings.timezone)
            self._searcher = Searcher(self._store, self.keyword, zone=where, ranker=ranker, pools=self._pools())
        return self._searcher

    def _pools(self) -> PoolsOf | None:
        """Return what says which entries are searched, if that isn't the whole keyword index."""
        return None

    def _dense_caught_up(self) -> DenseIndex | None:
        embedder = self.embedder
        if embedder is None:
            return None
        if self._dense is None:
            self._dense = self._derived.dense(embedder)
        self._dense.catch_up(self.keyword.table)
        return self._dense
