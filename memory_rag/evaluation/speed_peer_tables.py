"""Tables of a memory beside its peers and of what it costs as it grows, and the goals of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from memory_rag.evaluation.markdown import amount, markdown_table

Result = Mapping[str, Any]
SPEED_PEER_TABLES: Final = ("speed-million", "speed-peers", "speed-peers-space", "speed-growth")
US: Final = "memory_rag"
_NAMES: Final = {
    "qdrant": "qdrant-client, local",
    "langchain": "langchain, FAISS and BM25",
    "mem0": "mem0, `infer=False`",
}
_RANKS_BY: Final = {"hybrid": "both", "dense": "vectors", "keyword": "words"}
CHARTS: Final = {
    "growth-ms": "Milliseconds against turns, both by powers of ten: adding, searching, opening",
    "growth-mib": "Memory and disk in MiB against turns, both by powers of ten",
    "peers-query": "Milliseconds a query against turns, beside the peers",
    "peers-add": "Milliseconds a durable add against turns, beside the peers",
}
_BY_WORDS: Final = {"search": "keyword", "filtered": "keyword_filtered"}
"""What we are asked beside a peer that knows words alone."""
_MIB: Final = 1 << 20
ALIKE_FROM: Final = 0.9
"""Agreement with exact search from which on a peer's search is compared by its time with ours."""


def speed_peer_tables(found: Result, speed: Result | None = None) -> dict[str, str]:
    """Return the tables of a comparison, by name; ``speed`` is the result of speed alone, for its query embedding."""
    result = found["result"]
    return {
        "speed-million": _goals(result, speed) + "\n\n" + _note(found),
        "speed-peers": _beside(result) + _left_out(result) + _charts("peers-query", "peers-add"),
        "speed-peers-space": _space(result),
        "speed-growth": _growth(result) + _charts("growth-ms", "growth-mib"),
    }


def compared_sizes(result: Result) -> list[tuple[int, Result]]:
    """Return the sizes at which peers were measured, with what was measured there."""
    return [
        (size, here)
        for size, here in _sizes(result)
        if any("beside" in one for name, one in here.items() if name != US)
    ]


def ratios(peer: Result, way: str) -> list[float]:
    """Return how many times as long a peer takes as we do in the same round, a number a round; empty if it can't."""
    beside = peer.get("beside", {})
    theirs = beside.get("peer", {}).get(way)
    us = beside.get("us", {})
    own = us.get(way) or us.get(_BY_WORDS.get(way, way))
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


def _does_the_same(peer: Result) -> bool:
    agreement = peer.get("beside", {}).get("peer", {}).get("agreement") or 0.0
    return peer.get("ranks_by") == "hybrid" and float(agreement) >= ALIKE_FROM


def _sizes(result: Result) -> list[tuple[int, Result]]:
    return sorted((int(size), here) for size, here in result["sizes"].items())


def _peers(here: Result) -> list[tuple[str, Result]]:
    order = {kind: place for place, kind in enumerate(_RANKS_BY)}
    peers = [(name, peer) for name, peer in here.items() if name != US and "beside" in peer]
    measured = [(name, peer) for name, peer in peers if "left_out" not in peer["beside"]]
    return sorted(measured, key=lambda one: (order.get(one[1].get("ranks_by", ""), 9), one[0]))


def _named(name: str) -> str:
    return _NAMES.get(name, name)


# -- the comparison


def _beside(result: Result) -> str:
    rows = []
    for size, here in compared_sizes(result):
        ours = here[US]["alone"]
        cells = [_ms(ours[way]) for way in ("search", "filtered", "add", "delete")]
        cold = f"{amount(ours['cold']['s'])} s"
        rows.append((f"{size:,}", "**memory_rag**", "both, signals", *cells, cold))
        for name, peer in _peers(here):
            beside = peer["beside"]
            cells = [_with_ratio(peer, way) for way in ("search", "filtered", "add", "delete")]
            opened, we = beside["cold"]["peer"], beside["cold"]["us"]
            times = [a / b for a, b in zip(opened["rounds_s"], we["rounds_s"], strict=False)]
            cold = f"{amount(opened['s'])} s, {_range(times)}"
            rows.append((f"{size:,}", _named(name), _RANKS_BY[peer["ranks_by"]], *cells, cold))
    head = (
        "turns",
        "who",
        "ranks by",
        "query, ms",
        "within one conversation",
        "add, durable",
        "delete and query",
        "cold",
    )
    return markdown_table(head, rows, n_words=3)


def _with_ratio(peer: Result, way: str) -> str:
    theirs = peer["beside"]["peer"].get(way)
    if theirs is None:
        return "-"
    return f"{_ms(theirs)}, {_range(ratios(peer, way))}"


def _range(times: Sequence[float]) -> str:
    if not times:
        return "-"
    return f"{amount(float(np.median(times)))}× [{amount(min(times))}, {amount(max(times))}]"


def _left_out(result: Result) -> str:
    told = []
    for size, here in _sizes(result):
        for name, peer in sorted(here.items()):
            why = peer.get("load", {}).get("left_out") or peer.get("beside", {}).get("left_out")
            if why and name != US:
                told.append(f"- {size:,} turns, {_named(name)}: {why}.")
    return "\n\nNot in the table:\n\n" + "\n".join(told) if told else ""


