"""Whether the names of documents give the evidence away: no ranking that sees only ids may beat chance.

LongMemEval's evidence sessions are named ``answer_…``; a ranking that puts these first scores .99 without reading a
word, and a reranker that sees ids has used it.
"""

from __future__ import annotations

import hashlib
import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from memory_rag.evaluation.benchmark import Benchmark, Document

SIGNIFICANCE: Final = 0.001
"""The chance that a benchmark without a leak is said to have one, over all orders together."""
CLEARLY: Final = 0.1
"""How far above chance an order must be beside. Evidence may well lie early or late in a conversation: BEAM's lies
early, and its first sessions have it for .18 of the questions where chance is .10."""
_CUTOFF: Final = 10
_MOST_WORDS: Final = 20
_FREQUENT: Final = 0.05
_WORD: Final = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Leak:
    """An order of ids that finds the evidence.

    ``name`` is what was looked at (``doc_id``, ``turn_id``, ``session_id``, ``native_id``, or the document's ``place``
    in the list), ``order`` how it was sorted. ``success`` is the share of the ``n`` queries with evidence among the
    first ranks (10, or a tenth of a smaller pool), ``chance`` what a random order would have, ``p`` the chance of as
    much or more without a leak.
    """

    name: str
    order: str
    success: float
    chance: float
    p: float
    n: int

    def __str__(self) -> str:
        return (
            f"{self.name}s {self.order}: evidence among the first ranks of {self.success:.1%} of {self.n:,} queries, "
            f"by chance {self.chance:.1%}"
        )


def leak_check(benchmark: Benchmark) -> tuple[Leak, ...]:
    """Return the orders of ids that clearly beat chance within a query's conversation; none is what should be.

    Looked at are the ids of documents and of their turns, sessions and sources, each ascending, descending, by the
    numbers in it, by its length, and with each of the words first that are frequent in the ids of evidence; and the
    order in which the documents are listed. Ties are broken at random, but always alike.
    """
    pools = _pools(benchmark)
    evidence = [(query.conversation_id, frozenset(benchmark.qrels[query.query_id])) for query in benchmark.answerable()]
    tried = [
        (name, order.said, _trial(pools, evidence, names, order))
        for name, names in _names(benchmark.documents)
        for order in (_PLACES if name == "place" else _orders(names, evidence))
    ]
    return tuple(
        Leak(name, order, trial.success, trial.chance, trial.p, trial.n)
        for name, order, trial in tried
        if trial.p * len(tried) < SIGNIFICANCE and trial.success - trial.chance > CLEARLY
    )


class _Order(NamedTuple):
    """How names are sorted: by a key, rising or falling."""

    said: str
    key: Callable[[str], object]
    falling: bool = False


_PLACES: Final = (_Order("first to last", str), _Order("last to first", str, falling=True))


class _Trial(NamedTuple):
    success: float
    chance: float
    p: float
    n: int


def _pools(benchmark: Benchmark) -> dict[str, list[str]]:
    pools: dict[str, list[str]] = {"": [document.doc_id for document in benchmark.documents]}
    for document in benchmark.documents:
        pools.setdefault(document.conversation_id, []).append(document.doc_id)
    return pools


def _names(documents: Sequence[Document]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield what a document can be known by beside its words: its ids, each kind that isn't the same as one before,
    and its place in the list."""
    readers: dict[str, Callable[[Document], str]] = {
        "doc_id": lambda document: document.doc_id,
        "turn_id": lambda document: document.turns[0].turn_id,
        "session_id": lambda document: document.turns[0].session_id,
        "native_id": lambda document: document.turns[0].source.native_id if document.turns[0].source else "",
    }
    seen: list[dict[str, str]] = []
    for name, read in readers.items():
        names = {document.doc_id: read(document) for document in documents}
        if any(names.values()) and names not in seen:
            seen.append(names)
            yield name, names
    yield "place", {document.doc_id: f"{place:012}" for place, document in enumerate(documents)}


def _orders(names: Mapping[str, str], evidence: Sequence[tuple[str, frozenset[str]]]) -> Iterator[_Order]:
    for said, key in (("by letters", str), ("by number", _by_number), ("by length", len)):
        yield _Order(f"{said}, rising", key)
        yield _Order(f"{said}, falling", key, falling=True)
    frequent: Counter[str] = Counter()
    n_judged = 0
    for _, relevant in evidence:
        n_judged += len(relevant)
        for doc_id in relevant:
            frequent.update(set(_words(names[doc_id])))
    for word, count in sorted(frequent.items(), key=lambda found: (-found[1], found[0]))[:_MOST_WORDS]:
        if count >= _FREQUENT * n_judged:
            yield _Order(f"with {word!r} first", lambda name, word=word: word not in _words(name))  # type: ignore[misc]


def _by_number(name: str) -> list[str | int]:
    parts: list[str | int] = list(re.split(r"(\d+)", name))
    parts[1::2] = [int(part) for part in parts[1::2]]
    return parts


def _words(name: str) -> list[str]:
    return _WORD.findall(name.casefold())


def _trial(
    pools: Mapping[str, Sequence[str]],
    evidence: Sequence[tuple[str, frozenset[str]]],
    names: Mapping[str, str],
    order: _Order,
) -> _Trial:
    """Return how often the first ranks of an order hold evidence, and how often they would by chance."""
    first: dict[str, frozenset[str]] = {}
    found, chance, variance = 0, 0.0, 0.0
    for conversation_id, relevant in evidence:
        pool = pools[conversation_id]
        k = min(_CUTOFF, max(1, len(pool) // 10))
        if conversation_id not in first:
            choose = heapq.nlargest if order.falling else heapq.nsmallest
            first[conversation_id] = frozenset(choose(k, pool, key=lambda d: (order.key(names[d]), _toss(d))))
        found += not relevant.isdisjoint(first[conversation_id])
        by_chance = 1 - math.comb(len(pool) - len(relevant), k) / math.comb(len(pool), k)
        chance += by_chance
        variance += by_chance * (1 - by_chance)
    n = len(evidence)
    if not n or not variance:
        return _Trial(0.0, 0.0, 1.0, n)
    z = (found - 0.5 - chance) / math.sqrt(variance)
    return _Trial(found / n, chance / n, math.erfc(z / math.sqrt(2)) / 2, n)


def _toss(doc_id: str) -> bytes:
    return hashlib.blake2b(doc_id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
