"""A look at JSON that is only text yet: what its strings hold is seen in it, however they are escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from json.encoder import encode_basestring
from typing import Final

from memory_rag.privacy.glance import (
    ALL,
    EMAIL,
    FIGURES,
    KEY,
    PASSWORD,
    glance,
    marks_in,
    names_a_value,
    with_plain_digits,
)
from memory_rag.privacy.json_values import is_telling
from memory_rag.turns import text_bytes, text_from_bytes

_ESCAPE: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_SHORT: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_NAME: Final = re.compile(r'"([^"]*)"\s*:')
_BETWEEN: Final = "\n "
"""What strings are joined with: nothing that is looked for has it inside, and a space may begin an option."""
_BESIDE: Final = "\n0@" + "x" * 16
"""Beside a digit a word for a password counts, beside an @ an address, and beside a long word a name for a key."""
_BLANK: Final = ("", " ", "\n")
_OF_ALL_PARTS: Final = EMAIL | FIGURES
_OF_IDS: Final = b"0123456789abcdef-:.TZ+,{}[] "
"""Ids, hashes, times and what stands between strings: no word and no mark that is looked for is made of these alone."""
_LONGEST_PART: Final = 40
_NEAR: Final = 80
_MOST_PARTS: Final = 4096
_DULL: Final = set[bytes]()
"""Parts of JSON between quotation marks, met so far, with no word and no mark; most are names of fields."""
_NAMES: Final = set[bytes]()
"""Such parts that a key may stand after, and nothing else."""


def glance_at_json(text: str, wanted: int = ALL) -> int:
    """Return which families of rules are worth asking about a JSON text, as bits.

    What a string of it would show, decoded, alone or as ``name: string``, is seen here.
    """
    if "\\" not in text:
        decoded, seen = text, _glance_at_parts(text, wanted)
    else:
        decoded = unescaped(text)
        seen = glance(text, wanted) | glance(decoded, wanted, is_joined=True)
    # An option of a command line begins with the space that stands before a string which follows its name.
    return seen | (wanted & PASSWORD if '"-' in decoded else 0)


def is_dull(source: str, text: str, wanted: int = ALL) -> bool:
    """Tell whether a source's JSON surely holds nothing beside the turn's text, in which nothing was found.

    Only the simplest are told: without escapes, and made of parts that come in every message.
    """
    if wanted & _OF_ALL_PARTS or "\\" in source or '"-' in source or source[:1] not in ("{", "["):
        return False
    parts = set(text_bytes(source).split(b'"')) - _DULL
    parts.discard(text_bytes(text))
    if not _NAMES.isdisjoint(parts):
        return False
    fresh = [part for part in parts if part.translate(None, _OF_IDS)]
    return not fresh or (_are_learnt(fresh) and _NAMES.isdisjoint(fresh))


def _glance_at_parts(text: str, wanted: int) -> int:
    """Return what a glance at a JSON text without escapes tells, the parts that come in every message left out of it.

    Nothing that is looked for reaches over a quotation mark, but for a value with its name.
    """
    if wanted & _OF_ALL_PARTS:
        return glance(text, wanted)
    parts = set(text_bytes(text).split(b'"')) - _DULL
    fresh = [part for part in parts if part not in _NAMES and part.translate(None, _OF_IDS)]
    if fresh and not _are_learnt(fresh):
        return glance(text, wanted)
    return wanted & KEY if not _NAMES.isdisjoint(parts) and names_a_value(with_plain_digits(text)) else 0


def _are_learnt(parts: list[bytes]) -> bool:
    """Tell whether nothing could be found in any of these parts but a key after a name, and remember each for that."""
    if len(_DULL) + len(_NAMES) > _MOST_PARTS:
        _DULL.clear()
        _NAMES.clear()
    for part in parts:
        families = glance(text_from_bytes(part) + _BESIDE, is_joined=True) & ~_OF_ALL_PARTS
        if families & ~KEY or marks_in(part) or (families and not part.isascii()):
            return False
        if len(part) <= _LONGEST_PART:
            (_NAMES if families else _DULL).add(part)
        elif families:
            return False
    return True


def glance_at_strings(strings: Iterable[str], wanted: int = ALL) -> int:
    """Return the same for strings that are decoded already, the names among them."""
    return glance(_BETWEEN + _BETWEEN.join(strings), wanted, is_joined=True)


def unescaped(text: str) -> str:
    """Return a JSON text with its escapes decoded: every string in it stands there as it is read.

    A pair of surrogates stays two of them.
    """
    return _ESCAPE.sub(_decoded, text)


def beside(source: str, text: str) -> str:
    """Return what of a turn's source is to be looked at, when nothing was found in its text.

    Of JSON that is all but the strings that the text is written as, where they stand under names that tell nothing;
    after another, such as "password", the whole. Of any other source it is the whole, or nothing where what stands
    beside the text says nothing about it.
    """
    if source.lstrip()[:1] not in ("{", "["):
        return _beside_words(source, text)
    written = encode_basestring(text)
    parts = source.split(written)
    is_told = False
    for part in parts[:-1]:
        is_told = _is_told(part, is_told)
        if is_told:
            return source
    return "".join(parts)


def _beside_words(source: str, text: str) -> str:
    before, found, after = source.rpartition(text) if text else (source, "", "")
    is_apart = found and before[-1:] in _BLANK and after[:1] in _BLANK
    words = f"{before}{_BESIDE}\n{after}"
    return "" if is_apart and not glance(words, ALL & ~_OF_ALL_PARTS, is_joined=True) else source


def _is_told(before: str, was_told: bool) -> bool:
    """Tell whether the last name in a stretch of JSON tells what follows; without any, what was told before holds."""
    if "\\" in before:
        return True
    if before.endswith('": '):
        return is_telling(before[before.rfind('"', 0, -3) + 1 : -3])
    names = _NAME.findall(before[-_NEAR:]) or _NAME.findall(before)
    return is_telling(names[-1]) if names else was_told


def _decoded(found: re.Match[str]) -> str:
    if found[1] is not None:
        return chr(int(found[1], 16))
    return _SHORT.get(found[2], found[2])
