"""Phone numbers: international ones by their country code, national ones by how they are grouped or spoken of.

A national number is digits like any other, so it needs the shape of its country's plan, or a word such as "ring" or
"mobile" beside it; a word such as "order" or "invoice" before it counts against it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memory_rag.privacy.bounds import LETTERS, around, before
from memory_rag.privacy.numbers import HYPHEN, SPACE, digits_of
from memory_rag.turns import Span

_SEPARATOR: Final = rf"[{SPACE}{HYPHEN}./]"
_NOT_AFTER_FIGURES: Final = rf"(?<![0-9][.,:/{HYPHEN}+])(?<![0-9]{{3}}[{SPACE}])"
_START: Final = rf"(?<![0-9_{LETTERS}{HYPHEN}]){_NOT_AFTER_FIGURES}"
_END: Final = rf"(?![0-9_{LETTERS}])(?![.,:/{HYPHEN}][0-9])"
_INTERNATIONAL: Final = re.compile(
    rf"(?<![0-9_+{LETTERS}])(?:\+[{SPACE}]{{0,5}}|00[{SPACE}]?)([1-9][0-9]{{0,2}})"
    rf"(?:{_SEPARATOR}?\(0\))?((?:[{SPACE}]?\(?{_SEPARATOR}?[0-9]+\)?){{1,7}}){_END}"
)
_COUNTRIES: Final = re.compile(
    "1|7|20|21[1236]|22[0-9]|23[0-9]|24[0-9]|25[0-8]|26[0-9]|27|29[0179]|3[0-469]|35[0-9]|37[0-8]|38[0-35-79]|"
    "4[013-9]|42[013]|5[1-8]|50[0-9]|59[0-9]|6[0-6]|67[02-9]|68[0-35-9]|69[0-2]|8[1246]|85[02356]|880|886|"
    "9[0-58]|96[0-8]|97[0-7]|99[2-68]"
)
_NORTH_AMERICAN: Final = re.compile(
    rf"(?<![0-9_+{LETTERS}]){_NOT_AFTER_FIGURES}(?:\([2-9][0-9]{{2}}\)[{SPACE}]?|[2-9][0-9]{{2}}([{SPACE}{HYPHEN}.]))"
    rf"[2-9][0-9]{{2}}([{SPACE}{HYPHEN}.])[0-9]{{4}}{_END}"
)
_TRUNK: Final = re.compile(
    rf"(?<![0-9_+{LETTERS}]){_NOT_AFTER_FIGURES}(?:\((0[1-9][0-9]{{0,4}})\)[{SPACE}]?|(0[1-9][0-9]{{0,4}})({_SEPARATOR}))"
    rf"([0-9]{{2,8}}(?:[{SPACE}{HYPHEN}.][0-9]{{2,6}}){{0,4}}){_END}"
)
_TRUNK_WHOLE: Final = re.compile(rf"{_START}0[1-9][0-9]{{7,9}}{_END}")
_MOBILE: Final = re.compile("07[02369][0-9]{7}|07[0-9]{9}|0[67][0-9]{8}|01[567][0-9]{8,9}")
_EIGHT: Final = re.compile(
    rf"{_START}(?:[2-9][0-9]{{7}}|[2-9][0-9]([{SPACE}])[0-9]{{2}}\1[0-9]{{2}}\1[0-9]{{2}}"
    rf"|[2-9][0-9]{{2}}([{SPACE}])[0-9]{{2}}\2[0-9]{{3}}){_END}"
)
_CUE: Final = re.compile(
    r"\b(?:call|phone|phones|dial|tel|tlf|telephone|mobile|cell|sms|sms:?a|text(?: me)?|ring|ringer|ringa|ringde|fax|"
    r"whatsapp|whatsappa|signal|telegram|facetime|telefon\w*|mobil\w*|nås|når (?:meg|mig|du)|nåes|treffes|swish\w*|"
    r"vipps\w*|växel\w*|sentralbord\w*|numret|nummeret|numbers?|nummer|numro|handy|rufnummer|anrufen|ruf|téléphone|"
    r"móvil|teléfono|llama|appelle|number's|slå en signal|reach)\b|\btel\.|电话|手机|電話|전화"
)
_AGAINST: Final = re.compile(
    r"\b(?:order|ordre|orden|beställning|bestilling|bestellung|invoice|faktura|fakturanr|rechnung|receipt|kvitto|"
    r"kvittering|booking|bokning|reference|referens|referanse|ref|case|claim|ticket|ärende|sak|saks|saksnr|"
    r"ocr|isbn|issn|ean|barcode|streckkod|strekkode|serial|serie|art|artikel|vare|varenr|product|item|part|model|"
    r"tracking|parcel|paket|kolli|sändning|sending|konto|kontonr|konto-?n|account|bankgiro|plusgiro|postgiro|clearing|"
    r"org|organisations|vat|mva|moms|licen[cs]e|policy|försäkring|forsikring|member|medlem|medlems|kund|kunde|customer|"
    r"room|sal|rum|møterom|meter|mätar|måler|lot|batch|utm|grid|sweref|coordinates|koordinat\w*|version|build|id)"
    r"(?:s?nummer|s?nr|[\s-]?(?:no|number|num|nr|nummer))?[.:#]?\s*(?:is|är|er|ist)?\s*[#:(]?\s*$"
)
_DATE: Final = re.compile(r"(?:0[1-9]|[12][0-9]|3[01])[^0-9](?:0[1-9]|1[0-2])[^0-9](?:19|20)[0-9]{2}")
_HOURS: Final = re.compile(rf"(?:[01][0-9]|2[0-4])[0-5][0-9]\s?[{HYPHEN}]\s?(?:[01][0-9]|2[0-4])[0-5][0-9]")


def find_phones(text: str, within: Span) -> Iterator[Span]:
    """Yield the phone numbers in a stretch of a text; they may lie over each other."""
    place = (within.start, within.end)
    for found in _INTERNATIONAL.finditer(text, *place):
        number = found[0]
        if number.endswith(")") and number.count(")") == number.count("(") + 1:
            # It closes what was opened before the number.
            number = number[:-1]
        if _is_international(number):
            yield Span(found.start(), found.start() + len(number))
    for found in _NORTH_AMERICAN.finditer(text, *place):
        is_marked = found[1] is None or (found[1] == found[2] and found[1] not in SPACE)
        if (is_marked and not _speaks_against(text, found.start())) or _is_called(text, found):
            yield Span(*found.span())
    for found in _TRUNK.finditer(text, *place):
        if _has_trunk(text, found):
            yield Span(*found.span())
    for found in _TRUNK_WHOLE.finditer(text, *place):
        is_mobile = _MOBILE.fullmatch(found[0]) and not _speaks_against(text, found.start())
        if is_mobile or _is_called(text, found):
            yield Span(*found.span())
    for found in _EIGHT.finditer(text, *place):
        if _is_called(text, found) or (found[2] and not _speaks_against(text, found.start())):
            yield Span(*found.span())


def _is_international(number: str) -> bool:
    digits = digits_of(number).removeprefix("00")
    country = _COUNTRIES.match(digits)
    if country is None or not 8 <= len(digits) <= 15 or number.count("(") != number.count(")"):
        return False
    if digits[0] == "1":
        return len(digits) == 11 and digits[1] in "23456789" and digits[4] in "23456789"
    # A row of figures such as 00 12 34: no country's number is written in single digits.
    return number[:2] != "00" or len(digits) >= 9


def _has_trunk(text: str, found: re.Match[str]) -> bool:
    n_digits = len(digits_of(found[0]))
    if not 8 <= n_digits <= 12 or _DATE.fullmatch(found[0]) or _HOURS.fullmatch(found[0]):
        return False
    if _is_called(text, found):
        return True
    groups = re.split(r"[^0-9]+", found[4])
    is_grouped = len(groups) > 1 or (len(groups[0]) >= 5 and (found[1] or found[3] in HYPHEN + SPACE + "/"))
    all_pairs = {found[3], *re.findall("[^0-9]", found[4])} != {"."} or all(len(group) == 2 for group in groups)
    return n_digits >= 9 and bool(is_grouped) and all_pairs and not _speaks_against(text, found.start())


def _is_called(text: str, found: re.Match[str]) -> bool:
    return _CUE.search(around(text, *found.span())) is not None and not _speaks_against(text, found.start())


def _speaks_against(text: str, start: int) -> bool:
    return _AGAINST.search(before(text, start)) is not None
