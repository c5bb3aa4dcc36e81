"""Invented conversations of any length, for measuring speed: the same seed gives the same words and vectors."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.text.stopwords import STOP_WORDS
from memory_rag.turns import Role, Span, Turn

CONVERSATION_TURNS: Final = 400
SESSION_TURNS: Final = 25
SHORTEST: Final = 8
LONGEST: Final = 60
FUNCTION_SHARE: Final = 0.45
"""Function words in LoCoMo's turns and questions alike."""
VOCABULARY: Final = 400_000
_EXPONENT: Final = 1.07
_OFFSET: Final = 120
_PEOPLE: Final = 20
_SYLLABLES: Final = tuple(a + b for a in "bdfgklmnprstv" for b in ("a", "e", "i", "o", "u"))
_FIRST_DAY: Final = datetime(2023, 1, 2, 9, tzinfo=UTC)
_MEDIAN_TOKENS: Final = 28
_TOKENS_SPREAD: Final = 0.48
"""Median and standard deviation of ln(tokens) of LoCoMo's turns in MiniLM's tokens: mean 31, 95th percentile 62."""
Vectors = npt.NDArray[np.float32]


class Corpus:
    """Two people talking in turns, conversation after conversation, 400 turns each in sessions of 25.

    A turn has 8 to 60 words, evenly spread; 45 % are English function words, the others are invented from syllables and
    drawn by rank from a vocabulary of 400,000 with frequency 1 / (rank + 120)^1.07 (Zipf and Mandelbrot).
    """

    def __init__(self, *, seed: int) -> None:
        self.seed = seed
        plain = sorted(word for word in STOP_WORDS["en"] if "'" not in word)
        self._common = np.random.default_rng([seed, 4]).permutation(plain).tolist()

    def turns(self, start: int, stop: int) -> Iterator[Turn]:
        """Yield the turns with these numbers, without ids; any stretch may be asked for by itself."""
        for number in range(start, stop):
            conversation, place = divmod(number, CONVERSATION_TURNS)
            if place == 0 or number == start:
                texts = self._texts(conversation)
                people = self._people(conversation)
            session = place // SESSION_TURNS
            day = conversation * (CONVERSATION_TURNS // SESSION_TURNS) + session
            yield Turn(
                turn_id="",
                conversation_id=f"talk-{conversation}",
                session_id=f"session-{session}",
                ordinal=place,
                role=Role.USER,
                speaker=people[place % 2],
                text=texts[place],
                said_at=_FIRST_DAY + timedelta(days=day, minutes=place % SESSION_TURNS),
            )

    def questions(self, n: int, *, among: int) -> list[str]:
        """Return questions about turns numbered below ``among``, of five kinds in rotation; one names a month."""
        return [text for _about, text in self.asked(n, among=among)]

    def asked(self, n: int, *, among: int, first: int = 0) -> list[tuple[int, str]]:
        """Return the same questions, each behind the number of the turn that it is about, counted from ``first`` on."""
        draw = np.random.default_rng([self.seed, 1, among])
        asked = []
        for number in range(n):
            about = int(draw.integers(among))
            turn = next(self.turns(first + about, first + about + 1))
            rare = [word.strip(".?,") for word in turn.text.split() if word.strip(".?,").lower() not in self._common]
            a, b, c = draw.choice(rare, 3, replace=len(rare) < 3).tolist() if rare else ("", "", "")
            assert turn.said_at is not None
            kinds = (
                f"What did {turn.speaker} say about {a} and {b}?",
                f"When did {turn.speaker} {a} the {b}?",
                f"Did I tell you about the {a} {b} {c}?",
                f"Who wanted the {a} in {turn.said_at:%B %Y}?",
                f"{a} {b} {c}",
            )
            asked.append((about, kinds[number % len(kinds)]))
        return asked

    def texts_of_tokens(self, n: int, *, count: Callable[[str], int]) -> list[str]:
        """Return texts whose lengths in tokens spread as those of LoCoMo's turns; ``count`` counts a text's tokens."""
        draw = np.random.default_rng([self.seed, 2])
        wanted = np.exp(draw.normal(np.log(_MEDIAN_TOKENS), _TOKENS_SPREAD, n))
        texts = []
        for number, tokens in enumerate(wanted):
            words = self._words(np.random.default_rng([self.seed, 3, number]), int(tokens) + 1)
            costs = np.cumsum([count(word) for word in words])
            texts.append(_sentence(words[: max(1, int(np.searchsorted(costs, tokens)))], asks=False))
        return texts

    @cached_property
    def _of_rare(self) -> npt.NDArray[np.float64]:
        frequencies = 1.0 / (np.arange(1, VOCABULARY + 1) + _OFFSET) ** _EXPONENT
        return _cumulated(frequencies)

    @cached_property
    def _of_common(self) -> npt.NDArray[np.float64]:
        return _cumulated(1.0 / np.arange(1, len(self._common) + 1))

    def _texts(self, conversation: int) -> list[str]:
        draw = np.random.default_rng([self.seed, 0, conversation])
        lengths = draw.integers(SHORTEST, LONGEST + 1, CONVERSATION_TURNS)
        asks = draw.random(CONVERSATION_TURNS) < 0.2
        words = self._words(draw, int(lengths.sum()))
        ends = np.cumsum(lengths).tolist()
        return [
            _sentence(words[end - length : end], asks=bool(asking))
            for end, length, asking in zip(ends, lengths.tolist(), asks, strict=True)
        ]

    def _words(self, draw: np.random.Generator, n: int) -> list[str]:
        common = np.searchsorted(self._of_common, draw.random(n))
        rare = np.searchsorted(self._of_rare, draw.random(n))
        is_common = draw.random(n) < FUNCTION_SHARE
        return [
            self._common[which] if use else invented_word(rank)
            for use, which, rank in zip(is_common, common.tolist(), rare.tolist(), strict=True)
        ]

    def _people(self, conversation: int) -> tuple[str, str]:
        first = 2 * conversation % _PEOPLE
        return _name(first), _name(first + 1)


def invented_word(rank: int) -> str:
    """Return the word of a rank, from 0: two to four syllables, each rank its own word."""
    number = rank + len(_SYLLABLES)
    word = ""
    while number:
        number, syllable = divmod(number, len(_SYLLABLES))
        word = _SYLLABLES[syllable] + word
    return word


class DrawnVectors:
    """An embedder without a model: a text's vector is drawn at random, the same for the same text.

    It takes the place of another embedder, with its fingerprint, so that a memory of 100,000 turns needs no hours.
    What is found by meaning is chance; how long it takes is not.
    """

    reads_speaker = False
    max_tokens = 1_000_000

    def __init__(self, *, fingerprint: str, dim: int) -> None:
        self.fingerprint = fingerprint
        self.dim = dim

    @property
    def query_shift(self) -> Vectors:
        return np.zeros(self.dim, np.float32)

    def passages(self, text: str) -> tuple[Span, ...]:
        return (Span(0, len(text)),)

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        rows = np.empty((len(texts), self.dim), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(self.dim, np.float32)
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed_turns(texts)


def _cumulated(frequencies: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    sums: npt.NDArray[np.float64] = np.cumsum(frequencies)
    sums /= sums[-1]
    return sums


def _name(number: int) -> str:
    return invented_word(len(_SYLLABLES) ** 2 + 7919 * number).capitalize()


def _sentence(words: Sequence[str], *, asks: bool) -> str:
    said = " ".join("I" if word == "i" else word for word in words)
    return said[:1].upper() + said[1:] + ("?" if asks else ".")
