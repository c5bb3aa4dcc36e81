"""Console blocks: what a person types after ``$``, and what the program prints then."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

CUT: Final = "…"
"""On a line of its own: any lines. In a line: any signs."""


@dataclass(frozen=True)
class Typed:
    """A line after ``$``, and the lines that follow it."""

    line: str
    printed: tuple[str, ...]

    def is_followed_by(self, text: str) -> bool:
        """Tell whether the program printed this, but for what the page leaves out."""
        shape = "".join(
            r"(?:.*\n)*" if line.strip() == CUT else re.escape(line).replace(re.escape(CUT), ".*") + r"\n"
            for line in self.printed
        )
        return re.fullmatch(shape, text) is not None


def typed(block: str) -> Iterator[Typed]:
    """Yield the lines of a console block that are typed."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, *printed = part.splitlines()
        yield Typed(line, tuple(printed))
