"""What was to be reached in speed, and the tables of what was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory_rag.evaluation.markdown import amount, markdown_table

SPEED_TABLES: Final = (
    "speed",
    "speed-queries",
    "speed-prompts",
    "speed-adds",
    "speed-start",
    "speed-space",
    "speed-embedding",
)
"""The tables that a result of ``speed`` fills; those of ``speed-counted`` and its like have commands of their own."""
Result = Mapping[str, Any]
_SEARCHES: Final = ("keyword", "hybrid")
_FLAT: Final = 1.5
_WAYS: Final = {
    "keyword": "keyword",
    "dense": "dense",
    "hybrid": "hybrid",
    "rank_bm25": "rank-bm25: `get_scores`, `argsort`",
    "faiss": "FAISS: `IndexFlatIP.search`, k 200, one thread",
    "faiss_threads": "the same, as many threads as it takes",
}


@dataclass(frozen=True, slots=True)
class Goal:
    """What a measurement is to reach: each place is (where it was taken, its path in the result, of which number)."""

    what: str
    limit: float
    unit: str
    places: tuple[tuple[str, tuple[str, ...]], ...]
    at_least: bool = False

    def measured(self, result: Result) -> list[float | None]:
        """Return the value at each place, None where it wasn't measured."""
        return [_at(result, path) for _, path in self.places]

    def at_best(self, result: Result) -> list[float | None]:
        """Return the best measurement at each place, None where there is none."""
        best = {"median_ms": "least_ms", "median": "best"}
        return [_at(result, (*path[:-1], best.get(path[-1], ""))) for _, path in self.places]

    def verdict(self, result: Result) -> str:
        """Say ``met`` if it is at every place that was measured, else ``not met``, or ``not measured``."""
        values = [value for value in self.measured(result) if value is not None]
        if len(values) < len(self.places):
            return "not measured"
        met = all(value >= self.limit if self.at_least else value <= self.limit for value in values)
        return "met" if met else "**not met**"


