"""How well each calendar day fits the dates that a question names."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.local_days import UNKNOWN_DAY
from memory_rag.retrieval.ranking import Scores
from memory_rag.text.date_mentions import DateMention

_EPOCH = date(1970, 1, 1)


def values_of_days(mentions: Sequence[DateMention], days: npt.NDArray[np.int64]) -> Scores:
    """Return for each day (since 1970-01-01) 1 if it lies in a period that is named, 2 within a day of days named."""
    values = np.zeros(len(days))
    for mention in mentions:
        places = np.flatnonzero(_may_be_meant(mention, days) & (days != UNKNOWN_DAY))
        values[places] = np.maximum(values[places], _values(mention, days[places]))
    return values


def _values(mention: DateMention, days: npt.NDArray[np.int64]) -> Scores:
    if mention.start is None or mention.end is None:
        return np.array([_value(mention, _EPOCH + timedelta(days=day)) for day in days.tolist()], np.float64)
    first, end = (mention.start - _EPOCH).days, (mention.end - _EPOCH).days
    meant = (days >= first) & (days < end)
    if mention.kind in ("day", "month"):
        months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
        in_month = months % 12 + 1 == mention.month
        meant |= in_month if mention.year is None else in_month & (months // 12 + 1970 == mention.year)
    values: Scores = meant.astype(np.float64)
    if _names_days(mention):
        values[(days >= first - 1) & (days <= end)] = 2.0
    return values


def _may_be_meant(mention: DateMention, days: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return the few days that are worth a closer look."""
    if mention.month is None or (mention.kind == "season" and mention.last_month is None):
        return _around(mention, days)
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12 + 1
    ahead = (months - mention.month) % 12
    n_months = 0 if mention.last_month is None else (mention.last_month - mention.month) % 12
    near: npt.NDArray[np.bool_] = (ahead <= n_months + 1) | (ahead == 11)
    return near if mention.start is None else near | _around(mention, days)


def _around(mention: DateMention, days: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return the days that are meant, with the one before and the one after; all where nobody knows."""
    if mention.start is None or mention.end is None:
        return np.ones(len(days), np.bool_)
    first, end = (mention.start - _EPOCH).days, (mention.end - _EPOCH).days
    return (days >= first - 1) & (days <= end)


def _value(mention: DateMention, said: date) -> float:
    distance = mention.distance_days(said) if _names_days(mention) else None
    if distance is not None and distance <= 1:
        return 2.0
    return 1.0 if mention.covers(said) or _is_in_month(mention, said) else 0.0


def _names_days(mention: DateMention) -> bool:
    if mention.day is not None or mention.start is None or mention.end is None:
        return mention.day is not None
    return mention.end - mention.start <= timedelta(days=1)


def _is_in_month(mention: DateMention, said: date) -> bool:
    named = mention.kind in ("day", "month") and mention.month == said.month
    return named and mention.year in (None, said.year)
