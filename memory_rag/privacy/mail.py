"""E-mail addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memory_rag.privacy.bounds import LETTERS, ends_at
from memory_rag.turns import Span

_AT: Final = re.compile(f"@(?=[0-9{LETTERS}])")
_LOCAL_SIGNS: Final = re.compile(f"[0-9{LETTERS}.!#$%&'*+/=?^_`{{|}}~-]")
_LOCAL: Final = re.compile(rf"[0-9{LETTERS}_](?:[0-9{LETTERS}.%+_'-]*[0-9{LETTERS}_+-])?\Z")
_DOMAIN: Final = re.compile(
    rf"(?:[0-9{LETTERS}](?:[0-9{LETTERS}-]{{0,61}}[0-9{LETTERS}])?\.){{1,8}}(?:xn--[a-z0-9-]{{2,59}}|[{LETTERS}]{{2,24}})"
)
_LONGEST_LOCAL: Final = 64
# icon@2x.png, module@next.js: a file, no host.
_FILES: Final = frozenset("png jpg jpeg gif webp svg ico pdf js ts tsx jsx css html json md txt py zip".split())
_REMOTE_PATH: Final = re.compile(r":[\w.~-]{0,80}/")


def find_emails(text: str) -> Iterator[Span]:
    """Yield the addresses in a text, in order; ``name@host`` in a URL, a remote's ``git@host:path`` or a handle isn't."""
    done = 0
    for at in _AT.finditer(text):
        domain = _DOMAIN.match(text, at.end())
        if domain is None or at.start() <= done:
            continue
        end = domain.end()
        host = domain[0]
        local = _local_before(text, at.start(), least=done)
        if local is None or not ends_at(text, end) or host.rpartition(".")[2].lower() in _FILES:
            continue
        if text[end : end + 1] == "@" or _REMOTE_PATH.match(text, end):
            continue
        before = text[max(0, local - 2) : local]
        if before.endswith(("@", "//", ":/")):
            continue
        done = end
        yield Span(local, end)


def _local_before(text: str, at: int, *, least: int) -> int | None:
    """Return where the part before an @ begins; None if there is none."""
    start = at
    while start > max(least, at - _LONGEST_LOCAL) and _LOCAL_SIGNS.match(text, start - 1):
        start -= 1
    for place in range(start, at):
        if _LOCAL.match(text[place:at]):
            # Of 'ruth@example.com' in quotes, or url?to=ruth@example.com, the part after the sign.
            return place
    return None
