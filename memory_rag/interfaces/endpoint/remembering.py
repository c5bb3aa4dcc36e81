"""One chat request and its answer: stored, and told what is known. Nothing here waits for a model."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from memory_rag.errors import EmbedderError, MissingExtraError, PromptError
from memory_rag.importers.messages import as_object
from memory_rag.interfaces.endpoint.heard import Choice, Heard
from memory_rag.interfaces.endpoint.sayings import Saying, chain_of, pair_of, saying_of, sayings_of
from memory_rag.interfaces.endpoint.telling import with_memory
from memory_rag.interfaces.endpoint.thread import Thread, Threads
from memory_rag.interfaces.endpoint.wishes import ChatWish
from memory_rag.retrieval.filters import Within
from memory_rag.store.chat_messages import SOURCE
from memory_rag.store.turn_store import NEXT
from memory_rag.turns import Block, Role, Source, Turn

if TYPE_CHECKING:
    from memory_rag.memory import Memory

CUT_OFF: Final = "cut_off"
"""The kind of the block that marks an answer that didn't come to its end; its data say why."""
_REMEMBERED_PAIRS: Final = 20_000


@dataclass(slots=True)
class Exchange:
    """One request on its way: its body for the upstream, and where its answer will be stored."""

    body: dict[str, Any]
    wish: ChatWish
    thread: Thread
    last: Saying | None
    is_changed: bool = False
    """Whether the body differs from what the client sent."""
    stored: tuple[str, ...] = ()
    """The turns that were stored of it."""
    quoted: tuple[str, ...] = ()
    """The turns that are quoted in it."""
    notes: tuple[str, ...] = ()
    answers: list[str] = field(default_factory=list)
    """The turns that were stored of its answer."""


