"""The site is built strictly, holds every page, and asks nothing of the network."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

from docs.site.commands_page import commands_page
from docs.site.pages_from_elsewhere import with_links_of_the_site
from memory_rag.interfaces.cli.examples import PAGES
from tests.docs.commands import commands

ROOT: Final = Path(__file__).parents[2]


def test_every_page_is_there_and_in_the_navigation(site: Path) -> None:
    written = {page.stem for page in (ROOT / "docs").glob("*.md")} | {"format", "results", "changes"}
    front = (site / "index.html").read_text(encoding="utf-8")

    assert [name for name in sorted(written) if not (site / f"{name}.html").is_file()] == []
    assert [name for name in sorted(written - {"index"}) if f'href="{name}.html"' not in front] == []
    assert not (site / "site").exists()


class Fetched(HTMLParser):
    """What a browser fetches for a page by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag in ("script", "img", "iframe", "source"):
            self.addresses += [named.get("src") or ""]
        elif tag == "link" and named.get("rel") not in ("canonical", "next", "prev"):
            self.addresses += [named.get("href") or ""]


def test_no_page_fetches_anything_from_elsewhere(site: Path) -> None:
    elsewhere = []
    for page in site.rglob("*.html"):
        fetched = Fetched()
        fetched.feed(page.read_text(encoding="utf-8"))
        elsewhere += [f"{page.name}: {address}" for address in fetched.addresses if "//" in address]
    styles = [style for style in site.rglob("*.css") if re.search(r"url\(\s*['\"]?(?:https?:)?//", style.read_text())]

    assert (elsewhere, styles) == ([], [])


def test_the_site_can_be_searched_without_a_server(site: Path) -> None:
    front = (site / "index.html").read_text(encoding="utf-8")

    assert (site / "search" / "search_index.js").is_file()
    assert "assets/iframe-worker.js" in front


def test_every_command_is_told_with_its_options_and_examples() -> None:
    page = commands_page()

    for path, command in commands().items():
        section = page.partition(f"### memory-rag {path}\n")[2].partition("\n### ")[0]
        options = [name for param in command.params for name in param.opts if name.startswith("--")]
        shared = {"--memory", "--home", "--owner", "--embedder", "--language", "--timezone", "--help"}
        assert [name for name in options if name not in shared and f"{name}" not in section] == [], path
        assert all(example.line in section for example in PAGES[path].examples), path


def test_the_public_names_are_told_with_their_docstrings(site: Path) -> None:
    import memory_rag

    page = (site / "python.html").read_text(encoding="utf-8")

    names = [name for name in memory_rag.__all__ if not name.startswith("_")]
    assert [name for name in names if not re.search(rf'id="memory_rag\.[\w.]*\b{name}"', page)] == []
    assert "Turns texts into vectors whose inner product says how near they are in meaning." in page


def test_links_between_files_become_links_between_pages() -> None:
    assert with_links_of_the_site("[a](prompt.md#x) [b](../eval/README.md#recall)", folder="docs") == (
        "[a](prompt.md#x) [b](results.md#recall)"
    )
    assert with_links_of_the_site("[t](docs/trust.md) [s](https://semver.org)", folder="") == (
        "[t](trust.md) [s](https://semver.org)"
    )
    assert with_links_of_the_site("[how](../memory_rag/evaluation/data/README.md)", folder="eval") == "how"
