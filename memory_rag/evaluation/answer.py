"""The answer of a report in words: which retriever serves this history best, and whether that is more than chance."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from memory_rag.evaluation.markdown import share
from memory_rag.evaluation.report_shape import Comparison, Report
from memory_rag.evaluation.wording import counted, p_value, points, points_between

IN_SAMPLE_SIGN: Final = "†"
IN_SAMPLE_NOTE: Final = "† in-sample: its weights were set or fitted after seeing these data"
LEVEL: Final = 0.05
"""A difference counts if its p, adjusted for its family, is below this and its interval leaves out 0."""


@dataclass(frozen=True, slots=True)
class Answer:
    """``best`` and ``other`` are the retrievers that the headline compares; ``other`` is None if there is only one."""

    headline: str
    details: tuple[str, ...]
    best: str
    other: str | None
    is_clear: bool


def answer_of(report: Report) -> Answer:
    """Say which retriever is best by the report's measure, against the best one of another kind.

    ``hybrid`` and ``hybrid-cv``, or ``dense`` with two embedders, are of one kind. A retriever whose weights have seen
    the data, or that is only a bound, is no contender; it is named if it is ahead.
    """
    measure = report["settings"]["measure"]
    best, other = _rivals(report)
    mean = _mean(report, best)
    if other is None:
        return Answer(
            f"{marked(report, best)} finds {share(mean)} ({measure}); there is nothing to compare it with.",
            tuple(_details(report, best, other)),
            best,
            other,
            is_clear=False,
        )
    compared = comparison(report, best, other, measure=measure)
    one, two = marked(report, best), marked(report, other)
    apart = f"{points(compared['difference'])} points"
    between = points_between(compared["low"], compared["high"])
    details = [f"{measure} {share(mean)} against {share(_mean(report, other))}, 95 % interval {between} points."]
    if is_clear(compared):
        headline = f"{one} serves this history best: {apart} over {two}, p {_p(compared)}."
        return Answer(headline, (*details, *_details(report, best, other)), best, other, is_clear=True)
    asked = counted(compared["n"], "question")
    headline = f"{one} comes first, but {asked} can't tell it from {two}: {apart}, p {_p(compared)}."
    if compared["difference"] == 0:
        headline = f"{one} and {two} come first, and {asked} can't tell them apart: {apart}, p {_p(compared)}."
    return Answer(
        headline, (*details, *_others(report, best, other), *_details(report, best, other)), best, other, is_clear=False
    )


def comparison(report: Report, a: str, b: str, *, measure: str) -> Comparison:
    """Return the report's comparison of two retrievers, turned round if it has it as b against a.

    Raises:
        KeyError: the report doesn't compare them by this measure.
    """
    for found in report["comparisons"]:
        if found["measure"] != measure:
            continue
        if (found["a"], found["b"]) == (a, b):
            return found
        if (found["a"], found["b"]) == (b, a):
            return _turned(found)
    raise KeyError(f"the report doesn't compare {a!r} with {b!r} by {measure}")


def is_clear(compared: Comparison) -> bool:
    """Tell whether a difference is more than chance, by its test and by its interval."""
    low, high = compared["low"], compared["high"]
    return compared["p_holm"] < LEVEL and low is not None and high is not None and (low > 0 or high < 0)


def marked(report: Report, name: str) -> str:
    """Return a retriever's name, with the sign of in-sample if it is."""
    return f"{name} {IN_SAMPLE_SIGN}" if report["retrievers"][name]["in_sample"] else name


def sides(report: Report) -> tuple[str, str] | None:
    """Return the two retrievers whose wins are listed: keyword and dense, or else the two of the headline."""
    if all(name in report["retrievers"] for name in ("keyword", "dense")):
        return "keyword", "dense"
    best, other = _rivals(report)
    return None if other is None else (best, other)


def _details(report: Report, best: str, other: str | None) -> list[str]:
    measure = report["settings"]["measure"]
    said = []
    retrievers = report["retrievers"]
    if "keyword" in retrievers and "keyword" not in (best, other) and _kind(best) != "keyword":
        said.append(_sentence(report, comparison(report, best, "keyword", measure=measure)))
    if sides(report) == ("keyword", "dense") and {best, other} != {"keyword", "dense"}:
        first, second = sorted(("keyword", "dense"), key=lambda name: -_mean(report, name))
        said.append(_sentence(report, comparison(report, first, second, measure=measure)))
    ahead = [
        name for name, found in retrievers.items() if found["in_sample"] and _mean(report, name) > _mean(report, best)
    ]
    if caution := report["dataset"].get("caution"):
        said.append(caution)
    for name in ahead:
        said.append(
            f"{name} has {share(_mean(report, name))}, but in-sample: its weights were set after seeing this "
            "data, so it is no contender here."
        )
    return said


def _others(report: Report, best: str, other: str) -> list[str]:
    """Say in a sentence which of the further contenders the best one is clearly ahead of, and which not."""
    measure = report["settings"]["measure"]
    further = [name for name in _ranked(report) if name != other and _kind(name) != _kind(best)]
    compared = {name: comparison(report, best, name, measure=measure) for name in further}
    behind = [
        f"{marked(report, name)} ({points(-one['difference'])})" for name, one in compared.items() if is_clear(one)
    ]
    level = [marked(report, name) for name, one in compared.items() if not is_clear(one)]
    said = [f"less is found by {_listed(behind)}"] if behind else []
    said += [f"no difference is shown from {_listed(level)} either"] if level else []
    return [f"{text[0].upper()}{text[1:]}." for text in ["; ".join(said)] if text]


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _sentence(report: Report, compared: Comparison) -> str:
    a, b = marked(report, compared["a"]), marked(report, compared["b"])
    between = points_between(compared["low"], compared["high"])
    if is_clear(compared):
        return f"{a} finds more than {b}: {points(compared['difference'])} points {between}, p {_p(compared)}."
    return (
        f"Between {a} and {b} the questions show no difference: {points(compared['difference'])} points {between}, "
        f"p {_p(compared)}."
    )


def _rivals(report: Report) -> tuple[str, str | None]:
    """Return the best contender and the best one of another kind; bounds are no contenders, even alone."""
    contenders = _ranked(report)
    best = contenders[0]
    if report["retrievers"][best]["bound"]:
        return best, None
    return best, next((name for name in contenders if _kind(name) != _kind(best)), None)


def _ranked(report: Report) -> list[str]:
    retrievers = report["retrievers"]
    eligible = [name for name, found in retrievers.items() if not found["bound"] and not found["in_sample"]]
    eligible = eligible or [name for name, found in retrievers.items() if not found["bound"]] or list(retrievers)
    return sorted(eligible, key=lambda name: (-_mean(report, name), name))


def _mean(report: Report, name: str) -> float:
    return report["retrievers"][name]["measures"][report["settings"]["measure"]]["mean"]


def _kind(name: str) -> str:
    return re.split(r":|-cv\b| \(", name, maxsplit=1)[0]


def _p(compared: Comparison) -> str:
    return p_value(compared["p_holm"])


def _turned(found: Comparison) -> Comparison:
    low, high = found["low"], found["high"]
    turned: Comparison = {
        **found,
        "a": found["b"],
        "b": found["a"],
        "difference": -found["difference"],
        "low": None if high is None else -high,
        "high": None if low is None else -low,
    }
    if "outcome" in found:
        turned["outcome"] = {**found["outcome"], "won": found["outcome"]["lost"], "lost": found["outcome"]["won"]}
    return turned
