"""The pools that searches look at, kept in step with the turn table at the cost of what changed."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final, Protocol

import numpy as np

from memory_rag.retrieval.bm25 import Pool
from memory_rag.retrieval.filters import Scope, Within, scope_of
from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.retrieval.local_days import SaidDays
from memory_rag.retrieval.selected import Selected
from memory_rag.retrieval.stage import Stage
from memory_rag.retrieval.turn_table import TurnTable

_KEPT: Final = 8


@dataclass(frozen=True, slots=True)
class _Known:
    """A filter's pool as it was when its table had so many entries, of which so many had ended."""

    table: TurnTable
    n_ended: int
    scope: Scope
    stage: Stage


class PoolsOf(Protocol):
    """What tells which entries a filter leaves, and what scores take from them."""

    def of(self, within: Within) -> tuple[Scope, Stage]: ...
    def stage(self, searched: Selected) -> Stage: ...


class Pools:
    """For each filter asked for lately, which entries it leaves, and what scores take from them as a whole."""

    def __init__(self, keyword: KeywordIndex, *, zone: tzinfo) -> None:
        self._keyword = keyword
        self._zone = zone
        self._days = SaidDays(zone=zone)
        self._known: OrderedDict[Within, _Known] = OrderedDict()

    def of(self, within: Within) -> tuple[Scope, Stage]:
        """Return a filter's scope and stage; its ``without`` doesn't count here.

        Raises:
            QueryError: a bound that is no time.
            TurnError: a role that is none.
        """
        table = self._keyword.table
        known = self._known.get(within)
        if known is None or known.table is not table:
            scope = scope_of(table, within, zone=self._zone)
            known = _Known(table, len(table.ended), scope, self.stage(scope.context))
        elif known.scope.context.n_entries < len(table) or known.n_ended < len(table.ended):
            ended = np.array(table.ended[known.n_ended :], np.int64)
            scope = scope_of(table, within, zone=self._zone, earlier=known.scope, ended=ended)
            before = known.stage.pool
            ended = ended[ended < before.n_entries]
            pool = before.grown(scope.context, self._keyword.bm25.lengths, ended=ended)
            known = _Known(table, len(table.ended), scope, known.stage.grown(pool, ended=ended))
        self._known[within] = known
        self._known.move_to_end(within)
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return known.scope, known.stage

    def stage(self, searched: Selected) -> Stage:
        """Return what scores take from these entries."""
        return Stage(self._keyword.table, Pool(searched, self._keyword.bm25.lengths), days=self._days)
