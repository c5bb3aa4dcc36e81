"""How well each calendar day fits the dates that a question names."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.local_days import UNKNOWN_DAY
from memory_rag.retrieval.ranking import Scores
from memory_rag.retrieval.turn_table import Mask
from memory_rag.text.date_mentions import DateMention
from memory_rag.text.periods import WINTER

_EPOCH: Final = date(1970, 1, 1)
_Days = npt.NDArray[np.int64]
_Periods = tuple[_Days, _Days]
"""The first day of each, and the one after its last."""


def values_of_days(mentions: Sequence[DateMention], days: _Days) -> Scores:
    """Return for each day (since 1970-01-01) 1 if it lies in a period that is named, 2 within a day of days named.

    The days are ascending. What is named without its year or its week is met in every one, and of a day its month is
    met, too.
    """
    values = np.zeros(len(days))
    first = int(days.searchsorted(UNKNOWN_DAY, "right"))
    known, of_known = days[first:], values[first:]
    if len(known) == 0:
        return values
    for mention in mentions:
        meant, near = _meant(mention, known)
        of_known[meant & (of_known < 1)] = 1.0
        if near is not None:
            of_known[near] = 2.0
    return values


def _meant(mention: DateMention, days: _Days) -> tuple[Mask, Mask | None]:
    """Return which days a mention means, and where it means one, which are within a day of it."""
    if mention.start is not None and mention.end is not None:
        firsts, ends = (np.array([(day - _EPOCH).days]) for day in (mention.start, mention.end))
        is_one_day = mention.day is not None or int(ends[0] - firsts[0]) <= 1
    elif mention.weekday is not None:
        return (days + _EPOCH.weekday()) % 7 == mention.weekday, None
    elif mention.month is not None:
        if mention.last_month is None:
            firsts, ends = _of_each_year(mention, mention.month, mention.day, days)
        else:
            firsts, ends = _stretches(mention, days)
        is_one_day = mention.day is not None
    else:
        return np.zeros(len(days), np.bool_), None
    meant = _inside(firsts, ends, days)
    if mention.kind in ("day", "month") and mention.month is not None:
        meant |= _inside(*_of_each_year(mention, mention.month, None, days), days)
    return meant, _inside(firsts - 1, ends + 1, days) if is_one_day else None


def _of_each_year(mention: DateMention, month: int, day: int | None, days: _Days) -> _Periods:
    """Return the seasons, months or days of the year that is named, or of all that some days lie in and around."""
    years = np.array([(mention.year or 1970) - 1970])
    if mention.year is None:
        first, last = days[[0, -1]].astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64).tolist()
        years = np.arange(first - 1, last + 2)
    months = years * 12 + month - 1
    if mention.kind != "season":
        firsts, ends = _first_days(months), _first_days(months + 1)
    else:
        # A winter is named by the year in which it ends.
        months -= 12 if month == WINTER else 0
        firsts, ends = _first_days(months), _first_days(months + 3)
    if day is None:
        return firsts, ends
    firsts += day - 1
    firsts = firsts[firsts < ends]
    return firsts, firsts + 1


def _stretches(mention: DateMention, days: _Days) -> _Periods:
    """Return a stretch without year in each year that some days lie in and around."""
    first, last = ((_EPOCH + timedelta(days=day)).year for day in days[[0, -1]].tolist())
    in_years = [mention.in_year(year) for year in range(first - 1, last + 2)]
    known = [(one.start, one.end) for one in in_years if one.start is not None and one.end is not None]
    firsts, ends = ([(day - _EPOCH).days for day in side] for side in zip(*known, strict=True))
    return np.array(firsts, np.int64), np.array(ends, np.int64)


def _first_days(months: _Days) -> _Days:
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


def _inside(firsts: _Days, ends: _Days, days: _Days) -> Mask:
    """Return which days lie in any of some periods."""
    begun = np.zeros(len(days) + 1, np.int64)
    np.add.at(begun, days.searchsorted(firsts), 1)
    np.subtract.at(begun, days.searchsorted(ends), 1)
    return np.cumsum(begun[:-1]) > 0
