"""How many of a turn's terms its conversation had not heard before: what is new in it, told from what is repeated."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

import numpy as np

from memory_rag.retrieval.postings import Postings
from memory_rag.retrieval.turn_table import TurnTable

_TERMS_KEPT: Final = 500_000
"""Terms of all conversations together that are remembered: some 30 MB."""
_NOWHERE: Final = (-1, -1)


class FreshTerms:
    """Keeps the ``fresh`` column of a table: for each turn, its distinct terms that no turn before it has.

    Before it means in its conversation, by ordinal and row, of the living turns that are recalled; the others' count is
    0. The count depends on what is stored alone, in whatever order it came and went.

    What is said at the end of a conversation that is remembered is counted at once. All else waits for
    :meth:`settle`, which counts the conversations that changed in one go.
    """

    def __init__(self, table: TurnTable, postings: Postings, *, terms_kept: int = _TERMS_KEPT) -> None:
        self._table = table
        self._postings = postings
        self._terms_kept = terms_kept
        self._heard: OrderedDict[int, _Heard] = OrderedDict()
        """What whole conversations have said, the one that spoke last at the end."""
        self._n_heard = 0
        self._n_begun = len(table.conversations.names)
        """Conversations from this number on have said nothing yet."""
        self._unsettled: set[int] = set()

    def take_in(self, entry: int, terms: Iterable[str]) -> None:
        """Count a new entry of the table; its terms may be in the postings or not yet."""
        table = self._table
        conversation = int(table.conversation[entry])
        if not table.recalled[entry] or conversation in self._unsettled:
            return
        if conversation >= self._n_begun:
            self._n_begun = conversation + 1
            self._heard[conversation] = _Heard(set(), _NOWHERE)
        heard = self._heard.get(conversation)
        place = int(table.ordinal[entry]), int(table.row[entry])
        if heard is None or place < heard.last:
            self._change(conversation)
            return
        new = set(terms) - heard.terms
        table.fresh[entry] = len(new)
        heard.terms |= new
        heard.last = place
        self._n_heard += len(new)
        self._heard.move_to_end(conversation)
        self._forget_some()

    def leave_out(self, entry: int) -> None:
        """Uncount an entry that is about to end: what it said first, another said first now."""
        if self._table.recalled[entry]:
            self._change(int(self._table.conversation[entry]))

    def settle(self) -> None:
        """Count the conversations that changed, from the postings; takes time in proportion to all postings."""
        if not self._unsettled:
            return
        table = self._table
        codes = np.array(sorted(self._unsettled), np.int64)
        chosen = np.isin(table.conversation, codes) & table.alive & table.recalled
        spoken = np.flatnonzero(chosen)
        spoken = spoken[np.lexsort((table.row[spoken], table.ordinal[spoken], table.conversation[spoken]))]
        place_of = np.zeros(len(table), np.int64)
        place_of[spoken] = np.arange(len(spoken))
        numbers, entries = self._postings.within(chosen)
        # By term, and of each term in spoken order: the first of a conversation is where it is fresh.
        term, place = np.divmod(np.sort(numbers * len(spoken) + place_of[entries]), max(1, len(spoken)))
        conversation = table.conversation[spoken][place]
        first = np.flatnonzero((np.diff(term, prepend=-1) != 0) | (np.diff(conversation, prepend=-1) != 0))
        table.fresh[spoken] = np.bincount(place[first], minlength=len(spoken))
        self._unsettled.clear()
        if len(first) > self._terms_kept:
            return
        by_conversation = first[np.argsort(conversation[first], kind="stable")]
        said = np.split(term[by_conversation], np.searchsorted(conversation[by_conversation], codes[1:]))
        ends = np.searchsorted(table.conversation[spoken], codes, side="right") - 1
        for code, end, own in zip(codes.tolist(), ends.tolist(), said, strict=True):
            last = _NOWHERE
            if end >= 0 and table.conversation[spoken[end]] == code:
                last = int(table.ordinal[spoken[end]]), int(table.row[spoken[end]])
            self._heard[code] = _Heard({self._postings.terms[number] for number in own.tolist()}, last)
            self._n_heard += len(own)
        self._forget_some()

    def _change(self, conversation: int) -> None:
        self._unsettled.add(conversation)
        self._forget(conversation)

    def _forget(self, conversation: int) -> None:
        heard = self._heard.pop(conversation, None)
        if heard is not None:
            self._n_heard -= len(heard.terms)

    def _forget_some(self) -> None:
        while self._n_heard > self._terms_kept and len(self._heard) > 1:
            self._forget(next(iter(self._heard)))


class _Heard:
    """The terms that a conversation has said so far, and the place of the last turn that is counted."""

    __slots__ = ("last", "terms")

    def __init__(self, terms: set[str], last: tuple[int, int]) -> None:
        self.terms = terms
        self.last = last
