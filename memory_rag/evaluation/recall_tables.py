"""The tables of recall, made from the summaries that ``memory-rag bench report`` writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from memory_rag.evaluation.answer import IN_SAMPLE_NOTE, IN_SAMPLE_SIGN
from memory_rag.evaluation.markdown import markdown_table, share
from memory_rag.evaluation.wording import MISSING, POOLS, in_brackets, p_value, points, points_between

Summaries = Mapping[str, Mapping[str, Any]]
"""Data set's name, as in the result's file, to summary."""
SETS: Final = {"locomo": "LoCoMo", "beam": "BEAM 100K", "chats": "our own chats"}
_MAIN: Final = ("hybrid", "hybrid-cv", "keyword", "dense")
_MEASURES: Final = (
    "recall@1",
    "recall@5",
    "recall@10",
    "success@10",
    "all_found@10",
    "rr@10",
    "ndcg@10",
    "recall@500tokens",
    "recall@1000tokens",
    "recall@2000tokens",
)
_PAIRS: Final = (
    ("hybrid-cv", "keyword"),
    ("hybrid-cv", "convex"),
    ("hybrid", "keyword"),
    ("hybrid", "hybrid-cv"),
    ("keyword", "dense"),
)
_SUCCESS: Final = "success@"


def recall_tables(summaries: Summaries) -> dict[str, str]:
    """Return the tables by name; every one marks what is in-sample.

    ``recall`` is a row a retriever and a column a set and pool; ``recall-SET`` is by category; ``recall-measures`` has
    other measures, ``recall-pools`` the sizes of the pool, ``recall-pairs`` who wins.
    """
    return {
        "recall": _overview(summaries),
        **{f"recall-{name}": _by_category(summary) for name, summary in summaries.items()},
        "recall-measures": _by_measure(summaries),
        "recall-pools": _by_size(summaries),
        "recall-pairs": _pairs(summaries),
    }


def _overview(summaries: Summaries) -> str:
    columns = [(name, pool) for name in summaries for pool in _pools(summaries[name])]
    names = _by_mean(
        [pool["retrievers"] for summary in summaries.values() for pool in _pools(summary).values()],
        measure=_measure(next(iter(summaries.values()))),
    )
    rows = []
    for name in names:
        cells = []
        for of_set, pool in columns:
            found = _pools(summaries[of_set])[pool]["retrievers"].get(name)
            cells.append(MISSING if found is None else _cell(found, _measure(summaries[of_set])))
        rows.append((name, *cells))
    head = ("retriever", *(f"{SETS[name]}, {POOLS[pool]}" for name, pool in columns))
    counts = [_counts(name, summary) for name, summary in summaries.items()]
    return _with_note(markdown_table(head, rows), summaries.values(), *counts)


def _by_category(summary: Mapping[str, Any]) -> str:
    pools, measure = _pools(summary), _measure(summary)
    own = pools.get("conversation") or next(iter(pools.values()))
    names = [
        name
        for name in _by_mean([own["retrievers"]], measure=measure)
        if not own["retrievers"][name]["bound"] and (":" not in name or name.startswith("hybrid-cv:"))
    ]
    whole = {name: found for name, found in pools.get("memory", {}).get("retrievers", {}).items() if name in _MAIN[:2]}
    rows = []
    for category, of_first in own["retrievers"][names[0]]["by_category"].items():
        cells = [_cell(own["retrievers"][name], measure, category=category) for name in names]
        cells += [_cell(found, measure, category=category) for found in whole.values()]
        rows.append((category or "without a name", f"{of_first[measure]['n']:,}", *cells))
    head = ("category", "n", *names, *(f"{name}, whole memory" for name in whole))
    return _with_note(markdown_table(head, rows), [summary], "Own conversation as the pool where nothing else is said")


def _by_measure(summaries: Summaries) -> str:
    rows = []
    measures = [name for name in _MEASURES if any(name in summary["definitions"] for summary in summaries.values())]
    for name, summary in summaries.items():
        for pool, found in _pools(summary).items():
            for retriever, one in found["retrievers"].items():
                if retriever.partition(":")[0] in _MAIN:
                    cells = [_cell(one, measure) for measure in measures]
                    rows.append((f"{SETS[name]}, {POOLS[pool]}: {retriever}", *cells))
    return _with_note(markdown_table(("pool and retriever", *measures), rows), summaries.values())


def _by_size(summaries: Summaries) -> str:
    rows, sizes = [], _sizes(summaries)
    for name, summary in summaries.items():
        for found in _pools(summary).values():
            grown = found.get("pool_sizes", {})
            for retriever, points_of in sorted(grown.items(), key=lambda one: -one[1][-1]["mean"]):
                by_size = {point["n_conversations"]: point for point in points_of}
                sign = f" {IN_SAMPLE_SIGN}" if found["retrievers"][retriever]["in_sample"] else ""
                cells = [_between(by_size[size], sign) if size in by_size else MISSING for size in sizes]
                rows.append((f"{SETS[name]}: {retriever}", *cells))
    head = ("data and retriever", *(f"{size:,} conversation{'' if size == 1 else 's'}" for size in sizes))
    turns = "; ".join(_turns_of_sizes(name, summary) for name, summary in summaries.items() if _size_points(summary))
    return _with_note(markdown_table(head, rows), summaries.values(), turns) if rows else ""


def _pairs(summaries: Summaries) -> str:
    rows = []
    for name, summary in summaries.items():
        measure = _measure(summary)
        for pool, found in _pools(summary).items():
            for a, b in _PAIRS:
                compared = _compared(found, a, b, measure)
                if compared is None:
                    continue
                of_success = _compared(found, a, b, _SUCCESS + measure.partition("@")[2]) or {}
                outcome = of_success.get("outcome")
                counts = (
                    [f"{outcome[key]:,}" for key in ("won", "lost", "both", "neither")] + [share(outcome["union"])]
                    if outcome
                    else [MISSING] * 5
                )
                between = points_between(compared["low"], compared["high"])
                rows.append(
                    (
                        f"{SETS[name]}, {POOLS[pool]}: {_marked(found, a)} - {_marked(found, b)}",
                        f"{points(compared['difference'])} {between}".strip(),
                        p_value(compared["p_holm"]),
                        *counts,
                    )
                )
    head = ("a - b", "points", "p, Holm", "a alone", "b alone", "both", "neither", "either")
    return _with_note(
        markdown_table(head, rows),
        summaries.values(),
        "Points of recall@10; alone, both, neither and either: questions with evidence among the first 10",
    )


def _cell(found: Mapping[str, Any], measure: str, *, category: str | None = None) -> str:
    means = found["measures"] if category is None else found["by_category"].get(category, {})
    if measure not in means:
        return MISSING
    return _between(means[measure], f" {IN_SAMPLE_SIGN}" if found["in_sample"] else "")


def _between(mean: Mapping[str, Any], sign: str) -> str:
    return f"{share(mean['mean'])}{sign} {in_brackets(mean['low'], mean['high'])}".strip()


def _marked(pool: Mapping[str, Any], name: str) -> str:
    return f"{name} {IN_SAMPLE_SIGN}" if pool["retrievers"][name]["in_sample"] else name


def _compared(pool: Mapping[str, Any], a: str, b: str, measure: str) -> dict[str, Any] | None:
    for one in pool["comparisons"]:
        if one["measure"] == measure and {one["a"], one["b"]} == {a, b} <= pool["retrievers"].keys():
            if one["a"] == a:
                return dict(one)
            turned = {**one, "difference": -one["difference"]}
            turned |= {"low": -one["high"], "high": -one["low"]} if one["low"] is not None else {}
            if "outcome" in one:
                turned["outcome"] = {**one["outcome"], "won": one["outcome"]["lost"], "lost": one["outcome"]["won"]}
            return turned
    return None


def _pools(summary: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    return summary["pools"] if "pools" in summary else {summary["pool"]: summary}


def _measure(summary: Mapping[str, Any]) -> str:
    name: str = summary["settings"]["measure"]
    return name


def _by_mean(pools: Sequence[Mapping[str, Any]], *, measure: str) -> list[str]:
    """Return the retrievers from best to worst by the first pool that has them, bounds last."""
    found: dict[str, tuple[bool, float]] = {}
    for retrievers in pools:
        for name, one in retrievers.items():
            found.setdefault(name, (one["bound"], -one["measures"][measure]["mean"]))
    return sorted(found, key=lambda name: (*found[name], name))


def _sizes(summaries: Summaries) -> list[int]:
    return sorted({point["n_conversations"] for summary in summaries.values() for point in _size_points(summary)})


def _size_points(summary: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return one retriever's points, as all have the same sizes; none if there are none."""
    for pool in _pools(summary).values():
        for points_of in pool.get("pool_sizes", {}).values():
            return list(points_of)
    return []


def _turns_of_sizes(name: str, summary: Mapping[str, Any]) -> str:
    found = _size_points(summary)
    turns = " / ".join(f"{point['n_turns']:,}" for point in found)
    return f"{SETS[name]}: {turns} turns on average, {found[0]['n']:,} questions"


def _counts(name: str, summary: Mapping[str, Any]) -> str:
    data = summary["dataset"]
    return (
        f"{SETS[name]}: {data['n_queries']:,} questions, {data['n_turns']:,} turns in {data['n_conversations']:,} "
        "conversations"
    )


def _with_note(table: str, summaries: Iterable[Mapping[str, Any]], *said: str) -> str:
    listed = list(summaries)
    by = {
        mean["by"]
        for summary in listed
        for pool in _pools(summary).values()
        for found in pool["retrievers"].values()
        for mean in found["measures"].values()
    }
    what = (
        "conversations" if by == {"conversation"} else "questions" if by == {"query"} else "conversations or questions"
    )
    sentences = [f"Means [95 % interval, {what} resampled]", *said, f"{IN_SAMPLE_NOTE}"]
    return f"{table}\n\n{'. '.join(one for one in sentences if one)}."
