"""What a question is about: its terms, whose words it wants, which dates it names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import chain
from typing import Final

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


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    """A question, taken apart.

    ``words`` are those to look for, each as the terms that it may be in the index (one a language), without those that
    are about asking ("can you walk me through", "throughout our conversations", "how is it going with"). ``dense_text``
    is without the first of these too, and without the participants' names: a name rules a short question's vector and
    finds the turns that greet the person, spoken by the other one. ``matter`` is without all of them: what it is about.
    ``named`` are the participants named, ``voice`` whose words are wanted in a talk with a model; ``wants_overview`` a
    summary, ``asks_when`` a time, ``asks_of_the_past`` what was said or done.
    """

    text: str
    words: tuple[tuple[str, ...], ...]
    dense_text: str
    named: tuple[str, ...]
    voice: Voice
    dates: tuple[DateMention, ...]
    wants_overview: bool = False
    asks_when: bool = False
    asks_of_the_past: bool = False
    gives_words: bool = False
    """Whether it asks nothing, but gives words that were said: "the rent for May"."""
    quoted: tuple[str, ...] = ()
    """What stands in quotation marks, of two words or more."""
    is_common: bool = False
    """Whether all of its words are stop words: "to be or not to be"."""
    matter: str = ""

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
        return not self.words and not has_words(self.text)


def analyze_query(
    text: str, *, analyzer: Analyzer, participants: Participants, today: date | None = None
) -> QueryAnalysis:
    """Take a question apart; ``today`` is what "last week" in it is counted from.

    Of one longer than :data:`LONGEST` its beginning and its end are read.
    """
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]}\n{text[-LONGEST // 2 :]}"
    language = analyzer.language_of(text)
    core, matter = (cut(text, language=language) for cut in (without_frame, matter_of))
    if core != text and (not analyzer.query_words(core) or analyzer.is_common(core)):
        core = text
    words = tuple(analyzer.query_words(matter))
    if matter != text and (not words or analyzer.is_common(matter)):
        matter, words = core, tuple(analyzer.query_words(core))
    known = tuple(dict.fromkeys([*analyzer.languages, "en"]))
    return QueryAnalysis(
        text=text,
        words=words,
        dense_text=printable(participants.stripped(core, language=language)),
        named=participants.named_in(text),
        voice=voice_of(text, language=language),
        dates=find_dates(text, language=known, reference=today),
        wants_overview=wants_overview(text, language=language),
        asks_when=asks_when(text, language=language),
        asks_of_the_past=asks_of_the_past(text, language=language),
        gives_words=not is_asking(text, languages=known),
        quoted=tuple(_quoted(text)),
        is_common=bool(words) and analyzer.is_common(text),
        matter=printable(participants.stripped(matter, language=language)),
    )


def _quoted(text: str) -> Iterator[str]:
    for found in _QUOTED.finditer(text):
        phrase = found[found.lastindex or 0].strip(_AT_THE_EDGE)
        if len(phrase.split()) > 1:
            yield phrase
