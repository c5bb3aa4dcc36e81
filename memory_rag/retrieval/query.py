"""What a question is about: its terms, whose words it wants, which dates it names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from itertools import chain
from typing import Final

from memory_rag.retrieval.once import once
from memory_rag.retrieval.participants import Participants
from memory_rag.text.analyzer import Analyzer, has_words
from memory_rag.text.asking import is_asking
from memory_rag.text.dates import DateMention, find_dates
from memory_rag.text.frames import matter_of, without_frame
from memory_rag.text.telling_when import asks_when
from memory_rag.text.voice import Voice, voice_of, wants_overview
from memory_rag.text.wishes import asks_of_the_past
from memory_rag.turns import printable

LONGEST: Final = 20_000
"""Characters of a question that are read: each word of a file that is pasted into a chat would be looked for."""
_QUOTED: Final = re.compile(r'"([^"\n]+)"|[“„”]([^“„”\n]+)[“”]|[«»]([^«»\n]+)[«»]')
_AT_THE_EDGE: Final = " \t\r\n.,;:!?…'\"“”„‘’«»()"


class QueryAnalysis:
    """A question, taken apart as far as it is asked for: what is embedded is told before all else."""

    def __init__(self, text: str, *, analyzer: Analyzer, participants: Participants, today: date | None = None) -> None:
        """``today`` is what "last week" in it is counted from.

        Of a text longer than :data:`LONGEST` its beginning and its end are read.
        """
        self.text = text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}\n{text[-LONGEST // 2 :]}"
        self._analyzer = analyzer
        self._participants = participants
        self._today = today
        self._language = analyzer.language_of(self.text)

    @once
    def dense_text(self) -> str:
        """The text without the words that are about asking, and without the participants' names.

        A name rules a short question's vector and finds the turns that greet the person, spoken by the other one.
        """
        return printable(self._participants.stripped(self._core, language=self._language))

    @once
    def matter(self) -> str:
        """What it is about: without more of the words that are about asking ("how is it going with")."""
        return printable(self._participants.stripped(self._matter_and_words[0], language=self._language))

    @property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """The words to look for, each as the terms that it may be in the index, one a language.

        Those that are about asking are left out ("can you walk me through", "throughout our conversations").
        """
        return self._matter_and_words[1]

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms of all words."""
        return tuple(chain.from_iterable(self.words))

    @property
    def whole(self) -> str:
        """The text without what stands at its edges."""
        return self.text.strip(_AT_THE_EDGE)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to search for: white space and punctuation only."""
        return not has_words(self.text) and not self.words

    @once
    def named(self) -> tuple[str, ...]:
        """The participants that it names."""
        return self._participants.named_in(self.text)

    @once
    def voice(self) -> Voice:
        """Whose words are wanted in a talk with a model."""
        return voice_of(self.text, language=self._language)

    @once
    def dates(self) -> tuple[DateMention, ...]:
        """The days and periods that it names."""
        return find_dates(self.text, language=self._known_languages, reference=self._today)

    @once
    def wants_overview(self) -> bool:
        """Whether it wants a summary."""
        return wants_overview(self.text, language=self._language)

    @once
    def asks_when(self) -> bool:
        """Whether it asks for a time."""
        return asks_when(self.text, language=self._language)

    @once
    def asks_of_the_past(self) -> bool:
        """Whether it asks for what was said or done."""
        return asks_of_the_past(self.text, language=self._language)

    @once
    def gives_words(self) -> bool:
        """Whether it asks nothing, but gives words that were said: "the rent for May"."""
        return not is_asking(self.text, languages=self._known_languages)

    @once
    def quoted(self) -> tuple[str, ...]:
        """What stands in quotation marks, of two words or more."""
        return tuple(_quoted(self.text))

    @once
    def is_common(self) -> bool:
        """Whether all of its words are stop words: "to be or not to be"."""
        return bool(self.words) and self._analyzer.is_common(self.text)

    @once
    def _core(self) -> str:
        core = without_frame(self.text, language=self._language)
        if core != self.text and (not self._analyzer.query_words(core) or self._analyzer.is_common(core)):
            return self.text
        return core

    @once
    def _matter_and_words(self) -> tuple[str, tuple[tuple[str, ...], ...]]:
        matter = matter_of(self.text, language=self._language)
        words = tuple(self._analyzer.query_words(matter))
        if matter != self.text and (not words or self._analyzer.is_common(matter)):
            return self._core, tuple(self._analyzer.query_words(self._core))
        return matter, words

    @property
    def _known_languages(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self._analyzer.languages, "en"]))


def _quoted(text: str) -> Iterator[str]:
    for found in _QUOTED.finditer(text):
        phrase = found[found.lastindex or 0].strip(_AT_THE_EDGE)
        if len(phrase.split()) > 1:
            yield phrase
