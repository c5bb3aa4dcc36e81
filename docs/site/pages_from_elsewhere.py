"""Pages of the site that are written elsewhere: the commands, from the program itself, and files of other folders.

MkDocs calls ``on_files`` and ``on_page_markdown``.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any, Final

from mkdocs.structure.files import File, Files

from docs.site.commands_page import commands_page

ROOT: Final = Path(__file__).parents[2]
ELSEWHERE: Final = {"indexes/README.md": "format.md", "eval/README.md": "results.md", "CHANGELOG.md": "changes.md"}
"""A file of the repository, and the page that it is here."""
TITLES: Final = {"format.md": "The files on disk", "changes.md": "Changes"}
"""What stands over a page here in place of its own title."""
_LINK: Final = re.compile(r"(?<=\]\()(?P<to>[^)\s#]+)(?P<anchor>#[^)\s]*)?(?=\))")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that no file of ``docs/`` is."""
    for path, page in ELSEWHERE.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        if page in TITLES:
            text = re.sub(r"\A# .*$", f"# {TITLES[page]}", text, count=1, flags=re.MULTILINE)
        files.append(File.generated(config, page, content=with_links_of_the_site(text, folder=posixpath.dirname(path))))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Write the page of commands, and turn links to files of the repository into links to pages of the site."""
    if page.file.src_uri == "commands.md":
        return commands_page()
    return markdown if page.file.generated_by else with_links_of_the_site(markdown, folder="docs")


def with_links_of_the_site(text: str, *, folder: str) -> str:
    """Return a text whose links to files, written from a folder of the repository, lead to pages of the site.

    A link to a file that is no page here becomes its name.
    """

    def turned(link: re.Match[str]) -> str:
        to = link["to"]
        if "://" in to:
            return link[0]
        path = posixpath.normpath(posixpath.join(folder, to))
        if path in ELSEWHERE:
            return ELSEWHERE[path] + (link["anchor"] or "")
        inside = posixpath.relpath(path, "docs")
        return link[0] if inside.startswith("..") else inside + (link["anchor"] or "")

    linked = _LINK.sub(turned, text)
    # What is left of the repository has no page: its name stays.
    return re.sub(r"\[([^\]]+)\]\((?:\.\./|memory_rag/|results/)[^)]*\)", r"\1", linked)
