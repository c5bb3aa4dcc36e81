"""What a question is about: its terms, whose words it wants, which dates it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain
from typing import Final

from memory_rag.text.analyzer import Analyzer, has_words
from memory_rag.text.dates import DateMention, find_dates
from memory_rag.text.stopwords import STOP_WORDS
from memory_rag.text.voice import Voice, voice_of
from memory_rag.turns import printable

ROLE_NAMES: Final = frozenset(
    {"user", "assistant", "system", "tool", "human", "ai", "bot", "model", "chatgpt", "claude", "you", "me"}
)
"""Speakers that are parts in a conversation and not names."""

_PRONOUNS: Final = {"sv": ("de", "deras"), "nb": ("de", "deres"), "da": ("de", "deres")}


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    """A question, taken apart.

    ``words`` are those to look for, each as the terms that it may be in the index (one a language).
    ``dense_text`` is the question without the participants' names: a name rules a short question's vector and finds
    the turns that greet the person, spoken by the other one. ``named`` are the participants named, ``voice`` whose
    words are wanted in a talk with a model.
    """

    text: str
    words: tuple[tuple[str, ...], ...]
    dense_text: str
    named: tuple[str, ...]
    voice: Voice
    dates: tuple[DateMention, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms of all words."""
        return tuple(chain.from_iterable(self.words))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to search for: white space and punctuation only."""
        return not has_words(self.text)


class Participants:
    """The people who speak in a memory, by the names that a question may use for them."""

    def __init__(self, speakers: Iterable[str]) -> None:
        self._speaker_of: dict[str, list[str]] = {}
        for speaker in speakers:
            if speaker.casefold() in ROLE_NAMES or not speaker.strip():
                continue
            for name in dict.fromkeys([speaker, speaker.split()[0]]):
                self._speaker_of.setdefault(name, []).append(speaker)
        longest_first = sorted(self._speaker_of, key=lambda name: (-len(name), name))
        names = "|".join(re.escape(name) for name in longest_first)
        self._pattern = re.compile(rf"(?<!\w)({names})(?P<owns>['\u2019]s?(?!\w)|s(?!\w))?(?!\w)") if names else None
        self._lower = {
            name.casefold(): name
            for name in self._speaker_of
            if not any(name.casefold() in words for words in STOP_WORDS.values())
        }

    def named_in(self, text: str) -> tuple[str, ...]:
        """Return the speakers whose name or first name stands in a text, in its order.

        A text without any capital letter may name them in small letters, unless the name is a common word.
        """
        return tuple(dict.fromkeys(s for name, _ in self._found(text) for s in self._speaker_of[name]))

    def stripped(self, text: str, *, language: str) -> str:
        """Return a text with each participant's name replaced by "they" or "their" in its language."""
        subject, owner = _PRONOUNS.get(language, ("they", "their"))
        out, place = [], 0
        for _name, match in self._found(text):
            out += [text[place : match.start()], owner if match["owns"] else subject]
            place = match.end()
        return "".join([*out, text[place:]])

    def _found(self, text: str) -> list[tuple[str, re.Match[str]]]:
        if self._pattern is None:
            return []
        if text != text.lower():
            return [(match[1], match) for match in self._pattern.finditer(text)]
        pattern = re.compile(self._pattern.pattern, re.IGNORECASE)
        found = ((self._lower.get(match[1].casefold()), match) for match in pattern.finditer(text))
        return [(name, match) for name, match in found if name is not None]


def analyze_query(
    text: str, *, analyzer: Analyzer, participants: Participants, today: date | None = None
) -> QueryAnalysis:
    """Take a question apart; ``today`` is what "last week" in it is counted from."""
    languages: Sequence[str] = analyzer.languages
    return QueryAnalysis(
        text=text,
        words=tuple(analyzer.query_words(text)),
        dense_text=printable(participants.stripped(text, language=analyzer.language_of(text))),
        named=participants.named_in(text),
        voice=voice_of(text),
        dates=find_dates(text, language=tuple(dict.fromkeys([*languages, "en"])), reference=today),
    )
