"""A memory: words in, exact words out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from memory_rag.retrieval.search_lock import SearchLock
from memory_rag.settings import CONFIG_NAME, Settings, home_folder, memory_folder
from memory_rag.store.new_turn import new_turn
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.store.turn_store import Appended
from memory_rag.text.instants import zone
from memory_rag.turns import Block, Conversation, Role, Source, Turn

if TYPE_CHECKING:
    from memory_rag.embedding.embedder import Embedder
    from memory_rag.health import Checkup
    from memory_rag.importers import ImportOptions, ImportReport
    from memory_rag.inventory import Stats
    from memory_rag.prompt.context import Wishes
    from memory_rag.prompt.prompt import Prompt
    from memory_rag.prompt.prompt_context import PromptContext
    from memory_rag.retrieval.comparison import Comparison
    from memory_rag.retrieval.filters import Within
    from memory_rag.retrieval.indexes import Indexes
    from memory_rag.retrieval.quotes import Quote
    from memory_rag.retrieval.ranking import Ranking
    from memory_rag.retrieval.verification import Verdict
    from memory_rag.summaries.running import RunningSummaries

Progress = Callable[[str, int, int], None]
"""Called with (what is being done, how much of it is done, how much there is)."""


class Memory:
    """The long-term memory of a chat: one folder, safe for many threads and processes.

    Every turn is stored verbatim before anything else happens to it. Searches catch up with the store first, so they
    see every turn that was acknowledged, by whichever process.
    """

    def __init__(
        self,
        folder: Path,
        *,
        settings: Settings,
        embedder: Embedder | None = None,
        create: bool = True,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        from memory_rag.retrieval.indexes import Indexes

        self.folder = folder
        self.settings = settings
        self._clock = clock
        self.zone = zone(settings.timezone)
        """The zone in which times without one are read."""
        self.store = SqliteTurnStore(
            folder, durability=settings.durability, busy_timeout_s=settings.busy_timeout_s, create=create
        )
        self._lock = SearchLock(refuse_if_forked=self.store.refuse_if_forked)
        self.indexes: Indexes = Indexes(folder, self.store, settings=settings, embedder=embedder)
        """The keyword and dense indexes, and how they stand to the store."""

    @classmethod
    def open(
        cls,
        name_or_path: str | Path = "main",
        *,
        home: str | Path | None = None,
        embedder: str | Embedder | None = None,
        create: bool = True,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        **settings: Any,
    ) -> Self:
        """Open a memory, making it if it isn't there and ``create`` is True.

        A name lies under the home folder (``home``, else ``MEMORY_RAG_HOME``, else the user's data folder); anything
        with a slash, or a ``Path``, is a path. ``embedder`` is a name (``minilm``, ``none`` …) or an object; the other
        settings are those of :class:`memory_rag.Settings`.

        Raises:
            NotAMemoryError: there is no memory and ``create`` is False, or the folder can't hold one.
            NewerFormatError: a later release of memory_rag wrote it.
            SettingsError: a setting that is unknown or out of its range.
        """
        given = embedder if isinstance(embedder, str) else None
        loaded = Settings.load(config=home_folder(home) / CONFIG_NAME, embedder=given, **settings)
        made = None if embedder is None or isinstance(embedder, str) else embedder
        return cls(memory_folder(name_or_path, home=home), settings=loaded, embedder=made, create=create, clock=clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __len__(self) -> int:
        """The number of stored turns."""
        return len(self.store)

    def close(self) -> None:
        """Save what is derived, if much of it is new, and close the files. The words are safe without it."""
        if self.store.is_forked:  # what is open is the parent's
            return
        if "summaries" in self.__dict__:
            self.summaries.close()
        with self._lock.held():
            try:
                self.indexes.save_if_worth_it()
            finally:
                self.indexes.close()
                self.store.close()

    # -- words in

    def add(
        self,
        text: str,
        *,
        role: str | Role = Role.USER,
        speaker: str | None = None,
        conversation_id: str = "main",
        session_id: str | None = None,
        said_at: datetime | None = None,
        blocks: Sequence[Block] = (),
        source: Source | None = None,
        turn_id: str = "",
        recalled: bool = True,
    ) -> Turn:
        """Store one turn verbatim and return it with its id; it is durable and searchable when this returns.

        Without ``said_at`` it was said now; without ``session_id`` its session is its day. A turn whose ``source`` is
        stored already is returned as it is stored.

        Raises:
            TurnError: an unknown role, a time without zone, or an id that another turn has.
            StoreError: it couldn't be written; nothing was stored.
        """
        turn = new_turn(
            text,
            role=role,
            speaker=speaker,
            conversation_id=conversation_id,
            session_id=session_id,
            said_at=said_at or self._clock(),
            zone=self.zone,
            blocks=blocks,
            source=source,
            turn_id=turn_id,
            recalled=recalled,
        )
        return self.store.add(turn)

    def add_many(self, items: Iterable[Turn | Conversation]) -> Appended:
        """Store many turns in one transaction: all of them, or none if one can't be stored."""
        return self.store.append(items)

    def import_path(
        self,
        path: str | Path,
        *,
        format: str | None = None,  # noqa: A002  the word users know
        tz: str | None = None,
        options: ImportOptions | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Store what a file, folder or zip of another program holds, and return what was kept and what wasn't.

        Each file is one transaction. What is stored already is counted; it is corrected where it was edited at its
        source since. ``options`` say how to read what a file leaves open; ``tz``, if given, counts over theirs.

        Raises:
            ImportFormatError: nothing there can be imported; nothing was stored.
        """
        from memory_rag.importers import ImportOptions
        from memory_rag.ingest import import_into

        options = options or ImportOptions(tz=self.zone)
        options = options if tz is None else replace(options, tz=zone(tz))
        report = import_into(self.store, Path(path), format=format, options=options, dry_run=dry_run, progress=progress)
        with self._lock.held():
            self.indexes.settle_language()
        return report

    def correct(
        self,
        turn_id: str,
        *,
        text: str | None = None,
        speaker: str | None = None,
        said_at: datetime | None = None,
        keep_old: bool = True,
    ) -> Turn:
        """Give a turn a new text, speaker or time; the old version is kept unless ``keep_old`` is False.

        Raises:
            UnknownTurnError: no turn has this id.
        """
        return self.store.correct(turn_id, text=text, speaker=speaker, said_at=said_at, keep_old=keep_old)

    def forget(self, turn_ids: Sequence[str]) -> int:
        """Remove turns from the store and from every index, and return how many.

        Raises:
            UnknownTurnError: no turn has one of these ids; nothing was removed.
        """
        with self._lock.held():
            removed = self.store.remove(turn_ids)
            self.summaries.follow()
            self.indexes.catch_up()
            self.indexes.save()
            self.indexes.compact()
        return removed

    # -- words out

    def search(
        self,
        query: str,
        *,
        k: int | None = None,
        mode: str = "hybrid",
        within: Within | None = None,
        floor: bool = True,
    ) -> Ranking:
        """Return the turns that answer a question best, best first; none if nothing said answers it.

        With ``floor`` False, unlikely hits are returned too. A question without a word in it has no hits.

        Raises:
            QueryError: an unknown mode, or a bound that is no time.
        """
        from memory_rag.retrieval.filters import Within
        from memory_rag.retrieval.searcher import Mode, SearchOptions

        k = self.settings.k if k is None else k
        within, depth = within or Within(), self.settings.depth
        options = SearchOptions(k=k, mode=Mode.parse(mode), within=within, depth=depth, floor=floor)
        with self._lock.held():
            return self.indexes.search(query, options, today=self._clock().astimezone(self.zone).date())

    def compare(self, query: str, *, k: int = 10, within: Within | None = None) -> Comparison:
        """Return what keyword, dense and hybrid recall find for one question, side by side."""
        from memory_rag.retrieval.comparison import compare_rankings

        modes = ("keyword", "dense", "hybrid")
        return compare_rankings(query, {m: self.search(query, k=k, mode=m, within=within, floor=False) for m in modes})

    def quote(self, text: str, *, limit: int = 10, within: Within | None = None) -> tuple[Quote, ...]:
        """Return where these words were said: exactly, else but for case and marks, else nearly; empty if nowhere.

        Each quote's text is the stored turn's, checked byte by byte before it is returned.
        """
        from memory_rag.retrieval.quotes import find_quotes

        with self._lock.held():
            return find_quotes(text, source=self.indexes.quote_source(within), limit=limit)

    def verify(self, answer: str, *, answer_turn_id: str | None = None) -> tuple[Verdict, ...]:
        """Check every quotation in a model's answer against what was said, one verdict each, in the answer's order.

        ``answer_turn_id`` is the answer's own turn, if it is stored: it can't confirm itself.
        """
        from memory_rag.retrieval.verification import verify

        with self._lock.held():
            return verify(answer, source=self.indexes.quote_source(None), answer_turn_id=answer_turn_id)

    def context(self, user_message: str, *, system: str = "", **wish: Unpack[Wishes]) -> PromptContext:
        """Return the prompt for what the user says now: its messages, what they cost, what is in them and why.

        Raises:
            PromptError: what must always be in it is over the ``token_budget`` (6,000 if none is wished) alone.
        """
        return self.prompt.context(user_message, system=system, **wish)

    @cached_property
    def prompt(self) -> Prompt:
        """What always goes along in a prompt, what providers answered, and the log of what was done to prompts."""
        from memory_rag.prompt.prompt import Prompt

        prompt = Prompt.of_memory(self, clock=self._clock)
        prompt.summaries = self.summaries.of
        return prompt

    @cached_property
    def summaries(self) -> RunningSummaries:
        """The running summaries of every conversation: made between turns, audited, extended."""
        from memory_rag.summaries.opening import summaries_of

        return summaries_of(self, clock=self._clock, events=lambda: self.prompt.events)

    def get(self, turn_id: str) -> Turn:
        """Return a stored turn; :class:`UnknownTurnError` if no turn has this id."""
        return self.store.get([turn_id])[0]

    def neighbours(self, turn_id: str, *, before: int = 2, after: int = 2) -> list[Turn]:
        """Return a turn amid those said just before and after it in its conversation, in spoken order."""
        return self.store.neighbours(turn_id, before=before, after=after)

    def turns(self, *, conversation_id: str | None = None) -> Iterator[Turn]:
        """Yield the turns of a conversation in spoken order, or all in stored order."""
        return (turn for _row, turn in self.store.scan(conversation_id=conversation_id))

    def export(self) -> Iterator[str]:
        """Yield the whole memory as lines of our own JSON format, which can be imported again."""
        from memory_rag.importers.turn_lines import export_lines

        return export_lines(self.store.conversations(), self.turns())

    # -- what is derived

    def embed(self, *, progress: Progress | None = None) -> int:
        """Embed every turn that has no vector yet, and return how many; may be stopped and called again.

        Raises:
            EmbedderError: the embedder can't be loaded or reached.
        """
        with self._lock.held():
            return self.indexes.embed(progress=progress, unlocked=self._lock.given_up)

    def reindex(self, *, language: str | None = None, prune: bool = False, progress: Progress | None = None) -> int:
        """Build the keyword index anew, embed what lacks a vector of the present embedder, and return how many.

        ``language`` (codes, comma-separated) is remembered. ``prune`` deletes other embedders' vectors at the end.
        Keyword search goes on meanwhile; a stopped run is taken up again by the next.
        """
        with self._lock.held():
            return self.indexes.rebuild(language=language, prune=prune, progress=progress, unlocked=self._lock.given_up)

    def stats(self) -> Stats:
        """Count what is in this memory: turns, people, times, bytes, how much is embedded."""
        from memory_rag.inventory import stats

        with self._lock.held():
            return stats(self.folder, self.store, self.indexes)

    def doctor(self, *, progress: Progress | None = None) -> Checkup:
        """Check this memory from the words up, and change nothing."""
        from memory_rag.health import doctor

        with self._lock.held():
            return doctor(self.folder, self.store, self.indexes, settings=self.settings, progress=progress)
