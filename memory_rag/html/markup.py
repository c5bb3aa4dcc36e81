"""HTML that can't be broken by what it shows: everything that isn't markup of ours is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

from memory_rag.turns import printable

_ALONE: Final = frozenset({"meta", "br"})


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def tag(element: str, /, *inside: str | None, **attributes: str | int | bool | None) -> Html:
    """Return an element; texts inside are escaped unless they are :class:`Html`, None is left out.

    An attribute's name loses its last underscore (``class_``) and has dashes for the others; True writes the name
    alone, None and False leave it out.
    """
    opening = element
    for key, value in attributes.items():
        written = key.rstrip("_").replace("_", "-")
        if value is True:
            opening += f" {written}"
        elif value is not None and value is not False:
            opening += f' {written}="{escape(printable(str(value)))}"'
    if element in _ALONE:
        return Html(f"<{opening}>")
    return Html(f"<{opening}>{joined(inside)}</{element}>")


def joined(parts: Iterable[str | None]) -> Html:
    """Return parts one after the other, texts escaped."""
    return Html("".join(_safe(part) for part in parts if part is not None))


def _safe(part: str) -> str:
    return part if isinstance(part, Html) else escape(printable(part))
