"""Numbers of cards, accounts and people: found by their shape, believed for their check digits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memory_rag.privacy.bounds import LETTERS, around, before, begins_at, ends_at
from memory_rag.privacy.check_digits import ean_holds, fodselsnummer_holds, iban_holds, luhn_holds, personnummer_holds
from memory_rag.turns import Span

SPACE: Final = " \u00a0\u2007\u2009\u202f"
HYPHEN: Final = "\\-\u2010\u2011\u2013\u2212"
"""For a character class, as SPACE is."""
_START: Final = rf"(?<![0-9_{LETTERS}])(?<![0-9][.,/{HYPHEN}])"
_END: Final = rf"(?![0-9_{LETTERS}])(?![.,/{HYPHEN}][0-9])"

_CARD: Final = re.compile(
    rf"{_START}(?:[0-9]{{13,19}}"
    rf"|[0-9]{{4}}([{SPACE}{HYPHEN}])[0-9]{{4}}\1[0-9]{{4}}\1[0-9]{{1,7}}(?:\1[0-9]{{1,3}})?"
    rf"|[0-9]{{4}}([{SPACE}{HYPHEN}])[0-9]{{6}}\2[0-9]{{4,5}}"
    rf"|[0-9]{{6}}[{SPACE}{HYPHEN}][0-9]{{10,13}}){_END}"
)
# ISO/IEC 7812 prefixes, and how many digits the networks give to them.
_NETWORKS: Final = (
    (re.compile("4"), (13, 16, 19)),
    (re.compile("5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), (16,)),
    (re.compile("3[47]"), (15,)),
    (re.compile("30[0-5]|309|3[689]"), (14, 15, 16, 17, 18, 19)),
    (re.compile("6011|64[4-9]|65"), (16, 17, 18, 19)),
    (re.compile("35(?:2[89]|[3-8])"), (16, 17, 18, 19)),
    (re.compile("62|81"), (16, 17, 18, 19)),
    (re.compile("50|5[6-8]|6304|6390|67"), (16, 18, 19)),
)

_TWO_DIGITS: Final = re.compile(rf"[0-9][0-9](?=[{SPACE}{HYPHEN}]?[A-Za-z0-9])")
_IBAN: Final = re.compile(rf"[A-Za-z]{{2}}[0-9]{{2}}(?:[{SPACE}{HYPHEN}]?[A-Za-z0-9]){{11,30}}")
# How long an account number is by its country (SWIFT's IBAN registry).
_IBAN_LENGTHS: Final = {
    pair[:2]: int(pair[2:])
    for pair in [
        "AD24",
        "AE23",
        "AL28",
        "AT20",
        "AZ28",
        "BA20",
        "BE16",
        "BG22",
        "BH22",
        "BI27",
        "BR29",
        "BY28",
        "CH21",
        "CR22",
        "CY28",
        "CZ24",
        "DE22",
        "DJ27",
        "DK18",
        "DO28",
        "EE20",
        "EG29",
        "ES24",
        "FI18",
        "FK18",
        "FO18",
        "FR27",
        "GB22",
        "GE22",
        "GI23",
        "GL18",
        "GR27",
        "GT28",
        "HN28",
        "HR21",
        "HU28",
        "IE22",
        "IL23",
        "IQ23",
        "IS26",
        "IT27",
        "JO30",
        "KW30",
        "KZ20",
        "LB28",
        "LC32",
        "LI21",
        "LT20",
        "LU20",
        "LV21",
        "LY25",
        "MC27",
        "MD24",
        "ME22",
        "MK19",
        "MN20",
        "MR27",
        "MT31",
        "MU30",
        "NI28",
        "NL18",
        "NO15",
        "OM23",
        "PK24",
        "PL28",
        "PS29",
        "PT25",
        "QA29",
        "RO24",
        "RS22",
        "RU33",
        "SA24",
        "SC31",
        "SD18",
        "SE24",
        "SI19",
        "SK24",
        "SM27",
        "SO23",
        "ST25",
        "SV28",
        "TL23",
        "TN24",
        "TR26",
        "UA29",
        "VA22",
        "VG24",
        "XK20",
        "YE30",
    ]
}

_PERSON: Final = re.compile(rf"{_START}([0-9]{{8}}|[0-9]{{6}})([+{HYPHEN}{SPACE}]?)([0-9]{{4}}){_END}")
_CUE: Final = re.compile(
    r"person(?:nummer|nr|\.?\s?nr|al\s+(?:identity\s+)?n)|\bpnr\b|\bp-?nr\b|samordn|fødsels|födelsen|"
    r"identitets|\bid-?n(?:ummer|r)\b|social security"
)
_PHONE_LIKE: Final = re.compile("0[0-9]{9}")
# Seconds since 1970 of 2017 to 2030: their first six digits are often a day.
_CLOCK_LIKE: Final = re.compile("1[5-9][0-9]{8}")
_MINUTE_LIKE: Final = re.compile("20[0-9]{6}(?:[01][0-9]|2[0-3])[0-5][0-9]")
_FODSELSNUMMER: Final = re.compile(rf"{_START}[0-9]{{6}}[{SPACE}{HYPHEN}]?[0-9]{{5}}{_END}")


_UUID: Final = re.compile("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_LENGTH_OF_UUID: Final = 36
_NEAR: Final = 100
# What a chat writes before the number of somebody, of a channel, a picture or a message.
_OF_A_CHAT: Final = re.compile(
    r"(?:<(?:@[!&]?|#|a?:\w{1,40}:)|/(?:status|statuses|channels|messages)/(?:[0-9]{15,20}/)*)\Z"
)


def find_cards(text: str, within: Span) -> Iterator[Span]:
    """Yield the card numbers in a stretch of a text: a network's prefix, its length, the check digit."""
    for found in _CARD.finditer(text, within.start, within.end):
        digits = digits_of(found[0])
        if not luhn_holds(digits) or (len(digits) == 13 and ean_holds(digits)):
            continue
        if found[0] == digits and _OF_A_CHAT.search(text, max(0, found.start() - _NEAR), found.start()):
            continue
        if any(len(digits) in lengths and prefix.match(digits) for prefix, lengths in _NETWORKS):
            yield Span(*found.span())


