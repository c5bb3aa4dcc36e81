"""What can be asked of a memory without changing its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

from memory_rag.errors import StoreError
from memory_rag.retrieval.search_lock import SearchLock
from memory_rag.settings import Settings
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.turns import Turn

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from memory_rag.checkup import Checkup
    from memory_rag.html.turn_list import TurnList
    from memory_rag.inventory import Stats
    from memory_rag.prompt.prompt import Prompt
    from memory_rag.prompt.prompt_context import PromptContext
    from memory_rag.prompt.unlogged import Unlogged
    from memory_rag.prompt.wishes import Wishes
    from memory_rag.retrieval.comparison import Comparison
    from memory_rag.retrieval.filters import Within
    from memory_rag.retrieval.indexes import Indexes
    from memory_rag.retrieval.quotes import Quotes
    from memory_rag.retrieval.ranking import Ranking
    from memory_rag.retrieval.verification import Verdicts
    from memory_rag.summaries.running import RunningSummaries
    from memory_rag.talks.talks import Talks

Progress = Callable[[str, int, int], None]
"""Called with (what is being done, how much of it is done, how much there is)."""


class MemoryReader:
    """Search, quotes, prompts and summaries over an open memory, and how it stands.

    What is derived from the words may be brought up to date by any of these.
    """

    settings: Settings
    store: TurnWriter
    indexes: Indexes
    """The keyword and dense indexes, and how they stand to the store."""
    zone: tzinfo
    """The zone in which times without one are read."""
    _folder: Path | None
    _clock: Callable[[], datetime]
    _lock: SearchLock

    @property
    def place(self) -> str:
        """Where the memory is, as messages name it: its folder, or its server and owner."""
        return self.store.connections.place

    @property
    def name(self) -> str:
        """What the memory is called: its folder's name, or its owner's on a server."""
        return self.settings.owner if self._folder is None else self._folder.name

    @property
    def folder(self) -> Path:
        """The folder in which the memory lies.

        Raises:
            StoreError: it lies on a server.
        """
        if self._folder is None:
            raise StoreError(f"{self.place}, lies on a server and has no folder")
        return self._folder

    def __len__(self) -> int:
        """The number of stored turns."""
        return len(self.store)

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
        today = self._clock().astimezone(self.zone).date()
        if options.mode.uses_vectors:
            # Embedding takes longer than all the rest: others search meanwhile.
            with self._lock.held():
                embed = self.indexes.embedding_of(query, today=today)
            embed()
        with self._lock.held():
            return self.indexes.search(query, options, today=today, unlocked=self._lock.given_up)

    def foresee(self, question: str) -> None:
        """Begin to embed a question that a prompt will be put together for, while something else is done.

        Returns at once. Where nothing was searched for yet, or another search is under way, nothing is begun.
        """
        with self._lock.held_if_free() as is_held:
            if is_held:
                today = self._clock().astimezone(self.zone).date()
                self._ahead.submit(
                    self.indexes.embedding_of(question, today=today, by_matter=self.talks.asks_by_matter)
                )

    @cached_property
    def _ahead(self) -> Executor:
        """The thread that embeds questions ahead, kept: a new one for each costs somebody who waits .2 ms."""
        # Here and not above: it takes 15 ms of a start.
        from concurrent.futures import ThreadPoolExecutor

        return ThreadPoolExecutor(1, thread_name_prefix="embedding a question")

    def compare(self, query: str, *, k: int = 10, within: Within | None = None) -> Comparison:
        """Return what keyword, dense and hybrid recall find for one question, side by side."""
        from memory_rag.retrieval.comparison import compare_rankings

        modes = ("keyword", "dense", "hybrid")
        return compare_rankings(query, {m: self.search(query, k=k, mode=m, within=within, floor=False) for m in modes})

    def quote(self, text: str, *, limit: int = 10, within: Within | None = None) -> Quotes:
        """Return where these words were said: exactly, else but for case and marks, else nearly; empty if nowhere.

        Each quote's text is the stored turn's, checked byte by byte before it is returned.
        """
        from memory_rag.retrieval.quotes import Quotes, find_quotes

        with self._lock.held():
            quotes = find_quotes(text, source=self.indexes.quote_source(within), limit=limit)
        corrected = self.store.corrected_at([quote.turn_id for quote in quotes])
        return Quotes(text, (replace(quote, corrected_at=corrected.get(quote.turn_id)) for quote in quotes))

    def verify(self, answer: str, *, answer_turn_id: str | None = None) -> Verdicts:
        """Check every quotation in a model's answer against what was said, one verdict each, in the answer's order.

        ``answer_turn_id`` is the answer's own turn, if it is stored: it can't confirm itself. A verdict's message says
        if the quoted turn was corrected, or if it said these words until it was.
        """
        from memory_rag.retrieval.corrections import with_corrections
        from memory_rag.retrieval.verification import Verdicts, verify

        with self._lock.held():
            verdicts = verify(answer, source=self.indexes.quote_source(None), answer_turn_id=answer_turn_id)
        return Verdicts(with_corrections(verdicts, self.store, answer_turn_id=answer_turn_id))

    def context(self, user_message: str, *, system: str = "", **wish: Unpack[Wishes]) -> PromptContext:
        """Return the prompt for what the user says now: its messages, what they cost, what is in them and why.

        Raises:
            PromptError: what must always be in it is over the ``token_budget`` (6,000 if none is wished) alone.
        """
        return self.unlogged_context(user_message, system=system, **wish).logged()

    def unlogged_context(self, user_message: str, *, system: str = "", **wish: Unpack[Wishes]) -> Unlogged:
        """Return the prompt as :meth:`context` does, with nothing of it in the log yet: that is its ``logged()``.

        Raises:
            PromptError: what must always be in it is over the ``token_budget`` alone.
        """
        return self.prompt.unlogged(user_message, system=system, **wish)

    @cached_property
    def prompt(self) -> Prompt:
        """What always goes along in a prompt, what providers answered, and the log of what was done to prompts."""
        from memory_rag.prompt.prompt import Prompt

        prompt = Prompt.of_memory(self, clock=self._clock)
        prompt.summaries, prompt.running = self.summaries.of, self.summaries
        prompt.talks = self.talks
        return prompt

    @cached_property
    def summaries(self) -> RunningSummaries:
        """The running summaries of every conversation: made between turns, audited, extended."""
        from memory_rag.summaries.opening import summaries_of

        return summaries_of(
            self,
            clock=self._clock,
            events=lambda: self.prompt.events,
            made=lambda conversation_id: self.prompt.proposals.summary_made(conversation_id),
        )

    @cached_property
    def talks(self) -> Talks:
        """The sessions and conversations as a whole: what each was about, and which of them a question is about."""
        from memory_rag.talks.talks import Talks

        return Talks(self, lock=self._lock, clock=self._clock, events=lambda: self.prompt.events)

    def get(self, turn_id: str) -> Turn:
        """Return a stored turn; :class:`UnknownTurnError` if no turn has this id."""
        return self.store.get([turn_id])[0]

    def neighbours(self, turn_id: str, *, before: int = 2, after: int = 2) -> TurnList:
        """Return a turn amid those said just before and after it in its conversation, in spoken order."""
        from memory_rag.html.turn_list import TurnList

        return TurnList(self.store.neighbours(turn_id, before=before, after=after))

    def turns(self, *, conversation_id: str | None = None) -> Iterator[Turn]:
        """Yield the turns of a conversation in spoken order, or all in stored order."""
        return (turn for _row, turn in self.store.scan(conversation_id=conversation_id))

    def export(self, *, form: Literal["jsonl", "markdown"] = "jsonl") -> Iterator[str]:
        """Yield the whole memory as it is now: lines of our own JSON format, or a Markdown text for a reader.

        The JSON lines hold all there is; imported where nothing is stored yet, they make the same memory again.
        """
        from memory_rag.readable_export import readable_lines
        from memory_rag.whole_memory import export_whole

        return export_whole(self.store) if form == "jsonl" else readable_lines(self.store, zone=self.zone)

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
            given_up = self._lock.given_up
            embedded = self.indexes.rebuild(language=language, prune=prune, progress=progress, unlocked=given_up)
            if prune:
                self.talks.prune()
            return embedded

    def stats(self) -> Stats:
        """Count what is in this memory: turns, people, times, bytes, how much is embedded."""
        from memory_rag.inventory import stats

        with self._lock.held():
            return stats(self.store, self.indexes, folder=self._folder)

    def doctor(self, *, progress: Progress | None = None) -> Checkup:
        """Check this memory from the words up, and change nothing."""
        from memory_rag.health import doctor

        with self._lock.held():
            return doctor(self.store, self.indexes, folder=self._folder, settings=self.settings, progress=progress)
