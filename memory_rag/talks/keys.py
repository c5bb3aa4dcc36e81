"""Which talk of a table each of many things is of: keys in the order in which they came, and the talks' codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.names import Names

Places = npt.NDArray[np.int64]
NOWHERE: Final = -1


class KeysOfTalks:
    """The key of each thing's talk; with the codes that a table's names give them, looked up once."""

    def __init__(self) -> None:
        self._keys: list[str] = []
        self._names: Names | None = None
        self._codes: Places = np.zeros(0, np.int64)
        self._n_names = 0

    def add(self, keys: Sequence[str]) -> None:
        """Add more things by their talks' keys."""
        self._keys += keys

    def codes(self, names: Names) -> Places:
        """Return the code of each thing's talk among a table's names; ``NOWHERE`` of one that isn't there."""
        if self._names is not names:
            self._names, self._codes, self._n_names = names, np.zeros(0, np.int64), 0
        if self._n_names < len(names.names):
            # Names are only added: what was found stays, what wasn't may be there by now.
            self._n_names = len(names.names)
            for place in np.flatnonzero(self._codes == NOWHERE).tolist():
                self._codes[place] = _code(names, self._keys[place])
        if len(self._codes) < len(self._keys):
            new = [_code(names, key) for key in self._keys[len(self._codes) :]]
            self._codes = np.concatenate([self._codes, np.array(new, np.int64)])
        return self._codes


def _code(names: Names, key: str) -> int:
    found = names.find(key)
    return NOWHERE if found is None else found
