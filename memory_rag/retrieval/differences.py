"""What stands in one wording and not in the other, word by word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from memory_rag.text.folding import fold
from memory_rag.text.word_bounds import words
from memory_rag.turns import Span

ELLIPSIS = "..."
"""What a difference expects where the wording leaves words out and says so."""

_AMOUNT_SIGNS = frozenset("$¢£¥€₹₽%‰")
_NEGATIONS = frozenset(
    """
    no not never none nobody nothing nowhere neither nor without cannot hardly
    dont doesnt didnt isnt arent wasnt werent cant couldnt shouldnt wouldnt havent hasnt hadnt
    inte icke ej nej aldrig ingen inget inga ingenting ingenstans varken utan knappast
    ikke ikkje nei aldri ingen ingenting ingensteds intet inkje verken korkje uten utan neppe hverken uden
    nicht nichts nie niemals nein kein keine keinen keinem keiner weder ohne
    不 没 無 无 非 未 勿 别
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the words found are not the words looked for, both as they are written.

    ``missing``: ``expected`` is not there. ``extra``: ``found`` stands between. ``changed``: one for the
    other. ``negation``: any of these when it adds or takes away a *not*. ``expected`` is ``...`` where an
    ellipsis stands for the words found.
    """

    kind: Literal["missing", "extra", "changed", "negation"]
    expected: str
    found: str

    @classmethod
    def between(cls, expected: str, found: str) -> Difference:
        """Return the difference of two unequal stretches; either may be empty."""
        if _negations(expected) != _negations(found):
            return cls("negation", expected, found)
        if not found:
            return cls("missing", expected, found)
        return cls("extra" if expected in ("", ELLIPSIS) else "changed", expected, found)

    @property
    def change(self) -> Literal["missing", "extra", "changed"]:
        """What was done to the words, whether or not it adds or takes away a *not*."""
        if self.expected and self.found:
            return "changed"
        return "extra" if self.found else "missing"

    @property
    def grave(self) -> bool:
        """True when the difference can turn the meaning: a negation, a number, an amount of money."""
        return self.kind == "negation" or _amounts(self.expected) != _amounts(self.found)

    def as_json(self) -> dict[str, str]:
        return {"kind": self.kind, "expected": self.expected, "found": self.found}


def differences(expected: str, found: str) -> tuple[Difference, ...]:
    """Return where two wordings differ, in order; empty when only case, spaces or kinds of marks differ.

    Word against word where as many words stand on both sides, else stretch against stretch. Punctuation is
    compared only when all words are the same.
    """
    by_words = _compared(expected, _words(expected), found, _words(found))
    return by_words or _compared(expected, _between_spaces(expected), found, _between_spaces(found))


def _compared(
    expected: str, expected_words: Sequence[Span], found: str, found_words: Sequence[Span]
) -> tuple[Difference, ...]:
    return tuple(
        Difference.between(_stretch(ours, expected), _stretch(theirs, found))
        for ours, theirs in _unequal(expected, expected_words, found, found_words)
    )


def _unequal(
    expected: str, expected_words: Sequence[Span], found: str, found_words: Sequence[Span]
) -> Iterator[tuple[Sequence[Span], Sequence[Span]]]:
    sought, there = _read(expected, expected_words), _read(found, found_words)
    for edit, start, end, at, to in SequenceMatcher(None, sought, there, autojunk=False).get_opcodes():
        if edit == "equal":
            continue
        if end - start == to - at:
            for one, other in zip(expected_words[start:end], found_words[at:to], strict=True):
                yield [one], [other]
        else:
            yield expected_words[start:end], found_words[at:to]


def _read(text: str, spans: Sequence[Span]) -> list[str]:
    return [fold(span.of(text)).text for span in spans]


def _stretch(spans: Sequence[Span], text: str) -> str:
    return text[spans[0].start : spans[-1].end] if spans else ""


def _words(text: str) -> list[Span]:
    """Return the words as they stand in the folded text, so that another dash or apostrophe parts no word."""
    folded = fold(text)
    return [folded.span(word.start, word.end) for word in words(folded.text)]


def _between_spaces(text: str) -> list[Span]:
    found, start = [], 0
    for part in text.split():
        start = text.index(part, start)
        if fold(part).text:
            found.append(Span(start, start + len(part)))
        start += len(part)
    return found


def _negations(text: str) -> int:
    return sum(word in _NEGATIONS or word.endswith("n't") for word in _read(text, words(text)))


def _amounts(text: str) -> Counter[str]:
    read = _read(text, words(text))
    return Counter(word for word in read if any(sign.isnumeric() or sign in _AMOUNT_SIGNS for sign in word))
