"""Which talk a request goes on with, and how much of the history that it brings is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from typing import Final
from unicodedata import normalize

from memory_rag.errors import UnknownTurnError
from memory_rag.interfaces.endpoint.sayings import Saying, chain_of, pair_of
from memory_rag.store.chat_messages import ChatMessages, KnownMessage
from memory_rag.store.turn_reader import TurnReader
from memory_rag.text.thoughts import without_thoughts
from memory_rag.turns import Role

ASKED_AGAIN_S: Final = 600.0
"""How long the same first words are the same question, asked again; later they begin another talk."""


_TRIED: Final = 3
"""Answers of a request that are looked for by their words, the newest first."""
_TELLING: Final = 12
"""Characters of words that are hardly said twice in two talks; "yes", and "You're welcome", may be."""
_COMPARED: Final = 300
"""Words of two answers that are compared."""
_ALIKE: Final = 0.5
"""From this share of common words on, one answer is the other one edited."""
_LOOKED_AT: Final = 40
"""Of a long history, the newest messages that are looked for by their words."""
_ALTERNATIVES: Final = 8
"""Turns before an answer among which its question is: other answers to it may stand between."""


@dataclass(frozen=True, slots=True)
class Thread:
    """The conversation of a request; the first ``n_known`` of what is said in it need not be stored.

    ``chain`` is the digest of the talk up to there.
    """

    conversation_id: str
    n_known: int
    chain: str


class Threads:
    """Knows the talks of one memory again. ``is_open(conversation)`` tells whether an answer of it is on its way."""

    def __init__(self, store: TurnReader) -> None:
        self._store = store
        self._known = ChatMessages(store.connections)

    def find(
        self, said: Sequence[Saying], *, named: str | None, now: datetime, being_answered: Sequence[str] = ()
    ) -> Thread:
        """Return the thread of what is said in a request.

        A client that sends all of its history is known by the digest of the longest part that is stored; one that
        leaves out what is old, by the newest answer with the words before it, or with what is left of those. What comes
        before the newest part that is known counts as known: what isn't stored of it was forgotten, or was not to be
        stored. ``named`` is the conversation that the client names; ``being_answered`` are those in which an answer is
        on its way.
        """
        pairs = [pair_of(said[i - 1] if i else None, one) for i, one in enumerate(said)]
        chains: list[str] = []
        for one in said:
            chains.append(chain_of(chains[-1] if chains else "", one))
        for i in reversed(range(1, len(said))):
            exact = [k for k in self._known.of_pair(pairs[i], conversation_id=named) if k.chain == chains[i]]
            if exact:
                return self._walked(exact[0], i, said)
        for i in reversed(range(1, len(said))):
            if said[i].role is not Role.ASSISTANT:
                continue
            same = self._known.of_pair(pairs[i], conversation_id=named)
            if same:
                return self._walked(same[0], i, said)
        for i in [i for i in range(1, len(said)) if said[i].role is Role.ASSISTANT][: -_TRIED - 1 : -1]:
            answered = self._answered(said[i - 1], said[i], named=named)
            if answered is not None:
                return self._walked(answered, i, said)
        return self._opened(said, pairs, named=named, now=now, being_answered=being_answered)

    def _answered(self, asked: Saying, answer: Saying, *, named: str | None) -> KnownMessage | None:
        """Return the stored answer to a question that was sent with more around it than it has now.

        Some clients put documents, or the time, around what is asked, or an image beside it, and leave them out when
        they send it again.
        """
        question, words = _words(asked.text), _words(answer.text)
        if asked.role is not Role.USER or not (question and words):
            return None
        is_telling = len(question) >= _TELLING and len(words) >= _TELLING
        answers = self._known.newest_answers(conversation_id=named)
        turns = {turn.turn_id: turn for turn in self._store.get([one.turn_id for one in answers])}
        for one in answers:
            if _words(turns[one.turn_id].text) != words:
                continue
            before = self._store.neighbours(one.turn_id, before=_ALTERNATIVES, after=0)[:-1]
            stored = next((_words(turn.text) for turn in reversed(before) if turn.role is Role.USER), "")
            if question == stored:
                return one
            if is_telling and (question in stored or (len(stored) >= _TELLING and stored in question)):
                return one
        return None

    def _opened(
        self,
        said: Sequence[Saying],
        pairs: Sequence[str],
        *,
        named: str | None,
        now: datetime,
        being_answered: Sequence[str],
    ) -> Thread:
        """Return the thread of a request of which at most the first words are known."""
        for first in self._known.of_pair(pairs[0], conversation_id=named)[:1] if said else ():
            is_fresh = now.timestamp() - first.stored_at < ASKED_AGAIN_S
            if len(said) > 1 and (first.n_later == 0 or self._altered(first, said[1]) is not None):
                return self._walked(first, 0, said)
            if len(said) > 1 and self._edited(first, said[1]):
                return Thread(first.conversation_id, 1, first.chain)
            if len(said) == 1 and is_fresh and first.conversation_id not in being_answered:
                # In a conversation that the client names, the same word may well be said twice: "yes".
                answered_only = all(role is not Role.USER for role in self._roles_after(first))
                if first.n_later == 0 or (named is None and answered_only):
                    return Thread(first.conversation_id, 1, first.chain)
        if named is not None:
            return self._after_newest(said, named, now=now)
        return Thread(self._new_id(said, now), 0, "")

    def _after_newest(self, said: Sequence[Saying], named: str, *, now: datetime) -> Thread:
        """Return the thread of words that go on with a conversation by its name alone."""
        chain = self._known.newest_chain(named)
        newest = self._store.newest(named, n=1)
        if (
            len(said) == 1
            and newest
            and newest[0].role is Role.USER
            and newest[0].text == said[0].text
            and newest[0].said_at is not None
            and (now - newest[0].said_at).total_seconds() < ASKED_AGAIN_S
        ):
            # It got no answer, and is asked once more.
            return Thread(named, 1, chain)
        return Thread(named, 0, chain)

    def _walked(self, known: KnownMessage, at: int, said: Sequence[Saying]) -> Thread:
        """Return the thread after a known saying, and after answers that come back a little altered."""
        thread = Thread(known.conversation_id, at + 1, known.chain)
        turn_id = known.turn_id
        while thread.n_known < len(said):
            following = said[thread.n_known]
            chain, exact = chain_of(thread.chain, following), None
            for one in self._known.chains_after(turn_id):
                if one[0] == chain:
                    exact = one
            found = exact or self._altered(known, following, turn_id=turn_id)
            if found is None:
                break
            thread = Thread(thread.conversation_id, thread.n_known + 1, found[0])
            turn_id = found[2]
        return thread

    def _altered(self, known: KnownMessage, following: Saying, *, turn_id: str = "") -> tuple[str, Role, str] | None:
        """Return the stored answer that a client's message tells a part of; None if it is none.

        Some clients cut thinking, white space or a notice off before they send an answer back.
        """
        words = " ".join(following.text.split())
        if following.role is not Role.ASSISTANT or not words:
            return None
        for chain, after, text in self._answers_to(turn_id or known.turn_id):
            stored = " ".join(text.split())
            if words in stored and len(words) * 2 >= len(stored):
                return chain, Role.ASSISTANT, after
        return None

    def _edited(self, known: KnownMessage, following: Saying) -> bool:
        """Tell whether somebody has edited the stored answer to a talk's first words: it is another branch then."""
        words = _words(following.text).split()[:_COMPARED]
        if following.role is not Role.ASSISTANT:
            return False
        stored = (_words(text).split()[:_COMPARED] for _chain, _after, text in self._answers_to(known.turn_id))
        return any(SequenceMatcher(None, one, words, autojunk=False).ratio() >= _ALIKE for one in stored)

    def _answers_to(self, turn_id: str) -> Iterator[tuple[str, str, str]]:
        """Yield (chain, turn id, text) of the stored answers to a message."""
        for chain, role, after in self._known.chains_after(turn_id):
            if role is Role.ASSISTANT:
                with suppress(UnknownTurnError):
                    yield chain, after, self._store.get([after])[0].text

    def _roles_after(self, first: KnownMessage) -> list[Role]:
        newest = self._store.newest(first.conversation_id, n=20)
        ids = [turn.turn_id for turn in newest]
        start = ids.index(first.turn_id) + 1 if first.turn_id in ids else 0
        return [turn.role for turn in newest[start:]]

    def _new_id(self, said: Sequence[Saying], now: datetime) -> str:
        """Return the id of a conversation that begins now: its instant, and digits of its first words."""
        digits = said[0].content[:6] if said else "empty"
        stem = f"chat-{now:%Y%m%d-%H%M%S}-{digits}"
        number, found = 1, stem
        while self._store.newest(found, n=1):
            number += 1
            found = f"{stem}-{number}"
        return found

    def ids_of(self, thread: Thread, said: Sequence[Saying]) -> list[str]:
        """Return the stored turns that the client's own history holds, also where it has other words around them."""
        pairs = [pair_of(said[i - 1] if i else None, one) for i, one in enumerate(said)]
        found = self._known.turn_ids(thread.conversation_id, pairs)
        if len(found) >= thread.n_known:
            return found
        told = [(one.role, _words(one.text)) for one in said[-_LOOKED_AT:]]
        exact, asked = set(told), [words for role, words in told if role is Role.USER and len(words) >= _TELLING]
        for turn in self._store.newest(thread.conversation_id, n=2 * _LOOKED_AT):
            words = _words(turn.text)
            is_there = (turn.role, words) in exact or (turn.role is Role.USER and any(one in words for one in asked))
            if words and is_there and turn.turn_id not in found:
                found.append(turn.turn_id)
        return found


def _words(text: str) -> str:
    return " ".join(normalize("NFC", without_thoughts(text)).split())