def _space(result: Result) -> str:
    rows = []
    # Counted at the first size only: how often a peer waits doesn't depend on it.
    first: Result = compared_sizes(result)[0][1] if compared_sizes(result) else {}
    for size, here in compared_sizes(result):
        ours = here[US]
        rows.append(
            (
                f"{size:,}",
                "**memory_rag**",
                _load(_whole_load(result, size)),
                _mib(ours["load"]["disk_bytes"] / _MIB),
                _mib(ours["alone"]["cold"]["peak_mib"]),
                _share(ours["alone"]["agreement"]),
                " / ".join(_waits(first[US]["alone"][way].get("waits_for_disk")) for way in ("add", "add_full")),
                "yes",
            )
        )
        for name, peer in _peers(here):
            loaded, beside = peer["load"], peer["beside"]
            seen = "-" if not beside["peer"].get("add") else ("yes" if beside["peer"]["seen"] else "**no**")
            rows.append(
                (
                    f"{size:,}",
                    _named(name),
                    _load(loaded),
                    _mib(loaded["disk_bytes"] / _MIB),
                    _mib(beside["cold"]["peer"]["peak_mib"]),
                    _share(beside["peer"].get("agreement")),
                    _waits(first.get(name, {}).get("beside", {}).get("waits_for_disk_an_add")),
                    seen,
                )
            )
    head = (
        "turns",
        "who",
        "load, CPU s",
        "disk, MiB",
        "memory, MiB",
        "agrees with exact search",
        "waits for the disk, times an add",
        "finds at once what was added",
    )
    return markdown_table(head, rows, n_words=2)


def _waits(times: float | None) -> str:
    return "-" if times is None else f"{times:.1f}".removesuffix(".0")


def _load(loaded: Result) -> str:
    return amount(loaded["cpu_s"])


def _whole_load(result: Result, size: int) -> dict[str, float]:
    """Return what it took us to come to a size, the steps before it included."""
    whole = {"s": 0.0, "cpu_s": 0.0, "peak_mib": 0.0}
    at = size
    while at:
        loaded = result["sizes"][str(at)][US]["load"]
        whole["s"] += loaded["s"]
        whole["cpu_s"] += loaded["cpu_s"]
        whole["peak_mib"] = max(whole["peak_mib"], loaded["peak_mib"] or 0.0)
        at = loaded["grown_from"]
    return whole


# -- growth


def _growth(result: Result) -> str:
    rows = []
    for size, here in _sizes(result):
        alone = here.get(US, {}).get("alone")
        if alone is None:
            continue
        times = [_ms(alone[way]) for way in ("add", "add_full", "keyword", "search", "filtered", "delete")]
        whole = _whole_load(result, size)
        rows.append(
            (
                f"{size:,}",
                *times,
                amount(alone["cold"]["of_it_opening_s"]),
                _mib(alone["cold_keyword"]["peak_mib"]),
                _mib(alone["cold"]["peak_mib"]),
                _mib(here[US]["load"]["disk_bytes"] / _MIB),
                f"{amount(whole['cpu_s'])} / {_mib(whole['peak_mib'])}",
            )
        )
    head = (
        "turns",
        "add, `normal`, ms",
        "add, `full`",
        "keyword search",
        "hybrid search",
        "within one conversation",
        "forget and search",
        "open to first answer, s",
        "memory, words alone, MiB",
        "memory, both",
        "disk, MiB",
        "bulk import, CPU s / MiB",
    )
    return markdown_table(head, rows)


# -- goals


def _goals(result: Result, speed: Result | None) -> str:
    sizes = dict(_sizes(result))
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
        for way, named in (("search", "a search"), ("add", "an add")):
            best = best_of_the_same(sizes.get(size, {}), way)
            whom = f" ({_named(best[0])})" if best else ""
            row(
                f"{named} of the best durable hybrid peer{whom}, times ours, {size:,}",
                times,
                best[1] if best else None,
                "×",
                at_least=True,
            )
    for size, share in ((100_000, 0.99), (1_000_000, 0.98)):
        row(f"agreement with exact search, {size:,}", share, alone(size, "agreement"), "", at_least=True)
    row("keyword search, 1,000,000", 3, alone(1_000_000, "keyword", "median_ms"), "ms")
    row("memory of a keyword search, 1,000,000", 350, alone(1_000_000, "cold_keyword", "peak_mib"), "MiB")
    row("search within one conversation, 1,000,000", 2, alone(1_000_000, "filtered", "median_ms"), "ms")
    for size, seconds in ((100_000, 0.5), (1_000_000, 2.0)):
        row(f"open to the first answer, {size:,}", seconds, alone(size, "cold", "of_it_opening_s"), "s")
    whole = _whole_load(result, 1_000_000) if 1_000_000 in sizes else None
    row("bulk import with given vectors, 1,000,000", 180, whole["s"] if whole else None, "s")
    row("memory of the bulk import, 1,000,000", 3072, whole["peak_mib"] if whole else None, "MiB")
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


def _charts(*names: str) -> str:
    return "\n\n" + "\n".join(f"![{CHARTS[name]}](charts/speed-{name}.svg)" for name in names)


def _note(found: Result) -> str:
    made = found["provenance"]
    machine, settings = made["machine"], made["settings"]
    return (
        f"{machine['processor']}, {machine['cores']} cores, load average {settings['load_average_before']:.1f} before "
        f"and {settings['load_average_after']:.1f} after, commit {made['commit']}; "
        + ", ".join(f"{name} {version}" for name, version in sorted(settings["peers"].items()))
        + "."
    )


def _ms(timing: Result) -> str:
    return amount(timing["median_ms"])


def _mib(value: float) -> str:
    return f"{value:,.0f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