def _sized(sizes: Sequence[int], *path: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((f"{size:,}", ("sizes", str(size), *path)) for size in sizes)


GOALS: Final = (
    Goal("`import memory_rag`, the statement", 50, "ms", (("", ("start", "import_statement", "median_ms")),)),
    Goal("cold `memory-rag search`, keyword", 400, "ms", _sized([10_000], "cold_search", "keyword", "median_ms")),
    Goal("cold `memory-rag search`, hybrid", 1000, "ms", _sized([10_000], "cold_search", "hybrid", "median_ms")),
    Goal("add one turn, `normal`", 0.15, "ms", _sized([0, 10_000, 100_000], "add", "normal", "median_ms")),
    Goal("add one turn, `full`", 1, "ms", _sized([0, 10_000, 100_000], "add", "full", "median_ms")),
    Goal(
        "add one turn: times as long as with none stored",
        _FLAT,
        "",
        _sized([10_000, 100_000], "add", "normal", "over_empty"),
    ),
    Goal("hybrid search", 1.5, "ms", _sized([10_000], "query", "hybrid", "median_ms")),
    Goal("hybrid search", 15, "ms", _sized([100_000], "query", "hybrid", "median_ms")),
    Goal("`context()`, more than its search", 5, "ms", _sized([10_000, 100_000], "prompt", "added", "median_ms")),
    Goal("`minilm`, turns per second", 140, "", (("", ("embedding", "turns_per_s", "median")),), at_least=True),
    Goal("`minilm`, turns per CPU second", 80, "", (("", ("embedding", "turns_per_cpu_s", "median")),), at_least=True),
)


def speed_tables(found: Result) -> dict[str, str]:
    """Return the tables of a speed result, by name."""
    result = found["result"]
    made = found["provenance"]
    machine, settings = made["machine"], made["settings"]
    note = (
        f"{machine['processor']}, {machine['cores']} cores, load average "
        f"{settings['load_average_before']:.1f} before and {settings['load_average_after']:.1f} after, "
        f"commit {made['commit']}. `full` waits for the disk; a plain append with fsync took {_plain_sync(result)} ms."
    )
    return {
        "speed": f"{_goals(result)}\n\n{note}",
        "speed-queries": _queries(result),
        "speed-prompts": _prompts(result),
        "speed-adds": _adds(result),
        "speed-start": _starts(result),
        "speed-space": _space(result),
        "speed-embedding": _embedding(result),
    }


def _goals(result: Result) -> str:
    rows = []
    for goal in GOALS:
        at = [where for where, _ in goal.places if where]
        values, best = (
            " / ".join("-" if value is None else amount(value) for value in taken)
            for taken in (goal.measured(result), goal.at_best(result))
        )
        limit = f"{'≥' if goal.at_least else '≤'} {goal.limit:g} {goal.unit}".strip()
        what = f"{goal.what}, {' / '.join(at)} turns" if at else goal.what
        rows.append((what, limit, values, goal.verdict(result), best if best.strip("-/ ") else "-"))
    return markdown_table(("what", "goal", "median", "reached", "undisturbed"), rows)


def _plain_sync(result: Result) -> str:
    taken = [measured["add"]["plain_sync"]["median_ms"] for _, measured in _sizes(result, "add")]
    return " / ".join(map(amount, taken))


def _queries(result: Result) -> str:
    rows = []
    for size, measured in _sizes(result, "query"):
        took = measured["query"]
        for way, name in _WAYS.items():
            of_way = took[way]
            times_as_long = [amount(measured["times_as_long"][way][peer]) for peer in ("rank_bm25", "faiss")]
            rows.append((f"{size:,}", name, *_times(of_way), amount(of_way["least_ms"]), *times_as_long))
    head = ("turns", "way", "median ms", "p95 ms", "undisturbed ms", "rank-bm25 / this", "FAISS / this")
    return markdown_table(head, rows, n_words=2)


def _prompts(result: Result) -> str:
    rows = []
    for size, measured in _sizes(result, "prompt"):
        took = measured["prompt"]
        cells = [f"{amount(took[way]['median_ms'])} / {amount(took[way]['p95_ms'])}" for way in ("search", "context")]
        rows.append((f"{size:,}", *cells, *(amount(took["added"][key]) for key in ("median_ms", "least_ms"))))
    if not rows:
        return "Not measured yet: prompts. Measure them with `make bench`."
    head = ("turns", "hybrid search, median / p95 ms", "`context()`", "more, ms", "undisturbed")
    return markdown_table(head, rows)


def _adds(result: Result) -> str:
    rows = []
    for size, measured in _sizes(result, "add"):
        add = measured["add"]
        after = measured.get("query_after_add", {})
        cells = [" / ".join(_times(add[name])) for name in ("normal", "full", "plain_sync", "catch_up")]
        cells.append(amount(add["catch_up"]["mean_ms"]))
        cells += [" / ".join(_times(after[mode])) if mode in after else "-" for mode in _SEARCHES]
        rows.append((f"{size:,}", *cells))
    head = (
        "turns",
        "`normal`",
        "`full`",
        "plain append and fsync",
        "keyword index catches up",
        "its mean",
        "then a keyword search",
        "then a hybrid search",
    )
    return markdown_table(head, rows)


def _starts(result: Result) -> str:
    start = result["start"]
    named = [
        ("`python -c pass`", start["python"]),
        ("`python -c 'import memory_rag'`", start["import_process"]),
        ("the statement `import memory_rag`", start["import_statement"]),
    ]
    for size, measured in _sizes(result, "cold_search"):
        named += [
            (f"`memory-rag search --mode {mode}`, {size:,} turns", measured["cold_search"][mode]) for mode in _SEARCHES
        ]
    rows = [(name, *_times(timing), amount(timing["least_ms"]), str(timing["n"])) for name, timing in named]
    return markdown_table(("fresh process", "median ms", "p95 ms", "least ms", "n"), rows)


def _space(result: Result) -> str:
    rows = []
    for size, measured in _sizes(result, "disk_bytes_per_turn"):
        disk = measured["disk_bytes_per_turn"]
        peaks = [
            "-" if measured["peak_mib"][mode] is None else f"{measured['peak_mib'][mode]:.0f}" for mode in _SEARCHES
        ]
        parts = [f"{disk[part]:,.0f}" for part in ("text", "store", "vectors", "derived")]
        rows.append((f"{size:,}", *parts, *peaks))
    head = (
        "turns",
        "its text, bytes a turn",
        "store",
        "vectors",
        "derived",
        "peak MiB, keyword search",
        "hybrid search",
    )
    return markdown_table(head, rows)


def _embedding(result: Result) -> str:
    measured = result["embedding"]
    texts = measured["texts"]
    rows = [
        (name, amount(measured[key]["median"]), amount(measured[key]["best"]), str(len(measured[key]["rounds"])))
        for name, key in (("turns per second", "turns_per_s"), ("turns per CPU second", "turns_per_cpu_s"))
    ]
    source = "turns of LoCoMo" if texts["of"] == "locomo" else "invented turns of LoCoMo's lengths"
    query = measured["query"]
    note = (
        f"{texts['n']:,} {source}, {texts['tokens_mean']:.1f} tokens on average, 95th percentile "
        f"{texts['tokens_p95']:.0f}. One question: {amount(query['median_ms'])} ms (p95 {amount(query['p95_ms'])})."
    )
    return markdown_table(("`minilm`", "median of rounds", "best round", "rounds"), rows) + f"\n\n{note}"


def _sizes(result: Result, having: str) -> list[tuple[int, Result]]:
    return sorted((int(size), measured) for size, measured in result["sizes"].items() if having in measured)


def _times(timing: Result) -> tuple[str, str]:
    return amount(timing["median_ms"]), amount(timing["p95_ms"])


def _at(result: Result, path: Sequence[str]) -> float | None:
    if path[-1] == "over_empty":
        here = _at(result, (*path[:-1], "median_ms"))
        empty = _at(result, ("sizes", "0", *path[2:-1], "median_ms"))
        return None if here is None or not empty else here / empty
    found: Any = result
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            return None
        found = found[name]
    return float(found)
