"""A prompt whose log entries are still to be written: whoever has somebody waiting sends it first."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memory_rag.errors import StoreError
from memory_rag.prompt.edits_logged import log_cleared
from memory_rag.prompt.events import EventKind, EventLog
from memory_rag.prompt.pinned_words import PinnedWords
from memory_rag.prompt.prompt_context import PromptContext
from memory_rag.retrieval.ranking import Ranking


@dataclass(frozen=True, slots=True)
class Unlogged:
    """A prompt with the search that was made for it, and where both are written down."""

    context: PromptContext
    ranking: Ranking | None
    conversation_id: str
    events: EventLog
    file_words: PinnedWords

    def logged(self) -> PromptContext:
        """Write down what was retrieved and cleared, and what pinned files said; what can't be, the prompt says."""
        context = self.context
        quoted = [one.turn_id for one in context.included if one.part == "retrieved turns"]
        cleared, n_tokens = context.window.cleared, context.window.n_tokens
        try:
            self.file_words.see(context.account.files)
            log_cleared(
                self.events,
                cleared,
                conversation_id=self.conversation_id,
                tokens_before=n_tokens + sum(one.n_tokens for one in cleared),
                tokens_after=n_tokens,
            )
            if self.ranking is not None:
                self.events.log(
                    EventKind.RETRIEVAL,
                    conversation_id=self.conversation_id,
                    tokens_after=context.account.of("retrieved turns"),
                    details={"hits": list(self.ranking.turn_ids), "quoted": quoted, "evidence": self.ranking.evidence},
                )
        except StoreError as error:
            return replace(context, notes=(*context.notes, f"not written to the event log: {error}"))
        return context
