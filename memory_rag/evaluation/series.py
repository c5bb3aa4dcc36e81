"""How retrievers look in charts and tables: the same one has the same colour, sign and label everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from memory_rag.evaluation.answer import IN_SAMPLE_SIGN, answer_of
from memory_rag.evaluation.report_shape import Report
from memory_rag.turns import printable

# Told apart by colour-blind readers too (the hues of Okabe & Ito, "Color Universal Design", 2008, darker or lighter
# for contrast with the paper), and by their markers without any colour.
LIGHT: Final[Mapping[str, str]] = {
    "paper": "#fcfbf8",
    "card": "#ffffff",
    "ink": "#1f1d1a",
    "muted": "#6d685f",
    "line": "#e4dfd5",
    "faint": "#c9c3b7",
    "s1": "#0a6aa8",
    "s2": "#c8500b",
    "s3": "#00815f",
    "s4": "#a3487f",
    "s5": "#b07d00",
    "s6": "#3d8fc4",
    "s7": "#7a6a58",
    "s8": "#5f5e8c",
}
DARK: Final[Mapping[str, str]] = {
    "paper": "#14161a",
    "card": "#1b1e23",
    "ink": "#ebe8e1",
    "muted": "#a39d92",
    "line": "#2e3239",
    "faint": "#4b505a",
    "s1": "#56b4e9",
    "s2": "#f2894a",
    "s3": "#2fc79c",
    "s4": "#e294c1",
    "s5": "#e9b949",
    "s6": "#9ad0f0",
    "s7": "#c2b09b",
    "s8": "#a9a8dd",
}
_SLOTS: Final[Mapping[str, str]] = {
    "keyword": "s1",
    "dense": "s2",
    "hybrid": "s3",
    "hybrid-cv": "s4",
    "convex": "s5",
    "rrf": "s6",
    "overlap": "s7",
    "rank-bm25": "s8",
}
_MARKERS: Final[Mapping[str, str]] = {
    "s1": "o",
    "s2": "s",
    "s3": "D",
    "s4": "^",
    "s5": "v",
    "s6": "P",
    "s7": "X",
    "s8": "h",
    "faint": ".",
}
_FEATURED: Final = 4


@dataclass(frozen=True, slots=True)
class Series:
    """A retriever as it is drawn: ``slot`` names its colour in the palettes; ``is_featured`` ones are drawn in full."""

    name: str
    slot: str
    marker: str
    is_featured: bool
    is_bound: bool
    is_in_sample: bool

    @property
    def label(self) -> str:
        return printable(self.name) + (f" {IN_SAMPLE_SIGN}" if self.is_in_sample else "")


def series_of(report: Report) -> list[Series]:
    """Return the report's retrievers from best to worst by its measure, bounds last."""
    measure, retrievers = report["settings"]["measure"], report["retrievers"]
    slots = _slots(list(retrievers))
    featured = _featured(report)
    order = sorted(
        retrievers, key=lambda name: (retrievers[name]["bound"], -retrievers[name]["measures"][measure]["mean"], name)
    )
    return [
        Series(
            name,
            "faint" if retrievers[name]["bound"] else slots[name],
            "." if retrievers[name]["bound"] else _MARKERS[slots[name]],
            name in featured,
            retrievers[name]["bound"],
            retrievers[name]["in_sample"],
        )
        for name in order
    ]


def _featured(report: Report) -> list[str]:
    """Return the four to look at: the answer's best, keyword, dense and hybrid, then the best of the rest."""
    measure, retrievers = report["settings"]["measure"], report["retrievers"]
    rest = sorted(retrievers, key=lambda name: (-retrievers[name]["measures"][measure]["mean"], name))
    wanted = [answer_of(report).best, "keyword", "dense", "hybrid", *rest]
    unbound = [name for name in wanted if name in retrievers and not retrievers[name]["bound"]]
    return list(dict.fromkeys(unbound))[:_FEATURED]


def _slots(names: list[str]) -> dict[str, str]:
    """Return a colour for each name: its own where it has one, else one that no other here takes, as far as they go."""
    taken = {_SLOTS[name] for name in names if name in _SLOTS}
    free = [slot for slot in _MARKERS if slot not in taken and slot != "faint"]
    others = [name for name in names if name not in _SLOTS]
    given = {name: free[place % len(free)] if free else "s8" for place, name in enumerate(others)}
    return {name: _SLOTS.get(name) or given[name] for name in names}
