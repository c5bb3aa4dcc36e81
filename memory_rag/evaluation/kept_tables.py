"""The tables of summaries: what each summarizer keeps, and how well a new subject is heard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from memory_rag.evaluation.markdown import interval, markdown_table, share
from memory_rag.evaluation.recall_tables import SETS

_KINDS: Final = {
    "decision or preference": "decisions and preferences",
    "name": "names",
    "number": "numbers",
    "date": "dates",
    "identifier": "identifiers",
    "path": "paths",
    "evidence turn cited": "evidence turns cited",
}
_JOINED: Final = {**SETS, "fifty-sv": "fifty, Swedish", "fifty-nb": "fifty, Norwegian"}


def kept_table(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the share of each kind of thing that each summarizer's summaries still have."""
    rows = []
    for found in results.values():
        for summarizer, own in found["summarizers"].items():
            cells = [_kept(own["kept"].get(kind)) for kind in _KINDS]
            rows.append((SETS[found["dataset"]["name"]], summarizer, *cells))
    words = ", ".join(sorted({str(found["provenance"]["settings"]["words"]) for found in results.values()}))
    table = markdown_table(("set", "summarizer", *_KINDS.values()), rows, n_words=2)
    return f"{table}\n\nMean of the conversations' shares [95 % interval]; at most {words} words for 100 turns."


def subjects_table(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return how many joints are heard as new subjects at the setting, and how many others are told."""
    rows = []
    for found in results.values():
        setting = found["provenance"]["settings"]["drift"]
        for embedder, sets in found["result"].items():
            for name, by_drift in sets.items():
                own = by_drift[str(setting)]
                rows.append(
                    (
                        _JOINED[name],
                        f"`{embedder}`",
                        f"{own['joints']:,}",
                        share(own["found"] / own["joints"]),
                        share(own["found"] / own["told"]) if own["told"] else "-",
                        f"{100 * (own['told'] - own['found']) / own['n_turns']:.1f}",
                    )
                )
    head = ("joined", "embedder", "joints", "heard", "of what is told, joints", "false alarms in 100 turns")
    return markdown_table(head, rows, n_words=2)


def _kept(found: Mapping[str, Any] | None) -> str:
    return "-" if not found or not found["share"] else interval(found["share"])
