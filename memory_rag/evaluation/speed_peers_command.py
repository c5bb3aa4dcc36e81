"""What ``python -m memory_rag.evaluation speed-peers`` and ``speed-charts`` take and do."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from memory_rag.errors import SettingsError
from memory_rag.evaluation.provenance import provenance
from memory_rag.evaluation.speed_charts import write_speed_charts
from memory_rag.evaluation.speed_compared import COMPARED_AT, GROWN_AT, Comparison
from memory_rag.evaluation.speed_peer_bounds import Bounds
from memory_rag.evaluation.speed_peers import PEERS, Often
from memory_rag.evaluation.speed_subjects import Tell

SEED: Final = 20
_QUICK: Final = Often(rounds=5, questions=5, adds=2, openings=2, opening_budget_s=8, budget_s=60)
_QUICK_UP_TO: Final = 100_000
_VERSIONS: Final = """
import importlib.metadata, json
print(json.dumps({found.name: found.version for found in importlib.metadata.distributions()}))
"""
_PACKAGES: Final = {
    "lancedb": "lancedb",
    "txtai": "txtai",
    "qdrant": "qdrant-client",
    "langchain": "langchain-community",
    "chromadb": "chromadb",
    "mem0": "mem0ai",
    "tantivy": "tantivy",
    "bm25s": "bm25s",
    "rank-bm25": "rank-bm25",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``speed-peers``."""
    parser.add_argument("--out", type=Path, required=True, help="folder for speed-peers.json and charts/")
    parser.add_argument("--work", type=Path, default=Path("build/speed"), help="folder of what is loaded and measured")
    parser.add_argument("--scripts", type=Path, default=Path("eval/peers"), help="folder of the peers' scripts")
    parser.add_argument("--python", type=Path, required=True, help="the Python in whose environment the peers are")
    parser.add_argument("--peers", default=",".join(peer.name for peer in PEERS), help="which peers, comma-separated")
    parser.add_argument("--sizes", help=f"turns at which they are compared; {_listed(COMPARED_AT)} if not given")
    parser.add_argument("--alone", help=f"turns at which we are measured alone; {_listed(GROWN_AT)} if not given")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="fewer questions and openings, up to 100,000 turns where no sizes are given",
    )
    parser.add_argument(
        "--load-only", action="store_true", help="load everybody and stop: the machine may be busy meanwhile"
    )
    parser.add_argument(
        "--load-limit",
        type=float,
        default=Bounds().load_s,
        metavar="SECONDS",
        help="who loads a size longer is left out",
    )
    parser.add_argument("--seed", type=int, default=SEED)


def add_chart_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``speed-charts``."""
    parser.add_argument("--results", type=Path, default=Path("eval/results"), help="folder of speed-peers.json")
    parser.add_argument("--out", type=Path, default=Path("eval/charts"), help="folder for the charts")


def draw_charts(given: argparse.Namespace) -> list[Path]:
    """Draw the charts of a result that is kept, and return the files.

    Raises:
        MissingExtraError: matplotlib is not installed.
        SettingsError: there is no result.
    """
    path = given.results / "speed-peers.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SettingsError(f"{path} doesn't exist; it is made with: make bench-speed") from error
    return write_speed_charts(found["result"], given.out)


def load_everybody(given: argparse.Namespace, *, tell: Tell) -> None:
    """Load us and the peers into the work folder, as far as they aren't, without timing anything.

    Raises:
        SettingsError: an unknown peer.
    """
    _comparison(given, tell).load(**_sizes(given))


def peers_result(given: argparse.Namespace, *, tell: Tell) -> dict[str, Any]:
    """Measure what isn't measured yet in the work folder, and return all that was.

    Raises:
        SettingsError: an unknown peer, or a Python without the peers.
    """
    load_before = os.getloadavg()[0]
    comparison = _comparison(given, tell)
    versions = _versions(given.python, [peer.name for peer in comparison.peers])
    result = comparison.run(**_sizes(given))
    made = provenance(
        seed=given.seed,
        peers=versions,
        quick=given.quick,
        load_average_before=load_before,
        load_average_after=os.getloadavg()[0],
    )
    return {"provenance": made, "result": result}


def _comparison(given: argparse.Namespace, tell: Tell) -> Comparison:
    names = [name for name in given.peers.split(",") if name]
    known = {peer.name: peer for peer in PEERS}
    if unknown := [name for name in names if name not in known]:
        raise SettingsError(f"unknown peer {unknown[0]!r}; peers are: {', '.join(known)}")
    return Comparison(
        given.work,
        given.scripts,
        our_python=Path(sys.executable),
        python=given.python,
        peers=[known[name] for name in names],
        seed=given.seed,
        often=_QUICK if given.quick else Often(),
        bounds=Bounds(load_s=given.load_limit),
        tell=tell,
    )


def _sizes(given: argparse.Namespace) -> dict[str, list[int]]:
    """Return the sizes by what they are for, as a comparison takes them."""
    most = _QUICK_UP_TO if given.quick else max(COMPARED_AT)
    return {
        name: [size for size in usual if size <= most]
        if listed is None
        else [int(size) for size in listed.split(",") if size]
        for name, listed, usual in (("compared", given.sizes, COMPARED_AT), ("grown", given.alone, GROWN_AT))
    }


def _listed(sizes: Sequence[int]) -> str:
    return ",".join(map(str, sizes))


def _versions(python: Path, names: list[str]) -> Mapping[str, str]:
    """Return the versions of all peers that are there: what is kept of an earlier run is of the others, too."""
    try:
        done = subprocess.run([str(python), "-c", _VERSIONS], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SettingsError(f"{python} can't be run; make it with: make bench-speed") from error
    installed = json.loads(done.stdout)
    if missing := [name for name in names if _PACKAGES[name] not in installed]:
        raise SettingsError(f"{python} has no {_PACKAGES[missing[0]]}; install the peers with: make bench-speed")
    return {package: installed[package] for package in _PACKAGES.values() if package in installed}
