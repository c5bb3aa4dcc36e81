"""A JSON array read object by object, so that a file of several gigabytes needs the memory of one object.

The objects are decoded by the standard library's own scanner, which keeps every text as it is written, lone surrogates
included.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from memory_rag.errors import ImportFormatError

_BLOCK: Final = 1 << 20
LONGEST: Final = 1 << 28
"""Characters of one object at most. Broken JSON would otherwise be noticed only when the whole file is in memory."""
_DECODER: Final = json.JSONDecoder()
_BLANK: Final = " \t\r\n"


def objects_of_array(
    read: Callable[[int], bytes], *, label: str, block: int = _BLOCK, longest: int = LONGEST
) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON array; ``read(n)`` gives the next n bytes, none at the end.

    Raises:
        ImportFormatError: it isn't an array of objects, breaks off, or an object is broken or longer than ``longest``.
    """
    text = _Text(read, label=label, block=block)
    if text.next_sign() != "[":
        raise ImportFormatError(f"{label}: no JSON array; it begins with {text.ahead()!r}")
    text.skip()
    number, sign = 0, text.next_sign()
    if sign == "]":
        text.skip()
    while sign != "]":
        number += 1
        if text.next_sign() != "{":
            raise ImportFormatError(f"{label}: item {number} begins with {text.ahead()!r} and is no object")
        yield text.take_object(number, longest=longest)
        sign = text.next_sign()
        if sign not in ("]", ","):
            raise ImportFormatError(f"{label}: after object {number} comes {text.ahead()!r}, neither ',' nor ']'")
        text.skip()
    if text.next_sign():
        raise ImportFormatError(f"{label}: after the array comes {text.ahead()!r}")


class _Text:
    """What was read and not yet taken."""

    def __init__(self, read: Callable[[int], bytes], *, label: str, block: int) -> None:
        self._read, self._label, self._block = read, label, block
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._held = ""
        self._at = 0
        self._ended = False

    def next_sign(self) -> str:
        """Return the next character that isn't white space, without taking it; "" at the end."""
        while True:
            while self._at < len(self._held):
                if self._held[self._at] not in _BLANK:
                    return self._held[self._at]
                self._at += 1
            if self._ended:
                return ""
            self._more(self._block)

    def skip(self) -> None:
        self._at += 1

    def ahead(self) -> str:
        return self._held[self._at : self._at + 20]

    def take_object(self, number: int, *, longest: int) -> dict[str, Any]:
        while True:
            try:
                value, end = _DECODER.raw_decode(self._held, self._at)
            except RecursionError as error:
                raise ImportFormatError(f"{self._label}: object {number} is nested too deeply to be read") from error
            except ValueError as error:
                held = len(self._held) - self._at
                if self._ended or held > longest:
                    why = "it breaks off" if self._ended else f"no end within {longest:,} characters"
                    raise ImportFormatError(
                        f"{self._label}: object {number} is broken JSON ({why}): {error}"
                    ) from error
                self._more(max(self._block, held))
            else:
                # The next object is likely of a like size; one reading of it instead of several tries.
                self._block = max(self._block, end - self._at)
                self._at = end
                found: dict[str, Any] = value
                return found

    def _more(self, size: int) -> None:
        data = self._read(size)
        self._ended = not data
        try:
            self._held = self._held[self._at :] + self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError as error:
            raise ImportFormatError(f"{self._label}: not UTF-8: {error.reason}") from error
        self._at = 0
