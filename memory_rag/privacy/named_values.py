"""Long values that stand after a name such as key or token: what may be a key without a provider's mark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memory_rag.privacy.bounds import places_of
from memory_rag.privacy.key_marks import NAME_ENDS

# What parts a value from its name: a blank, or the end of the line, one blank line at most and the start of code.
_GAP: Final = r"(?:[ \t]{0,4}(?:\r?\n[ \t>]{0,8}){1,2}(?:`{3}\w{0,12}\n)?|\s?)"
_COPULA: Final = r"\s(?:is|was|är|er|ist|es)|[是为為は이는]：?"
# api_key = ..., "token": "...", Authorization: Bearer ..., **API key:** ..., | API key | ..., API密钥是...
_VALUE_AFTER: Final = re.compile(
    rf"(?:en|et|n|[\s-]API)?(?:(?:\\{{0,3}}[\"'\]`*]){{0,2}}(?:\s?(?:=>|:=|[:=：＝])\*{{0,2}}|{_COPULA}){_GAP}|[\"'`]?\s|"
    r"[\"'`*]{0,3}[ \t]{0,40}\|[ \t]{0,8}[*]{0,2})"
    r"(?:[Bb]earer\s|[Bb]asic\s|token\s)?\\{0,3}[\"'`「『“„«]?(?P<value>[A-Za-z0-9_+/=.~-]{16,400})"
)


def named_values(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield (where the name's end begins, the match with its group ``value``), one kind of name after the other."""
    for name_end in NAME_ENDS:
        if name_end in text:
            for place in places_of(text, name_end):
                if named := _VALUE_AFTER.match(text, place + len(name_end)):
                    yield place, named
