"""Keys and tokens of the common providers, by the marks that they put into them; private keys in PEM."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memory_rag.privacy.bounds import begins_at
from memory_rag.privacy.glance import marks_in
from memory_rag.privacy.key_marks import SHAPES, TELEGRAM
from memory_rag.privacy.named_values import named_values
from memory_rag.turns import Span, text_bytes

_SCHEME: Final = "https://"
_COMPILED: Final[dict[str, re.Pattern[str]]] = {}
_GOES_ON: Final = re.compile(r"[A-Za-z0-9_]")
_RUN: Final = re.compile(r"[\w.-]*", re.ASCII)
_TELEGRAM: Final = re.compile(r":AA[\w-]{33}(?![\w-])", re.ASCII)
_BOT: Final = re.compile(r"(?<![0-9])[0-9]{8,10}\Z")

_SURE: Final = re.compile(
    r"(?:api[\s_-]?[knts]?|アクセス|访问|訪問|secret[\s_-]?(?:access[\s_-]?)?k|account[\s_-]?k|(?:client|app|signing)[\s_-]?s|"
    r"(?:access|auth|refresh|private|bot|security)[\s_-]?t|b|a)\Z",
    re.IGNORECASE,
)
_UUID_OR_HEX: Final = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,128}", re.IGNORECASE)
_BEGIN: Final = re.compile("-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END: Final = re.compile("-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_CODED: Final = re.compile(r"(?:[A-Za-z0-9+/=\s:,-]|\\[nr])*[A-Za-z0-9+/=]")
_LONGEST_PEM: Final = 20_000


def find_keys(text: str) -> Iterator[Span]:
    """Yield the keys and tokens in a text: those with a provider's mark, then those that a name says are one."""
    marks = marks_in(text_bytes(text))
    for mark in SHAPES:
        if mark in marks:
            yield from _marked(text, mark)
    if TELEGRAM in marks:
        for found in _TELEGRAM.finditer(text):
            bot = _BOT.search(text, max(0, found.start() - 11), found.start())
            if bot is not None:
                yield Span(bot.start(), found.end())
    for place, named in named_values(text):
        value = named["value"].rstrip("." if named["value"].endswith("==") else ".=")
        is_sure = _SURE.search(text, max(0, place - 24), place + (text[place] in "kK")) is not None
        if _is_key_like(value, is_sure=is_sure):
            yield Span(named.start("value"), named.start("value") + len(value))


def find_private_keys(text: str) -> Iterator[Span]:
    """Yield the private keys in a text, from their first line to their last; one that is cut off, to where it is."""
    place = 0
    while begin := _BEGIN.search(text, place):
        # First the next beginning: a text of nothing but beginnings would be read over and over for an end.
        again = _BEGIN.search(text, begin.end(), begin.end() + _LONGEST_PEM)
        limit = begin.end() + _LONGEST_PEM if again is None else again.start()
        if end := _END.search(text, begin.end(), limit):
            place = end.end()
        else:
            coded = _CODED.match(text, begin.end(), limit)
            place = begin.end() if coded is None else coded.end()
        if place > begin.end():
            yield Span(begin.start(), place)


def _marked(text: str, mark: str) -> Iterator[Span]:
    if mark not in _COMPILED:
        _COMPILED[mark] = re.compile(SHAPES[mark], re.ASCII)
    shape = _COMPILED[mark]
    place = text.find(mark)
    while place >= 0:
        found = shape.match(text, place) if begins_at(text, place) else None
        after = place + len(mark)
        if found is not None:
            start, end = found.span()
            while text[end - 1] in "-.":
                end -= 1
            if not _GOES_ON.match(text, end) and _is_made_up_of_more(text[start + len(mark) : end], mark):
                yield Span(start - len(_SCHEME) if _is_address(text, start, mark) else start, end)
            after = found.end()
        elif mark == "eyJ":
            # What is no token from here is none from the middle of the same run either.
            run = _RUN.match(text, place)
            after = max(after, run.end() if run else after)
        place = text.find(mark, after)


def _is_address(text: str, start: int, mark: str) -> bool:
    return mark.startswith("hooks.") and text.endswith(_SCHEME, 0, start)


def _is_made_up_of_more(body: str, mark: str) -> bool:
    """Tell whether what follows a mark is more than a row of x, or than the words of a name such as sk-learn-tools."""
    if set(body) <= set("xX*.0-_"):
        return False
    if mark != "sk-":
        return True
    has_all = all(any(test(sign) for sign in body) for test in (str.isdigit, str.isupper, str.islower))
    return has_all or _UUID_OR_HEX.fullmatch(body.rpartition("-")[2]) is not None


def _is_key_like(value: str, *, is_sure: bool) -> bool:
    """Tell whether a value has the shape of a key: letters of both cases and digits in no order, or hexadecimal.

    The less sure its name (``key``, ``token``), the longer it has to be; public keys begin with AAAA.
    """
    if value.startswith(("AAAA", "http", "/", "./")) or value.count("/") > 6 or "..." in value:
        return False
    if _UUID_OR_HEX.fullmatch(value):
        return is_sure
    n_digits = sum(sign.isdigit() for sign in value)
    has_all = n_digits >= 2 and any(map(str.isupper, value)) and any(map(str.islower, value))
    return has_all and len(value) >= (16 if is_sure else 24) and len(set(value)) >= 10
