"""A memory: words in, exact words out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from memory_rag.memory_reader import MemoryReader, Progress
from memory_rag.opening import opened
from memory_rag.retrieval.search_lock import SearchLock
from memory_rag.server_url import is_on_server
from memory_rag.settings import CONFIG_NAME, Settings, home_folder, memory_folder
from memory_rag.store.correcting import Correction
from memory_rag.store.erasing import has_rules, is_unfinished
from memory_rag.store.new_turn import new_turn, noting_conversations
from memory_rag.store.turn_store import Appended
from memory_rag.text.instants import zone
from memory_rag.turns import Block, Conversation, Role, Source, Turn

if TYPE_CHECKING:
    from memory_rag.embedding.embedder import Embedder
    from memory_rag.importers import ImportOptions, ImportReport
    from memory_rag.importers.report import FileReport
    from memory_rag.privacy.forgetting import Forgetting
    from memory_rag.privacy.off_record import OffRecord
    from memory_rag.privacy.retention import Retention


class Memory(MemoryReader):
    """The long-term memory of a chat: one folder, or one owner's part of a server; safe for many threads and processes.

    Every turn is stored verbatim before anything else happens to it. Searches catch up with the store first, so they
    see every turn that was acknowledged, by whichever process.
    """

    def __init__(
        self,
        place: Path | str,
        *,
        settings: Settings,
        embedder: Embedder | None = None,
        create: bool = True,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Open the memory in a folder, or the one of ``settings.owner`` at the URL of a PostgreSQL server."""
        # First, so that nothing is made where it is unknown.
        self.zone = zone(settings.timezone)
        kept = opened(place, settings=settings, create=create, embedder=embedder)
        self._at = place
        self.settings = settings
        self._clock = clock
        self._summarises = settings.summaries == "auto"
        self.store, self.indexes, self._folder = kept.store, kept.indexes, kept.folder
        self._vector_files = kept.vector_files
        self._lock = SearchLock(refuse_if_forked=self.store.refuse_if_forked)
        if is_unfinished(self.store.connections):
            self.forgetting.finish()
        if has_rules(self.store.connections):
            self.retention.apply_daily()
        if self._summarises:
            # Made here, so that the first add doesn't wait for them.
            self._nudge(())

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

        A name lies under the home folder (``home``, else ``MEMORY_RAG_HOME``, else the user's data folder); what begins
        with ``postgresql://`` is a server, where ``owner`` says whose memory it is; anything else with a slash, or a
        ``Path``, is a path. ``embedder`` is a name (``minilm``, ``none`` …) or an object; the other
        settings are those of :class:`memory_rag.Settings`.

        Raises:
            NotAMemoryError: there is no memory and ``create`` is False, or the folder can't hold one.
            NewerFormatError: a later release of memory_rag wrote it.
            SettingsError: a setting that is unknown or out of its range.
            StoreError: the server can't be reached, or the folder can't be read.
        """
        given = embedder if isinstance(embedder, str) else None
        loaded = Settings.load(config=home_folder(home) / CONFIG_NAME, embedder=given, **settings)
        made = None if embedder is None or isinstance(embedder, str) else embedder
        place = name_or_path if is_on_server(name_or_path) else memory_folder(name_or_path, home=home)
        return cls(place, settings=loaded, embedder=made, create=create, clock=clock)

    def opened_with(self, embedder: Embedder | None, **settings: Any) -> Self:
        """Return the same memory opened once more, with another embedder or other settings; it is closed by itself."""
        changed = self.settings.with_values(settings, where="the arguments")
        return type(self)(self._at, settings=changed, embedder=embedder, create=False, clock=self._clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Save what is derived, if much of it is new, and close the files. The words are safe without it."""
        if self.store.is_forked:  # what is open is the parent's
            return
        for name in {"summaries", "talks", "forgetting"} & self.__dict__.keys():
            getattr(self, name).close()
        with self._lock.held():
            try:
                self.indexes.save_if_worth_it()
            finally:
                self.indexes.close()
                self.store.close()
                if "_ahead" in self.__dict__:
                    self._ahead.shutdown(wait=False)

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
        stored already is returned as it is stored. One that a rule keeps out comes back as ``Unstored``, without an id.

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
        added = self.store.add(turn)
        if self._summarises:
            self._nudge((conversation_id,))
        return added

    def add_many(self, items: Iterable[Turn | Conversation]) -> Appended:
        """Store many turns in one transaction: all of them, or none if one can't be stored."""
        if not self._summarises:
            return self.store.append(items)
        names: dict[str, None] = {}
        added = self.store.append(noting_conversations(items, names))
        self._nudge(names)
        return added

    def summarise_between(self, conversation_id: str) -> None:
        """Let what is due of a conversation be summarised in the background, as a chat does after an answer.

        Returns at once. With the setting ``summaries`` at ``off`` nothing is begun.
        """
        if self.settings.summaries != "off":
            self._nudge((conversation_id,))

    def _nudge(self, conversation_ids: Iterable[str]) -> None:
        """Let what is due of conversations be summarised in the background; returns at once."""
        summaries, talks = self.summaries, self.talks
        for conversation_id in conversation_ids:
            summaries.nudge(conversation_id)
            talks.nudge(conversation_id)

    def import_path(
        self,
        path: str | Path,
        *,
        format: str | None = None,  # noqa: A002  the word users know
        tz: str | None = None,
        options: ImportOptions | None = None,
        dry_run: bool = False,
        include_forgotten: bool = False,
        progress: Progress | None = None,
        before_write: Callable[[FileReport], None] | None = None,
    ) -> ImportReport:
        """Store what a file, folder or zip of another program holds, and return what was kept and what wasn't.

        Each file is stored whole or not at all. What a user's message quotes from this memory is left out of it; what
        is stored already is counted; it is corrected where it was edited at its source since; what was forgotten stays
        so unless ``include_forgotten``. ``options`` say how to read what a file leaves open; ``tz``, if given, counts
        over theirs. ``before_write`` is told of each file, before any of it is stored, what secrets and personal data
        are in it.

        Raises:
            ImportFormatError: nothing there can be imported; nothing was stored.
        """
        from memory_rag.importers import ImportOptions
        from memory_rag.ingest import import_into
        from memory_rag.prompt.own_words import own_words

        options = options or ImportOptions(tz=self.zone)
        options = options if tz is None else replace(options, tz=zone(tz))
        report = import_into(
            self.store,
            Path(path),
            format=format,
            options=options,
            dry_run=dry_run,
            include_forgotten=include_forgotten,
            progress=progress,
            before_write=before_write,
            own_words=lambda message: own_words(message, self.store).text,
        )
        with self._lock.held():
            self.indexes.languages.settle()
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
        """Give a turn a new text, speaker or time; the old version is kept, or erased if ``keep_old`` is False.

        Erased means that no byte of it is left: not in its source's JSON, nor in what was made of it.

        Raises:
            UnknownTurnError: no turn has this id.
        """
        correction = Correction(text, speaker, said_at)
        if not keep_old:
            return self.forgetting.correct(turn_id, correction)[0]
        turn = self.store.correct(turn_id, text=text, speaker=speaker, said_at=said_at)
        if self.settings.summarizer == "extractive":
            self.summaries.mend(turn.conversation_id)
        else:
            # What told of it goes now; a model's new words are not waited for.
            self.summaries.follow()
            self.summaries.nudge(turn.conversation_id)
        return turn

    def forget(self, turn_ids: Sequence[str]) -> int:
        """Remove turns for good, with every byte that tells of them, and return how many.

        :attr:`forgetting` shows first what would go, tells what is left for now, and proves that nothing is.

        Raises:
            UnknownTurnError: no turn has one of these ids, or one is named twice; nothing was removed.
        """
        return self.forgetting.forget(turn_ids).n_turns

    @cached_property
    def off_record(self) -> OffRecord:
        """The switch by which this memory takes no turns."""
        from memory_rag.privacy.off_record import OffRecord

        return OffRecord(self.store, self._clock)

    @cached_property
    def forgetting(self) -> Forgetting:
        """What forgets turns: by whatever they are found by, shown before, proved after."""
        from memory_rag.privacy.forgetting import Forgetting

        return Forgetting(
            self._folder,
            self.store,
            indexes=self.indexes,
            lock=self._lock,
            settings=self.settings,
            mend=lambda conversation_id: self.summaries.mend(conversation_id),
            in_use=self._vector_files,
        )

    @cached_property
    def retention(self) -> Retention:
        """How long turns are kept; what is due goes when a memory is opened, once a day."""
        from memory_rag.privacy.retention import Retention

        return Retention(self.store, self.forgetting, clock=self._clock)
