"""Whether a text asks for something, or gives words to be found: "when did we talk about rent", "the rent for May"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Final

_MARK: Final = re.compile(r"[?？؟]\W*\Z")
_CLAUSE: Final = r"(?:\A|[.,:;!\n]\s|\s[-–—]\s)\W*"

# What a clause that asks begins with: interrogatives, verbs before their subject, and commands to whom one asks.
_OPENERS: Final[Mapping[str, str]] = {
    "en": (
        r"(?:(?:and|so|but|or|ok|okay|also|then|well|now|hey|hi|hello|please|just|in|at|on|for|by|to|with|from|of|about)"
        r",? )*"
        r"(?:who(?:m|se|'s|'re|'d)?|what(?:'s|'re|'d)?|which|when(?:'s)?|where(?:'s)?|why|how(?:'s|'d)?|whether|"
        r"(?:is|are|am|was|were|do|does|did|has|have|had|can|could|would|will|should|shall|may|might|must)(?:n't)? "
        r"(?:i|you|we|he|she|it|they|there|this|that|these|those|the|my|our|your|his|her|their|any(?:one|body|thing)?|"
        r"some(?:one|body|thing)?|[a-z]+)|"
        r"tell|give|show|list|find|get|remind|explain|describe|summari[sz]e|recap|write|make|create|help|suggest|"
        r"recommend|compare|plan|name|quote|repeat|search|look up|look for|walk me|let me|let's|draft|outline|provide|"
        r"generate|calculate|compute|count|estimate|analy[sz]e|discuss|identify|pick|choose|check|confirm|review|"
        r"translate|propose|design|rewrite|edit|prepare|organi[sz]e|rank|order|sort|advise|recall|remember when|"
        r"i(?:'d| would| want| need|'m looking|'m trying| am looking| am trying| wonder| forgot| can't remember| "
        r"don't remember| can't recall| don't recall)(?: like| to| for)?)\b"
    ),
    "sv": (
        r"(?:(?:och|så|men|eller|ok|okej|också|hej|snälla|nu|då|i|på|för|till|med|från|av|om),? )*"
        r"(?:vad|vem|vems|vilka|vilken|vilket|när|vart|varifrån|hur|varför|huruvida|"
        r"var (?:ligger|bor|är|var|finns|köpte|såg|hade)|"
        r"(?:är|har|hade|kan|kunde|skulle|vill|ska|får|fick|gör|gjorde|sa|sade|minns|vet|finns|fanns|kommer|brukar|"
        r"behöver|borde|måste) (?:jag|du|vi|han|hon|det|den|de|ni|man|min|mitt|mina|vår|vårt|våra|någon|något)|"
        r"berätta|ge|visa|lista|räkna upp|hitta|påminn|förklara|beskriv|sammanfatta|skriv|gör|skapa|hjälp|föreslå|"
        r"rekommendera|jämför|planera|nämn|citera|upprepa|sök|leta|kolla|kontrollera|räkna|översätt|ta fram|"
        r"jag (?:undrar|vill|skulle vilja|behöver|minns inte|kommer inte ihåg|har glömt|letar))\b"
    ),
    "nb": (
        r"(?:(?:og|så|men|eller|ok|også|hei|vennligst|nå|da|i|på|for|til|med|fra|av|om),? )*"
        r"(?:hva|hvem|hvilken|hvilket|hvilke|når|hvor|hvordan|hvorfor|hvorvidt|kva|kven|korleis|kvifor|"
        r"(?:er|har|hadde|kan|kunne|skulle|vil|ville|skal|får|fikk|gjør|gjorde|sa|husker|vet|finnes|fantes|pleier|"
        r"trenger|burde|må|var) (?:jeg|du|vi|han|hun|det|den|de|dere|man|min|mitt|mine|vår|vårt|våre|noen|noe)|"
        r"fortell|gi|vis|list|finn|minn|forklar|beskriv|oppsummer|skriv|lag|hjelp|foreslå|anbefal|sammenlign|"
        r"planlegg|nevn|siter|gjenta|søk|let|sjekk|kontroller|regn|oversett|"
        r"jeg (?:lurer|vil|skulle gjerne|trenger|husker ikke|har glemt|leter))\b"
    ),
    "da": (
        r"(?:(?:og|så|men|eller|ok|også|hej|venligst|nu|da|i|på|for|til|med|fra|af|om),? )*"
        r"(?:hvad|hvem|hvilken|hvilket|hvilke|hvornår|hvor|hvordan|hvorfor|"
        r"(?:er|har|havde|kan|kunne|skulle|vil|ville|skal|får|fik|gør|gjorde|sagde|husker|ved|findes|plejer|"
        r"behøver|burde|må|var) (?:jeg|du|vi|han|hun|det|den|de|i|man|min|mit|mine|vores|nogen|noget)|"
        r"fortæl|giv|vis|find|mind|forklar|beskriv|opsummer|skriv|lav|hjælp|foreslå|anbefal|sammenlign|planlæg|"
        r"nævn|citer|gentag|søg|tjek|"
        r"jeg (?:vil|har brug for|husker ikke|har glemt|leder))\b"
    ),
    "de": (
        r"(?:(?:und|also|aber|oder|ok|auch|hallo|bitte|jetzt|dann|in|an|auf|für|zu|mit|von|über|um),? )*"
        r"(?:wer|wen|wem|wessen|was|welche[rsnm]?|wann|wo|wohin|woher|wie|warum|wieso|weshalb|"
        r"(?:ist|sind|bin|war|waren|hat|hast|habe|haben|hatte|hatten|kann|kannst|könnte|könntest|würde|würdest|wird|"
        r"soll|sollte|darf|muss|gibt|weißt|weisst) (?:ich|du|wir|er|sie|es|ihr|man|mein|meine|unser|unsere|jemand|"
        r"etwas)|"
        r"sag|sage|erzähl|erzähle|gib|zeig|zeige|liste|finde|erinnere|erkläre|beschreibe|fasse|schreib|schreibe|"
        r"mach|erstelle|hilf|empfiehl|vergleiche|plane|nenne|zitiere|wiederhole|suche|prüfe|"
        r"ich (?:möchte|will|brauche|suche|weiß nicht mehr|habe vergessen))\b"
    ),
}
"""Languages without an entry: nothing but a question mark tells."""


@lru_cache(maxsize=1024)
def is_asking(text: str, *, languages: tuple[str, ...]) -> bool:
    """Tell whether a text asks a question or for something to be done, in one of these languages.

    It ends in a question mark, or a clause of it begins as questions and requests do. In a language whose beginnings
    aren't known every text asks.
    """
    if _MARK.search(text) is not None or not any(code in _OPENERS for code in languages):
        return True
    plain = text.replace("\u2019", "'")
    return any(pattern.search(plain) is not None for pattern in _openers(languages))


@cache
def _openers(languages: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    known = (_OPENERS[code] for code in languages if code in _OPENERS)
    return tuple(re.compile(_CLAUSE + openers, re.IGNORECASE) for openers in known)
