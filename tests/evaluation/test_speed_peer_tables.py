"""Ratios are of the same round, the best peer is one that does the same, and goals are met or not."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from memory_rag.evaluation.speed_charts import speed_charts, write_speed_charts
from memory_rag.evaluation.speed_peer_ratios import best_of_the_same, ratios
from memory_rag.evaluation.speed_peer_tables import speed_peer_tables


def _timing(*rounds: float) -> dict[str, Any]:
    middle = sorted(rounds)[len(rounds) // 2]
    return {"median_ms": middle, "least_ms": min(rounds), "cpu_ms": middle, "rounds_ms": list(rounds), "n": len(rounds)}


def _cold(seconds: float) -> dict[str, Any]:
    return {"s": seconds, "rounds_s": [seconds], "cpu_s": seconds, "of_it_opening_s": seconds / 2, "peak_mib": 90.0}


def _side(ms: float, **more: Any) -> dict[str, Any]:
    kinds = ("search", "filtered", "add", "add_and_ask", "delete")
    ways = {way: _timing(ms, ms * 2, ms * 3) | {"n_found": 10.0} for way in kinds}
    return ways | {"seen": True, "gone": True} | more


def _peer(ms: float, ranks_by: str, *, waits: bool = False, share: float = 0.995, **more: Any) -> dict[str, Any]:
    loaded = {"s": 9.0, "cpu_s": 6.0, "peak_mib": 200.0, "disk_bytes": 5 << 20, "grown_from": 0}
    beside: dict[str, Any] = {"cold": {"peer": _cold(4), "us": _cold(1)}, "peer": _side(ms, **more), "us": _side(1.0)}
    beside |= {"waits_for_disk_an_add": 4.0}
    agreement = {"share": share}
    return {"ranks_by": ranks_by, "waits": waits, "load": loaded, "beside": beside, "agreement": agreement}


def _us(grown_from: int) -> dict[str, Any]:
    ways = ("search", "filtered", "add", "add_full", "add_and_ask", "delete", "keyword")
    alone: dict[str, Any] = {way: _timing(0.5, 0.6, 0.7) for way in ways}
    loaded = {"s": 9.0, "cpu_s": 6.0, "peak_mib": 200.0, "disk_bytes": 5 << 20, "grown_from": grown_from}
    imported = {"s": 12.0, "cpu_s": 11.0, "peak_mib": 210.0}
    alone |= {"cold": _cold(1), "cold_keyword": _cold(0.5)}
    return {"alone": alone, "load": loaded, "import": imported, "agreement": {"share": 1.0}}


RESULT: dict[str, Any] = {
    "sizes": {
        "1000": {"memory_rag": _us(0)},
        "10000": {
            "memory_rag": _us(1000),
            "lancedb": _peer(15.0, "hybrid", seen=False),
            "txtai": _peer(3.0, "hybrid"),
            "chromadb": _peer(1.5, "dense"),
            "langchain": {"ranks_by": "hybrid", "load": {"left_out": "load: took over 180 s"}},
        },
    }
}
FOUND = {
    "provenance": {
        "commit": "abc",
        "machine": {"processor": "CPU", "cores": 2},
        "settings": {"load_average_before": 1.0, "load_average_after": 2.0, "peers": {"txtai": "9.14.0"}},
    },
    "result": RESULT,
}


def test_a_ratio_is_of_the_same_round() -> None:
    peer = _peer(3.0, "hybrid")
    peer["beside"]["peer"]["search"]["rounds_ms"] = [4.0, 4.0, 4.0]

    assert ratios(peer, "search") == [4.0, 2.0, pytest.approx(4 / 3)]


def test_a_keyword_peer_is_compared_with_our_keyword_search() -> None:
    peer = _peer(3.0, "keyword")
    peer["beside"]["us"]["keyword"] = peer["beside"]["us"].pop("search")

    assert ratios(peer, "search") == pytest.approx([3.0, 3.0, 3.0])


def test_the_best_peer_is_the_nearest_of_those_that_rank_by_both() -> None:
    best = best_of_the_same(RESULT["sizes"]["10000"], "search")

    assert best is not None
    assert best == ("txtai", 3.0)
    unlike = {"guess": _peer(1.1, "hybrid", share=0.53), "lancedb": _peer(15.0, "hybrid")}
    assert best_of_the_same(unlike, "search") == ("lancedb", 15.0)
    assert best_of_the_same(RESULT["sizes"]["1000"], "search") is None


def test_a_goal_is_met_or_not_or_not_measured() -> None:
    lines = speed_peer_tables(FOUND)["speed-million"].splitlines()

    assert "| add one turn, `normal`, 10,000 turns | ≤ 0.1 ms | 0.600 | **not met** |" in lines
    assert "| hybrid search, all signals, 10,000 | ≤ 1.2 ms | 0.600 | met |" in lines
    assert "| a search of the best durable hybrid peer (txtai), times ours, 10,000 | ≥ 2 × | 3.00 | met |" in lines
    assert "| keyword search, 1,000,000 | ≤ 3 ms | - | not measured |" in lines
    assert lines[-1].endswith("commit abc; txtai 9.14.0.")


def test_everybody_stands_beside_us_and_who_is_missing_is_named() -> None:
    table = speed_peer_tables(FOUND)["speed-peers"]

    assert "| 10,000 | txtai | both | 6.00, 3.00× [3.00, 3.00] |" in table
    assert table.index("**memory_rag**") < table.index("lancedb") < table.index("txtai") < table.index("chromadb")
    assert "\n- 10,000 turns, langchain, FAISS and BM25: load: took over 180 s.\n" in table


def test_who_does_not_find_at_once_what_was_added_is_marked() -> None:
    rows = speed_peer_tables(FOUND)["speed-peers-space"].splitlines()

    assert [row.rsplit("|", 2)[1].strip() for row in rows[2:]] == ["yes", "**no**", "yes", "yes"]


def test_what_is_not_tried_is_named_and_fewer_hits_than_ours_are_told() -> None:
    here = dict(RESULT["sizes"]["10000"])
    here["txtai"] = _peer(3.0, "hybrid", waits=True)
    here["txtai"]["beside"]["peer"]["filtered"]["n_found"] = 2.5
    del here["txtai"]["beside"]["peer"]["delete"]
    here["txtai"]["beside"]["not_tried"] = {"delete": "would take about 40 s"}
    table = speed_peer_tables({**FOUND, "result": {"sizes": {"10000": here}}})["speed-peers"]

    [row] = [line.split(" | ") for line in table.splitlines() if "| txtai |" in line]
    assert row[4] == "6.00, 3.00× [3.00, 3.00]; 2.5 hits, ours 10.0"
    assert row[5:8] == ["6.00, 3.00× [3.00, 3.00] †", "6.00, 3.00× [3.00, 3.00] †", "-"]
    assert "\n- 10,000 turns, txtai, delete: would take about 40 s.\n" in table


def test_bulk_import_is_measured_by_itself() -> None:
    rows = speed_peer_tables(FOUND)["speed-growth"].splitlines()

    assert rows[2].endswith("| 12.0 / 210 |")
    assert rows[-1] == ("![Memory and disk in MiB against turns, both by powers of ten](charts/speed-growth-mib.svg)")


def test_charts_draw_every_size_that_was_measured(tmp_path: Path) -> None:
    charts = speed_charts(RESULT)

    assert [(line.name, line.points) for line in charts["growth-ms"][1]][:2] == [
        ("add, normal", ((1000, 0.6), (10_000, 0.6))),
        ("add, full", ((1000, 0.6), (10_000, 0.6))),
    ]
    assert [line.name for line in charts["peers-query"][1]] == ["memory_rag", "lancedb", "txtai", "chromadb"]
    written = write_speed_charts(RESULT, tmp_path)
    assert [path.name for path in written] == [
        "speed-growth-ms.svg",
        "speed-growth-mib.svg",
        "speed-peers-query.svg",
        "speed-peers-add.svg",
    ]
    first = written[0].read_bytes()
    assert write_speed_charts(RESULT, tmp_path)[0].read_bytes() == first
    assert ElementTree.fromstring(first).tag.endswith("svg")
