"""How many of a turn's terms its conversation had not heard before: what is new in it, told from what is repeated."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.postings import Postings
from memory_rag.retrieval.ranking import Entries
from memory_rag.retrieval.turn_table import TurnTable

_CONVERSATIONS_KEPT: Final = 64


class FreshTerms:
    """Keeps the ``fresh`` column of a table: for each turn, its distinct terms that no turn before it has.

    Before it means in its conversation, by ordinal and row, of the living turns that are recalled; the others' count is
    0. The count depends on what is stored alone, in whatever order it came and went.
    """

    def __init__(self, table: TurnTable, postings: Postings) -> None:
        self._table = table
        self._postings = postings
        self._heard: OrderedDict[int, _Heard] = OrderedDict()
        """What whole conversations have said, of the latest that began while we listened."""

    def take_in(self, entry: int, terms: Iterable[str]) -> None:
        """Count a new entry, which is in the table and not yet in the postings."""
        table = self._table
        if not table.recalled[entry]:
            return
        distinct = set(terms)
        conversation, place = int(table.conversation[entry]), self._place(entry)
        heard = self._heard.get(conversation)
        if heard is None and conversation == len(table.conversations.names) - 1 and self._is_first(entry):
            heard = self._heard[conversation] = _Heard()
            if len(self._heard) > _CONVERSATIONS_KEPT:
                self._heard.popitem(last=False)
        if heard is not None and place > heard.last:
            table.fresh[entry] = len(distinct - heard.terms)
            heard.terms |= distinct
            heard.last = place
            self._heard.move_to_end(conversation)
            return
        self._heard.pop(conversation, None)
        for term in distinct:
            first = self._first_with(term, conversation, without=entry)
            if first is None or place < self._place(first):
                table.fresh[entry] += 1
                if first is not None:
                    table.fresh[first] -= 1

    def leave_out(self, entry: int) -> None:
        """Uncount an entry that is about to end: what it said first, another said first now."""
        table = self._table
        if not table.recalled[entry]:
            return
        conversation, place = int(table.conversation[entry]), self._place(entry)
        self._heard.pop(conversation, None)
        for term in self._postings.terms_of(entry):
            first = self._first_with(term, conversation, without=entry)
            if first is not None and place < self._place(first):
                table.fresh[first] += 1

    def _place(self, entry: int) -> tuple[int, int]:
        return int(self._table.ordinal[entry]), int(self._table.row[entry])

    def _is_first(self, entry: int) -> bool:
        """Tell whether a conversation that is the table's newest begins with this entry."""
        conversation = self._table.conversation
        return entry == 0 or int(conversation[:entry].max()) < int(conversation[entry])

    def _first_with(self, term: str, conversation: int, *, without: int) -> int | None:
        """Return the first entry of a conversation that has a term; None if none has."""
        found = self._postings.of(term)
        if found is None:
            return None
        entries = self._said_in(found[0], conversation)
        entries = entries[entries != without]
        if len(entries) == 0:
            return None
        first = np.lexsort((self._table.row[entries], self._table.ordinal[entries]))[0]
        return int(entries[first])

    def _said_in(self, entries: npt.NDArray[np.int32], conversation: int) -> Entries:
        table = self._table
        own = entries[table.conversation[entries] == conversation].astype(np.int64)
        said: Entries = own[table.alive[own] & table.recalled[own]]
        return said


class _Heard:
    """The terms that a conversation has said so far, and the place of the last turn that is counted."""

    __slots__ = ("last", "terms")

    def __init__(self) -> None:
        self.terms: set[str] = set()
        self.last: tuple[int, int] = (-1, -1)
