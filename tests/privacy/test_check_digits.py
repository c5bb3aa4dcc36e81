"""Check digits and dates: the authorities' printed examples hold, and a slip in any one digit is noticed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory_rag.privacy.check_digits import (
    ean_holds,
    fodselsnummer_holds,
    iban_holds,
    luhn_holds,
    personnummer_holds,
)


@pytest.mark.parametrize(("holds", "number"), [
    (luhn_holds, "4111111111111111"), (luhn_holds, "378282246310005"), (personnummer_holds, "6408233234"),
    (personnummer_holds, "7010632391"), (personnummer_holds, "196301842396"), (fodselsnummer_holds, "01029413157"),
    (fodselsnummer_holds, "27919144713"), (iban_holds, "SE4550000000058398257466"), (iban_holds, "NO9386011117947"),
    (ean_holds, "9780306406157"),
])  # fmt: skip
def test_a_published_number_holds_and_one_wrong_digit_breaks_it(holds: Callable[[str], bool], number: str) -> None:
    assert holds(number)
    for place in (place for place, sign in enumerate(number) if sign.isdigit() and place > 7):
        assert not holds(f"{number[:place]}{(int(number[place]) + 1) % 10}{number[place + 1 :]}"), place


def test_a_plus_means_a_hundred_years_and_the_leap_day_is_of_that_century() -> None:
    # 29 February: there was one in 1904 and in 2000, none in 1900.
    leap = [f"000229{n:03}" for n in range(1000)]
    valid = {digits + str(c) for digits in leap for c in range(10) if personnummer_holds(digits + str(c))}

    assert valid
    assert not any(personnummer_holds(number, is_hundred=True) for number in valid)


def test_a_test_number_of_norway_has_its_month_moved() -> None:
    assert not fodselsnummer_holds("32029413157")
    assert not fodselsnummer_holds("00000000000")
