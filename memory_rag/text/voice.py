"""Who a text speaks of and whether it asks: small signs that rank turns, in English, Swedish, Norwegian and kin."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from typing import Final

_ENDING: Final = 60
"""A turn asks when a question mark stands among its last this many characters (studies of two data sets)."""
_ASKS: Final = re.compile(r"\?(?![\w=&])|[？؟]")


class Voice(Enum):
    """Whose words a question asks for."""

    USER = "user"
    ASSISTANT = "assistant"
    BOTH = "both"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class _Person:
    """A language's words for one grammatical person: as a sentence's subject, and otherwise."""

    subject: str
    other: str


@dataclass(frozen=True, slots=True)
class _Pronouns:
    """A language's words for I, you and we; ``together`` is what joins "you and I".

    ``request`` are phrases that speak to the assistant that searches ("can you tell me", "do you remember") and don't
    say who spoke.
    """

    first: _Person
    second: _Person
    plural: _Person
    together: str
    request: str


# "US" is a country, and a Swedish "i" is a preposition: case and language matter.
_PRONOUNS: Final[Mapping[str, _Pronouns]] = {
    "en": _Pronouns(
        _Person("i|i'm|i've|i'd|i'll", "me|my|mine|myself"),
        _Person(
            "(?<!to )(?<!for )(?<!with )(?<!tell )(?<!told )(?<!ask )(?<!asked )"
            "(?:you|you're|you've|you'd|you'll|the assistant)",
            "you|your|yours|yourself|assistant|assistant's",
        ),
        _Person("we|we're|we've|we'd|we'll", "(?-i:[Uu]s)|our|ours|ourselves"),
        "and",
        r"(?:can|could|would|will|do) you (?:please |also |just |still |even |ever )?(?:tell|remind|show|list|give|"
        r"find|summari[sz]e|walk|help|explain|describe|provide|recall|remember|outline|suggest|recommend|share|check|"
        r"look|confirm|repeat|say|know|think|have)\b(?: me\b)?(?: through\b)?"
        r"|(?:tell|remind|show|give|help|let) me\b"
        r"|i (?:wonder|want to know|would like to know|need to know|forgot|can't remember|don't remember|"
        r"can't recall|don't recall)\b|i'd like to know\b",
    ),
    "sv": _Pronouns(
        _Person("jag", "mig|mej|min|mitt|mina"),
        _Person("du|assistenten", "dig|dej|din|ditt|dina|assistentens"),
        _Person("vi", "oss|vår|vårt|våra"),
        "och",
        r"(?:kan|kunde|skulle|vill|vet|minns) du (?:snälla |kanske |också |bara )?(?:berätta|påminna|visa|lista|ge|"
        r"hitta|sammanfatta|säga|hjälpa|förklara|leta upp|upprepa|föreslå|ta fram)?\b(?: (?:mig|mej)\b)?"
        r"|kommer du ihåg\b|(?:säg|visa|ge|hjälp|påminn|berätta)(?: för)? (?:mig|mej)\b(?: om\b)?"
        r"|jag (?:undrar|minns inte|kommer inte ihåg|vill veta|skulle vilja veta)\b",
    ),
    "nb": _Pronouns(
        _Person("jeg|eg", "meg|min|mitt|mine|mi"),
        _Person("du|assistenten", "deg|din|ditt|dine|di|assistentens"),
        _Person("vi", "oss|vår|vårt|våre"),
        "og",
        r"(?:kan|kunne|vil|vet|husker|hugsar) du (?:være så snill å |kanske |også |bare )?(?:fortelle|minne|vise|liste|"
        r"gi|finne|oppsummere|si|hjelpe|forklare|gjenta|foreslå)?\b(?: meg\b)?"
        r"|(?:si|vis|gi|hjelp|minn|fortell)(?: til)? meg\b(?: om\b| på\b)?"
        r"|jeg (?:lurer på|husker ikke|vil vite|vil gjerne vite)\b",
    ),
    "da": _Pronouns(
        _Person("jeg", "mig|min|mit|mine"),
        _Person("du|assistenten", "dig|din|dit|dine|assistentens"),
        _Person("vi", "os|vores"),
        "og",
        r"(?:kan|kunne|vil|ved|husker) du (?:måske |også |bare )?(?:fortælle|minde|vise|liste|give|finde|opsummere|"
        r"sige|hjælpe|forklare|gentage|foreslå)?\b(?: mig\b)?"
        r"|(?:sig|vis|giv|hjælp|mind|fortæl)(?: til)? mig\b(?: om\b)?"
        r"|jeg (?:husker ikke|vil vide|vil gerne vide)\b",
    ),
    "de": _Pronouns(
        _Person("ich", "mich|mir|mein|meine|meinen|meinem|meiner|meines"),
        _Person("du|der assistent", "dich|dir|dein|deine|deinen|deinem|deiner|deines"),
        _Person("wir", "uns|unser|unsere|unseren|unserem|unserer"),
        "und",
        r"(?:kannst|könntest|würdest|weißt|weisst) du (?:bitte |noch |auch )?(?:mir )?(?:sagen|zeigen|geben|helfen|"
        r"erklären|finden|zusammenfassen|wiederholen)?\b|erinnerst du dich\b"
        r"|(?:sag|zeig|gib|hilf|erzähl)e? mir\b|ich (?:weiß nicht mehr|möchte wissen|will wissen)\b",
    ),
}


def asks(text: str) -> bool:
    """Tell whether a turn ends by asking something; the ? inside a link asks nothing."""
    return _ASKS.search(text, max(0, len(text) - _ENDING)) is not None


def first_person(text: str, *, language: str = "en") -> bool:
    """Tell whether a turn speaks of its speaker: "I", "we", "jag", "jeg" …; False in a language without such words."""
    patterns = _patterns(language)
    if patterns is None:
        return False
    plain = _plain(text)
    found = patterns.first_person_folded.search(plain.lower())
    # "US" is a country.
    return found is not None and (found[0] != "us" or patterns.first_person.search(plain) is not None)


@lru_cache(maxsize=1024)
def voice_of(question: str, *, language: str = "en") -> Voice:
    """Return whose words a question asks for: "what did I say" the user's, "what did you suggest" the assistant's.

    Where it speaks of more than one, the first subject decides ("what did you tell me", "what did I tell you"), without
    a subject the first mention. "We", and "you and I", mean both.
    """
    patterns = _patterns(language)
    if patterns is None:
        return Voice.NOBODY
    said = patterns.request.sub(" ", _plain(question))
    if patterns.together.search(said):
        return Voice.BOTH
    found = patterns.subject.search(said) or patterns.mention.search(said)
    return Voice.NOBODY if found is None else _SPEAKERS[found.lastgroup or ""]


_SPEAKERS: Final = {"first": Voice.USER, "second": Voice.ASSISTANT, "plural": Voice.BOTH}


_OVERVIEWS: Final[Mapping[str, str]] = {
    "en": r"\b(?:summar\w+|overview|recap)\b",
    "sv": r"\b(?:sammanfatt\w+|översikt(?:en|lig\w*)?|överblick(?:en)?|rekapituler\w+|summera)\b",
    "nb": r"\b(?:oppsummer\w*|sammenfat\w+|sammendrag(?:et)?|samandrag(?:et)?|oversikt(?:en|lig\w*)?|overblikk(?:et)?|"
    r"rekapituler\w*)\b",
}


@lru_cache(maxsize=1024)
def wants_overview(text: str, *, language: str) -> bool:
    """Tell whether a question asks for a summary, an overview or a recap; False in a language without such words."""
    pattern = _OVERVIEWS.get(language)
    return pattern is not None and re.search(pattern, text, re.IGNORECASE) is not None


@dataclass(frozen=True, slots=True)
class _Patterns:
    request: re.Pattern[str]
    together: re.Pattern[str]
    subject: re.Pattern[str]
    mention: re.Pattern[str]
    first_person: re.Pattern[str]
    first_person_folded: re.Pattern[str]
    """Finds it in lower case, in a third of the time that looking regardless of case takes."""


@cache
def _patterns(language: str) -> _Patterns | None:
    pronouns = _PRONOUNS.get(language)
    if pronouns is None:
        return None
    first, second, plural = pronouns.first, pronouns.second, pronouns.plural
    you_and_i = f"{second.subject}) {pronouns.together} (?:{first.subject}|{first.other}"
    i_and_you = f"{first.subject}) {pronouns.together} (?:{second.subject}|{second.other}"
    of_self = "|".join((first.subject, first.other, plural.subject, plural.other))
    return _Patterns(
        request=_words(pronouns.request),
        together=_words(f"(?:{you_and_i})|(?:{i_and_you})"),
        subject=_words(f"(?P<first>{first.subject})|(?P<second>{second.subject})|(?P<plural>{plural.subject})"),
        mention=_words(f"(?P<first>{first.other})|(?P<second>{second.other})|(?P<plural>{plural.other})"),
        first_person=_words(of_self),
        first_person_folded=_words(of_self, flags=re.NOFLAG),
    )


def _words(pattern: str, *, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    # \b would find "I" in "I-94" and "i.e."; an apostrophe or a point with a letter after it goes on with the word.
    return re.compile(rf"\b(?:{pattern})\b(?!['.-]\w)", flags)


def _plain(text: str) -> str:
    return text.replace("\u2019", "'")
