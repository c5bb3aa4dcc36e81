"""A value is found to its borders whatever sets it apart: a terminal's colours, escapes, percent signs, underscores."""

from __future__ import annotations

import random
import string

import pytest

from memory_rag.privacy.finding import find
from memory_rag.privacy.kinds import Kind
from memory_rag.privacy.plain_reading import without_colours, without_emphasis, without_escapes
from memory_rag.privacy.redaction import redact

KEY = "AKIA" + "Z3" * 8
VALUES = {
    Kind.API_KEY: KEY,
    Kind.PERSONNUMMER: "640823-3234",
    Kind.CARD: "4111 1111 1111 1111",
    Kind.IBAN: "SE45 5000 0000 0583 9825 7466",
    Kind.PHONE: "+46 70 174 06 07",
    Kind.EMAIL: "ruth@example.com",
}
SET_APART = [
    "\x1b[32m{}\x1b[0m",
    "\x1b[1;38;5;208m{}\x1b[39;49m",
    r"\x1b[31m{}\x1b[0m",
    r"\u001b[1m{}\u001b[22m",
    r"\033[4m{}\e[24m",
    "_{}_",
    "__{}__",
    "见_{}_。",
    "_see {} today_",
    r"\n{}\n",
    r"\\n{}\\r\\n",
    r"\t{}\u00a0",
    r"\x20{}\x20",
    r"\U0001f511{}\U0001f511",
    "%20{}%20",
    "?q=%22{}%22",
    "%3C{}%3E",
    "({})",
    "[{}]",
    "（{}）",
]


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("around", SET_APART)
def test_a_value_is_found_to_its_borders_and_all_around_it_stays(around: str, kind: Kind) -> None:
    text = around.replace("{}", VALUES[kind])

    found = find(text)

    assert [(one.kind, one.span.of(text)) for one in found] == [(kind, VALUES[kind])]
    assert redact(text, found).text == around.replace("{}", f"[redacted: {kind}]")


@pytest.mark.parametrize("around", ["\x1b[1m{}\x1b[0m", r"\x1b[1m{}\x1b[0m", r"\u001b[33m{}\u001b[0m"])
def test_a_password_is_found_without_the_colours_around_it(around: str) -> None:
    text = f"Passord: {around.replace('{}', 'Kx9!mVq2Lp')} takk"

    assert [one.span.of(text) for one in find(text)] == ["Kx9!mVq2Lp"]


@pytest.mark.parametrize(
    "text",
    [
        "20%12345678 of them",
        "file_640823_3234_old.txt",
        f"{KEY}_OLD",
        "the field __init__ and _x_",
        r"C:\news\4711",
    ],
)
def test_what_only_looks_set_apart_is_none(text: str) -> None:
    assert find(text) == []


def test_an_encoded_plus_belongs_to_the_number() -> None:
    text = "tel=%2B46701740607&name=Ruth"

    assert [one.span.of(text) for one in find(text)] == ["%2B46701740607"]


def test_an_escaped_letter_of_a_name_stays_with_it() -> None:
    assert without_escapes(r"\u00e5ke \x41 \n") == r"\u00e5ke \x41   "


def test_a_reading_is_as_long_as_the_text() -> None:
    chance = random.Random(7)
    signs = [
        "\x1b[",
        "\\x1b[",
        "m",
        "_",
        "__",
        "%",
        "\\",
        "\\u00e5",
        "%2B",
        "\\U0010ffff",
        "\\Uffffffff",
        " ",
        "\n",
        "密",
    ]
    for _ in range(2000):
        text = "".join(chance.choice([*signs, *string.hexdigits]) for _ in range(chance.randrange(40)))
        for reading in (without_colours, without_emphasis, without_escapes):
            assert len(reading(text)) == len(text)


@pytest.mark.parametrize("part", ["_a ", "\x1b[", "\\x1b[1", "%2", "\\u00", "__"])
def test_a_long_text_of_beginnings_is_read_once(part: str) -> None:
    text = part * 100_000

    assert len(without_escapes(without_emphasis(without_colours(text)))) == len(text)
