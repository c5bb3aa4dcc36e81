"""Whether the turns that a line of a summary cites have what it says: a model may cite one turn and tell of another.

Told by numbers alone: names come in other forms, words in others' words, and a number is what must not be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from memory_rag.summaries.summary import Line

_RUN: Final = re.compile(r"\d{1,40}")
_PARTED: Final = re.compile(r"(?<=\d)[., '’\u00a0\u202f](?=\d{3}(?!\d))")
_WHOLE: Final = re.compile(r"\d{1,40}(?:[., '’\u00a0\u202f]\d{3}(?!\d)){0,12}")
_COUNTED_TO: Final = 10
"""Smaller numbers are often counted by whoever writes: "three jars"; nobody has to have said them."""


def supported(line: Line, said: Mapping[str, str]) -> Line | None:
    """Return a line that cites a turn for each of its numbers; None if one of them stands in no turn.

    ``said`` is what is known of each turn, by its id. A number that another turn than those cited has is cited from
    the first that has it. Numbers under ten are not looked at.
    """
    cited = list(line.turn_ids)
    missing = _without(_claimed(f"{line.text} {line.reason}"), _of(cited, said))
    for turn_id, text in said.items() if missing else ():
        left = _without(missing, _numbers(text))
        if len(left) < len(missing):
            cited.append(turn_id)
            missing = left
    return None if missing else replace(line, turn_ids=tuple(cited))


def _of(turn_ids: Iterable[str], said: Mapping[str, str]) -> set[int]:
    return set().union(*(_numbers(said.get(turn_id, "")) for turn_id in turn_ids))


def _numbers(text: str) -> set[int]:
    """Return the numbers that a text may be understood to have: "12 500" is that, and 12 and 500."""
    return {int(run) for run in _RUN.findall(_PARTED.sub("", text))} | {int(run) for run in _RUN.findall(text)}


def _claimed(text: str) -> list[tuple[int, ...]]:
    """Return the numbers of a line, each as a whole and behind it its parts, if it has any."""
    claimed: list[tuple[int, ...]] = []
    for match in _WHOLE.findall(text):
        parts = tuple(map(int, _RUN.findall(match)))
        whole = int(_PARTED.sub("", match))
        if whole >= _COUNTED_TO:
            claimed.append((whole, *(parts if len(parts) > 1 else ())))
    return claimed


def _without(claimed: Iterable[tuple[int, ...]], known: set[int]) -> list[tuple[int, ...]]:
    """Return the claimed numbers that aren't among those known, neither whole nor as several numbers in a row."""
    return [
        (whole, *parts)
        for whole, *parts in claimed
        if whole not in known and not (parts and all(part >= _COUNTED_TO and part in known for part in parts))
    ]
