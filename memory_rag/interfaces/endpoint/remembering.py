"""One chat request and its answer: told what is known, and stored. Nothing here waits for a model."""

from __future__ import annotations

import logging
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from memory_rag.interfaces.endpoint.chat_turns import turn_answered, turn_said
from memory_rag.interfaces.endpoint.heard import Heard
from memory_rag.interfaces.endpoint.knowing import Known, foresee, known_for
from memory_rag.interfaces.endpoint.sayings import Saying, chain_of, pair_of, saying_of, sayings_of
from memory_rag.interfaces.endpoint.telling import with_memory
from memory_rag.interfaces.endpoint.thread import Thread, Threads
from memory_rag.interfaces.endpoint.wishes import ChatWish
from memory_rag.turns import Role, Turn

if TYPE_CHECKING:
    from memory_rag.memory import Memory

_LOG: Final = logging.getLogger(__name__)
_REMEMBERED_PAIRS: Final = 20_000


@dataclass(slots=True)
class Exchange:
    """One request on its way: its body for the upstream, and where its answer will be stored."""

    body: dict[str, Any]
    wish: ChatWish
    thread: Thread
    last: Saying | None
    place: tuple[str, str]
    """Where the memory is, and the conversation."""
    is_changed: bool = False
    """Whether the body differs from what the client sent."""
    stored: tuple[str, ...] = ()
    """The turns that were stored of it."""
    quoted: tuple[str, ...] = ()
    """The turns that are quoted in it."""
    notes: tuple[str, ...] = ()
    answers: list[str] = field(default_factory=list)
    """The turns that were stored of its answer."""
    log: Callable[[], object] | None = None
    """What writes down what was retrieved for it; None once it is written."""
    log_lock: threading.Lock = field(default_factory=threading.Lock)


