"""Numbers of a report as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memory_rag.evaluation.markdown import amount, share
from memory_rag.evaluation.report_shape import Report
from memory_rag.evaluation.statistics import ENUMERATED, RESAMPLES

POOLS: Final = {"conversation": "own conversation", "memory": "whole memory"}
WITHIN: Final = {"conversation": "Within the question's own conversation", "memory": "Across the whole memory"}
MISSING: Final = "–"


def in_brackets(low: float | None, high: float | None) -> str:
    """Return an interval of shares: ``[.824, .852]``; nothing where there is none."""
    return "" if low is None or high is None else f"[{share(low)}, {share(high)}]"


def points(difference: float) -> str:
    """Return a difference of shares in points, with its sign: ``+4.1``, ``−0.3``, ``0.0``."""
    text = f"{100 * difference:+.1f}".replace("-", "−")
    return "0.0" if text[1:] == "0.0" else text


def points_between(low: float | None, high: float | None) -> str:
    """Return an interval of a difference in points: ``[+2.9, +5.2]``; nothing where there is none."""
    return "" if low is None or high is None else f"[{points(low)}, {points(high)}]"


def p_value(p: float) -> str:
    """Return a p with what digits it deserves: ``0.62``, ``0.003``, ``< 0.001``."""
    if p < 0.001:
        return "< 0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def milliseconds(value: float) -> str:
    return f"{amount(value)} ms"


def counted(n: int, one: str) -> str:
    """Return a count with its noun: ``1 question``, ``1,982 questions``."""
    return f"{n:,} {one}{'' if n == 1 else 's'}"


def kept_together(text: str) -> str:
    """Return a sentence in which no line ends between a sign and its number: ``95 %``, ``p 0.003``."""
    return text.replace(" %", "\u00a0%").replace(" p ", " p\u00a0").replace("p\u00a0< ", "p\u00a0<\u00a0")


def main_measures(report: Report) -> list[str]:
    """Return the measures of the main table: all but those that are there for the curve only."""
    parts = next(iter(report["retrievers"].values()))["by_category"].values()
    asked = next(iter(parts))
    return [name for name in report["definitions"] if name in asked or name.endswith("tokens")]


def definitions_of(reports: Sequence[Report]) -> dict[str, str]:
    """Return the definitions of all measures, those alike under one name: ``recall@1, 5, 10``."""
    alike: dict[str, list[str]] = {}
    for name, text in {name: text for one in reports for name, text in one["definitions"].items()}.items():
        alike.setdefault(text, []).append(name)
    return {_together(names): text for text, names in alike.items()}


def tests_of(reports: Sequence[Report]) -> dict[str, str]:
    """Return how differences were tested: what p is, what it is adjusted for, and when one retriever serves best."""
    family = ", ".join(f"{one['family']:,} in the {POOLS[one['pool']]}" for one in reports)
    return {
        "p": f"two-sided paired randomization test on the mean difference, {RESAMPLES:,} flips (every flip where up to "
        f"{ENUMERATED} questions differ); for success@k and all_found@k McNemar's exact test. Both take the questions "
        "one by one",
        "p, Holm": f"p adjusted for all comparisons of a pool: {family}; it is the p of the answer",
        "serves best": "p, Holm below 0.05, and an interval of the difference that leaves out 0",
    }


def _together(names: Sequence[str]) -> str:
    first, *others = sorted(names, key=lambda name: (len(name), name))
    return ", ".join([first, *(name.partition("@")[2] for name in others)])
