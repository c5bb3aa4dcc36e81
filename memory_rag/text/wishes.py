"""Lasting wishes ("Always answer in Swedish", "I prefer trains"), and the questions that they matter to.

A wish names nothing of the question that it should shape, so no word and no vector finds it. It matters to what is
asked for now; a question about what was said or done is about its own turns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

# Spaces but no line break, taken possessively: a line break begins a sentence itself, so a long run is read once.
_START: Final = r"(?:\A|[.!?\n])[^\S\n]*+"

# "Never mind", "Never again", "Never heard of it", "Always a pleasure" ask for nothing.
_EN_NO_COMMAND: Final = (
    r"mind|again|once|ever|an?|i|so|too|been|had|have i|heard|seen|thought|knew|felt|got|went|was|were|did|"
    r"(?!(?:need|feed|speed|embed|shed|shred|proceed|exceed|succeed)\b)\w+ed"
)
_SV_COMMANDS: Final = (
    "använd|svara|skriv|ge|visa|gör|ta|börja|sluta|avsluta|inkludera|ange|tala|prata|förklara|hänvisa|räkna|översätt|"
    "formatera|citera|lista|presentera|sammanfatta|håll|undvik|föreslå|rekommendera|fråga|påminn|kontrollera|"
    "dubbelkolla|kolla|tänk|utgå|lägg|sätt|skicka|låt|välj|kalla|säg|nämn|lämna|testa|följ|beskriv|motivera|anta|ha|"
    "var|glöm|boka|berätta|hjälp|upprepa|bifoga|markera|strukturera|prioritera|anpassa|bekräfta|spara|byt|dela|stöd|"
    "leta|sök|läs|kör|köp|planera|ställ|håll dig|kom ihåg att|se till att"
)
_NB_COMMANDS: Final = (
    "bruk|svar|skriv|gi|vis|gjør|ta|begynn|start|slutt|avslutt|inkluder|oppgi|snakk|prat|forklar|henvis|regn|oversett|"
    "formater|siter|list|presenter|oppsummer|hold|unngå|foreslå|anbefal|spør|minn|sjekk|dobbeltsjekk|kontroller|tenk|"
    "legg|sett|send|la|velg|kall|si|nevn|test|følg|beskriv|begrunn|ha|vær|glem|bestill|fortell|hjelp|gjenta|vedlegg|"
    "marker|strukturer|prioriter|tilpass|bekreft|lagre|bytt|del|let|søk|les|kjør|kjøp|planlegg|still|husk å|pass på å"
)
_WISHES: Final[Mapping[str, str]] = {
    "en": (
        rf"{_START}(?:please )?(?:always|never)\b(?!,? (?:{_EN_NO_COMMAND})\b)"
        r"|\bi(?:'d| would)?(?: really| also| usually| generally| always)? prefer\b"
    ),
    # Here the adverb stands after the command; first in a sentence it tells of habits ("Aldrig har jag …").
    "sv": (
        rf"{_START}(?:snälla,? |vänligen )?(?:(?:{_SV_COMMANDS})(?: (?:mig|mej|oss|det|den|dem|dom))? (?:alltid|aldrig)"
        rf"|(?:alltid|aldrig) (?:{_SV_COMMANDS}|använda|skriva|ge|göra))\b"
        r"|\bjag (?:skulle |brukar )?(?:verkligen |också |oftast |alltid |helst |hellre )?föredrar?\b|\bföredrar jag\b"
        r"|\bjag \w+ (?:verkligen |också |alltid |oftast )?helst\b|\bvill jag helst\b"
        r"|\b(?:jag vill|jag önskar|vill jag|jag ser helst|jag skulle vilja)(?: att du(?: ska)?)? (?:alltid|aldrig)\b"
    ),
    "nb": (
        rf"{_START}(?:vær så snill,? |vennligst )?(?:(?:{_NB_COMMANDS})(?: (?:meg|oss|det|den|dem))? (?:alltid|aldri)"
        rf"|(?:alltid|aldri) (?:{_NB_COMMANDS}|bruke|svare|skrive|gjøre))\b|\bvær så snill (?:å|og) (?:alltid|aldri)\b"
        r"|\bj?eg (?:vil |ville |pleier å )?(?:virkelig |også |oftest |alltid |helst |heller )?"
        r"(?:foretrekke[rt]?|foretrukket|føretrekk[er]*)\b|\bforetrekker jeg\b"
        r"|\bj?eg \w+ (?:virkelig |også |alltid |oftest )?helst\b|\bvil jeg helst\b"
        r"|\b(?:jeg vil|jeg ønsker|vil jeg|jeg ser helst|jeg vil gjerne)(?: at du(?: skal)?| ha)? (?:alltid|aldri)\b"
    ),
}

_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "en": ("always", "never", "prefer"),
    "sv": ("alltid", "aldrig", "föredra", "helst"),
    "nb": ("alltid", "aldri", "foretr", "føretrekk", "helst"),
}
"""Each wish has one of these; most turns have none, and are done at a thirtieth of the cost."""

_SV_HAVE: Final = r"(?:någonsin |redan |också |inte |aldrig |tidigare |nyligen )?"
_SV_NO_SUPINE: Final = (
    r"ett|något|inget|mycket|annat|mest|rätt|gott|ont|svårt|lätt|kort|stort|fritt|fullt|lust|mitt|ditt|vårt|\w+het"
)
_SV_STRONG: Final = "fick|gick|såg|åt|blev|kom|gav|skrev|drack|sov|stod|låg|höll|hette|lät|fann|drog|bar|valde|la|tog"
_NB_HAVE: Final = r"(?:noen gang |allerede |også |ikke |aldri |tidligere |nylig )?"
_NB_STRONG: Final = "fikk|gikk|kom|ga|gav|skrev|drakk|sov|sto|stod|lå|holdt|het|lot|fant|dro|bar|la|tok|traff|valgte"
_NB_NO_PAST: Final = (
    "burde|både|lite|ofte|siste|første|beste|neste|eneste|fleste|meste|verste|største|viktigste|vanligste"
)
_NB_NO_PARTICIPLE: Final = (
    r"et|litt|annet|mest|best|rett|vondt|lett|godt|kort|stort|fritt|fullt|lyst|mitt|ditt|vårt|\w+het"
)
_PAST: Final[Mapping[str, str]] = {
    "en": (
        r"\b(?:(?:did|had|was|were)(?:n't)?|said|told|mentioned|discussed|brought up|so far|have (?:i|we|you)|i've|"
        r"do i have|i have(?! (?:an?|to|no|some|trouble)\b)|"
        r"(?:our|my|the) (?:conversation|chat|session|message)s?)\b"
    ),
    # "Var" is also "where", "har" also "has got", and every verb has a past of its own: so the words around decide.
    "sv": (
        r"\b(?:sa|sade|sagt|hade|nämnde|nämnt|berättade|berättat|diskuterade|diskuterat|pratade|pratat|talade|frågade|"
        r"gjorde|hände|bestämde|tog upp|tagit upp|hittills"
        r"|(?:vad|vem|när|hur|det|som|jag|vi|du|hon|han|den|vilk(?:a|en|et)(?: \w+)?|hur \w+|var) var"
        r"|var det (?:jag|vi|du|som|han|hon)"
        r"|(?!borde |måste |kunde |inte |både |lite )\w+(?:de|te) (?:jag|vi|du|han|hon|de|den|det)"
        rf"|(?:{_SV_STRONG}) (?:jag|vi|du|han|hon|de)"
        r"|(?:vad|när|hur|var|vem|vilk(?:a|en|et)(?: \w+)?) (?:jag|vi|du) (?!borde |måste |kunde |inte |både )"
        rf"(?:\w+(?:de|te)|{_SV_STRONG})"
        rf"|(?:har (?:jag|vi|du)|(?:jag|vi|du) har) {_SV_HAVE}(?!(?:{_SV_NO_SUPINE})\b)\w+t"
        r"|(?:våra?|vårt|mina?|mitt|dessa|alla)(?: tidigare| senaste)? "
        r"(?:samtal|konversation(?:er)?|chatt(?:ar)?|meddelanden?|diskussion(?:er)?)"
        r"|(?:samtal|konversation|chatt|meddelande|diskussion)(?:erna|arna|en|et|na))\b"
    ),
    "nb": (
        r"\b(?:sa|sagt|hadde|nevnte|nevnt|fortalte|fortalt|diskuterte|diskutert|snakket|snakka|pratet|prata|spurte|"
        r"gjorde|skjedde|bestemte|tok opp|tatt opp|så langt|hittil|var|ble"
        rf"|(?!(?:{_NB_NO_PAST}) )\w+(?:de|te) (?:jeg|eg|vi|du|han|hun|de|den|det)"
        r"|(?:hva|hvem|hvor|når|hvordan|hvorfor|hvilke[nt]? \w+) (?!vet |het )\w+et (?:jeg|vi|du|han|hun|de)"
        rf"|(?:{_NB_STRONG}) (?:jeg|eg|vi|du|han|hun)"
        rf"|(?:hva|når|hvor|hvem|hvordan|hvilke[nt]?(?: \w+)?) (?:jeg|vi|du) (?!(?:{_NB_NO_PAST}|kunne|vet|ikke) )"
        rf"(?:\w+(?:de|te|et)|{_NB_STRONG})"
        rf"|(?:har (?:jeg|eg|vi|du)|(?:jeg|eg|vi|du) har) {_NB_HAVE}(?!(?:{_NB_NO_PARTICIPLE})\b)\w+(?:t|dd)"
        r"|(?:våre?|vårt|mine?|mitt|disse|alle)(?: tidligere| siste)? "
        r"(?:samtaler?|chatt?er|chat|meldinger|diskusjoner)"
        r"|(?:samtale|chat|chatt|melding|diskusjon)(?:ene|en|ne|n))\b"
    ),
}


def states_wish(text: str, *, language: str) -> bool:
    """Tell whether a turn states a lasting wish; narrow on purpose, since "I like" and "I want" find too much."""
    pattern = _wish(language)
    if pattern is None:
        return False
    lowered = text.lower()
    return any(word in lowered for word in _NEEDED[language]) and pattern.search(_plain(text)) is not None


def asks_of_the_past(text: str, *, language: str) -> bool:
    """Tell whether a question asks what was said or done; a request for advice or help now doesn't."""
    pattern = _past(language)
    return pattern is not None and pattern.search(_plain(text)) is not None


@cache
def _wish(language: str) -> re.Pattern[str] | None:
    return _compiled(_WISHES.get(language))


@cache
def _past(language: str) -> re.Pattern[str] | None:
    return _compiled(_PAST.get(language))


def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    return None if pattern is None else re.compile(pattern, re.IGNORECASE)


def _plain(text: str) -> str:
    return text.replace("\u2019", "'")