class Remembering:
    """Stores and tells for one server; memories are given with each call. Safe for threads."""

    def __init__(self, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._clock = clock
        self._storing = threading.Lock()
        """Held while a request's words are found unknown and stored, which may wait for another process."""
        self._noting = threading.Lock()
        """Held for no longer than a dictionary takes: the server's loop takes it too."""
        self._answering: Counter[tuple[str, str]] = Counter()
        self._off_record: OrderedDict[str, None] = OrderedDict()

    def hear(self, memory: Memory, body: Mapping[str, Any], wish: ChatWish) -> Exchange:
        """Put what the memory knows into a request, and store what is new in it.

        It is looked up before it is stored: the search then meets the indexes as the last answer left them, and doesn't
        wait until they hold, and have embedded, the very words that are asked.

        Raises:
            StoreError: it couldn't be written; nothing was stored.
            TurnError: the conversation's name can't be one.
        """
        messages = body.get("messages")
        said = sayings_of(messages) if isinstance(messages, list) else []
        recalls = wish.recalls and isinstance(messages, list)
        if recalls:
            # Before all else, since all else is done by the time it is.
            foresee(memory, said)
        with memory.store.connections.reading():
            if memory.off_record.since is not None:
                # Noted like a wish of the client's: nothing of it may be stored when the talk comes back later.
                wish = replace(wish, stores=False)
            now, seq = self._clock(), memory.store.last_seq
            thread = self._thread(memory, said, wish, now)
        known = known_for(memory, said, thread, wish) if recalls else Known()
        with self._storing:
            # Two requests at once must not both find their words unknown.
            first = thread
            if memory.store.last_seq != seq:
                thread = self._thread(memory, said, wish, now)
            exchange = self._placed(memory, dict(body), said, wish, thread)
            # Before anything is stored: who finds these words then knows that they are being answered.
            self._begin(exchange)
            try:
                self._store(memory, exchange, said, thread, now)
            except BaseException:
                self.done(exchange)
                raise
        if recalls and thread != first:
            known = self._known_again(memory, said, exchange)
        exchange.quoted, exchange.notes, exchange.log = known.quoted_ids, known.notes, known.log
        if isinstance(messages, list) and known.says_anything:
            exchange.body["messages"] = with_memory(
                messages, system=known.system, window=known.window, quoted=known.quoted, at=known.at
            )
            exchange.is_changed = True
        return exchange

    def log(self, exchange: Exchange) -> None:
        """Write down what was retrieved for a request, once, while the upstream is waited for or afterwards."""
        with exchange.log_lock:
            log, exchange.log = exchange.log, None
            if log is not None:
                try:
                    log()
                except Exception:
                    # No reason to keep an answer back, or not to store it.
                    _LOG.exception("what was retrieved couldn't be written down")

    def keep(self, memory: Memory, exchange: Exchange, heard: Heard, *, cut_off: str = "") -> None:
        """Store an answer as far as it came, marked if it was cut off. Alternatives are kept out of search.

        Raises:
            StoreError: it couldn't be written.
        """
        self.log(exchange)
        model = heard.model or str(exchange.body.get("model") or "")
        for index, choice in sorted(heard.choices.items()):
            if choice.is_empty:
                continue
            saying = saying_of(choice.message(), Role.ASSISTANT, at=-1)
            pair = pair_of(exchange.last, saying)
            if not exchange.wish.stores:
                self._note_off_record([pair])
                continue
            turn = turn_answered(
                saying,
                choice,
                conversation_id=exchange.thread.conversation_id,
                digests=f"{chain_of(exchange.thread.chain, saying)}:{pair}",
                model=model,
                is_first=index == 0,
                cut_off=cut_off,
                now=self._clock(),
                zone=memory.zone,
            )
            added = memory.store.append([turn]).turn_ids
            exchange.answers += added
            if added and heard.usage and index == 0:
                told = {"model": model or "unknown", "usage": heard.usage}
                memory.prompt.record(told, turn_id=added[0], provider="openai")
        if exchange.answers:
            memory.summarise_between(exchange.thread.conversation_id)

    def done(self, exchange: Exchange) -> None:
        """Say that no more of the answer comes. Returns at once."""
        if exchange.wish.stores:
            with self._noting:
                self._answering[exchange.place] -= 1
                if not self._answering[exchange.place]:
                    del self._answering[exchange.place]

    def _begin(self, exchange: Exchange) -> None:
        if exchange.wish.stores:
            with self._noting:
                self._answering[exchange.place] += 1

    def _thread(self, memory: Memory, said: Sequence[Saying], wish: ChatWish, now: datetime) -> Thread:
        here = memory.place
        with self._noting:
            answering = [conversation for place, conversation in self._answering if place == here]
        return Threads(memory.store).find(said, named=wish.conversation, now=now, being_answered=answering)

    def _known_again(self, memory: Memory, said: Sequence[Saying], exchange: Exchange) -> Known:
        """Return what is known for a request that another one, at the same time, gave another place."""
        try:
            return known_for(memory, said, exchange.thread, exchange.wish)
        except BaseException:
            self.done(exchange)
            raise

    def _placed(
        self, memory: Memory, body: dict[str, Any], said: Sequence[Saying], wish: ChatWish, thread: Thread
    ) -> Exchange:
        """Return a request with its place in a conversation."""
        chain = thread.chain
        for one in said[thread.n_known :]:
            chain = chain_of(chain, one)
        return Exchange(
            body,
            wish,
            Thread(thread.conversation_id, len(said), chain),
            said[-1] if said else None,
            (memory.place, thread.conversation_id),
        )

    def _store(self, memory: Memory, exchange: Exchange, said: Sequence[Saying], thread: Thread, now: datetime) -> None:
        """Store what a thread doesn't know of what is said, or note that it is off the record."""
        last_answer = max((i for i, one in enumerate(said) if one.role is Role.ASSISTANT), default=-1)
        chain, turns, off_record = thread.chain, list[Turn](), list[str]()
        for i in range(thread.n_known, len(said)):
            chain, pair = chain_of(chain, said[i]), pair_of(said[i - 1] if i else None, said[i])
            if not exchange.wish.stores:
                off_record.append(pair)
            elif not (i <= last_answer and self._was_off_record(pair)):
                text = _own_words(memory, said[i])
                if text.strip() or said[i].blocks:
                    turns.append(
                        turn_said(
                            said[i],
                            text,
                            conversation_id=thread.conversation_id,
                            digests=f"{chain}:{pair}",
                            speaker=exchange.wish.speaker,
                            said_at=now if i > last_answer else None,
                            now=now,
                            zone=memory.zone,
                        )
                    )
        self._note_off_record(off_record)
        exchange.stored = memory.store.append(turns).turn_ids if turns else ()

    def _was_off_record(self, pair: str) -> bool:
        with self._noting:
            return pair in self._off_record

    def _note_off_record(self, pairs: Sequence[str]) -> None:
        with self._noting:
            self._off_record.update(dict.fromkeys(pairs))
            while len(self._off_record) > _REMEMBERED_PAIRS:
                self._off_record.popitem(last=False)


def _own_words(memory: Memory, saying: Saying) -> str:
    """Return what is stored of a message: of a user's, what isn't quoted from this memory."""
    return memory.prompt.own_words(saying.text).text if saying.role is Role.USER else saying.text
