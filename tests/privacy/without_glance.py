"""A source's JSON searched the long way: what the short ones are held against."""

from __future__ import annotations

from collections.abc import Iterator

from memory_rag.privacy.finding import find
from memory_rag.privacy.glance import ALL
from memory_rag.privacy.json_values import is_telling, literals_of
from memory_rag.privacy.kinds import SECRETS, Kind


def found_without_glance(raw: str) -> Iterator[tuple[str, Kind]]:
    """What is to be taken out of a source's JSON, every rule asked about everything."""
    whole = find(raw, SECRETS, seen=ALL)
    for start, end, decoded, name in literals_of(raw) if whole or "\\" in raw else ():
        if whole or "\\" in raw[start:end]:
            found = find(decoded, SECRETS, seen=ALL)
            yield from ((one.span.of(decoded), one.kind) for one in found)
            if not found and name and len(decoded) <= 400 and is_telling(name):
                line = f"{name}: {decoded}"
                after = [one for one in find(line, SECRETS, seen=ALL) if one.span.start >= len(name) + 2]
                yield from ((one.span.of(line), one.kind) for one in after)
