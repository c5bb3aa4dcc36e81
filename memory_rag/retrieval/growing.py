"""An array that grows at its end, at a cost in proportion to what is added."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

_FIRST: Final = 64
Number = TypeVar("Number", bound=np.generic)


class Growing(Generic[Number]):
    """Values of one type, the last of them new; what lies behind them holds ``fill``, one place at least.

    ``values`` is a view: it shows what is put into it, and not what is added later.
    """

    __slots__ = ("_buffer", "_fill", "_n")

    def __init__(self, values: npt.NDArray[Number], *, fill: int = 0) -> None:
        self._fill = fill
        self._n = len(values)
        self._buffer = self._room(values, max(_FIRST, self._n + 1))

    def __len__(self) -> int:
        return self._n

    @property
    def values(self) -> npt.NDArray[Number]:
        """The values, shape (n,)."""
        return self._buffer[: self._n]

    @property
    def with_rest(self) -> npt.NDArray[Number]:
        """The values and behind them ``fill``, at place -1 too."""
        return self._buffer

    def grow(self, by: int) -> None:
        """Add so many values, which are ``fill``."""
        self._grow(by)

    def append(self, value: int) -> None:
        """Add one value at the end."""
        self._grow(1)
        self._buffer[self._n - 1] = value

    def extend(self, values: npt.NDArray[Number]) -> None:
        """Add values at the end."""
        self._grow(len(values))
        self._buffer[self._n - len(values) : self._n] = values

    def _grow(self, by: int) -> None:
        n = self._n + by
        if n >= len(self._buffer):
            self._buffer = self._room(self.values, max(n + 1, 2 * len(self._buffer)))
        self._n = n

    def _room(self, values: npt.NDArray[Number], size: int) -> npt.NDArray[Number]:
        # Zeros take no memory before they are written over.
        buffer = np.full(size, self._fill, values.dtype) if self._fill else np.zeros(size, values.dtype)
        buffer[: len(values)] = values
        return buffer
