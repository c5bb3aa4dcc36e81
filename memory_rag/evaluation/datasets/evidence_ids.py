"""The turns that a question's evidence names, as data sets write it, and what becomes of ids that name none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from memory_rag.evaluation.benchmark import Dropped
from memory_rag.turns import Turn

NO_TURN: Final = "evidence id of no turn"
SEVERAL_TURNS: Final = "evidence id of several turns"
NO_ID: Final = "evidence that is no id"
WITHOUT_EVIDENCE: Final = "question without evidence"

# "D8:6", "D30:05", "D:11:26"; several may stand in one text.
_DIALOGUE_ID: Final = re.compile(r"\bD:?\s*0*(\d+)\s*:\s*0*(\d+)", re.IGNORECASE)


@dataclass(slots=True)
class TurnsByNativeId:
    """A conversation's turns by the ids that they have in the data set.

    An importer numbers an id that comes again (``7#2``); evidence that names such an id could mean either turn.
    """

    _turn_ids: dict[str, str] = field(default_factory=dict)
    _repeated: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, turns: Iterable[Turn]) -> TurnsByNativeId:
        known = cls()
        for turn in turns:
            native_id = turn.source.native_id if turn.source is not None else turn.turn_id
            first, _, again = native_id.rpartition("#")
            if first and again.isdecimal() and dialogue_form(first) in known._turn_ids:
                known._repeated.add(dialogue_form(first))
            known._turn_ids[dialogue_form(native_id)] = turn.turn_id
        return known

    def evidence(self, ids: Iterable[str], *, where: str, dropped: Dropped) -> dict[str, int]:
        """Return the turns that ids name, each with grade 1; ids that name no turn, or several, are counted."""
        found: dict[str, int] = {}
        for native_id in dict.fromkeys(ids):
            if native_id in self._repeated:
                dropped.add(SEVERAL_TURNS, f"{where}: {native_id}")
            elif native_id in self._turn_ids:
                found[self._turn_ids[native_id]] = 1
            else:
                dropped.add(NO_TURN, f"{where}: {native_id}")
        return found


def dialogue_form(native_id: str) -> str:
    """Return a dialogue id in its usual form, ``D30:5`` for ``D30:05``; any other id as it is."""
    found = _DIALOGUE_ID.fullmatch(native_id)
    return native_id if found is None else f"D{found[1]}:{found[2]}"


def dialogue_ids(evidence: Any, *, where: str, dropped: Dropped) -> list[str]:
    """Return the dialogue ids in evidence as LoCoMo and REALTALK write it, in their usual form.

    "D8:6; D9:17" in one text are two ids, "D30:05" is D30:5, "D:11:26" is D11:26. A text without an id is counted.
    """
    ids: list[str] = []
    for part in leaves(evidence):
        found = [f"D{session}:{turn}" for session, turn in _DIALOGUE_ID.findall(str(part))]
        if not found:
            dropped.add(NO_ID, f"{where}: {part!r}")
        ids += found
    return ids


def category_named(category: Any, names: Mapping[int, str]) -> str:
    """Return the name of a category, which data sets write as a number or as its digits; another as it is written."""
    written = str(category)
    by_number = {str(number): name for number, name in names.items()}
    return by_number.get(written, written)


def leaves(value: Any) -> Iterator[Any]:
    """Yield what stands in lists and objects, however deep; nothing for None."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        for part in value:
            yield from leaves(part)
    elif value is not None:
        yield value
