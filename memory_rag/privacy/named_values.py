"""Long values that stand after a name such as key or token: what may be a key without a provider's mark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memory_rag.privacy.bounds import places_of
from memory_rag.privacy.key_marks import NAME_ENDS

# api_key = ..., "token": "...", Authorization: Bearer ...
_VALUE_AFTER: Final = re.compile(
    r"(?:en|et|n)?(?:[\"'\]`]{0,2}(?:\s?(?:=>|:=|[:=])|\s(?:is|was|är|er|ist|es))\s?|[\"'`]?\s)"
    r"(?:[Bb]earer\s|[Bb]asic\s|token\s)?[\"'`]?(?P<value>[A-Za-z0-9_+/=.~-]{16,400})"
)


def named_values(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield (where the name's end begins, the match with its group ``value``), one kind of name after the other."""
    for name_end in NAME_ENDS:
        if name_end in text:
            for place in places_of(text, name_end):
                if named := _VALUE_AFTER.match(text, place + len(name_end)):
                    yield place, named
