"""No text, however long and however it is made, takes more than time in proportion to its length."""

from __future__ import annotations

import pytest

from memory_rag.privacy.screening import Screening
from memory_rag.settings import Settings
from memory_rag.turns import Role, Turn
from tests.linear import grows_with_its_length

UNITS = [
    *("1", "1 ", "12-", "+46 ", "00", "070-174 06 07 ", "4111 1111 1111 1111 ", "NO93 8601 ", "AB12 ", "١", "４"),
    *(
        "@",
        "a@",
        "a@b.",
        "a@b.c@",
        "://a:",
        "password is ",
        "password=",
        "pass",
        "lösenordet är ",
        "密码",
        "İpassword ",
    ),
    *("password: 'a", "login med ", "mysql x ", " -u a:", "token: ", "key=Aa1", "sk-", "eyJ", "eyJaaaa.", "xoxb-a"),
    *("-" * 5 + "BEGIN PRIVATE KEY" + "-" * 5, ":AA", "Aa1_", "\\", '"', '{"a":"', "(", "[redacted: "),
    "a@example.com 4111 1111 1111 1111 password: Abc12345x ",
]


def screened(text: str) -> None:
    Screening.of_settings(Settings(secrets="all=redact")).turn(Turn("", "c", "s", 0, Role.USER, "user", text))


@pytest.mark.parametrize("unit", UNITS)
def test_a_text_of_one_thing_over_and_over_is_read_once(unit: str) -> None:
    assert grows_with_its_length(screened, unit * (50_000 // len(unit)))


def test_a_text_of_nothing_but_different_passwords_is_read_once() -> None:
    assert grows_with_its_length(screened, "".join(f"password: Abc{n}x$ " for n in range(5_000)))


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["1", "@", "password is ", "a@b.c@", "sk-", "1 "])
def test_ten_megabytes_of_one_thing_over_and_over_are_read_once(unit: str) -> None:
    assert grows_with_its_length(screened, unit * (10_000_000 // len(unit)))
