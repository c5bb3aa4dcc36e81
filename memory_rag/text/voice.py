"""Who a text speaks of and whether it asks: small signs that rank turns, in English, Swedish, Norwegian and kin."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import Final

_ENDING: Final = 60
"""A turn asks when a question mark stands among its last this many characters (studies of two data sets)."""

_I: Final = "i|me|my|mine|myself|i'm|i've|i'd|i'll|jag|mig|min|mitt|mina|jeg|meg|mi|mine|eg|mej"
_YOU: Final = (
    "you|your|yours|yourself|you're|you've|you'd|you'll|du|dig|din|ditt|dina|deg|di|dine|dej|assistant|assistenten"
)
_WE: Final = "we|us|our|ours|we're|we've|we'd|we'll|vi|oss|vår|vårt|våra|våre"

_FIRST_PERSON = re.compile(rf"\b(?:{_I}|{_WE})\b", re.IGNORECASE)
_ANY_I = re.compile(rf"\b(?:{_I})\b", re.IGNORECASE)
_ANY_YOU = re.compile(rf"\b(?:{_YOU})\b", re.IGNORECASE)
_ANY_WE = re.compile(rf"\b(?:{_WE})\b", re.IGNORECASE)
# "Can you tell me …", "kan du säga mig …" address the assistant that searches; they don't say who spoke.
_REQUEST = re.compile(
    r"\b(?:can|could|would|will|do) you (?:please |also |just )?"
    r"(?:tell|remind|show|list|give|find|summari[sz]e|walk|help|explain|describe|provide|recall|remember|outline|"
    r"suggest|recommend|share|check|look|confirm)\b(?: me\b)?(?: through\b)?"
    r"|\b(?:tell|remind|show|give|help) me\b"
    r"|\b(?:kan|kunne|skulle|vill|vil) du (?:please )?(?:berätta|påminna|påminne|minna|visa|vise|lista|ge|gi|hitta|"
    r"finne|sammanfatta|oppsummere|säga|si|fortelle|hjälpa|hjelpe|förklara|forklare)\b(?: mig\b| meg\b)?",
    re.IGNORECASE,
)


class Voice(Enum):
    """Whose words a question asks for."""

    USER = "user"
    ASSISTANT = "assistant"
    BOTH = "both"
    NOBODY = "nobody"


def asks(text: str) -> bool:
    """Tell whether a turn ends by asking something."""
    ending = text[-_ENDING:]
    return any(mark in ending for mark in "?？؟")


def first_person(text: str) -> bool:
    """Tell whether a turn speaks of its speaker: "I", "we", "jag", "jeg" …"""
    return _FIRST_PERSON.search(text.replace("\u2019", "'")) is not None


@lru_cache(maxsize=1024)
def voice_of(question: str) -> Voice:
    """Return whose words a question asks for: "what did I say" the user's, "what did you suggest" the assistant's."""
    said = _REQUEST.sub(" ", question.replace("\u2019", "'"))
    if _ANY_WE.search(said):
        return Voice.BOTH
    user, assistant = bool(_ANY_I.search(said)), bool(_ANY_YOU.search(said))
    if user and assistant:
        return Voice.BOTH
    if user:
        return Voice.USER
    return Voice.ASSISTANT if assistant else Voice.NOBODY
