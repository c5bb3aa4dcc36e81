"""How many times as long a peer takes as we do, and which of those that do the same is nearest to us."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

Result = Mapping[str, Any]
US: Final = "memory_rag"
_NAMES: Final = {
    "qdrant": "qdrant-client, local",
    "langchain": "langchain, FAISS and BM25",
    "mem0": "mem0, `infer=False`",
}
_BY_WORDS: Final = {"search": "keyword", "filtered": "keyword_filtered"}
"""What we are asked beside a peer that knows words alone."""
ALIKE_FROM: Final = 0.9
"""Agreement with exact search from which on a peer's search is compared by its time with ours."""


def sizes_of(result: Result) -> list[tuple[int, Result]]:
    """Return the sizes that were measured, smallest first, with what was measured there."""
    return sorted((int(size), here) for size, here in result["sizes"].items())


def named(name: str) -> str:
    """Return how a peer is called in a table."""
    return _NAMES.get(name, name)


def ours_beside(peer: Result, way: str) -> Result | None:
    """Return what we took beside a peer for what it does; by words, where it knows nothing else."""
    us = peer.get("beside", {}).get("us", {})
    found: Result | None = us.get(way) or us.get(_BY_WORDS.get(way, way))
    return found


def ratios(peer: Result, way: str) -> list[float]:
    """Return how many times as long a peer takes as we do in the same round, a number a round; empty if it can't."""
    beside = peer.get("beside", {})
    theirs = beside.get("peer", {}).get(way)
    own = ours_beside(peer, way)
    if theirs is None or own is None:
        return []
    return [their / our for their, our in zip(theirs["rounds_ms"], own["rounds_ms"], strict=False)]


def best_of_the_same(here: Result, way: str) -> tuple[str, float] | None:
    """Return which peer that does the same is nearest to us, and its ratio.

    The same: it ranks by words and vectors, keeps what it is given, and finds nine of the ten nearest vectors.
    """
    found = [
        (float(np.median(of_rounds)), name)
        for name, peer in here.items()
        if name != US and _does_the_same(peer) and (of_rounds := ratios(peer, way))
    ]
    return (min(found)[1], min(found)[0]) if found else None


def agreement_of(one: Result) -> float | None:
    """Return the share of the exactly nearest turns that a peer, or we, find by vectors; None if not measured."""
    share: float | None = one.get("agreement", {}).get("share")
    return share


def _does_the_same(peer: Result) -> bool:
    return peer.get("ranks_by") == "hybrid" and (agreement_of(peer) or 0.0) >= ALIKE_FROM
