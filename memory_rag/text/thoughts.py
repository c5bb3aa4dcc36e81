"""What a model thinks aloud in its answer, before it answers."""

from __future__ import annotations

import re
from typing import Final

_BEGIN: Final = re.compile(r"<think(?:ing)?>")
_END: Final = re.compile(r"</think(?:ing)?>")


def without_thoughts(answer: str) -> str:
    """Return an answer from the last ``</think>`` of its beginning on; one that is nothing but thoughts stays.

    Some servers put the first ``<think>`` into the prompt: such an answer begins with the thoughts themselves. Marks
    that words stand before are spoken of, and stay.
    """
    left = answer
    while end := _END.search(left):
        begin = _BEGIN.search(left, 0, end.start())
        if begin and left[: begin.start()].strip():
            break
        if not begin and left is not answer:
            break
        left = left[end.end() :]
    return left if left.strip() else answer
