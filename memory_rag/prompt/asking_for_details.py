"""Whether what a user says now asks for what was said before: "what did I say about pricing?" does, "thanks!" doesn't.

Told by its own words: signs for and against are added up, with round weights.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from enum import StrEnum
from functools import cache, lru_cache
from typing import Final

from memory_rag.prompt.asking_english import ENGLISH
from memory_rag.prompt.asking_norwegian import NORWEGIAN
from memory_rag.prompt.asking_swedish import SWEDISH
from memory_rag.prompt.asking_words import Ways
from memory_rag.text.analyzer import has_words
from memory_rag.text.language import DEFAULT_LANGUAGE, guess_language
from memory_rag.text.stopwords import STOP_WORDS
from memory_rag.text.telling_when import asks_when
from memory_rag.text.voice import first_person
from memory_rag.turns import printable


class Need(StrEnum):
    """Whether what was said before is needed: it is asked for; nothing tells; or something else is wanted."""

    ASKED = "asked"
    UNCLEAR = "unclear"
    NONE = "none"


_Patterns = Mapping[str, re.Pattern[str]]
"""The ways of a language by the names of their fields."""

WAYS: Final[Mapping[str, Ways]] = {"en": ENGLISH, "sv": SWEDISH, "nb": NORWEGIAN, "da": NORWEGIAN}
"""What is known of languages; Danish is read as Norwegian, whose spelling of the small words is mostly its own."""
_LOOKED_FOR: Final = ("en", "sv", "nb")
_ASKED_FROM: Final = 1.0
_LONG: Final = 60
"""Words from which on a turn is a task with its material."""
_FEW: Final = 6
"""Words up to which "go on, and make it scarier" asks for more of the same."""
_TOO_SHORT: Final = 2
"""Words of a question that is only understood with what stands before it: "Which one?"."""
_READ: Final = 2_000
"""Code points that are read of a turn, from its start and its end."""

# What stands in marks, and behind "Shorten this:", is what is spoken of and not what is asked. Lengths have bounds: a
# text may hold thousands of opening marks.
_QUOTED: Final = re.compile(
    r"\"[^\"]{0,400}\"|“[^”]{0,400}”|”[^”]{0,400}”|«[^»]{0,400}»|„[^“”]{0,400}[“”]|```.*?(?:```|\Z)|`[^`]{0,400}`",
    re.DOTALL,
)
_MATERIAL: Final = re.compile(
    r"\b(?:this|these|following|dette|denne|disse|følgende|detta|här|dessa|följande|translat\w+|översätt\w*|oversett\w*|"
    r"correct|proofread|rätta|rett|shorten|korta|forkort)\b[^:?.]{0,40}:\s.*",
    re.DOTALL,
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_COMMA: Final = re.compile(r"[,:;] ")
_CODE: Final = re.compile(
    r"\w\(.{0,200}\)|\wError\b|\bTraceback\b|[{};]$|\w\[[^\]]{1,80}\]|=>|\w\.(?:py|js|ts|json|csv|html|css|sh|sql)\b"
    r"|\b(?:sql|git|bash|python|javascript|java|typescript|regex|css|html|ggplot|pandas|docker|npm|yaml|excel|linux|"
    r"funksjon|function|script|skript)\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"(?<=[a-zåäöæø,] )[A-ZÅÄÖÆØ][a-zåäöæøé]+")
_PLACE: Final = re.compile(r"\b(?:in|at|from|of|near|about|i|på|från|fra|ved|vid|om|under|during|by) $")


def need_of_details(text: str, *, languages: Sequence[str]) -> Need:
    """Tell whether a turn asks for what was said before, by its own words.

    ``languages`` are the memory's; it is also looked for those whose ways are known. In any other, it is unclear of
    every turn that has words.
    """
    return _need(text, tuple(languages))


@lru_cache(maxsize=16)
def _need(text: str, languages: tuple[str, ...]) -> Need:
    # Kept: whoever serves a chat asks before it puts the prompt together, which asks again.
    said = printable(text)
    if len(said) > 2 * _READ:
        said = f"{said[:_READ]}\n{said[-_READ:]}"
    if not any(map(str.isalnum, said)):
        return Need.NONE
    told = {_need_in(said, language) for language in _languages_of(said, languages)}
    return next(need for need in (Need.ASKED, Need.NONE, Need.UNCLEAR) if need in told)


def _need_in(said: str, language: str) -> Need:
    ways = _ways(language)
    return Need.UNCLEAR if ways is None else _Reading(said, ways, language=language).need()


def _languages_of(said: str, languages: Sequence[str]) -> list[str]:
    """Return the languages with most small words in a text; a short one may have as many in several."""
    words = _WORD.findall(said.lower())
    possible = dict.fromkeys([*languages, *_LOOKED_FOR])
    counts = {one: sum(word in STOP_WORDS.get(one, ()) for word in words) for one in possible}
    most = max(counts.values())
    tied = [language for language, count in counts.items() if count == most]
    if len(tied) == 1:
        return tied
    # Its letters tell too: Swedish and Norwegian share most of their small words.
    guessed = guess_language([said])
    return [guessed] if guessed in tied and guessed != DEFAULT_LANGUAGE else tied


class _Reading:
    """A turn, read for the signs that it needs what was said before."""

    def __init__(self, text: str, ways: _Patterns, *, language: str) -> None:
        self._ways = ways
        self._language = language
        plain = text.replace("\u2019", "'")
        self._is_code = _CODE.search(plain) is not None
        bare = _MATERIAL.sub(" ", _QUOTED.sub(" ", plain))
        self._plain = bare if has_words(bare) else plain
        sentences = [one.strip() for one in _SENTENCES.split(self._plain) if has_words(one)]
        kept = [one for one in sentences if "?" not in one and ways["notes"].match(_after_opening(one))]
        sentences = [one for one in sentences if one not in kept]
        self._is_note = not sentences and bool(kept)
        asking = [one for one in sentences if self._begins_asking(one) or "?" in one]
        self._request = " ".join(asking or sentences[-1:])
        if len(self._request.split()) <= _TOO_SHORT:
            self._request = self._plain
        core = self._asking_part(self._request)
        said = ways["content"].search(self._request.lower()) if ways["makes"].match(core) else None
        named_in = self._request[: said.start()] if said else self._request
        self._for_whom = named_in.lower()
        names = [named_in[: found.start()] for found in _NAME.finditer(named_in)]
        self._has_name = bool(names)
        self._has_person = any(_PLACE.search(before.lower()) is None for before in names)
        self._low = self._plain.lower()
        self._asked = self._request.lower() if said is None else ways["content"].sub(" ", self._request.lower())
        self._is_request = bool(asking)
        self._is_question = "?" in self._request or any(ways[name].match(core) for name in ("asks", "whether"))
        self._is_settled = "?" in self._request and ways["settled"].match(core) is not None
        self._is_thing = ways["thing"].match(core) is not None

    def _begins_asking(self, sentence: str) -> bool:
        core = _after_opening(sentence)
        ways = self._ways
        return any(ways[name].match(core) for name in ("asks", "whether", "makes")) or bool(
            ways["recalls"].search(sentence.lower())
        )

    def need(self) -> Need:
        ways, asked, low = self._ways, self._asked, self._low
        core = self._asking_part(asked)
        if self._is_note or ways["just_now"].search(low) or ways["from_now"].match(low):
            return Need.NONE
        if not self._is_request and (ways["thanks"].search(low) or ways["greets"].match(low)):
            return Need.NONE
        value = self._past_spoken_of()
        if not value and ways["goes_on"].match(low) and len(low.split()) <= _FEW:
            return Need.NONE
        against = 1.5 * sum(ways[sign].search(asked) is not None for sign in ("how_to", "general"))
        against += 1.5 * self._is_code + 0.5 * (len(self._plain.split()) > _LONG)
        value += self._of_the_user(core) + 1.0 * self._has("suits")
        if value - against >= _ASKED_FROM:
            return Need.ASKED
        makes = ways["makes"].match(core) and not first_person(asked, language=self._language)
        return Need.NONE if against or makes else Need.UNCLEAR

    def _asking_part(self, request: str) -> str:
        """Return a request, in lower case, from where it asks: of "the roof, what was it?", "what was it?"."""
        ways = self._ways
        core = _after_opening(request)
        if not any(ways[name].match(core) for name in ("asks", "whether", "makes", "settled")):
            later = [core[found.end() :] for found in _COMMA.finditer(core)]
            return next((part for part in later if ways["asks"].match(part)), core)
        return core

    def _has(self, *signs: str) -> bool:
        return any(self._ways[sign].search(self._asked) for sign in signs)

    def _past_spoken_of(self) -> float:
        """Return how much speaks of what was said or done here before, or is always done."""
        value = 2.0 * (self._has("between_us") or self._is_settled)
        if not value and self._ways["between_us"].search(self._low):
            value = 0.5
        value += 2.0 * (self._ways["resumes"].search(self._low) is not None)
        if self._has("recalls") or (self._is_question and self._has("once_more")):
            value += 2.0
        return value + 2.0 * self._has("usual")

    def _of_the_user(self, core: str) -> float:
        """Return how much speaks for a question, or a task, about the user's own things and people."""
        ways = self._ways
        of_me = first_person(self._asked, language=self._language)
        if ways["makes"].match(core):
            known = any(ways[sign].search(self._for_whom) for sign in ("mine", "known_people"))
            return 1.0 * self._has_person + 1.0 * known
        if ways["asks"].match(core) and not self._has("how_to"):
            value = 2.0 * self._has("mine")
            if of_me:
                return value + 1.0 + 0.5 * self._has("past") + 1.0 * self._has_person
            if self._has_name:
                return value
            of_known = max(1.5 * self._has("past"), 1.0 * asks_when(core, language=self._language))
            value += 1.0 * self._has("known_people") + 1.0 * self._has("settles")
            return value + of_known * self._has("definite", "known_people")
        if ways["whether"].match(core):
            return 1.0 * self._has("mine", "known_people") + 0.5 * self._has_person + 0.5 * of_me
        return 1.0 * self._is_thing


_OPENING: Final = re.compile(
    r"^(?:\W|(?:and|so|but|ok|okay|well|right|hey|hi|please|wait|sorry|och|men|så|okej|hej|du|förresten|nu|og|hei|nå|"
    r"forresten|ja|jo|by the way|anyway),? )*"
)


def _after_opening(sentence: str) -> str:
    """Return a sentence, in lower case, from its first word that isn't an "and", "so", "by the way" …"""
    low = sentence.lower()
    found = _OPENING.match(low)
    return low[found.end() :] if found else low


@cache
def _ways(language: str) -> _Patterns | None:
    ways = WAYS.get(language)
    return None if ways is None else {spec.name: re.compile(getattr(ways, spec.name)) for spec in fields(ways)}
