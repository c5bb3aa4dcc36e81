"""Which talk of a table each of many things is of: keys in the order in which they came, and the talks' codes."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.names import Names
from memory_rag.talks.talk import TalkId, Unit

Places = npt.NDArray[np.int64]
NOWHERE: Final = -1
_NO_SESSION: Final = ""
"""The key of no session: each has a NUL."""


class KeysOfTalks:
    """Whose talk each of many things is of; with the codes that a table's names give it, looked up once."""

    def __init__(self) -> None:
        self._of_unit = {Unit.SESSION: _Keys(), Unit.CONVERSATION: _Keys()}

    def add(self, talk: TalkId, *, n: int = 1) -> None:
        """Add n more things that are of a talk; what is of a whole conversation is of no session."""
        self._of_unit[Unit.SESSION].keys += [talk.key if talk.unit is Unit.SESSION else _NO_SESSION] * n
        self._of_unit[Unit.CONVERSATION].keys += [talk.conversation_id] * n

    def codes(self, unit: Unit, names: Names) -> Places:
        """Return the code of each thing's talk among a table's names; ``NOWHERE`` of one that isn't there."""
        return self._of_unit[unit].codes(names)


class _Keys:
    """The key of each thing's talk of one unit."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self._names: Names | None = None
        self._codes: Places = np.zeros(0, np.int64)
        self._n_names = 0

    def codes(self, names: Names) -> Places:
        """Return them by the codes that a table's names give."""
        if self._names is not names:
            self._names, self._codes, self._n_names = names, np.zeros(0, np.int64), 0
        if self._n_names < len(names.names):
            # Names are only added: what was found stays, what wasn't may be there by now.
            self._n_names = len(names.names)
            for place in np.flatnonzero(self._codes == NOWHERE).tolist():
                self._codes[place] = _code(names, self.keys[place])
        if len(self._codes) < len(self.keys):
            new = [_code(names, key) for key in self.keys[len(self._codes) :]]
            self._codes = np.concatenate([self._codes, np.array(new, np.int64)])
        return self._codes


def _code(names: Names, key: str) -> int:
    found = names.find(key)
    return NOWHERE if found is None else found
