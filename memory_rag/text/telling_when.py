"""Which turns tell when or how long, and which questions ask for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from memory_rag.text.frames import without_frame

_DIGIT: Final = re.compile(r"\d")
_TIMES: Final[Mapping[str, str]] = {
    "en": (
        r"yesterday|today|tonight|tomorrow|last|ago|next|(?:week|weekend|month|year)s?|morning|"
        r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|"
        r"october|november|december"
    ),
    "sv": (
        r"i ?går|i ?dag|i ?kväll|i ?morgon|i ?morse|i ?natt|i förrgår|i fjol|i (?:vår|som|höst|vint)ras|häromdagen|"
        r"förra|senaste|nästa|för \w+ (?:\w+ )?sed?an|veck(?:a|an|or|orna)|helg(?:en|er|erna)?|"
        r"månad(?:en|er|erna)?|år(?:et|en)?|morgon(?:en)?|"
        r"(?:mån|tis|ons|tors|fre|lör|sön)dag(?:en|ar|s)?|januari|februari|mars|april|maj|juni|juli|augusti|september|"
        r"oktober|november|december"
    ),
    "nb": (
        r"i ?går|i ?dag|i ?kveld|i ?morgen|i morges|i natt|i forgårs|i fjor|her om dagen|forleden|forrige|siste?|neste|"
        r"for \w+ (?:\w+ )?s(?:id|i)en|uk(?:e|a|en|er|ene)|helg(?:en|a|er|ene)?|måned(?:en|er|ene)?|år(?:et|a|ene)?|"
        r"morgen(?:en)?|(?:man|tirs|tys|ons|tors|fre|lør|laur|søn)dag(?:en|er|s)?|januar|februar|mars|april|mai|juni|"
        r"juli|august|september|oktober|november|desember"
    ),
}
_ASKS: Final[Mapping[str, str]] = {
    "en": (
        r"^\W*(?:(?:and|so|but|on|in|at|since|until|by|during),? )?(?:when|how long|"
        r"(?:what|which) (?:date|day|month|year|time))\b|\bhow many (?:days|weeks|months|years)\b"
    ),
    "sv": (
        r"^\W*(?:(?:och|men|så|på|i|under|vid|sedan|till),? )?(?:när|hur (?:länge|lång tid)|hur dags|"
        r"vilke[nt] (?:dag|dato|datum|månad|vecka|veckodag|år|tid|tidpunkt|klockslag)|"
        r"vad för (?:dag|datum|månad|år|tid))\b|\bhur många (?:dagar|veckor|månader|år)\b"
    ),
    "nb": (
        r"^\W*(?:(?:og|men|så|på|i|under|ved|siden|til),? )?(?:når|(?:hvor|kor) (?:lenge|lang tid)|"
        r"(?:hvilken|hvilket|hva slags) (?:dag|dato|måned|uke|ukedag|år|tid|tidspunkt|klokkeslett))\b|"
        r"\b(?:hvor|kor) mange (?:dager|dagar|uker|veker|måneder|månader|år)\b"
    ),
}


def tells_when(text: str, *, language: str) -> bool:
    """Tell whether a turn has a digit or a word of time ("last", "may", "week"); any digit, in any language."""
    if _DIGIT.search(text) is not None:
        return True
    pattern = _times(language)
    return pattern is not None and pattern.search(text.lower()) is not None


def asks_when(text: str, *, language: str) -> bool:
    """Tell whether a question asks when, on what day, for how long, or how many days, weeks, months or years.

    It is told by how the question begins, after its frame: "Can you tell me when she left?" asks, "I left when she
    came, do you know why?" doesn't.
    """
    pattern = _asks(language)
    return pattern is not None and pattern.search(without_frame(text, language=language)) is not None


@cache
def _times(language: str) -> re.Pattern[str] | None:
    words = _TIMES.get(language)
    return None if words is None else re.compile(rf"\b(?:{words})\b")


@cache
def _asks(language: str) -> re.Pattern[str] | None:
    words = _ASKS.get(language)
    return None if words is None else re.compile(words, re.IGNORECASE)
