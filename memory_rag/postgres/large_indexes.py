"""The indexes of a memory on a server that has more turns than a process should hold."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from datetime import date
from typing import TYPE_CHECKING, Final

from memory_rag.embedding.embedder import Embedder
from memory_rag.postgres.derived import DerivedOnServer
from memory_rag.postgres.excerpts import Asked, Excerpts
from memory_rag.postgres.held_turns import HeldTurns
from memory_rag.postgres.parts import RECALLED, Part, allowed_part, part_of
from memory_rag.postgres.server_turns import ServerTurns, turn_ids
from memory_rag.postgres.turn_store import PostgresTurnStore
from memory_rag.postgres.vectors import ServerVectors
from memory_rag.postgres.words import WISH, Analyzed, ServerWords
from memory_rag.retrieval.filters import EVERYWHERE, Within
from memory_rag.retrieval.indexes import Indexes, Progress
from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.retrieval.ranking import Entries, Ranking
from memory_rag.retrieval.searcher import Mode, Searcher, SearchOptions
from memory_rag.retrieval.sides import Sides
from memory_rag.settings import Settings
from memory_rag.text.instants import zone
from memory_rag.text.wishes import states_wish
from memory_rag.turns import Role, Turn

if TYPE_CHECKING:
    from memory_rag.retrieval.dense import DenseIndex
    from memory_rag.retrieval.embedding_batches import Unlocked

_MOST_HELD: Final = 60_000
"""Turns that are held at most for all questions together; when there are more, all are let go."""
_BATCH: Final = 500
_NOBODY: Final = 2**62
"""Behind the row of any turn."""


class LargeIndexes(Indexes):
    """Both sides of one owner's memory, in which the server names candidates and this process ranks them.

    What is made of the words, terms and vectors, is on the server for everybody; here is what was asked for lately.
    """

    def __init__(self, store: PostgresTurnStore, *, settings: Settings, embedder: Embedder | None = None) -> None:
        self._on_server = DerivedOnServer(store.connections, whole=False)
        super().__init__(store, self._on_server, settings=settings, embedder=embedder)
        self._connections = store.connections
        self._has_bm25 = store.connections.extensions.has_bm25
        self._known_words: tuple[str, ServerWords] | None = None
        self._excerpts: Excerpts | None = None
        self._words_from = self._vectors_from = 0

    # -- searching

    def _searched(
        self, searcher: Searcher, dense: DenseIndex | None, *, query: str, options: SearchOptions, today: date
    ) -> Ranking:
        depth = max(options.k, options.depth)
        self._take_in(searcher, query, options.within, depth=depth, dense=dense, today=today)
        return super()._searched(searcher, dense, query=query, options=options, today=today)

    def sides(self, query: str, *, within: Within = EVERYWHERE, unlocked: Unlocked = nullcontext) -> Sides:
        """Return both sides for other searches than those for turns, with the turns that a question may be about."""
        with self._connections.reading():
            sides = super().sides(query, within=within, unlocked=unlocked)
            self._take_in(sides.searcher, query, within, depth=self._settings.depth, dense=sides.dense, today=None)
            return sides

    def quote_source(self, within: Within | None) -> ServerTurns:
        """Return the turns that quotes are looked up in."""
        within = within or Within(unrecalled=True)
        searcher = self._caught_up()

        def like(text: str, k: int) -> Ranking:
            self._take_in(searcher, text, within, depth=k, dense=None, today=None)
            return searcher.search(text, SearchOptions(k=k, mode=Mode.KEYWORD, within=within), dense=None)

        return ServerTurns(self._store, self._words, self._allowed(within), analyzer=self.analyzer, like=like)

    def select(self, within: Within) -> list[str]:
        """Return the ids of the turns that a filter allows, in stored order.

        Raises:
            QueryError: a bound that is no time.
        """
        self._caught_up()
        return turn_ids(self._connections, self._allowed(within), without=within.without)

    def rows_with(self, term: str) -> list[int]:
        """Return the rows of turns that have one of the analyzer's terms, at least some if there are many."""
        self._caught_up()
        return self._words.best([term], n=_BATCH)

    def _allowed(self, within: Within) -> Part:
        part = part_of(within, zone=zone(self._settings.timezone))
        return allowed_part(part, within, speakers=self._held.table.speakers.names)

    def _take_in(
        self,
        searcher: Searcher,
        query: str,
        within: Within,
        *,
        depth: int,
        dense: DenseIndex | None,
        today: date | None,
    ) -> None:
        """Take in what a question may be about, and its vectors."""
        analysis = searcher.analyze(query, today=today)
        vector = None if dense is None or analysis.is_empty else searcher.query_vector(analysis, dense.embedder)
        vectors = None if dense is None else self._on_server.vectors(dense.embedder)
        self._pools().take_in(Asked(analysis, vector, depth), within, vectors)
        if dense is not None:
            dense.catch_up(self.keyword.table)

    def n_recalled(self) -> int:
        """Count the turns that a search looks at."""
        where, values = RECALLED.where()
        with self._connections.reading() as connection:
            return int(connection.execute(f"SELECT count(*) FROM turns WHERE {where}", values).fetchone()[0])

    def n_pending(self) -> int:
        """Count the turns that a search looks at and that have no vector; all of them if there is no embedder.

        Raises:
            EmbedderError: it can't be loaded.
            MissingExtraError: it needs an extra that isn't installed.
        """
        embedder = self.embedder
        return self.n_recalled() if embedder is None else self._on_server.vectors(embedder).n_pending()

    # -- keeping up

    def rebuild(
        self,
        *,
        language: str | None,
        prune: bool,
        progress: Progress | None,
        unlocked: Unlocked = nullcontext,
    ) -> int:
        """Make the terms of all turns anew, then embed what is pending, and return how many turns."""
        self._words.clear()
        self._words_from = 0
        return super().rebuild(language=language, prune=prune, progress=progress, unlocked=unlocked)

    def embed(self, *, progress: Progress | None = None, unlocked: Unlocked = nullcontext) -> int:
        """Embed all pending turns and return how many; the embedder works within ``unlocked()``."""
        self._caught_up(progress=progress)
        dense = self._dense_caught_up()
        if dense is None:
            return 0
        vectors = self._on_server.vectors(dense.embedder)
        done, total = 0, vectors.n_pending()
        while rows := self._without_vector(vectors, limit=_BATCH):
            self._caught_up()
            self._hold(rows, vectors)
            dense = self._dense_caught_up()
            embedded = 0 if dense is None else dense.embed(self._held.table, self._store, unlocked=unlocked)
            if not embedded:
                break
            done += embedded
            if progress is not None:
                progress("embedding", done, max(done, total))
        return done

    def _pending(self, dense: DenseIndex, limit: int) -> Entries:
        vectors = self._on_server.vectors(dense.embedder)
        self._hold(self._without_vector(vectors, limit=limit), vectors)
        dense.catch_up(self._held.table)
        return super()._pending(dense, limit)

    def _without_vector(self, vectors: ServerVectors, *, limit: int) -> list[int]:
        """Return the rows of the first turns that have no vector; those before them aren't looked through again."""
        rows = vectors.pending(limit=limit, first=self._vectors_from)
        self._vectors_from = rows[0] if rows else _NOBODY
        return rows

    def _may_wait(self, dense: DenseIndex | None) -> bool:
        return dense is not None and self._vectors_from != _NOBODY

    def _hold(self, rows: Sequence[int], vectors: ServerVectors) -> None:
        """Take in turns and whatever vectors they get."""
        self._held.take_in(rows, self._store)
        vectors.ask_for(rows)

    def _caught_up(self, *, progress: Progress | None = None) -> Searcher:
        if self._keyword is not None and len(self._keyword.table) > _MOST_HELD:
            self._let_go()
        searcher = super()._caught_up(progress=progress)
        if (first := self._held.take_changed_from()) is not None:
            self._words_from, self._vectors_from = min(first, self._words_from), min(first, self._vectors_from)
        self._analyze_pending(progress)
        return searcher

    def _let_go(self) -> None:
        """Hold nothing any more: what the next question is about is taken in anew."""
        self.close()
        self._keyword = self._searcher = self._dense = None
        self._derived = self._on_server = DerivedOnServer(self._connections, whole=False)
        self._words_from = self._vectors_from = 0

    def _searcher_made(self) -> Searcher:
        if self._searcher is None:
            self._excerpts = None
        return super()._searcher_made()

    def _pools(self) -> Excerpts:
        if self._excerpts is None:
            self._excerpts = Excerpts(
                self._connections,
                self._store,
                self._held,
                self._words,
                zone=zone(self._settings.timezone),
                most=self._settings.resident,
            )
        return self._excerpts

    @property
    def _held(self) -> HeldTurns:
        held: KeywordIndex = self.keyword
        assert isinstance(held, HeldTurns)
        return held

    def _analyze_pending(self, progress: Progress | None) -> None:
        """Keep the terms of turns that have none, in everybody's index of words."""
        words, done = self._words, 0
        while rows := words.pending(limit=_BATCH, first=self._words_from):
            turns = self._store.turns_at(rows)
            words.put([Analyzed(row, turns[row], self._terms_of(turns[row])) for row in rows if row in turns])
            done += len(rows)
            self._words_from = rows[0]
            if progress is not None:
                progress("indexing", done, done + _BATCH * (len(rows) == _BATCH))
        self._words_from = _NOBODY

    @property
    def _words(self) -> ServerWords:
        """The terms that the present analyzer makes."""
        fingerprint = self.analyzer.fingerprint
        if self._known_words is None or self._known_words[0] != fingerprint:
            words = ServerWords(self._connections, fingerprint=fingerprint, by_bm25=self._has_bm25)
            words.set_up()
            self._known_words, self._words_from = (fingerprint, words), 0
        return self._known_words[1]

    def _terms_of(self, turn: Turn) -> list[str]:
        terms = self._held.terms_of(turn)
        wishes = turn.role is not Role.ASSISTANT and turn.recalled
        if wishes and states_wish(turn.text, language=self.analyzer.language_of(turn.text)):
            terms.append(WISH)
        return terms
