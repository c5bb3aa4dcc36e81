"""Places for labels that would overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_HEIGHT: Final = 10.5
_ASIDE: Final = 7.0


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


@dataclass(frozen=True, slots=True)
class Beside:
    """Where a label begins (or, to the left of its point, ends), from the point, and the middle of its height."""

    aside: float
    above: float

    @property
    def is_left(self) -> bool:
        return self.aside < 0


def beside(
    points: Sequence[tuple[float, float]], widths: Sequence[float], *, within: tuple[float, float]
) -> list[Beside]:
    """Return a place for each point's label, near it and clear of the other points and of the labels before it.

    Points and widths are in one unit, a label being 10.5 high; it stays between the two places along x that ``within``
    names. Where nothing is clear, the first place is taken.
    """
    tried = [Beside(aside, above) for above in (7.0, -7.0, 18.0, -18.0, 29.0, -29.0) for aside in (_ASIDE, -_ASIDE)]
    boxes: list[tuple[float, float, float, float]] = [(x - 4, y - 4, x + 4, y + 4) for x, y in points]
    found = []
    for number, ((x, y), width) in enumerate(zip(points, widths, strict=True)):
        others = [box for place, box in enumerate(boxes) if place != number]
        inside = [one for one in tried if _is_within(_box(x, y, width, one), within)]
        clear = (one for one in inside if not any(_meet(_box(x, y, width, one), box) for box in others))
        chosen = next(clear, tried[0])
        boxes.append(_box(x, y, width, chosen))
        found.append(chosen)
    return found


def _box(x: float, y: float, width: float, one: Beside) -> tuple[float, float, float, float]:
    left = x + one.aside - (width if one.is_left else 0)
    return left, y + one.above - _HEIGHT / 2, left + width, y + one.above + _HEIGHT / 2


def _is_within(box: tuple[float, float, float, float], within: tuple[float, float]) -> bool:
    return within[0] <= box[0] and box[2] <= within[1]


def _meet(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
