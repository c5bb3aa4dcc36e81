"""How well rules find secrets and personal data: precision and recall by kind, on labelled texts and on talks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory_rag.evaluation.markdown import interval, markdown_table

Place = tuple[int, int, str]
"""(start, end, kind) in code points, half-open."""
Find = Callable[[str], Sequence[Place]]
_SPLITS: Final = ("test", "dev")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A text with all that is to be found in it; ``trap`` says what a text without any only looks like."""

    text: str
    places: frozenset[Place]
    split: str
    trap: str


def secrets_trial(examples: Iterable[Labelled], talks: Mapping[str, Sequence[str]], *, find: Find) -> dict[str, Any]:
    """Return what is found of labelled texts, by split and kind, and how much in each talk's turns, as JSON.

    A finding counts only with exactly the span and the kind of the label.
    """
    listed = list(examples)
    kinds = sorted({kind for one in listed for _start, _end, kind in one.places})
    of_split: dict[str, Any] = {}
    for split in _SPLITS:
        right, wrong, missed = Counter[str](), Counter[str](), Counter[str]()
        traps, sprung = Counter[str](), Counter[str]()
        for one in (one for one in listed if one.split == split):
            found = frozenset(find(one.text))
            right.update(kind for _start, _end, kind in found & one.places)
            wrong.update(kind for _start, _end, kind in found - one.places)
            missed.update(kind for _start, _end, kind in one.places - found)
            if not one.places:
                traps[one.trap] += 1
                sprung[one.trap] += bool(found)
        of_split[split] = {
            "kinds": {
                kind: {"right": right[kind], "wrong": wrong[kind], "missed": missed[kind]}
                for kind in sorted({*kinds, *wrong})
            },
            "traps": {trap: {"n": n, "sprung": sprung[trap]} for trap, n in sorted(traps.items())},
        }
    return {"labelled": of_split, "talks": {name: _in_talk(texts, find) for name, texts in talks.items()}}


def _in_talk(texts: Sequence[str], find: Find) -> dict[str, Any]:
    found = Counter(kind for text in texts for _start, _end, kind in find(text))
    return {"n_turns": len(texts), "found": dict(sorted(found.items()))}


def secrets_table(result: Mapping[str, Any]) -> str:
    """Return precision and recall by kind, the traps, and what was found in talks, as Markdown."""
    labelled = result["labelled"]
    kinds = sorted({kind for split in labelled.values() for kind in split["kinds"]})
    rows = [_row(kind, {split: labelled[split]["kinds"].get(kind, {}) for split in _SPLITS}) for kind in kinds]
    whole = {
        split: {
            name: sum(of_kind[name] for of_kind in labelled[split]["kinds"].values())
            for name in ("right", "wrong", "missed")
        }
        for split in _SPLITS
    }
    rows.append(_row("**all**", whole))
    head = ("kind", "n, test", "recall, test", "precision, test", "n, dev", "recall, dev", "precision, dev")
    measured = markdown_table(head, rows)
    traps = {
        split: (sum(t["sprung"] for t in labelled[split]["traps"].values()), labelled[split]["traps"])
        for split in _SPLITS
    }
    lines = [
        f"Texts with nothing in them in which something was found: {sprung} of "
        f"{sum(t['n'] for t in of_trap.values())} ({split})"
        + "".join(f"; {trap} {t['sprung']} of {t['n']}" for trap, t in of_trap.items() if t["sprung"])
        for split, (sprung, of_trap) in traps.items()
    ]
    lines += [
        f"{name}: {', '.join(f'{n:,} × {kind}' for kind, n in talk['found'].items()) or 'nothing'} found in "
        f"{talk['n_turns']:,} turns"
        for name, talk in result["talks"].items()
    ]
    return measured + "\n\n" + ".\n\n".join(lines) + ".\n\n[95 % interval]"


def _row(kind: str, of_split: Mapping[str, Mapping[str, int]]) -> tuple[str, ...]:
    cells = [kind]
    for split in _SPLITS:
        counted = of_split[split]
        right, wrong, missed = (counted.get(name, 0) for name in ("right", "wrong", "missed"))
        cells += [f"{right + missed:,}", wilson(right, right + missed), wilson(right, right + wrong)]
    return tuple(cells)


def wilson(part: int, n: int) -> str:
    """Return a share of n with its 95 % interval (Wilson, 1927); a dash if n is 0."""
    if n == 0:
        return "-"
    z, mean = 1.96, part / n
    middle = (mean + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return interval({"mean": mean, "low": max(0.0, middle - half), "high": min(1.0, middle + half)})
