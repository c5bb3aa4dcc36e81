"""What a search takes from a pool of a benchmark: its entries, and all that doesn't depend on the question."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import numpy as np

from memory_rag.evaluation.benchmark import Query
from memory_rag.evaluation.pools import Pools
from memory_rag.evaluation.report_shape import PoolName
from memory_rag.retrieval.filters import Scope, Within
from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.retrieval.searcher import Searcher
from memory_rag.retrieval.selected import Selected
from memory_rag.retrieval.stage import Stage

_KEPT: Final = 4


class AskedPools:
    """The pools of a benchmark over a memory's table; the last few are kept."""

    def __init__(self, pools: Pools, searcher: Searcher, keyword: KeywordIndex) -> None:
        self._pools = pools
        self._searcher = searcher
        self._keyword = keyword
        self._ready: OrderedDict[str, tuple[Scope, Stage]] = OrderedDict()

    def of(self, query: Query, pool: PoolName) -> tuple[Scope, Stage]:
        """Return which entries are a question's candidates, and what scores take from them."""
        key = self._pools.key(query, pool)
        found = self._ready.get(key)
        if found is None:
            found = self._ready[key] = self._made(self._pools.conversations(query, pool))
            if len(self._ready) > _KEPT:
                self._ready.popitem(last=False)
        return found

    def _made(self, conversations: tuple[str, ...] | None) -> tuple[Scope, Stage]:
        if conversations is None:
            return self._searcher.pool(Within())
        if len(conversations) == 1:
            return self._searcher.pool(Within(conversation=conversations[0]))
        # No search asks for several conversations at once; this is what one would look at.
        table = self._keyword.table
        codes = [code for name in conversations if (code := table.conversations.find(name)) is not None]
        within = Selected.of_mask(table.alive & table.recalled & np.isin(table.conversation, codes))
        return Scope(within, within), self._searcher.stage(within)