def find_ibans(text: str) -> Iterator[Span]:
    """Yield the account numbers in a text: the country's length, and both check digits."""
    done = 0
    for digits in _TWO_DIGITS.finditer(text):
        start = digits.start() - 2
        length = _IBAN_LENGTHS.get(text[max(0, start) : start + 2].upper())
        if length is None or start < done or not begins_at(text, start):
            continue
        found = _IBAN.match(text, start)
        end = None if found is None else _end_of(text, Span(*found.span()), length)
        if end is None or not ends_at(text, end) or _is_in_uuid(text, start):
            continue
        if iban_holds("".join(sign for sign in text[start:end].upper() if sign.isalnum())):
            done = end
            yield Span(start, end)


def _is_in_uuid(text: str, place: int) -> bool:
    near = _UUID.finditer(text, max(0, place - _LENGTH_OF_UUID), place + _LENGTH_OF_UUID)
    return any(found.start() <= place < found.end() for found in near)


def find_personnummer(text: str, within: Span) -> Iterator[Span]:
    """Yield the Swedish national numbers in a stretch of a text.

    Ten digits in one that are a phone number or a clock's seconds as well count only where the words say so.
    """
    for found in _PERSON.finditer(text, within.start, within.end):
        date, sign, last = found.groups()
        if sign == "+" and len(date) == 8:
            continue
        digits = date + last
        if not personnummer_holds(digits, is_hundred=sign == "+"):
            continue
        doubtful = any(shape.fullmatch(digits) for shape in (_PHONE_LIKE, _CLOCK_LIKE, _MINUTE_LIKE))
        if doubtful and (not sign or sign in SPACE) and not _CUE.search(before(text, found.start())):
            continue
        yield Span(*found.span())


def find_fodselsnummer(text: str, within: Span) -> Iterator[Span]:
    """Yield the Norwegian national numbers in a stretch of a text."""
    for found in _FODSELSNUMMER.finditer(text, within.start, within.end):
        if fodselsnummer_holds(digits_of(found[0])):
            yield Span(*found.span())


def digits_of(text: str) -> str:
    """Return the digits of a number as it is written."""
    return "".join(sign for sign in text if "0" <= sign <= "9")


def is_called_person(text: str, span: Span) -> bool:
    """Tell whether the words beside a number call it a national number."""
    return _CUE.search(around(text, span.start, span.end)) is not None


def _end_of(text: str, within: Span, n_signs: int) -> int | None:
    """Return where the first so many letters and digits of a stretch end; None if it has fewer."""
    for place in range(within.start, within.end):
        n_signs -= text[place].isalnum()
        if n_signs == 0:
            return place + 1
    return None
