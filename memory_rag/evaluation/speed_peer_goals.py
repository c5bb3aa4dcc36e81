"""What was to be reached by a memory alone and beside its peers, and what was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory_rag.evaluation.markdown import amount, markdown_table
from memory_rag.evaluation.speed_peer_ratios import US, Result, agreement_of, best_of_the_same, named, sizes_of


def goals_table(result: Result, speed: Result | None) -> str:
    """Return the table of goals; ``speed`` is the result of speed alone, for its query embedding."""
    sizes = dict(sizes_of(result))
    rows: list[tuple[str, str, str, str]] = []

    def alone(size: int, *path: str) -> float | None:
        return _at(sizes.get(size, {}), (US, "alone", *path))

    def row(what: str, limit: float, value: float | None, unit: str, *, at_least: bool = False) -> None:
        rows.append((what, f"{'≥' if at_least else '≤'} {limit:g} {unit}".strip(), *_verdict(value, limit, at_least)))

    for (size, normal, full), hybrid, times in zip(
        ((10_000, 0.10, 0.8), (100_000, 0.10, 0.8), (1_000_000, 0.12, 0.9)), (1.2, 2.5, 12), (2, 4, 10), strict=True
    ):
        row(f"add one turn, `normal`, {size:,} turns", normal, alone(size, "add", "median_ms"), "ms")
        row(f"add one turn, `full`, {size:,}", full, alone(size, "add_full", "median_ms"), "ms")
        row(f"hybrid search, all signals, {size:,}", hybrid, alone(size, "search", "median_ms"), "ms")
        for way, what in (("search", "a search"), ("add", "an add"), ("add_and_ask", "an add and a search")):
            best = best_of_the_same(sizes.get(size, {}), way)
            whom = f" ({named(best[0])})" if best else ""
            row(
                f"{what} of the best durable hybrid peer{whom}, times ours, {size:,}",
                times,
                best[1] if best else None,
                "×",
                at_least=True,
            )
    for size, share in ((100_000, 0.99), (1_000_000, 0.98)):
        row(
            f"agreement with exact search, {size:,}",
            share,
            agreement_of(sizes.get(size, {}).get(US, {})),
            "",
            at_least=True,
        )
    row("keyword search, 1,000,000", 3, alone(1_000_000, "keyword", "median_ms"), "ms")
    row("memory of a keyword search, 1,000,000", 350, alone(1_000_000, "cold_keyword", "peak_mib"), "MiB")
    row("search within one conversation, 1,000,000", 2, alone(1_000_000, "filtered", "median_ms"), "ms")
    for size, seconds in ((100_000, 0.5), (1_000_000, 2.0)):
        row(f"open to the first answer, {size:,}", seconds, alone(size, "cold", "of_it_opening_s"), "s")
    for what, limit, key, unit in (
        ("bulk import with given vectors", 180, "s", "s"),
        ("memory of the bulk import", 3072, "peak_mib", "MiB"),
    ):
        row(f"{what}, 1,000,000", limit, _at(sizes.get(1_000_000, {}), (US, "import", key)), unit)
    embedding = _at(speed or {}, ("result", "embedding", "query", "median_ms"))
    row("embedding a question, warm", 6, embedding, "ms")
    return markdown_table(("what", "goal", "measured", "reached"), rows)


def _verdict(value: float | None, limit: float, at_least: bool) -> tuple[str, str]:
    if value is None:
        return "-", "not measured"
    return amount(value), "met" if (value >= limit if at_least else value <= limit) else "**not met**"


def _at(found: Any, path: Sequence[str]) -> float | None:
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            return None
        found = found[name]
    return None if found is None else float(found)
