"""A text with placeholders in place of what must not be kept, and where everything else has moved to."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory_rag.privacy.bounds import places_of
from memory_rag.privacy.finding import Found
from memory_rag.privacy.kinds import Action, Kind
from memory_rag.privacy.taken import Taken
from memory_rag.store.screening import Finding
from memory_rag.turns import Span

PLACEHOLDER: Final = "[redacted: {kind}]"
_PLACEHOLDERS: Final = re.compile(rf"\[redacted: (?P<kind>{'|'.join(Kind)})\]")
_MOST_SEARCHED: Final = 100
_WORD: Final = re.compile(r"[^\s\"'`,;<>()\[\]{}]+")


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text after redaction. ``moves`` are the spans of the earlier text that were taken out, each with its
    placeholder's span in the new one, in order."""

    text: str
    moves: tuple[tuple[Span, Span], ...] = ()

    def moved(self, span: Span) -> Span:
        """Return where a span of the earlier text is now; an end inside what was taken out goes to its edge."""
        return Span(self._moved(span.start, is_start=True), self._moved(span.end, is_start=False))

    def _moved(self, place: int, *, is_start: bool) -> int:
        at = bisect_left(self.moves, place, key=lambda move: move[0].start) - 1
        if at < 0:
            return place
        old, new = self.moves[at]
        if place < old.end:
            return new.start if is_start else new.end
        return place + new.end - old.end


def redact(text: str, found: Iterable[Found], *, placeholder: str = PLACEHOLDER) -> Redacted:
    """Put a placeholder in place of every span found; they lie in order and not over each other."""
    parts: list[str] = []
    moves: list[tuple[Span, Span]] = []
    done = length = 0
    for one in found:
        mark = placeholder.format(kind=one.kind)
        parts += text[done : one.span.start], mark
        length += one.span.start - done + len(mark)
        moves.append((one.span, Span(length - len(mark), length)))
        done = one.span.end
    return Redacted("".join([*parts, text[done:]]), tuple(moves))


def placeholders_in(text: str) -> list[Finding]:
    """Return the placeholders of a text: what is missing in it is told also where it was taken out elsewhere."""
    return [Finding(one["kind"], Action.REDACT, span=Span(*one.span())) for one in _PLACEHOLDERS.finditer(text)]


def with_known(text: str, found: Sequence[Found], known: Mapping[str, Kind]) -> list[Found]:
    """Add to what was found every other place where a value stands that was found elsewhere, the longest first.

    Of more than a hundred values a place is found only where one stands as a word: a text made of passwords would
    otherwise be searched once for each.
    """
    all_found, taken = list(found), Taken(one.span for one in found)
    if len(known) > _MOST_SEARCHED:
        words = (word for word in _WORD.finditer(text) if word[0] in known)
        fresh = taken.take(Span(*word.span()) for word in words)
        all_found += [Found(span, known[span.of(text)]) for span in fresh]
    else:
        for value in sorted(known, key=lambda value: (-len(value), value)):
            places = (Span(place, place + len(value)) for place in places_of(text, value))
            all_found += [Found(span, known[value]) for span in taken.take(places)]
    return sorted(all_found, key=lambda one: one.span)
