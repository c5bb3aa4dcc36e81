"""HTML read as a browser does, for tests of what is shown: its words, and whether its elements are closed."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Shown:
    """What a reader sees: the words in their order, and the elements that there are."""

    text: str = ""
    elements: set[str] = field(default_factory=set)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.shown = Shown()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.shown.elements.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.shown.text += data


def read_html(html: str) -> Shown:
    """Return what a piece of HTML shows; every element has to be closed in its turn."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader.shown


def shown_by(thing: object) -> Shown:
    """Return what a notebook shows of a thing."""
    html = thing._repr_html_()  # type: ignore[attr-defined]
    assert isinstance(html, str)
    html.encode("utf-8")
    return read_html(html)
