"""Many byte strings looked for in files of any size, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import BinaryIO, Final

import numpy as np
import numpy.typing as npt

SHORTEST: Final = 6
"""Bytes of what can be looked for at least; shorter ones stand in any file by chance."""
_WINDOW: Final = 4 * 2**20
_KEYS: Final = 2**24
_LOOKED_AT: Final = 256
_ENOUGH: Final = 3
"""Different bytes, neither 00 nor FF, that tell enough."""


class ByteSearch:
    """Looks for all of some byte strings at once, each of :data:`SHORTEST` bytes or more.

    Six bytes of each are its key. A place is looked at closely if three bytes there begin a key and the next three end
    one: a table look-up each, whatever their number.
    """

    def __init__(self, wanted: Sequence[bytes]) -> None:
        self._longest = max(map(len, wanted), default=0)
        self._numbers: dict[bytes, list[int]] = {}
        shapes: dict[bytes, set[tuple[int, int]]] = {}
        for number, one in enumerate(wanted):
            start = _telling_place(one)
            self._numbers.setdefault(one, []).append(number)
            shapes.setdefault(one[start : start + SHORTEST], set()).add((start, len(one)))
        # Thousands may share a key: what stands at a place is looked up, not compared with each of them.
        self._shapes = {key: sorted(found) for key, found in shapes.items()}
        self._first = _table([key[:3] for key in shapes])
        self._second = _table([key[3:] for key in shapes])

    def found_in(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield (number of what was found, where) in some bytes."""
        if len(data) < SHORTEST or not self._numbers:
            return
        values = np.frombuffer(data, np.uint8)
        places = np.flatnonzero(self._first[_keys(values[:-3])])
        places = places[self._second[_keys_at(values, places + 3)]]
        for place in places.tolist():
            for start, length in self._shapes.get(data[place : place + SHORTEST], ()):
                if place >= start:
                    for number in self._numbers.get(data[place - start : place - start + length], ()):
                        yield number, place - start

    def found_in_file(self, file: BinaryIO, *, seen_as: Callable[[bytes], bytes] = bytes) -> Mapping[int, int]:
        """Return the first place of each that a file holds, by its number; the bytes are looked at ``seen_as``.

        Raises:
            OSError: the file can't be read.
        """
        found: dict[int, int] = {}
        file.seek(0)
        kept, at = b"", 0
        while data := file.read(_WINDOW):
            window = kept + data
            for number, place in self.found_in(seen_as(window)):
                found.setdefault(number, at - len(kept) + place)
            at += len(data)
            kept = window[len(window) - min(len(window), max(0, self._longest - 1)) :]
        return found


def _telling_place(data: bytes) -> int:
    """Return where six bytes begin that hardly stand by chance in an empty page or a row of small numbers."""
    best = most = 0
    for place in range(min(len(data) - SHORTEST + 1, _LOOKED_AT)):
        n_telling = len(set(data[place : place + SHORTEST]) - {0, 255})
        if n_telling >= _ENOUGH:
            return place
        if n_telling > most:
            best, most = place, n_telling
    return best


def _table(keys: Sequence[bytes]) -> npt.NDArray[np.bool_]:
    table = np.zeros(_KEYS, np.bool_)
    if keys:
        table[_keys(np.frombuffer(b"".join(keys), np.uint8))[::3]] = True
    return table


def _keys(values: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32]:
    """Return the number that every three bytes in a row make."""
    wide = values.astype(np.int32)
    return wide[:-2] | wide[1:-1] << 8 | wide[2:] << 16


def _keys_at(values: npt.NDArray[np.uint8], places: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    wide = [values[places + step].astype(np.int32) for step in range(3)]
    return wide[0] | wide[1] << 8 | wide[2] << 16