class Remembering:
    """Stores and tells for one server; memories are given with each call. Safe for threads."""

    def __init__(self, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._answering: Counter[tuple[str, str]] = Counter()
        self._off_record: OrderedDict[str, None] = OrderedDict()

    def hear(self, memory: Memory, body: Mapping[str, Any], wish: ChatWish) -> Exchange:
        """Store what is new in a request and put what the memory knows into it.

        Raises:
            StoreError: it couldn't be written; nothing was stored.
            TurnError: the conversation's name can't be one.
        """
        messages = body.get("messages")
        said = sayings_of(messages) if isinstance(messages, list) else []
        if memory.off_record.since is not None:
            # Noted like a wish of the client's: nothing of it may be stored when the talk comes back later.
            wish = replace(wish, stores=False)
        with self._lock:
            # Two requests at once must not both find their words unknown.
            exchange = self._stored(memory, dict(body), said, wish)
            if exchange.wish.stores:
                self._answering[self._place(memory, exchange)] += 1
        try:
            if wish.recalls and isinstance(messages, list):
                self._told(memory, exchange, messages, said)
        except BaseException:
            self.done(memory, exchange)
            raise
        return exchange

    def keep(self, memory: Memory, exchange: Exchange, heard: Heard, *, cut_off: str = "") -> None:
        """Store an answer as far as it came, marked if it was cut off. Alternatives are kept out of search.

        Raises:
            StoreError: it couldn't be written.
        """
        model = heard.model or str(exchange.body.get("model") or "")
        for index, choice in sorted(heard.choices.items()):
            if choice.is_empty:
                continue
            saying = saying_of(choice.message(), Role.ASSISTANT, at=-1)
            if not exchange.wish.stores:
                self._note_off_record(pair_of(exchange.last, saying))
                continue
            turn = self._answer_turn(memory, exchange, saying, choice, model=model, index=index, cut_off=cut_off)
            added = memory.add_many([turn]).turn_ids
            exchange.answers += added
            if added and heard.usage and index == 0:
                told = {"model": model or "unknown", "usage": heard.usage}
                memory.prompt.record(told, turn_id=added[0], provider="openai")

    def done(self, memory: Memory, exchange: Exchange) -> None:
        """Say that no more of the answer comes."""
        with self._lock:
            place = self._place(memory, exchange)
            if self._answering[place] > 1:
                self._answering[place] -= 1
            else:
                self._answering.pop(place, None)

    def _stored(self, memory: Memory, body: dict[str, Any], said: Sequence[Saying], wish: ChatWish) -> Exchange:
        now = self._clock()
        here = str(memory.folder)
        answering = [conversation for folder, conversation in self._answering if folder == here]
        thread = Threads(memory.store).find(said, named=wish.conversation, now=now, being_answered=answering)
        last_answer = max((i for i, one in enumerate(said) if one.role is Role.ASSISTANT), default=-1)
        chain, turns = thread.chain, list[Turn]()
        for i in range(thread.n_known, len(said)):
            chain, pair = chain_of(chain, said[i]), pair_of(said[i - 1] if i else None, said[i])
            if not wish.stores:
                self._note_off_record(pair)
            elif not (i <= last_answer and pair in self._off_record):
                turn = self._turn(memory, said[i], thread, chain, pair, now if i > last_answer else None, wish)
                turns += [turn] if turn is not None else []
        stored = memory.store.append(turns).turn_ids if turns else ()
        last = said[-1] if said else None
        return Exchange(body, wish, Thread(thread.conversation_id, len(said), chain), last, stored=stored)

    def _turn(
        self,
        memory: Memory,
        saying: Saying,
        thread: Thread,
        chain: str,
        pair: str,
        said_at: datetime | None,
        wish: ChatWish,
    ) -> Turn | None:
        """Return a message as a turn; None if it is made of nothing but quoted turns of ours, or of nothing."""
        text = memory.prompt.own_words(saying.text).text if saying.role is Role.USER else saying.text
        if not text.strip() and not saying.blocks:
            return None
        spoken = wish.speaker if saying.role is Role.USER else None
        return Turn(
            turn_id="",
            conversation_id=thread.conversation_id,
            session_id=self._clock().astimezone(memory.zone).date().isoformat(),
            ordinal=NEXT,
            role=saying.role,
            speaker=saying.name or spoken or saying.role.value,
            text=text,
            said_at=said_at,
            blocks=saying.blocks,
            source=Source(SOURCE, f"{chain}:{pair}"),
            recalled=saying.recalled,
        )

    def _answer_turn(
        self,
        memory: Memory,
        exchange: Exchange,
        saying: Saying,
        choice: Choice,
        *,
        model: str,
        index: int,
        cut_off: str,
    ) -> Turn:
        now = self._clock()
        blocks = list(saying.blocks)
        if choice.thinking:
            blocks.append(Block("thinking", {"thinking": "".join(choice.thinking)}))
        if cut_off:
            blocks.append(Block(CUT_OFF, {"reason": cut_off}))
        chain, pair = chain_of(exchange.thread.chain, saying), pair_of(exchange.last, saying)
        return Turn(
            turn_id="",
            conversation_id=exchange.thread.conversation_id,
            session_id=now.astimezone(memory.zone).date().isoformat(),
            ordinal=NEXT,
            role=Role.ASSISTANT,
            speaker=model or Role.ASSISTANT.value,
            text=saying.text,
            said_at=now,
            blocks=tuple(blocks),
            source=Source(SOURCE, f"{chain}:{pair}"),
            recalled=saying.recalled and index == 0,
        )

    def _told(self, memory: Memory, exchange: Exchange, messages: Sequence[Any], said: Sequence[Saying]) -> None:
        """Put what the memory knows for the user's last words into the request."""
        asked = next((one for one in reversed(said) if one.role is Role.USER), None)
        if asked is None or not asked.text.strip():
            return
        thread = exchange.thread
        present = Threads(memory.store).ids_of(thread, said)
        has_history = any(one.role is Role.ASSISTANT for one in said)
        question = asked.text
        newest = memory.store.newest(thread.conversation_id, n=1)
        if newest and newest[0].turn_id in present:
            # As it is stored, so that the prompt knows it for the question.
            question = newest[0].text if newest[0].role is Role.USER else question
        n_tokens = exchange.wish.n_tokens + memory.prompt.counter.count(question) + _MARKS
        wishes: dict[str, Any] = {"keep_recent": 0} if has_history else {}
        try:
            context = memory.context(
                question,
                conversation_id=thread.conversation_id,
                token_budget=n_tokens,
                within=Within(without=tuple(dict.fromkeys(present))),
                **wishes,
            )
        except (PromptError, EmbedderError, MissingExtraError) as error:
            exchange.notes = (f"nothing of the memory was told: {error}",)
            return
        window = context.window.openai()
        if context.system or context.quoted or window:
            exchange.body["messages"] = with_memory(
                messages, system=context.system, window=window, quoted=context.quoted, at=asked.at
            )
            exchange.is_changed = True
        exchange.quoted = tuple(one.turn_id for one in context.included if one.part == "retrieved turns")

    def _note_off_record(self, pair: str) -> None:
        self._off_record[pair] = None
        while len(self._off_record) > _REMEMBERED_PAIRS:
            self._off_record.popitem(last=False)

    def _place(self, memory: Memory, exchange: Exchange) -> tuple[str, str]:
        return str(memory.folder), exchange.thread.conversation_id


_MARKS: Final = 64
"""Tokens of a prompt's own marks, beside the budget that a client wishes."""


def model_of(body: Mapping[str, Any]) -> str:
    """Return the model that a request names; empty if it names none."""
    model = as_object(dict(body)).get("model")
    return model if isinstance(model, str) else ""
