"""Whether work grows with the length of a text and no faster, told on a machine of any speed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

ENOUGH_CPU_S: Final = 1.0
"""Work that takes less is fast enough, however it grows."""
_EIGHTH: Final = 8
_MOST_TIMES: Final = 24
"""Eight times the length takes eight times as long, or 64 times where each piece is read again for each other."""


def grows_with_its_length(work: Callable[[str], object], text: str) -> bool:
    """Tell whether work on a text of pieces that repeat takes time in proportion to its length, by this thread's CPU.

    What takes over a second is compared with the least of three times that an eighth of the text takes.
    """
    took = _cpu_s(work, text)
    if took < ENOUGH_CPU_S:
        return True
    part = text[: len(text) // _EIGHTH]
    return took < _MOST_TIMES * min(_cpu_s(work, part) for _ in range(3))


def _cpu_s(work: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    work(text)
    return time.thread_time() - began
