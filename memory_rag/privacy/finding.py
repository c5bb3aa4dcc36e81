"""Every span of a text that is secret or personal, found by rules; most texts are told at a glance to hold none."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from memory_rag.privacy import glance as families
from memory_rag.privacy.glance import families_of, glance, with_plain_digits
from memory_rag.privacy.keys import find_keys, find_private_keys
from memory_rag.privacy.kinds import Kind
from memory_rag.privacy.mail import find_emails
from memory_rag.privacy.numbers import (
    digits_of,
    find_cards,
    find_fodselsnummer,
    find_ibans,
    find_personnummer,
)
from memory_rag.privacy.passwords import find_passwords
from memory_rag.privacy.phones import find_phones
from memory_rag.privacy.plain_reading import without_colours, without_emphasis, without_escapes
from memory_rag.privacy.taken import Taken
from memory_rag.turns import Span

_FIGURES: Final = re.compile(
    r"(?:\+ {0,5}|\()?[0-9][0-9 \u00a0\u2007\u2009\u202f\u2010\u2011\u2013\u2212+().,/:-]{5,}[0-9]"
)
_LEAST_DIGITS: Final = 8


@dataclass(frozen=True, slots=True)
class Found:
    """A span of a text, and what it is."""

    span: Span
    kind: Kind


def find(text: str, kinds: Collection[Kind] = frozenset(Kind), *, seen: int | None = None) -> list[Found]:
    """Return what is secret or personal in a text, in order, no two over each other; of two that were, the graver.

    ``seen`` is what a glance at the text told, if there was one. Positions are code points. Health, faith, politics and
    the like have no shape and are not found.
    """
    seen = glance(text) if seen is None else seen
    if not seen & families_of(kinds):
        return []
    read = without_colours(with_plain_digits(text))
    taken = Taken()
    last = max(_GRAVEST_FIRST.index(kind) for kind in kinds)
    found: list[Found] = []
    for kind, spans in _by_rule(read, seen):
        if _GRAVEST_FIRST.index(kind) > last:
            break
        # What a graver kind has taken is taken also where that kind isn't asked for.
        found += [Found(span, kind) for span in taken.take(spans)]
    return sorted((one for one in found if one.kind in kinds), key=lambda one: one.span)


def _by_rule(text: str, seen: int) -> Iterator[tuple[Kind, Iterable[Span]]]:
    """Yield every kind with its spans, the gravest first."""
    if seen & families.PRIVATE_KEY:
        yield Kind.PRIVATE_KEY, find_private_keys(text)
    marked = without_emphasis(text)
    if seen & families.KEY:
        yield Kind.API_KEY, find_keys(marked)
    if seen & families.PASSWORD:
        # Any sign may be a password's own.
        yield Kind.PASSWORD, find_passwords(text)
    text = without_escapes(marked)
    if seen & families.FIGURES:
        yield Kind.IBAN, find_ibans(text)
        figures = [Span(*one.span()) for one in _FIGURES.finditer(text) if len(digits_of(one[0])) >= _LEAST_DIGITS]
        for kind, rule in _RULES:
            yield kind, _in_all(partial(rule, text), figures, len(text))
    if seen & families.EMAIL:
        yield Kind.EMAIL, find_emails(text)


_RULES: Final[tuple[tuple[Kind, Callable[[str, Span], Iterator[Span]]], ...]] = (
    (Kind.CARD, find_cards),
    (Kind.FODSELSNUMMER, find_fodselsnummer),
    (Kind.PERSONNUMMER, find_personnummer),
    (Kind.PHONE, find_phones),
)
_GRAVEST_FIRST: Final = (
    *(Kind.PRIVATE_KEY, Kind.API_KEY, Kind.PASSWORD, Kind.IBAN),
    *(kind for kind, _rule in _RULES),
    Kind.EMAIL,
)


def _in_all(rule: Callable[[Span], Iterator[Span]], figures: Iterable[Span], end: int) -> Iterator[Span]:
    for one in figures:
        # Two signs more: a rule looks at what follows, and a pattern sees nothing beyond its end.
        yield from rule(Span(one.start, min(end, one.end + 2)))
