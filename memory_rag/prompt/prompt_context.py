"""A prompt that was put together: its messages for each provider, what each part costs, and why each turn is in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from memory_rag.prompt.message_parts import Json
from memory_rag.prompt.on_demand import betas_for
from memory_rag.prompt.pinned_files import FileRead
from memory_rag.prompt.returned_blocks import Returned
from memory_rag.prompt.tokens import messages_tokens
from memory_rag.prompt.window import Window
from memory_rag.talks.talk import Talk

LEFT_OUT: Final = "(What was said before is left out here.)"
"""What the user is made to say first to Anthropic's API, where a window begins with the model."""
Part = Literal[
    "system prompt",
    "preferences",
    "task state",
    "decisions",
    "pinned files",
    "question",
    "marks",
    "newest turns",
    "retrieved turns",
    "summary",
    "earlier conversations",
]


@dataclass(frozen=True, slots=True)
class PartCost:
    """What one part of a prompt costs; ``told`` says what is in it."""

    part: Part
    n_tokens: int
    told: str = ""


@dataclass(frozen=True, slots=True)
class Account:
    """The tokens of a prompt against its budget, part by part, in the order of who may be dropped last.

    ``marks`` are what a chat template puts around messages, and what parts count more together than one by one.
    ``counter`` names what counted; with ``is_estimate`` the numbers are no model's own and err high. ``files`` tells of
    every pinned file as it was read.
    """

    budget: int
    parts: tuple[PartCost, ...]
    counter: str
    is_estimate: bool
    files: tuple[FileRead, ...] = ()

    @property
    def total(self) -> int:
        return sum(part.n_tokens for part in self.parts)

    @property
    def over_by(self) -> int:
        """How many tokens the prompt has over its budget; 0 if it fits."""
        return max(0, self.total - self.budget)

    def of(self, part: Part) -> int:
        return sum(cost.n_tokens for cost in self.parts if cost.part == part)


@dataclass(frozen=True, slots=True)
class Included:
    """A turn that is in the prompt: in which part, why, its tokens, and whether all of its text is there."""

    turn_id: str
    part: Part
    why: str
    n_tokens: int
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class PromptContext:
    """A prompt: what always holds and the summary as instructions, the quoted turns, the newest turns, the question.

    ``notes`` are sentences for the user: what was left out, what the search says of its hits.
    """

    system: str
    quoted: str
    window: Window
    question: str
    account: Account
    included: tuple[Included, ...]
    notes: tuple[str, ...] = ()
    earlier: tuple[Talk, ...] = ()
    """The earlier conversations that are told of, the likeliest first."""
    contents: Mapping[str, Sequence[Json]] = field(default_factory=dict)
    """By turn id: what Anthropic gave for a turn of the window, sent back as it is."""
    items: Mapping[str, Sequence[Json]] = field(default_factory=dict)
    """The same of OpenAI's Responses API."""

    @property
    def messages(self) -> list[Json]:
        """The prompt as chat messages of OpenAI's shape."""
        before: list[Json] = [{"role": "system", "content": self.system}] if self.system else []
        return [*before, *self.window.openai(), *self._last()]

    def for_anthropic(self) -> dict[str, Any]:
        """Return ``system`` and ``messages`` for Anthropic's API; without a system prompt, ``messages`` alone.

        User and assistant take turns, the user begins, and what the model gave in the window goes back unchanged.
        """
        messages: list[Json] = []
        window = self.window.anthropic(self.contents)
        if window and window[0]["role"] == "assistant" and not _leads(window[0]):
            messages.append({"role": "user", "content": [_text(LEFT_OUT)]})
        messages += [dict(message) for message in window]
        last = [_text(message["content"]) for message in self._last()]
        if messages and messages[-1]["role"] == "user":
            messages[-1] = {"role": "user", "content": [*messages[-1]["content"], *last]}
        elif last:
            messages.append({"role": "user", "content": last})
        return {"system": self.system, "messages": messages} if self.system else {"messages": messages}

    @property
    def betas(self) -> tuple[str, ...]:
        """The betas that a request with :meth:`for_anthropic` has to name, for the blocks that go back in it."""
        return betas_for(self.for_anthropic()["messages"])

    def for_responses(self) -> dict[str, Any]:
        """Return ``instructions`` and ``input`` for OpenAI's Responses API; ``input`` alone without instructions."""
        last = [{"type": "message", **message} for message in self._last()]
        items = [*self.window.responses(self.items), *last]
        return {"instructions": self.system, "input": items} if self.system else {"input": items}

    def _repr_html_(self) -> str:
        from memory_rag.prompt.in_notebook import context_html

        return context_html(self)

    def _last(self) -> list[Json]:
        # No provider takes a message without words.
        texts = [text for text in (self.quoted, self.question) if text.strip()]
        return [{"role": "user", "content": text} for text in texts]


def with_kept_blocks(context: PromptContext, kept: Mapping[str, Returned]) -> PromptContext:
    """Return a prompt with what providers gave for its window's turns; where that is over the budget, it is noted.

    The account is of chat messages, which have the words alone.
    """
    given = replace(
        context,
        contents={turn: one.content for turn, one in kept.items() if one.provider == "anthropic"},
        items={turn: one.content for turn, one in kept.items() if one.provider == "openai"},
    )
    window, notes = context.window, list(context.notes)
    for name, own, told in (
        ("Anthropic", given.contents, window.anthropic),
        ("OpenAI's Responses API", given.items, window.responses),
    ):
        if not own:
            continue
        more = messages_tokens(told(own), counter=window.counter) - window.n_tokens
        over = context.account.total + more - context.account.budget
        if more > 0 and over > 0:
            notes.append(
                f"sent to {name}, the blocks that go back unchanged (thinking, signatures and the like) have about "
                f"{more:,} tokens more than their words: {over:,} over the budget"
            )
    return replace(given, notes=tuple(notes))


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _leads(message: Json) -> bool:
    """Tell whether a message begins with a provider's own summary, which may stand first."""
    return bool(message["content"]) and message["content"][0].get("type") == "compaction"
