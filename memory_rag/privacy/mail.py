"""E-mail addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memory_rag.privacy.bounds import LETTERS, ends_at
from memory_rag.turns import Span

_AT: Final = re.compile(f"@(?=[0-9{LETTERS}])")
_LOCAL: Final = re.compile(rf"[0-9{LETTERS}_](?:[0-9{LETTERS}.%+_'-]{{0,62}}[0-9{LETTERS}_+-])?\Z")
_LOCAL_SIGN: Final = re.compile(f"[0-9{LETTERS}.%+_'-]")
_DOMAIN: Final = re.compile(
    rf"(?:[0-9{LETTERS}](?:[0-9{LETTERS}-]{{0,61}}[0-9{LETTERS}])?\.){{1,8}}"
    rf"(?:xn--[a-z0-9-]{{2,59}}|[{LETTERS}]{{2,24}})"
)
_LONGEST_LOCAL: Final = 64
# icon@2x.png: a file, no host.
_FILES: Final = frozenset(
    [
        "png",
        "jpg",
        "jpeg",
        "gif",
        "webp",
        "svg",
        "ico",
        "pdf",
        "js",
        "ts",
        "tsx",
        "jsx",
        "css",
        "html",
        "json",
        "md",
        "txt",
        "py",
        "zip",
    ]
)
_REMOTE_PATH: Final = re.compile(r":[\w.~-]{0,80}/")


def find_emails(text: str) -> Iterator[Span]:
    """Yield the addresses in a text, in order; a user in a URL, a remote's ``git@host:path`` or a handle is none."""
    done = 0
    for at in _AT.finditer(text):
        if at.start() < done:
            continue
        domain = _DOMAIN.match(text, at.end())
        if domain is None or domain[0].rpartition(".")[2].lower() in _FILES or not ends_at(text, domain.end()):
            continue
        start = _local_before(text, at.start(), least=done)
        if start is None or text[max(0, start - 2) : start].endswith(("@", "//")):
            continue
        if text[domain.end() : domain.end() + 1] == "@" or _REMOTE_PATH.match(text, domain.end()):
            continue
        done = domain.end()
        yield Span(start, done)


def _local_before(text: str, at: int, *, least: int) -> int | None:
    """Return where the part before an @ begins; None if there is none."""
    start = at
    while start > max(least, at - _LONGEST_LOCAL) and _LOCAL_SIGN.match(text, start - 1):
        start -= 1
    # A quote or a full stop may stand before it.
    while start < at and text[start] in ".%+'-":
        start += 1
    return start if start < at and _LOCAL.match(text, start, at) else None
