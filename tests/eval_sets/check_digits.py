"""Check digits of cards, bank accounts and national ids, as a reference to hold detectors against."""

from __future__ import annotations

from datetime import date


def digits_of(text: str) -> str:
    """Return the digits of a text, in order."""
    return "".join(sign for sign in text if sign.isdecimal())


def luhn_holds(text: str) -> bool:
    """Tell whether a text's digits pass the Luhn check (ISO/IEC 7812-1, annex B)."""
    total = 0
    for place, sign in enumerate(reversed(digits_of(text))):
        doubled = int(sign) * (1 + place % 2)
        total += doubled // 10 + doubled % 10
    return total % 10 == 0


def iban_holds(text: str) -> bool:
    """Tell whether an IBAN's check digits are right (ISO 13616: 97-10)."""
    packed = "".join(text.split()).upper()
    moved = packed[4:] + packed[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def fodselsnummer_holds(text: str) -> bool:
    """Tell whether eleven digits have both check digits of a Norwegian id, and a date once 40 or 80 are taken off."""
    signs = [int(sign) for sign in digits_of(text)]
    if len(signs) != 11:
        return False
    first = -sum(a * b for a, b in zip(signs[:9], (3, 7, 6, 1, 8, 9, 4, 5, 2), strict=True)) % 11
    second = -sum(a * b for a, b in zip(signs[:10], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2), strict=True)) % 11
    day, month, year = (int(digits_of(text)[place : place + 2]) for place in (0, 2, 4))
    day -= 40 if day > 40 else 0
    month -= 80 if month > 80 else 0
    return [first, second] == signs[9:] and _is_date(2000 + year, month, day)


def personnummer_holds(text: str) -> bool:
    """Tell whether ten or twelve digits are a Swedish id: the Luhn check, and a date once 60 is taken off the day."""
    signs = digits_of(text)
    if len(signs) not in (10, 12):
        return False
    year, month, day = int(signs[-10:-8]), int(signs[-8:-6]), int(signs[-6:-4])
    return luhn_holds(signs[-10:]) and _is_date(2000 + year, month, day - 60 if day > 60 else day)


def _is_date(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
