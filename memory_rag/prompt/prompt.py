"""The prompt side of a memory: contexts, what always goes along, providers' answers, and the log of it all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from functools import cached_property
from pathlib import Path
from typing import Any, Self, Unpack

from memory_rag.errors import PromptError
from memory_rag.prompt.answers import AnswerLog, Recorded
from memory_rag.prompt.asking_for_details import need_of_details
from memory_rag.prompt.brief import Brief, brief_of
from memory_rag.prompt.compaction import Fitted, fit
from memory_rag.prompt.context import Assembly, Search
from memory_rag.prompt.decisions import Decisions
from memory_rag.prompt.editing import ClearThinking, ClearToolUses
from memory_rag.prompt.edits_logged import log_fitted
from memory_rag.prompt.events import EventLog, Price
from memory_rag.prompt.fixed_parts import (
    DECISION_SHARE,
    decisions_part,
    files_part,
    preferences_part,
    state_part,
    system_part,
)
from memory_rag.prompt.last_time import with_last_time
from memory_rag.prompt.message_parts import Message
from memory_rag.prompt.own_words import OwnWords, own_words
from memory_rag.prompt.pinned_files import PinnedFiles
from memory_rag.prompt.pinned_words import PinnedWords
from memory_rag.prompt.pins import Pins
from memory_rag.prompt.prompt_context import PromptContext, with_kept_blocks
from memory_rag.prompt.replay import replayed
from memory_rag.prompt.returned_blocks import ReturnedBlocks, Shape, refuse_unknown_shape
from memory_rag.prompt.searched_memory import SearchedMemory
from memory_rag.prompt.state import TaskState
from memory_rag.prompt.state_proposals import StateProposals
from memory_rag.prompt.summary_source import SummarySource
from memory_rag.prompt.tokens import CountedOnce, TokenCounter, token_counter
from memory_rag.prompt.tool_calls import MemoryTools
from memory_rag.prompt.turn_messages import TurnMessages
from memory_rag.prompt.unlogged import Unlogged
from memory_rag.prompt.whereabouts import Searched, Whereabouts
from memory_rag.prompt.wishes import TOKEN_BUDGET, ContextWish, Wishes
from memory_rag.retrieval.ranking import Ranking
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.summaries.running import RunningSummaries
from memory_rag.talks.talks import Talks


class Prompt:
    """What a memory knows of prompts; made by the memory, as ``memory.prompt``.

    ``tokenizer`` is the ``tokenizer.json`` of the model in use; without one, tokens are estimated. ``keep_recent``
    is how many newest turns a context keeps if nothing else is wished; ``summaries`` gives the summary source of a
    conversation, by its id; ``languages`` are those that are spoken in the memory.
    """

    def __init__(
        self,
        store: TurnWriter,
        *,
        search: Search,
        clock: Callable[[], datetime],
        zone: tzinfo,
        tokenizer: str | Path | None = None,
        keep_recent: int = 8,
        languages: Callable[[], Sequence[str]] = tuple,
        summaries: Callable[[str], SummarySource | None] | None = None,
        prices: Mapping[str, Price] | None = None,
    ) -> None:
        connections = store.connections
        self._store = store
        self._search = search
        self._zone = zone
        self._tokenizer = tokenizer
        self._keep_recent = keep_recent
        self._languages = languages
        self._memory: SearchedMemory | None = None
        self._counter: TokenCounter | None = None
        self._systems: dict[str, str] = {}
        self.summaries = summaries
        self.talks: Talks | None = None
        """What knows of earlier sessions; set by the memory."""
        self.running: RunningSummaries | None = None
        """What keeps the summaries; set by the memory."""
        self.state = TaskState(connections, clock=clock)
        self.pins = Pins(connections, clock=clock)
        self.decisions = Decisions(connections, clock=clock)
        self.file_words = PinnedWords(connections, clock=clock)
        self.files = PinnedFiles(connections, clock=clock, pinned=self.file_words.see)
        self.events = EventLog(connections, clock=clock)
        self.blocks = ReturnedBlocks(connections)
        self.prices: dict[str, Price] = dict(prices or {})
        """What models cost, by their names; a model that isn't here has no cost in the log."""
        self._answers = AnswerLog(self.events, self.blocks, self.prices)

    @classmethod
    def of_memory(cls, memory: SearchedMemory, *, clock: Callable[[], datetime]) -> Self:
        """Return the prompt side of a memory, with its settings."""
        made = cls(
            memory.store,
            search=with_last_time(memory, talks=lambda: made.talks, clock=clock),
            clock=clock,
            zone=memory.zone,
            tokenizer=memory.settings.tokenizer or None,
            keep_recent=memory.settings.keep_recent,
            languages=memory.indexes.spoken_languages,
        )
        made._memory = memory
        return made

    @property
    def counter(self) -> TokenCounter:
        """What counts tokens.

        Raises:
            EmbedderError: the tokenizer file isn't there or is none.
        """
        if self._counter is None:
            self._counter = CountedOnce(token_counter(self._tokenizer))
        return self._counter

    @cached_property
    def proposals(self) -> StateProposals:
        """What the summaries propose for the task's state.

        Raises:
            PromptError: this was made without a memory.
        """
        if self._memory is None or self.running is None:
            raise PromptError("a memory's summaries propose, and this prompt side has none; use memory.prompt")
        wish = self._memory.settings.state_from_summary
        return StateProposals(self._store, self.state, self.events, summaries=self.running.stored, wish=wish)

    @cached_property
    def tools(self) -> MemoryTools:
        """What a model may ask of the memory itself: the definitions for its provider, and the running of its calls.

        Raises:
            PromptError: this was made without a memory.
        """
        if self._memory is None:
            raise PromptError("the tools search a memory, and this prompt side has none; take them from memory.prompt")
        return MemoryTools(
            self._store,
            self._memory.search,
            self._memory.quote,
            lambda: self.counter,
            self._zone,
            self.events,
            self.blocks,
        )

    def context(self, user_message: str, *, system: str = "", **wishes: Unpack[Wishes]) -> PromptContext:
        """Return the prompt for what the user says now, which may be stored already: it is not told twice.

        Raises:
            PromptError: what must always be in the prompt is over the budget alone.
        """
        return self.unlogged(user_message, system=system, **wishes).logged()

    def unlogged(self, user_message: str, *, system: str = "", **wishes: Unpack[Wishes]) -> Unlogged:
        """Return the prompt as :meth:`context` does, with nothing of it in the log yet: that is ``logged()``.

        Raises:
            PromptError: what must always be in the prompt is over the budget alone.
        """
        given: Wishes = {"keep_recent": self._keep_recent, **wishes}
        wish = ContextWish(**given)
        context, ranking = self._assembled(user_message, system, wish)
        self._systems[wish.conversation_id] = system
        whole = with_kept_blocks(context, self.blocks.of(context.window.turn_ids))
        return Unlogged(whole, ranking, wish.conversation_id, self.events, self.file_words)

    def where(
        self,
        words: str,
        *,
        conversation_id: str | None = None,
        question: str | None = None,
        system: str | None = None,
        token_budget: int = TOKEN_BUDGET,
    ) -> Whereabouts:
        """Return where these words are, or went: in the prompt, in a summary, cleared, dropped, stored, never said.

        Looked at is the prompt for ``question`` (the last one asked, if None) in a conversation (the one last spoken
        in, if None), of as many tokens as the real one may have, with the caller's own instructions, ``system`` (those
        of the last prompt that this process put together there, if None; no file has them). Nothing is logged.

        Raises:
            PromptError: this was made without a memory, or what must always be in that prompt is over its budget.
        """
        memory, running = self._memory, self.running
        if memory is None or running is None:
            raise PromptError("where looks into a memory, and this prompt side has none; take it from memory.prompt")

        def instructions(conversation: str) -> str:
            return self._systems.get(conversation, "") if system is None else system

        def prompt(asked: str, conversation: str) -> PromptContext:
            wish = ContextWish(keep_recent=self._keep_recent, conversation_id=conversation, token_budget=token_budget)
            return self._assembled(asked, instructions(conversation), wish)[0]

        searched = Searched(
            self._store,
            memory,
            self.pins,
            self.state,
            self.decisions,
            self.file_words,
            self.events,
            self._zone,
            summaries=lambda conversation, level: running.stored(conversation, level=level),
            turns_of=running.shelf.turns_of,
            prompt=prompt,
            instructions=instructions,
        )
        return searched.find(words, conversation_id=conversation_id, question=question)

    def brief(self, *, conversation_id: str = "main", n_earlier: int = 5) -> Brief:
        """Return what a new session of a conversation knows before anything is said; nothing is logged."""
        return brief_of(self, conversation_id=conversation_id, n_earlier=n_earlier)

    def _assembled(self, user_message: str, system: str, wish: ContextWish) -> tuple[PromptContext, Ranking | None]:
        """Put a prompt together; nothing is logged."""
        files = self.files.read()
        with self._store.connections.reading():
            decisions, preferences, state = self.decisions.all(), self.pins.all(), self.state.get()
        fixed = [
            system_part(system),
            preferences_part(preferences),
            state_part(state),
            decisions_part(
                decisions, n_tokens=int(DECISION_SHARE * wish.token_budget), counter=self.counter, zone=self._zone
            ),
            files_part(files),
        ]
        assembly = Assembly(
            self._store,
            self._search,
            self.counter,
            self._zone,
            self._store.surroundings,
            need_of=lambda said: need_of_details(said, languages=self._languages()),
            earlier=None if self.talks is None else self.talks.search_told,
            lays_floor=self._memory is not None,
        )
        return assembly.assemble(
            user_message,
            wish=wish,
            fixed=fixed,
            files=files,
            summaries=None if self.summaries is None else self.summaries(wish.conversation_id),
        )

    def record(self, answer: Mapping[str, Any], *, turn_id: str, provider: Shape) -> Recorded:
        """Write down a provider's answer for the stored turn that holds its words: its blocks, its edits, its usage.

        ``answer`` is the JSON of the API, or ``to_dict()`` of the SDK's object, with nothing added or left out.

        Warns with ``LostCompactionWarning`` if its request had again what had been compacted.

        Raises:
            UnknownTurnError: no turn has this id.
            SettingsError: ``provider`` is neither ``anthropic`` nor ``openai``.
        """
        refuse_unknown_shape(provider)
        turn = self._store.get([turn_id])[0]
        return self._answers.record(answer, turn_id=turn_id, conversation_id=turn.conversation_id, provider=provider)

    def own_words(self, message: str) -> OwnWords:
        """Return what a message that a client sends holds beside quoted turns of ours, to be stored in its place."""
        return own_words(message, self._store)

    def replay(self, conversation_id: str, *, provider: Shape) -> TurnMessages:
        """Return a whole conversation as a provider's messages, its blocks unchanged, from the newest compaction on.

        Raises:
            SettingsError: ``provider`` is neither ``anthropic`` nor ``openai``.
        """
        refuse_unknown_shape(provider)
        turns = [turn for _row, turn in self._store.scan(conversation_id=conversation_id)]
        return replayed(turns, self.blocks.of([turn.turn_id for turn in turns]), provider=provider)

    def fit(
        self,
        messages: Sequence[Message],
        *,
        n_tokens: int,
        turn_ids: Sequence[str | None],
        summarize: Callable[[Sequence[Message]], str],
        conversation_id: str | None = None,
        keep_recent: int = 8,
        tool_uses: ClearToolUses | None = None,
        thinking: ClearThinking | None = None,
    ) -> Fitted:
        """Make a conversation of the caller's own fit, as :func:`memory_rag.prompt.compaction.fit` does, and log it.

        Raises:
            SettingsError: a limit below 1, or not one turn id for each message.
        """
        fitted = fit(
            messages,
            n_tokens=n_tokens,
            turn_ids=turn_ids,
            counter=self.counter,
            summarize=summarize,
            keep_recent=keep_recent,
            tool_uses=tool_uses,
            thinking=thinking,
        )
        log_fitted(self.events, fitted, conversation_id=conversation_id)
        return fitted
