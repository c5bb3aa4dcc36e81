"""Where a text says nearly these words: the most similar stretch, and pieces that an ellipsis joins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz import fuzz

from memory_rag.retrieval.differences import ELLIPSIS, Difference, differences
from memory_rag.text.folding import Folded, fold
from memory_rag.text.word_bounds import inside_word, words
from memory_rag.turns import Span

MOST_COMPARED = 5_000
"""Code points of the longest wording compared; a longer one is found word for word or not at all."""

MOST_LEFT_OUT = 300
"""Code points that one ellipsis may stand for: a sentence or two, not a change of subject."""

_WHOLE_TEXT = 20_000
_RICHEST = 5
_SHORT = 200
_PART = 12
_MOST_STEPS = 8
_ELLIPSIS = re.compile(r"\s*[\[(]?(?:…|\.{3,}|\. \. \.)[\])]?\s*")


@dataclass(frozen=True, slots=True)
class Nearest:
    """A stretch of a text as written, how similar it is (0 to 100: equal) and in which words it differs."""

    span: Span
    similarity: float
    differences: tuple[Difference, ...]


def nearest(wording: str, text: str, *, threshold: float) -> Nearest | None:
    """Return the stretch of whole words that reads most like the wording; None if none reaches the threshold.

    Case, spaces, kinds of marks and punctuation at either end count nothing. The similarity is rapidfuzz's
    normalised indel ratio. Of a text beyond 20,000 code points only the five places that hold most of the
    wording's words are compared; of a wording beyond 200, three parts must stand as they are and where they
    belong; a wording beyond 5,000 is never near anything.
    """
    sought = _from_word_to_word(fold(wording).text)
    if not sought or len(sought) > MOST_COMPARED:
        return None
    folded = fold(text)
    guesses = _by_votes if len(sought) > _SHORT else _by_windows
    found = [
        place
        for guess in guesses(sought, folded.text, threshold=threshold)
        if (place := _refined(sought, folded.text, guess))[0] >= threshold
    ]
    if not found:
        return None
    score, best = max(found, key=lambda place: (place[0], -place[1].start))
    span = folded.span(best.start, best.end)
    return Nearest(span, round(score, 2), differences(_from_word_to_word(wording), span.of(text)))


def pieces_of(wording: str) -> list[str]:
    """Return the folded pieces that ellipses join in a wording; none when it has no ellipsis or no words."""
    if not _ELLIPSIS.search(wording):
        return []
    pieces = (_from_word_to_word(fold(piece).text) for piece in _ELLIPSIS.split(wording))
    return [piece for piece in pieces if piece]


def joined_by_ellipsis(pieces: Sequence[str], text: str) -> Nearest | None:
    """Return the stretch of a text in which all pieces stand in this order, close together, or None.

    Each piece is there word for word after folding, between word bounds, at most 300 code points behind the
    piece before. The shortest such stretch is chosen, the first among equals. The differences are what stands
    between the pieces.
    """
    folded = fold(text)
    if not pieces or any(piece not in folded.text for piece in pieces):
        return None
    chains = (_chain(first, pieces[1:], folded, text) for first in _standing(pieces[0], folded, text))
    best = min((chain for chain in chains if chain), key=lambda it: it[-1].end - it[0].start, default=None)
    if best is None:
        return None
    written = [folded.span(piece.start, piece.end) for piece in best]
    span = Span(written[0].start, written[-1].end)
    left_out = [text[before.end : after.start].strip() for before, after in pairwise(written)] or [""]
    score = fuzz.ratio(" ".join(pieces), fold(span.of(text)).text)
    return Nearest(span, round(score, 2), tuple(Difference.between(ELLIPSIS, words_) for words_ in left_out))


def _chain(first: Span, pieces: Sequence[str], folded: Folded, text: str) -> list[Span] | None:
    chain = [first]
    for piece in pieces:
        end = chain[-1].end
        following = next(_standing(piece, folded, text, end, end + MOST_LEFT_OUT + len(piece)), None)
        if following is None:
            return None
        chain.append(following)
    return chain


def _standing(piece: str, folded: Folded, text: str, low: int = 0, high: int | None = None) -> Iterator[Span]:
    """Yield where a piece stands in the folded text between word bounds of the text, of its first 200 places."""
    at = folded.text.find(piece, low, high)
    for _ in range(200):
        if at < 0:
            return
        written = folded.span(at, at + len(piece))
        if not inside_word(text, written.start) and not inside_word(text, written.end):
            yield Span(at, at + len(piece))
        at = folded.text.find(piece, at + 1, high)


def _from_word_to_word(text: str) -> str:
    spans = words(text)
    return text[spans[0].start : spans[-1].end] if spans else ""


def _by_windows(sought: str, text: str, *, threshold: float) -> Iterator[Span]:
    """Yield where a short wording may stand: the best window of the text, or of each place rich in its words."""
    for low, high in _rich_places(sought, text):
        if high - low <= len(sought):
            yield Span(low, high)
            continue
        # The window is as wide as what is sought, so it scores lower than the stretch with words put in.
        cutoff = max(0.0, threshold - 25)
        aligned = fuzz.partial_ratio_alignment(sought, text[low:high], score_cutoff=cutoff)
        if aligned is not None:
            yield Span(low + aligned.dest_start, low + aligned.dest_end)


def _rich_places(sought: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a folded text to compare: all of it, or those richest in the words sought."""
    if len(text) <= _WHOLE_TEXT:
        yield 0, len(text)
        return
    width = 2 * _SHORT
    held: Counter[int] = Counter()
    for anchor in _anchors(sought):
        buckets = set[int]()
        at = text.find(anchor)
        while at >= 0 and len(buckets) < 500:
            buckets.add(at // width)
            at = text.find(anchor, (at // width + 1) * width)
        held.update(buckets | {bucket - 1 for bucket in buckets if bucket > 0})
    for bucket, _ in sorted(held.items(), key=lambda item: (-item[1], item[0]))[:_RICHEST]:
        yield max(0, (bucket - 1) * width), min(len(text), (bucket + 3) * width)


def _anchors(sought: str) -> list[str]:
    """Return up to eight parts of a wording that lead to its place: its long words, or runs of four signs."""
    long_first = sorted(set(sought.split()), key=lambda word: (-len(word), word))
    step = max(4, len(sought) // 8)
    return [word for word in long_first if 3 <= len(word) <= 40][:8] or [
        sought[at : at + 4] for at in range(0, len(sought), step)
    ]


def _by_votes(sought: str, text: str, *, threshold: float) -> Iterator[Span]:
    """Yield where a long wording would stand in a folded text by the places of its parts, if three agree.

    rapidfuzz's alignment takes a second for 5,000 code points in 20,000; this takes milliseconds.
    """
    if len(text) < len(sought) * threshold / 200:
        return
    votes: dict[int, list[int]] = {}
    for part_at in range(0, len(sought) - _PART, max(_PART, len(sought) // 100)):
        part = sought[part_at : part_at + _PART]
        at = text.find(part)
        for _ in range(20):
            if at < 0:
                break
            votes.setdefault((at - part_at) // _SHORT, []).append(at - part_at)
            at = text.find(part, at + 1)
    agreed = {bucket: sorted(starts + votes.get(bucket + 1, [])) for bucket, starts in votes.items()}
    bucket = max(agreed, key=lambda it: (len(agreed[it]), -it), default=None)
    if bucket is not None and len(agreed[bucket]) >= 3:
        start = max(0, agreed[bucket][len(agreed[bucket]) // 2])
        yield Span(min(start, len(text) - 1), min(len(text), start + len(sought)))


def _refined(sought: str, text: str, guess: Span) -> tuple[float, Span]:
    """Return the run of whole words near a guess that is most similar to what is sought, and its similarity."""
    low = max(0, guess.start - _SHORT)
    window = text[low : guess.end + _SHORT]
    spans = words(window)
    inside = [i for i, word in enumerate(spans) if word.end > guess.start - low and word.start < guess.end - low]
    if not inside:
        return -1.0, guess

    def scored(first: int, last: int) -> tuple[float, int, int, int]:
        span = Span(spans[first].start, spans[last].end)
        return fuzz.ratio(sought, span.of(window)), span.start - span.end, first, last

    best = scored(inside[0], inside[-1])
    for _ in range(_MOST_STEPS):
        _, _, first, last = best
        better = max(
            scored(i, j)
            for i in range(max(0, first - 3), min(len(spans), first + 4))
            for j in range(max(i, last - 3), min(len(spans), last + 4))
        )
        if better <= best:
            break
        best = better
    return best[0], Span(low + spans[best[2]].start, low + spans[best[3]].end)
