"""The talks of a memory: what each was about, and which of them a question is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, tzinfo
from typing import TYPE_CHECKING, Final, Protocol

from memory_rag.embedding.embedder import Embedder
from memory_rag.errors import EmbedderError, MissingExtraError, QueryError
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.search_lock import SearchLock
from memory_rag.retrieval.sides import Sides
from memory_rag.summaries.memory_of_turns import IndexesOfTurns, MemoryOfTurns
from memory_rag.summaries.opening import Analyzers, LateEvents, summarizer_named
from memory_rag.summaries.running import Events
from memory_rag.talks.making import TalkMaking
from memory_rag.talks.searching import TalkQuestion, TalkSearch
from memory_rag.talks.shelf import TalkShelf
from memory_rag.talks.talk import Talk, TalkId, TalkRanking, TalkSummary, Unit, lines_by_hand
from memory_rag.talks.told import Told
from memory_rag.talks.whole import WholeTalks, WindowMaking
from memory_rag.text.analyzer import Analyzer

if TYPE_CHECKING:
    from memory_rag.retrieval.embedding_batches import Unlocked

_EMBEDDED_IN_PASSING: Final = 32
_WINDOWS_IN_PASSING: Final = 4
_WINDOWS_AT_ONCE: Final = 64
"""Of a conversation that was said long before, in the background; the rest is left to :meth:`Talks.embed`."""
Progress = Callable[[str, int, int], None]


class IndexesOfTalks(IndexesOfTurns, Protocol):
    """What searching talks needs of a memory's indexes."""

    def sides(self, query: str, *, within: Within = ..., unlocked: Unlocked = ...) -> Sides: ...
    def embedding_of(self, query: str, *, today: date, by_matter: bool = ...) -> Callable[[], None]: ...
    @property
    def analyzer(self) -> Analyzer: ...


class MemoryOfTalks(MemoryOfTurns, Protocol):
    """What talks need of a memory."""

    @property
    def indexes(self) -> IndexesOfTalks: ...
    @property
    def zone(self) -> tzinfo: ...


