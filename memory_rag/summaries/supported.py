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
_COUNTED_TO: Final = 10
"""Smaller numbers are often counted by whoever writes: "three jars"; nobody has to have said them."""


def supported(line: Line, said: Mapping[str, str]) -> Line | None:
    """Return a line that cites a turn for each of its numbers; None if one of them stands in no turn.

    ``said`` is what is known of each turn, by its id. A number that another turn than those cited has is cited from
    the first that has it. Numbers under ten are not looked at.
    """
    cited = list(line.turn_ids)
    missing = _numbers(f"{line.text} {line.reason}") - _of(cited, said)
    for turn_id, text in said.items() if missing else ():
        found = missing & _numbers(text)
        if found:
            cited.append(turn_id)
            missing -= found
    return None if missing else replace(line, turn_ids=tuple(cited))


def _of(turn_ids: Iterable[str], said: Mapping[str, str]) -> set[int]:
    return set().union(*(_numbers(said.get(turn_id, "")) for turn_id in turn_ids))


def _numbers(text: str) -> set[int]:
    """Return the numbers of a text, "1,000" also as its parts are written."""
    runs = {int(run) for run in _RUN.findall(_PARTED.sub("", text))} | {int(run) for run in _RUN.findall(text)}
    return {run for run in runs if run >= _COUNTED_TO}
