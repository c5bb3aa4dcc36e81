"""HTML from templates: the one module that knows Jinja2. Every value is escaped; old chats are full of HTML."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from memory_rag.interfaces.page.fenced import runs_of
from memory_rag.interfaces.page.texts import Texts
from memory_rag.turns import printable


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("memory_rag.interfaces.page", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["in_url"] = _in_url
    made.filters["runs"] = runs_of
    return made


def draw(name: str, texts: Texts, values: Mapping[str, Any]) -> bytes:
    """Return a template filled in, as UTF-8; what no encoding can carry is shown as U+FFFD."""
    html = (
        _environment()
        .get_template(f"{name}.html")
        .render(**values, t=texts.tell, t_or=texts.get, number=texts.number, language=texts.language)
    )
    return printable(html).encode("utf-8")


def static(name: str) -> bytes:
    """Return one of the page's own files."""
    return files("memory_rag.interfaces.page").joinpath("static", name).read_bytes()


def _in_url(value: str) -> Markup:
    from urllib.parse import quote

    return Markup(quote(str(value), safe="", errors="replace"))
