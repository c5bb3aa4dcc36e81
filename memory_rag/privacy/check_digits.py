"""Numbers that prove themselves: Luhn, IBAN, the Swedish and the Norwegian national number."""

from __future__ import annotations

from calendar import monthrange
from typing import Final

_FODSELSNUMMER_1: Final = (3, 7, 6, 1, 8, 9, 4, 5, 2, 1)
_FODSELSNUMMER_2: Final = (5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)


def luhn_holds(digits: str) -> bool:
    """Tell whether the last digit is the check digit of the others (ISO/IEC 7812-1, annex B)."""
    doubled = [int(digit) * 2 for digit in digits[-2::-2]]
    return (sum(int(digit) for digit in digits[::-2]) + sum(n - 9 if n > 9 else n for n in doubled)) % 10 == 0


def ean_holds(digits: str) -> bool:
    """Tell whether 13 digits are a barcode's or an ISBN's (GS1: weights 1 and 3 in turn)."""
    return sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits)) % 10 == 0


def iban_holds(iban: str) -> bool:
    """Tell whether an IBAN without spaces, in capitals, has its check digits (ISO 13616: remainder 1 of 97)."""
    moved = iban[4:] + iban[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def personnummer_holds(digits: str, *, is_hundred: bool = False) -> bool:
    """Tell whether 10 or 12 digits are a Swedish personnummer or samordningsnummer (its day is 60 more).

    ``is_hundred``: it is written with a plus, for somebody in the year of the hundredth birthday or later.
    """
    short = digits[-10:]
    month, day = int(short[2:4]), int(short[4:6])
    day -= 60 if day > 60 else 0
    if len(digits) == 12:
        years = [int(digits[:4])]
        if not 1840 <= years[0] <= 2099:
            return False
    else:
        years = [int(short[:2]) + century for century in ((1800, 1900) if is_hundred else (1900, 2000))]
    return any(_is_day(year, month, day) for year in years) and luhn_holds(short)


def fodselsnummer_holds(digits: str) -> bool:
    """Tell whether 11 digits are a Norwegian fødselsnummer or D-nummer (its day is 40 more).

    Those made for tests have a month that is 40, 65 or 80 more. The century follows from the three digits after the
    date (Skatteetaten, "Fødselsnummer").
    """
    day, month, year, individual = int(digits[:2]), int(digits[2:4]), int(digits[4:6]), int(digits[6:9])
    day -= 40 if day > 40 else 0
    month -= next((more for more in (80, 65, 40) if more < month <= more + 12), 0)
    years = [1900 + year] if individual < 500 else []
    if 500 <= individual < 750 and year >= 54:
        years.append(1800 + year)
    if individual >= 500 and year < 40:
        years.append(2000 + year)
    if individual >= 900 and year >= 40:
        years.append(1900 + year)
    if not any(_is_day(one, month, day) for one in years):
        return False
    numbers = [int(digit) for digit in digits]
    return all(
        sum(weight * number for weight, number in zip(weights, numbers, strict=False)) % 11 == 0
        for weights in (_FODSELSNUMMER_1, _FODSELSNUMMER_2)
    )


def _is_day(year: int, month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]
