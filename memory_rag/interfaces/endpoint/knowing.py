"""What the memory knows for a chat request, within the tokens that the client allows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class Known:
    """What is put into a request: instructions, turns that the client didn't send, and quoted turns.

    ``at`` is the place of the message that asks; ``quoted_ids`` are the turns that are quoted.
    """

    system: str = ""
    window: Sequence[Mapping[str, Any]] = ()
    quoted: str = ""
    quoted_ids: tuple[str, ...] = ()
    at: int = 0
    notes: tuple[str, ...] = ()

    @property
    def says_anything(self) -> bool:
        return bool(self.system or self.quoted or self.window)


def known_for(memory: Memory, said: Sequence[Saying], thread: Thread, wish: ChatWish) -> Known:
    """Return what the memory knows for the user's last words; nothing if there are none.

    What the client's own history holds is not told again.
    """
    asked = next((one for one in reversed(said) if one.role is Role.USER), None)
    if asked is None or not asked.text.strip():
        return Known()
    question = memory.prompt.own_words(asked.text).text or asked.text
    if need_of_details(question, languages=memory.indexes.languages()) is not Need.NONE:
        # Embedding it takes as long as all the rest: both are done at once.
        memory.foresee(question)
    present = Threads(memory.store).ids_of(thread, said)
    newest = memory.store.newest(thread.conversation_id, n=1)
    if newest and newest[0].turn_id in present and newest[0].role is Role.USER:
        # As it is stored, so that the prompt knows it for the question.
        question = newest[0].text
    wishes: dict[str, Any] = {"keep_recent": 0} if any(one.role is Role.ASSISTANT for one in said) else {}
    try:
        context = memory.context(
            question,
            conversation_id=thread.conversation_id,
            token_budget=wish.n_tokens + memory.prompt.counter.count(question) + _MARKS,
            within=Within(without=tuple(dict.fromkeys(present))),
            **wishes,
        )
    except (PromptError, EmbedderError, MissingExtraError) as error:
        return Known(notes=(f"nothing of the memory was told: {error}",))
    quoted_ids = tuple(one.turn_id for one in context.included if one.part == "retrieved turns")
    return Known(context.system, context.window.openai(), context.quoted, quoted_ids, asked.at)
