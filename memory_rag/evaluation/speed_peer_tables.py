"""Tables of a memory beside its peers and of what it costs as it grows, and the goals of that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from memory_rag.evaluation.markdown import amount, markdown_table
from memory_rag.evaluation.speed_peer_goals import goals_table
from memory_rag.evaluation.speed_peer_ratios import US, Result, agreement_of, named, ours_beside, ratios, sizes_of

SPEED_PEER_TABLES: Final = ("speed-million", "speed-peers", "speed-peers-space", "speed-growth")
_RANKS_BY: Final = {"hybrid": "both", "dense": "vectors", "keyword": "words"}
CHARTS: Final = {
    "growth-ms": "Milliseconds against turns, both by powers of ten: adding, searching, opening",
    "growth-mib": "Memory and disk in MiB against turns, both by powers of ten",
    "peers-query": "Milliseconds a query against turns, beside the peers",
    "peers-add": "Milliseconds a durable add against turns, beside the peers",
}
_WAYS: Final = ("search", "filtered", "add", "add_and_ask", "delete")
_DONE: Final = {"search": "query", "filtered": "within one conversation", "add_and_ask": "add and query"}
_MIB: Final = 1 << 20
_WAITS: Final = " †"
FEWER: Final = 0.9
"""The share of our hits below which a peer's search is marked as finding fewer."""


def speed_peer_tables(found: Result, speed: Result | None = None) -> dict[str, str]:
    """Return the tables of a comparison, by name; ``speed`` is the result of speed alone, for its query embedding."""
    result = found["result"]
    return {
        "speed-million": goals_table(result, speed) + "\n\n" + _note(found),
        "speed-peers": _beside(result) + _left_out(result) + _charts("peers-query", "peers-add"),
        "speed-peers-space": _space(result),
        "speed-growth": _growth(result) + _charts("growth-ms", "growth-mib"),
    }


def compared_sizes(result: Result) -> list[tuple[int, Result]]:
    """Return the sizes at which peers were measured, with what was measured there."""
    return [
        (size, here)
        for size, here in sizes_of(result)
        if any("beside" in one for name, one in here.items() if name != US)
    ]


def _peers(here: Result) -> list[tuple[str, Result]]:
    order = {kind: place for place, kind in enumerate(_RANKS_BY)}
    peers = [(name, peer) for name, peer in here.items() if name != US and "beside" in peer]
    measured = [(name, peer) for name, peer in peers if "left_out" not in peer["beside"]]
    return sorted(measured, key=lambda one: (order.get(one[1].get("ranks_by", ""), 9), one[0]))


# -- the comparison


def _beside(result: Result) -> str:
    rows = []
    for size, here in compared_sizes(result):
        ours = here[US]["alone"]
        cells = [_ms(ours.get(way)) for way in _WAYS if way != "add"]
        cells.insert(2, f"{_ms(ours['add'])} / {_ms(ours['add_full'])}")
        cold = f"{amount(ours['cold']['s'])} s"
        rows.append((f"{size:,}", "**memory_rag**", "both, signals", *cells, cold))
        for name, peer in _peers(here):
            beside = peer["beside"]
            cells = [_with_ratio(peer, way) for way in _WAYS]
            opened, we = beside["cold"]["peer"], beside["cold"]["us"]
            times = [a / b for a, b in zip(opened["rounds_s"], we["rounds_s"], strict=False)]
            cold = f"{amount(opened['s'])} s, {_range(times)}"
            rows.append((f"{size:,}", named(name), _RANKS_BY[peer["ranks_by"]], *cells, cold))
    head = (
        "turns",
        "who",
        "ranks by",
        "query, ms",
        "within one conversation",
        "add, durable",
        "add and query",
        "delete and query",
        "cold",
    )
    return markdown_table(head, rows, n_words=3)


def _with_ratio(peer: Result, way: str) -> str:
    theirs = peer["beside"]["peer"].get(way)
    if theirs is None:
        return "-"
    mark = _WAITS if peer.get("waits") and way in ("add", "add_and_ask", "delete") else ""
    return f"{_ms(theirs)}, {_range(ratios(peer, way))}{mark}{_fewer(peer, way)}"


def _fewer(peer: Result, way: str) -> str:
    """Tell how many hits a peer has where it has fewer than we have; the time of such a search is of less work."""
    theirs = peer["beside"]["peer"][way].get("n_found")
    ours = (ours_beside(peer, way) or {}).get("n_found")
    if theirs is None or ours is None or theirs >= FEWER * ours:
        return ""
    return f"; {theirs:.1f} hits, ours {ours:.1f}"


def _range(times: Sequence[float]) -> str:
    if not times:
        return "-"
    return f"{amount(float(np.median(times)))}× [{amount(min(times))}, {amount(max(times))}]"


def _left_out(result: Result) -> str:
    told = []
    for size, here in sizes_of(result):
        for name, peer in sorted(here.items()):
            why = peer.get("load", {}).get("left_out") or peer.get("beside", {}).get("left_out")
            if why and name != US:
                told.append(f"- {size:,} turns, {named(name)}: {why}.")
            for way, why in peer.get("beside", {}).get("not_tried", {}).items():
                told.append(f"- {size:,} turns, {named(name)}, {_DONE.get(way, way)}: {why}.")
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
                _load(ours.get("import", ours["load"])),
                _mib(ours["load"]["disk_bytes"] / _MIB),
                _mib(ours["alone"]["cold"]["peak_mib"]),
                _share(agreement_of(ours)),
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
                    named(name),
                    _load(loaded),
                    _mib(loaded["disk_bytes"] / _MIB),
                    _mib(beside["cold"]["peer"]["peak_mib"]),
                    _share(agreement_of(peer)),
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


# -- growth


def _growth(result: Result) -> str:
    rows = []
    for size, here in sizes_of(result):
        alone = here.get(US, {}).get("alone")
        if alone is None:
            continue
        ways = ("add", "add_full", "add_and_ask", "keyword", "search", "filtered", "delete")
        times = [_ms(alone.get(way)) for way in ways]
        imported = here[US].get("import")
        rows.append(
            (
                f"{size:,}",
                *times,
                amount(alone["cold"]["of_it_opening_s"]),
                _mib(alone["cold_keyword"]["peak_mib"]),
                _mib(alone["cold"]["peak_mib"]),
                _mib(here[US]["load"]["disk_bytes"] / _MIB),
                "-" if imported is None else f"{amount(imported['s'])} / {_mib(imported['peak_mib'])}",
            )
        )
    head = (
        "turns",
        "add, `normal`, ms",
        "add, `full`",
        "add and search",
        "keyword search",
        "hybrid search",
        "within one conversation",
        "forget and search",
        "open to first answer, s",
        "memory, words alone, MiB",
        "memory, both",
        "disk, MiB",
        "bulk import, s / MiB",
    )
    return markdown_table(head, rows)


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


def _ms(timing: Result | None) -> str:
    return "-" if timing is None else amount(timing["median_ms"])


def _mib(value: float) -> str:
    return f"{value:,.0f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
