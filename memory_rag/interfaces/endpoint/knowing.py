"""What the memory knows for a chat request, within the tokens that the client allows it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memory_rag.errors import EmbedderError, MissingExtraError, PromptError
from memory_rag.interfaces.endpoint.sayings import Saying
from memory_rag.interfaces.endpoint.thread import Thread, Threads
from memory_rag.interfaces.endpoint.wishes import ChatWish
from memory_rag.prompt.asking_for_details import Need, need_of_details
from memory_rag.retrieval.filters import Within
from memory_rag.turns import Role

if TYPE_CHECKING:
    from memory_rag.memory import Memory

_MARKS: Final = 64
"""Tokens of a prompt's own marks, beside the budget that a client wishes."""
_HEAD_START_S: Final = 0.0004
"""So long the interpreter is left to the embedding, which is in its engine by then and needs it no more. Without, both
take turns at it, and what all else waits for begins 1 ms later."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is put into a request: instructions, turns that the client didn't send, and quoted turns.

    ``at`` is the place of the message that asks; ``quoted_ids`` are the turns that are quoted. ``log`` writes down what
    was retrieved, which nobody has to wait for.
    """

    system: str = ""
    window: Sequence[Mapping[str, Any]] = ()
    quoted: str = ""
    quoted_ids: tuple[str, ...] = ()
    at: int = 0
    notes: tuple[str, ...] = ()
    log: Callable[[], object] = lambda: None

    @property
    def says_anything(self) -> bool:
        return bool(self.system or self.quoted or self.window)


def foresee(memory: Memory, said: Sequence[Saying]) -> None:
    """Begin to embed what is asked, if it asks for what was said before; returns as soon as that is on its way.

    That takes as long as all the rest that comes before the upstream is asked: both are done at once.
    """
    question = _question(memory, said)
    if question and need_of_details(question, languages=memory.indexes.spoken_languages()) is not Need.NONE:
        memory.foresee(question)
        if memory.settings.embedder != "none":
            time.sleep(_HEAD_START_S)


def known_for(memory: Memory, said: Sequence[Saying], thread: Thread, wish: ChatWish) -> Known:
    """Return what the memory knows for the user's last words; nothing if there are none.

    What the client's own history holds is not told again.
    """
    asked, question = _asked(said), _question(memory, said)
    if asked is None or not question:
        return Known()
    with memory.store.connections.reading():
        present = Threads(memory.store).ids_of(thread, said)
        newest = memory.store.newest(thread.conversation_id, n=1)
    if newest and newest[0].turn_id in present and newest[0].role is Role.USER:
        # As it is stored, so that the prompt knows it for the question.
        question = newest[0].text
    wishes: dict[str, Any] = {"keep_recent": 0} if any(one.role is Role.ASSISTANT for one in said) else {}
    try:
        made = memory.unlogged_context(
            question,
            conversation_id=thread.conversation_id,
            token_budget=wish.n_tokens + memory.prompt.counter.count(question) + _MARKS,
            within=Within(without=tuple(dict.fromkeys(present))),
            **wishes,
        )
    except (PromptError, EmbedderError, MissingExtraError) as error:
        return Known(notes=(f"nothing of the memory was told: {error}",))
    context = made.context
    quoted_ids = tuple(one.turn_id for one in context.included if one.part == "retrieved turns")
    return Known(context.system, context.window.openai(), context.quoted, quoted_ids, asked.at, log=made.logged)


def _asked(said: Sequence[Saying]) -> Saying | None:
    """Return what the user said last."""
    return next((one for one in reversed(said) if one.role is Role.USER), None)


def _question(memory: Memory, said: Sequence[Saying]) -> str:
    """Return the user's last words without what they quote from this memory; empty if there are none."""
    asked = _asked(said)
    if asked is None or not asked.text.strip():
        return ""
    return memory.prompt.own_words(asked.text).text or asked.text
