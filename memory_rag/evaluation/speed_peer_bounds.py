"""What a peer may take, and what of it isn't tried since it would take more."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a peer may take; who takes more is left out, and the reason is kept."""

    load_s: float = 180.0
    mib: int = 8_000
    step_s: float = 30.0
    """One add, search or delete: what would take longer by what it took at a tenth of the turns isn't tried."""

    @property
    def ended_s(self) -> float:
        """What takes so long all the same is ended, and its peer is left out."""
        return 4 * self.step_s


def busy() -> float:
    """Return how many processes wait for each core, at least 1: a bound by the clock is as many times as long."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def too_slow(before: Mapping[str, Any], *, n_before: int, step_s: float) -> dict[str, str]:
    """Return what would take over ``step_s`` at ten times the turns, and how long, by kind.

    ``before`` is what a peer took at ``n_before`` turns.
    """
    found = {}
    for way in ("search", "filtered", "add", "add_and_ask", "delete"):
        took_s = before.get(way, {}).get("median_ms", 0.0) / 1000
        if took_s * 10 > step_s:
            found[way] = f"would take about {took_s * 10:,.0f} s by the {took_s:,.1f} s at {n_before:,} turns"
    # Nothing is deleted that wasn't added.
    return found | {way: found["add"] for way in ("add_and_ask", "delete") if "add" in found}
