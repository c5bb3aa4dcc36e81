"""A chart's SVG made part of a page: its colours follow the page's theme, its texts the page's font."""

from __future__ import annotations

import re
from typing import Final

from memory_rag.evaluation.series import LIGHT

_SVG: Final = re.compile(r"<svg .*", re.DOTALL)
_METADATA: Final = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
# Some releases of matplotlib write one "font", others a size and a family.
_FONT: Final = re.compile(r"font: ((?:[a-z]+ |\d+ )?)([\d.]+px) [^;\"]*")
_FAMILY: Final = re.compile(r"font-family: '[^;\"]*")
_ID: Final = re.compile(r'( id="|url\(#|href="#)')


def for_page(svg: str, *, prefix: str) -> str:
    """Return the ``<svg>`` element of a file: it scales to its box, and its ids are its own in the page.

    A colour of the light palette becomes the variable of its name, so that the page's dark theme changes it too.
    """
    found = _SVG.search(svg)
    if found is None:
        raise ValueError("there is no <svg> element in this text")
    element = _METADATA.sub("", found[0])
    opening, _, rest = element.partition(">")
    opening = re.sub(r'\s(?:width|height)="[^"]*"', "", opening)
    element = opening + ">" + rest
    for name, colour in LIGHT.items():
        element = element.replace(colour, f"var(--{name})")
    element = _FAMILY.sub("font-family: inherit", _FONT.sub(_inherited, element))
    return _ID.sub(rf"\1{prefix}-", element).strip()


def _inherited(found: re.Match[str]) -> str:
    weight = f"; font-weight: {found[1].strip()}" if found[1] else ""
    return f"font-size: {found[2]}; font-family: inherit{weight}"
