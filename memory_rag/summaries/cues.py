"""The words by which a sentence tells a decision, a preference, a fact, an open question or something to do.

Narrow on purpose: what is called a decision here has to be kept, so a cue that finds half of all sentences would be
worse than one that misses some. In languages without cues, sentences are chosen by what they are about alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from memory_rag.summaries.summary import Kind
from memory_rag.text.wishes import states_wish

_CUES: Final[Mapping[str, Mapping[Kind, str]]] = {
    "en": {
        Kind.DECISION: (
            r"\b(?:we|i|i've|we've|we have|i have) (?:also |now |just |finally |already )?"
            r"(?:decided|agreed|settled on|chose|chosen|went with|opted)\b"
            r"|\b(?:we'll|i'll|we will|i will) (?:go with|go for|stick (?:with|to)|switch to|settle on)\b"
            r"|\blet's (?:go with|go for|use|stick (?:with|to)|switch to|settle on)\b"
            r"|\b(?:i'm|we're|i am|we are) (?:going|sticking|switching) (?:with|to use)\b"
            r"|\b(?:my|our|the) (?:final )?(?:decision|choice) (?:is|was)\b|\bmade up (?:my|our) minds?\b"
        ),
        Kind.PREFERENCE: (
            r"\bmy (?:\w+ )?favou?rite\b|\bi(?: really)? (?:hate|dislike|detest|can't stand|cannot stand)\b"
            r"|\bi'm allergic\b|\bi am allergic\b|\bi(?:'m| am) (?:a )?(?:vegan|vegetarian)\b"
            r"|\bi don't (?:eat|drink|want you to|like it when)\b|\bi like \w+(?: \w+)? (?:more|better|best)\b"
            r"|\bplease (?:don't|do not|use|avoid|keep)\b"
        ),
        Kind.FACT: (
            r"\bmy name(?:'s| is)\b|\bi(?:'m| am) called\b|\bi live in\b|\bi(?:'m| am) from\b|\bi was born\b"
            r"|\bi work (?:as|at|for|in)\b|\bi(?:'m| am) (?:a|an) \w+|\bi(?:'m| am) \d+\b"
            r"|\bmy (?:wife|husband|partner|son|daughter|mother|father|mom|dad|brother|sister|dog|cat|boss|birthday|"
            r"address|phone number|email)(?:'s)? (?:is|are|was|works|lives)\b"
        ),
        Kind.QUESTION: (
            r"\b(?:not|isn't|aren't) (?:yet )?(?:sure|certain|clear) (?:if|whether|which|how|when|what|about)\b"
            r"|\b(?:haven't|hasn't|have not|not yet) (?:yet )?(?:decided|figured out|settled)\b"
            r"|\bstill (?:undecided|unclear|an open question|to be decided)\b|\bto be decided\b|\bopen question\b"
        ),
        Kind.TODO: (
            r"\b(?:i|we) (?:still |really |also )?(?:need|have|ought) to\b|\b(?:i|we) must\b|\bremind me\b"
            r"|\bto-?do\b|\bdon't (?:let me )?forget\b|\bremember to\b|\bnext steps?\b|\bdeadline\b|\bdue (?:on|by)\b"
        ),
    },
    "sv": {
        Kind.DECISION: (
            r"\b(?:vi|jag)(?: har)? (?:nu |också |till slut |äntligen |redan )?"
            r"(?:bestämt|bestämde|beslutat|beslutade|kommit överens|kom överens|enats|enades|valt|valde|fastnat för|"
            r"fastnade för)\b"
            r"|\b(?:bestämt|bestämde) (?:mig|oss)\b|\b(?:vi|jag) (?:kör|går|satsar) på\b|\bvi (?:kör|säger|tar) \d"
            r"|\bdå (?:kör|tar|väljer|säger|bestämmer) (?:vi|jag)\b|\b(?:vi|jag) väljer\b|\bbeslutet (?:är|blev)\b"
            r"|\bdet får bli\b|\bvi håller oss till\b"
        ),
        Kind.PREFERENCE: (
            r"\bmin(?:a)? (?:\w+ )?favorit\w*|\bfavorit\w* är\b"
            r"|\bjag (?:verkligen )?(?:hatar|avskyr|ogillar|tål inte)\b|\bjag är allergisk\b"
            r"|\bjag är (?:vegan|vegetarian)\b|\bjag (?:äter|dricker) (?:inte|aldrig)\b"
            r"|\bjag tycker (?:inte|bättre) om\b"
            r"|\bvar snäll och\b|\bsnälla (?:använd|skriv|undvik|svara)\b"
        ),
        Kind.FACT: (
            r"\bjag heter\b|\bmitt namn är\b|\bjag bor (?:i|på)\b|\bjag kommer från\b|\bjag är född\b"
            r"|\bjag (?:jobbar|arbetar) (?:som|på|med|i)\b|\bjag är \d+ år\b|\bjag fyller\b"
            r"|\bmin (?:fru|man|sambo|son|dotter|mamma|pappa|bror|syster|hund|katt|chef|adress) "
            r"(?:heter|är|bor|jobbar)\b"
        ),
        Kind.QUESTION: (
            r"\binte (?:riktigt )?säker på (?:om|vilken|vilket|hur|när)\b|\bvet inte (?:om|vilken|vilket|hur|när)\b"
            r"|\binte (?:bestämt|bestämt oss|bestämt mig) (?:än|om|vilken)\b|\böppen fråga\b|\båterstår att\b"
        ),
        Kind.TODO: (
            r"\b(?:jag|vi) (?:måste|behöver|borde)\b|\b(?:måste|behöver) (?:jag|vi)\b|\bpåminn mig\b|\bglöm inte\b"
            r"|\bkom ihåg att\b|\bnästa steg\b|\bdeadline\b|\bsenast (?:den|på|i)\b"
        ),
    },
    "nb": {
        Kind.DECISION: (
            r"\b(?:vi|jeg|eg)(?: har)? (?:nå |også |til slutt |endelig |allerede )?"
            r"(?:bestemt|bestemte|vedtatt|vedtok|blitt enige|ble enige|valgt|valgte|falt på|landet på|landa på)\b"
            r"|\b(?:bestemt|bestemte) (?:meg|oss)\b|\b(?:vi|jeg) (?:går for|satser på|kjører på|kjører med)\b"
            r"|\bvi (?:kjører|sier|tar) \d|\bda (?:kjører|tar|velger|sier|bestemmer) (?:vi|jeg)\b"
            r"|\b(?:vi|jeg) velger\b|\b(?:avgjørelsen|beslutningen) (?:er|ble)\b|\bdet får bli\b|\bvi holder oss til\b"
        ),
        Kind.PREFERENCE: (
            r"\bfavoritt\w*(?: \w+)? (?:min|mitt|mine|er)\b|\bmin favoritt\w*"
            r"|\bjeg (?:virkelig )?(?:hater|avskyr|misliker|tåler ikke)\b|\bjeg er allergisk\b"
            r"|\bjeg er (?:veganer|vegetarianer)\b|\bjeg (?:spiser|drikker) (?:ikke|aldri)\b"
            r"|\bjeg liker (?:ikke|bedre|best)\b"
            r"|\bvær så snill (?:å|og)\b"
        ),
        Kind.FACT: (
            r"\b(?:jeg heter|eg heiter)\b|\bnavnet mitt er\b|\bjeg bor (?:i|på)\b|\bjeg kommer fra\b|\bjeg er født\b"
            r"|\bjeg (?:jobber|arbeider) (?:som|på|med|i|hos)\b|\bjeg er \d+ år\b|\bjeg fyller\b"
            r"|\b(?:kona|mannen|samboeren|sønnen|datteren|moren|mora|faren|broren|søsteren|hunden|katten|sjefen) "
            r"(?:min|mi) (?:heter|er|bor|jobber)\b"
        ),
        Kind.QUESTION: (
            r"\bikke (?:helt )?sikker på (?:om|hvilken|hvilket|hvordan|når)\b"
            r"|\bvet ikke (?:om|hvilken|hvilket|hvordan|når)\b|\bikke bestemt (?:oss|meg|ennå|enda)\b"
            r"|\båpent spørsmål\b|\bgjenstår å\b"
        ),
        Kind.TODO: (
            r"\b(?:jeg|vi) (?:må|trenger å|bør)\b|\b(?:må|bør) (?:jeg|vi)\b|\bminn meg på\b|\bikke glem\b|\bhusk å\b"
            r"|\bneste steg\b|\bfristen?\b|\binnen (?:den|fredag|mandag|uka|utgangen)\b"
        ),
    },
}
_ORDER: Final = (Kind.DECISION, Kind.PREFERENCE, Kind.QUESTION, Kind.FACT, Kind.TODO)
_BECAUSE: Final[Mapping[str, str]] = {
    "en": r"\b(?:because|since|so that|due to|the reason (?:is|was|being)(?: that)?|as it's|as it is)\b",
    "sv": r"\b(?:eftersom|därför att|för att|på grund av|så att|anledningen är(?: att)?|skälet är(?: att)?)\b",
    "nb": r"\b(?:fordi|siden|for at|på grunn av|slik at|grunnen er(?: at)?|årsaken er(?: at)?)\b",
}


def kind_of(sentence: str, *, language: str) -> Kind:
    """Return what a sentence tells by its cues; ``POINT`` when none of them is there."""
    patterns = _patterns(language)
    if not patterns:
        return Kind.POINT
    plain = sentence.replace("\u2019", "'")
    for kind in _ORDER:
        if patterns[kind].search(plain) is not None:
            return kind if kind is not Kind.DECISION or not plain.rstrip().endswith("?") else Kind.POINT
        if kind is Kind.PREFERENCE and states_wish(plain, language=language):
            return kind
    return Kind.POINT


def reason_in(sentence: str, *, language: str) -> str:
    """Return the part of a sentence that says why, with its "because"; empty if none does."""
    pattern = _because(language)
    found = None if pattern is None else pattern.search(sentence)
    return "" if found is None else sentence[found.start() :].rstrip(" .!")


def begins_with_reason(sentence: str, *, language: str) -> bool:
    """Tell whether a sentence goes on from the one before with why ("Because …", "The reason is that …")."""
    pattern = _because(language)
    return pattern is not None and pattern.match(sentence) is not None


@cache
def _patterns(language: str) -> Mapping[Kind, re.Pattern[str]]:
    return {kind: re.compile(words, re.IGNORECASE) for kind, words in _CUES.get(language, {}).items()}


@cache
def _because(language: str) -> re.Pattern[str] | None:
    words = _BECAUSE.get(language)
    return None if words is None else re.compile(words, re.IGNORECASE)
