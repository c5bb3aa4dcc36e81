"""Which of 1/2/24 is the day: told from all dates of a file together, and asked for when they don't tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from memory_rag.importers.formats import DateOrder


@dataclass(frozen=True, slots=True)
class Figures:
    """A date as it stands there: three numbers, how many digits the first has, and the sign between them."""

    first: int
    second: int
    third: int
    n_digits: int
    sign: str

    def read(self, order: DateOrder) -> tuple[int, int, int]:
        """Return year, month and day; two digits of a year are of this century."""
        if order == "ymd":
            year, month, day = self.first, self.second, self.third
        elif order == "dmy":
            day, month, year = self.first, self.second, self.third
        else:
            month, day, year = self.first, self.second, self.third
        return (year + 2000 if year < 100 else year), month, day


_LAST_MONTH: Final = 12
_LAST_DAY: Final = 31


def told_order(dates: Sequence[Figures]) -> DateOrder | None:
    """Return the order of dates in the order they were written, or None if they allow two.

    A year of four digits in front is told at once, and dates with dots are day-first wherever they are written; 5/5/24
    is the same day both ways. Else a number above 12 tells, and without one, which reading never goes back in time.
    A year of two digits in front is believed if the other reading does go back.
    """
    if any(date.n_digits == 4 for date in dates):
        return "ymd"
    if dates and all(date.sign == "." or date.first == date.second for date in dates):
        return "dmy"
    day_first = all(date.second <= _LAST_MONTH for date in dates)
    month_first = all(date.first <= _LAST_MONTH for date in dates)
    if day_first and month_first:
        day_first, month_first = _never_goes_back(dates, "dmy"), _never_goes_back(dates, "mdy")
    if day_first == month_first:
        return None
    order: DateOrder = "dmy" if day_first else "mdy"
    if not _never_goes_back(dates, order) and _never_goes_back(dates, "ymd") and _are_days(dates, "ymd"):
        return "ymd"
    return order


def _are_days(dates: Sequence[Figures], order: DateOrder) -> bool:
    read = [date.read(order) for date in dates]
    return all(1 <= month <= _LAST_MONTH and 1 <= day <= _LAST_DAY for _, month, day in read)


def _never_goes_back(dates: Sequence[Figures], order: DateOrder) -> bool:
    read = [date.read(order) for date in dates]
    return all(earlier <= later for earlier, later in pairwise(read))
