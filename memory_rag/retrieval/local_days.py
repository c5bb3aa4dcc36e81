"""The calendar day on which each turn was said, where the asker lives."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.by_value import EntriesByValue
from memory_rag.retrieval.growing import Growing
from memory_rag.retrieval.ranking import Entries
from memory_rag.retrieval.turn_table import UNKNOWN_TIME, Mask, TurnTable

UNKNOWN_DAY: Final = -1_000_000_000
_DAY_US: Final = 86_400_000_000
_RUNS: Final = 64
_FEW: Final = 16
"""Entries of so many runs of days are looked up where they are at most one in so many; else all are looked at."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


Days = npt.NDArray[np.int64]


class SaidDays:
    """The days on which anything was said, and for each entry the place of its day among them; kept in step."""

    def __init__(self, *, zone: tzinfo) -> None:
        self._zone = zone
        self._table: TurnTable | None = None
        self._distinct: Days = np.zeros(0, np.int64)
        self._places = Growing(np.zeros(0, np.int32))
        self._by_place = EntriesByValue()

    def of(self, table: TurnTable) -> tuple[Days, npt.NDArray[np.int32]]:
        """Return the distinct days of a table, ascending, as :func:`local_days` has them, and each entry's place."""
        if self._table is not table:
            self._table, self._distinct, self._places = table, self._distinct[:0], Growing(np.zeros(0, np.int32))
            self._by_place = EntriesByValue()
        if len(self._places) < len(table):
            days = local_days(table.said_at[len(self._places) :], zone=self._zone)
            distinct = np.union1d(self._distinct, days)
            moved = np.searchsorted(distinct, self._distinct).astype(np.int32)
            if len(moved) and moved[-1] != len(moved) - 1:
                self._places = Growing(moved[self._places.values])
            self._places.extend(np.searchsorted(distinct, days).astype(np.int32))
            self._distinct = distinct
        return self._distinct, self._places.values

    def said_on(self, days: Mask) -> Entries:
        """Return the entries of some of the distinct days, ascending, as :meth:`of` last told these."""
        places = self._places.values
        changes = np.flatnonzero(np.diff(days, prepend=False, append=False)).tolist()
        runs = [(first, end - 1) for first, end in zip(changes[::2], changes[1::2], strict=True)]
        # New days move the places of later ones; their order, by which entries are found, stays.
        if len(runs) <= _RUNS and sum(self._by_place.n_between(places, *run) for run in runs) * _FEW < len(places):
            found = [self._by_place.between(places, *run) for run in runs]
            return np.sort(np.concatenate([np.zeros(0, np.int64), *found]))
        return np.flatnonzero(days[places])


def local_days(said_at: npt.NDArray[np.int64], *, zone: tzinfo) -> Days:
    """Return days since 1970-01-01 in a zone for instants in microseconds; ``UNKNOWN_DAY`` for an unknown time."""
    days = np.full(len(said_at), UNKNOWN_DAY, np.int64)
    known = said_at != UNKNOWN_TIME
    said = said_at[known]
    utc_days, place = np.unique(said // _DAY_US, return_inverse=True)
    first = np.array([_offset_us(day * _DAY_US, zone) for day in utc_days.tolist()], np.int64)
    last = np.array([_offset_us((day + 1) * _DAY_US - 1, zone) for day in utc_days.tolist()], np.int64)
    offsets = first[place]
    # Clocks change on few days; there each instant is asked for itself.
    for number in np.flatnonzero((first != last)[place]).tolist():
        offsets[number] = _offset_us(int(said[number]), zone)
    days[known] = (said + offsets) // _DAY_US
    return days


@lru_cache(maxsize=65_536)
def _offset_us(instant_us: int, zone: tzinfo) -> int:
    try:
        offset = (_EPOCH + timedelta(microseconds=instant_us)).astimezone(zone).utcoffset()
    except OverflowError:
        # Within a day of the first or last year of the calendar.
        return 0
    return 0 if offset is None else offset // timedelta(microseconds=1)
