"""Text as it comes, piece by piece, set for a terminal: broken between words, and safe to print."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from memory_rag.interfaces.cli.terminal import columns_of, shown

_PARTS: Final = re.compile(r"\n| +|[^\n ]+")
_FENCE: Final = "```"


class Flow:
    """Writes pieces of a text; the last word is held back until its end is known. Code between fences isn't broken.

    Without a width nothing is broken, and nothing held back.
    """

    def __init__(self, write: Callable[[str], None], *, width: int | None) -> None:
        self._write = write
        self._width = width
        self._word = ""
        self._space = ""
        self._column = 0
        self._line = ""
        self._in_code = False

    def feed(self, piece: str) -> None:
        """Write a piece."""
        text = shown(piece.replace("\r", ""))
        if self._width is None:
            self._write(text)
            return
        for part in _PARTS.findall(text):
            if part == "\n":
                self._end_word()
                self._end_line()
            elif part.isspace():
                self._end_word()
                self._space += part
            else:
                self._word += part

    def end(self) -> None:
        """Write what was held back, and end the line."""
        if self._width is not None:
            self._end_word()
        self._write("\n")

    def _end_word(self) -> None:
        if not self._word:
            return
        size = columns_of(self._word)
        width = self._width or 0
        if self._column and not self._in_code and self._column + len(self._space) + size > width:
            self._write("\n")
            self._column = 0
        else:
            self._write(self._space)
            self._column += len(self._space)
        self._write(self._word)
        self._column += size
        self._line += self._word
        self._word = self._space = ""

    def _end_line(self) -> None:
        if self._line.startswith(_FENCE):
            self._in_code = not self._in_code
        self._write("\n")
        self._column, self._line, self._space = 0, "", ""