class Talks:
    """The sessions and conversations of one memory; made by the memory, as ``memory.talks``.

    Each has a summary of at most 60 words once it was made: in the background after :meth:`nudge`, or by
    :meth:`summarise`. Safe for threads and processes.
    """

    def __init__(
        self,
        memory: MemoryOfTalks,
        *,
        lock: SearchLock,
        clock: Callable[[], datetime],
        events: Callable[[], Events],
    ) -> None:
        self._memory = memory
        self._lock = lock
        self._clock = clock
        self.shelf = TalkShelf(memory.store.connections)
        self._told = Told(self.shelf)
        self._embedder: Embedder | None = None
        self._windows = WindowMaking(memory.store, self.shelf)
        self._search = TalkSearch(memory.store, self.shelf, self._told, WholeTalks(self._windows.shelf))
        analyzer = Analyzers(memory.indexes.spoken_languages)
        self._making = TalkMaking(
            memory.store,
            self.shelf,
            summarizer=summarizer_named(memory.settings.summarizer, analyzer=analyzer),
            events=LateEvents(events),
            clock=clock,
            made=self._embed_whole,
        )

    # -- finding

    def search(
        self,
        question: str,
        *,
        unit: str = "conversation",
        k: int = 10,
        within: Within | None = None,
        floor: bool = True,
    ) -> TalkRanking:
        """Return the sessions or conversations that a question is about, best first; none if none is.

        With ``floor`` False, unlikely ones are returned too.

        Raises:
            QueryError: a unit that is none (turns are found with ``memory.search``), or k under 1.
        """
        wanted = Unit.parse(unit)
        if wanted is Unit.TURN:
            raise QueryError("turns are found with memory.search; a unit here is session or conversation")
        if k < 1:
            raise QueryError(f"k must be at least 1, got {k}")
        depth = self._memory.settings.depth
        asked = TalkQuestion(question, wanted, k, within or Within(), depth=depth, floor=floor)
        return self._found(asked, windows=_WINDOWS_IN_PASSING)

    @property
    def asks_by_matter(self) -> bool:
        """Whether a question is asked by what it is about too, as the last one told; nothing is looked up for it."""
        return self._told.has_any

    def search_told(self, question: str, within: Within, k: int) -> TalkRanking:
        """Return the sessions that a question is about, as :meth:`search` does; none where nothing is told of any."""
        if not self.shelf.has_any:
            return TalkRanking(question, Unit.SESSION)
        asked = TalkQuestion(question, Unit.SESSION, k, within, depth=self._memory.settings.depth)
        # A prompt waits for no talk to be embedded: that is done in the background.
        return self._found(asked, windows=0)

    def _found(self, asked: TalkQuestion, *, windows: int) -> TalkRanking:
        indexes, today = self._memory.indexes, self._today()
        with self._lock.held():
            embed = indexes.embedding_of(asked.text, today=today, by_matter=self.asks_by_matter)
        embed()
        with self._lock.held():
            sides = indexes.sides(asked.text, within=asked.within, unlocked=self._lock.given_up)
            self._told.catch_up(indexes.analyzer)
            if sides.dense is not None:
                self._embedder = embedder = sides.dense.embedder
                try:
                    self._told.embed(embedder, limit=_EMBEDDED_IN_PASSING)
                    if self._told.has_any:
                        asked = replace(asked, matter=sides.searcher.questions.matter_vector(asked.text, embedder))
                    self._windows.make(embedder, limit=windows, all_of_it=False)
                except EmbedderError as error:
                    sides = replace(sides, notes=(*sides.notes, f"summaries were searched by keyword only: {error}"))
            return self._search.search(asked, sides, today=today)

    def newest(self, *, unit: str = "session", n: int = 10, without: Sequence[TalkId] = ()) -> list[Talk]:
        """Return the talks last spoken in, newest first, with their summaries."""
        wanted = Unit.parse(unit)
        found = self.shelf.newest(wanted, n=n, without=without)
        return [replace(talk, summary=self.summary_of(talk.talk)) for talk in found]

    def summary_of(self, talk: TalkId) -> TalkSummary | None:
        """Return what a talk was about; of a conversation of one session, that session's."""
        found = self.shelf.of(talk)
        if found is None and talk.session_id is None:
            sittings = self.shelf.sittings(talk.conversation_id)
            return self.shelf.of(sittings[0].talk) if len(sittings) == 1 else None
        return found

    def of(self, conversation_id: str, *, session_id: str | None = None) -> TalkSummary | None:
        """Return the summary of a conversation, or of one of its sessions; None if it has none yet."""
        return self.summary_of(TalkId(conversation_id, session_id))

    # -- making

    def nudge(self, conversation_id: str) -> None:
        """Say that a turn was said: summaries that are due are made in the background. Returns at once."""
        self._making.nudge(conversation_id)

    def wait(self, *, timeout_s: float | None = None) -> bool:
        """Wait until nothing is being made in the background; False if it took longer."""
        return self._making.wait(timeout_s=timeout_s)

    def summarise(self, conversation_id: str | None = None, *, progress: Progress | None = None) -> int:
        """Make the summaries that are missing or behind now, of one conversation or all; return how many were made.

        Raises:
            ModelError: the model gave nothing usable; what was made before that stays.
        """
        names = [one.conversation_id for one in self._memory.store.conversations()]
        wanted = names if conversation_id is None else [conversation_id]
        n_made = 0
        for done, name in enumerate(wanted, start=1):
            n_made += self._making.make(name)
            if progress is not None:
                progress("summarising", done, len(wanted))
        self.embed()
        return n_made

    def write(
        self, conversation_id: str, text: str = "", *, session_id: str | None = None, subjects: Sequence[str] = ()
    ) -> TalkSummary:
        """Store a summary in your own words: its subjects, and a line for each line of the text.

        It is never made over; forgetting or correcting one of its turns removes it.

        Raises:
            QueryError: there is no such conversation or session, or nothing to say of it.
        """
        talk = TalkId(conversation_id, session_id)
        cited = self.shelf.rows_after(talk, 0)
        if not cited:
            raise QueryError(f"no turns in {talk.unit} {session_id or conversation_id!r}; see: memory-rag stats")
        ends = self._memory.store.turns_at([cited[0], cited[-1]])
        turn_ids = list(dict.fromkeys(ends[row].turn_id for row in (cited[0], cited[-1]) if row in ends))
        lines = lines_by_hand(text, subjects=subjects, turn_ids=turn_ids)
        if not lines:
            raise QueryError("a summary needs words: a text, or subjects")
        return self._making.write(talk, lines)

    def remove(self, conversation_id: str, *, session_id: str | None = None) -> bool:
        """Remove the summary of a conversation or session, to be made anew; tell whether there was one."""
        return self.shelf.remove(TalkId(conversation_id, session_id))

    def embed(self) -> int:
        """Embed talks as a whole, and what is told of them; return how many summaries. Without an embedder, none.

        Talks are embedded without holding up a search: each can be found by its whole as soon as it is done.
        """
        try:
            embedder = self._memory.indexes.embedder
        except (EmbedderError, MissingExtraError):
            return 0
        if embedder is None:
            return 0
        self._windows.make(embedder)
        with self._lock.held():
            self._told.catch_up(self._memory.indexes.analyzer)
            return self._told.embed(embedder)

    def prune(self) -> None:
        """Delete the vectors of talks that another embedder made; all of them where the memory is set to have none.

        Raises:
            EmbedderError: the embedder can't be loaded.
        """
        embedder = self._memory.indexes.embedder
        fingerprint = "" if embedder is None else embedder.fingerprint
        self.shelf.keep_vectors(fingerprint)
        self._windows.shelf.keep(fingerprint)

    def close(self) -> None:
        """Begin nothing more in the background."""
        self._making.close()

    def _embed_whole(self, conversation_id: str) -> None:
        """Embed a conversation as a whole, in the background; not before a search of this process had an embedder."""
        if self._embedder is not None:
            self._windows.make(self._embedder, conversation_id=conversation_id, limit=_WINDOWS_AT_ONCE, all_of_it=False)

    def _today(self) -> date:
        return self._clock().astimezone(self._memory.zone).date()
