"""Places for labels that would overlap."""

from __future__ import annotations

from collections.abc import Sequence


def spread(wanted: Sequence[float], *, gap: float, high: float) -> list[float]:
    """Return rising places at least ``gap`` apart and at most ``high``, near the rising ones that are wanted.

    One pass pushes up what is too near, a second pushes down what that sent over the top.
    """
    places: list[float] = []
    for at in wanted:
        places.append(max(at, places[-1] + gap) if places else at)
    limit = high
    for number in range(len(places) - 1, -1, -1):
        places[number] = min(places[number], limit)
        limit = places[number] - gap
    return places
