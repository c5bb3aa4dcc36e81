"""A password on the line after the words for it, or in a cell of a table, is found; an ordinary word there isn't."""

from __future__ import annotations

import json
import random
import string
import time

import pytest

from memory_rag.privacy.finding import find
from memory_rag.privacy.glance import PASSWORD, glance
from memory_rag.privacy.redaction import redact
from memory_rag.privacy.source_glance import glance_at_json

# No file holds what looks like a secret: the values are made here.
_RANDOM = random.Random(25)


def made(kinds: str, *, inner: str = "") -> str:
    """Return a value of one sign of each kind: a capital (A), a small letter (a), a digit (0)."""
    signs = {"A": "BCDFGHJKLMNPQRSTVWZ", "a": "bcdfghjkmnpqrstvwz", "0": "23456789"}
    return "".join(_RANDOM.choice(signs[kind]) if kind in signs else kind for kind in kinds) + inner


STRONG = made("Aa0aa0aaa&0")
WEAK = made("aaaaaa00")
NUMBER = made("00000000")
KEY = "".join(_RANDOM.sample(string.ascii_uppercase, 9) + _RANDOM.sample(string.ascii_lowercase, 9)) + made("0a0A0a0A")


def found(text: str) -> list[tuple[str, str]]:
    return [(one.kind.value, one.span.of(text)) for one in find(text)]


OVER_A_LINE = [
    "my password is\n{}", "My new password is:\n{}\nPlease keep it.", "the password was changed to\r\n{}\r\n",
    "password:\n\n{}", "**Password:**\n`{}`", "## Password\n\n{}\n", "Username\nebba\nPassword\n{}\n",
    "The password for the router is the following:\n{}", "my password is\n{}, keep it", "my password is\n{} and so on",
    "password:\n```\n{}\n```", "password:\n\n```text\n{}\n```", "password: |\n  {}", "password: >-\n  {}",
    'const password =\n  "{}";', '"password":\n  "{}",', "db_password:\n  {}", "pass:\n{}", "- password:\n  - {}",
    "lösenordet är\n{}", "Lösenord:\n{}", "LÖSENORD:\n\n{}", "Lösenordet till skrivaren blev\n{}",
    "Nätverkslösenord:\n{}", "Wifi-lösenordet är\n”{}”", "Lösenord\n{}\n", "> lösenordet är\n> {}",
    "passordet er\n{}", "Passord er\n\n{}", "Passord:\n{}", "Passordet til hytta ble\n{}", "passordet er:\n«{}»",
    "密码：\n{}",
]  # fmt: skip


@pytest.mark.parametrize("text", OVER_A_LINE)
def test_it_is_found_in_the_next_line(text: str) -> None:
    assert found(text.format(STRONG)) == [("password", STRONG)]


@pytest.mark.parametrize("cue", ["my password is\n", "lösenord:\n", "passordet er\n\n"])
@pytest.mark.parametrize("value", [WEAK, NUMBER])
def test_alone_in_the_line_after_is_or_a_colon_it_may_be_of_a_weaker_shape(cue: str, value: str) -> None:
    assert found(cue + value) == [("password", value)]
    assert found(f"{cue}{value} turns of the wheel") == []


@pytest.mark.parametrize("text", [
    "my password is\nsomething I forgot", "lösenordet är\nnågot jag har glömt", "passordet er\nnoe jeg har glemt",
    "my password is\nsecret", "password:\nUsername: ebba", "password:\n{}: the label of a field", "password.\n{}",
    "I forgot my password. Sorry!\n{}", "my password is\n\n\n{}", "Password rules:\n- {}",
    "Krav på lösenord, regler:\nstorabokstäver", "password hash:\n{}", "I use a password manager\n{}",
    "DB_PASSWORD=\nDB_NAME={}", "password:\n```python\n{} = 3\n```", "if password:\n    checkUser2(user)",
    "password:\n********",
    "they sent the letter about a new password\n{}", "password:\n<{}>", "password = (\n    'password123'\n)",
])  # fmt: skip
def test_what_is_not_said_to_be_one_or_has_not_its_shape_stays(text: str) -> None:
    assert found(text.format(STRONG)) == []


IN_A_CELL = [
    "| password | {} |", "|password|{}|", "| **Password** | `{}` |", "| Wi-Fi password for guests | {} | yes |",
    "password | {}", "| DB_PASSWORD | {} |", "| lösenord | {} |", "|lösenord:|{}|", "| Lösenord till wifi | {} |",
    "| passord | {} |", "| Passordet | {} |", "| what | value |\n|---|---|\n| user | ebba |\n| passord | {} |\n",
    "| user | password |\n|---|---|\n| ebba | {} |", "user | lösenord\n--- | ---\nebba | {}\n",
    "| passord | bruker |\n| :-- | --: |\n| {} | ebba |\n| | bo |\n",
    "> | user | password |\n> |---|---|\n> | bo | {} |", "| password | hint |\r\n|-|-|\r\n| {} | |\r\n",
]  # fmt: skip


@pytest.mark.parametrize("text", IN_A_CELL)
def test_it_is_found_in_a_cell_of_a_table(text: str) -> None:
    assert found(text.format(STRONG)) == [("password", STRONG)]


def test_all_of_a_column_are_found() -> None:
    values = [made("Aaa0aaa&0a") for _ in range(3)]
    rows = "".join(f"| user{n} | {value} | x |\r\n" for n, value in enumerate(values))

    assert found(f"| who | lösenord | |\r\n|---|---|---|\r\n{rows}\r\n{STRONG}") == [
        ("password", value) for value in values
    ]


@pytest.mark.parametrize("text", [
    "| password | string |", "| lösenord | glömt |", "| passord | glemt |", "| password | varchar(255) |",
    "| password_hash | {} |", "| password policy | {} |", "| password |\n| {} |",
    "| password | user |\n|---|---|\n| | {} |",
    "| user | password |\n\n| ebba | {} |", "| password | at least {} signs |",
])  # fmt: skip
def test_other_cells_stay(text: str) -> None:
    assert found(text.format("Xk2") if "signs" in text else text.format(WEAK)) == []


@pytest.mark.parametrize("text", [
    "API key:\n{}", "API key:\n\n{}", "API key:\r\n\r\n  {}", "the API key is\n> {}", "**API key:** {}",
    "**API key:**\n{}", "API key:\n```\n{}\n```", "| API key | {} |", "|api_key|`{}`|",
    "API-nyckeln är\n\n{}", "API-nyckel:\n{}", "| API-nyckel | {} |",
    "API-nøkkelen er\n{}", "API-nøkkel:\n\n{}", "| API-nøkkel | {} |",
])  # fmt: skip
def test_a_key_without_a_mark_is_found_over_a_border_too(text: str) -> None:
    assert found(text.format(KEY)) == [("api_key", KEY)]


def test_two_blank_lines_part_a_key_from_its_name() -> None:
    assert found(f"API key:\n\n\n{KEY}") == []


@pytest.mark.parametrize("text", OVER_A_LINE + IN_A_CELL)
def test_a_glance_lets_it_through_as_text_and_as_json(text: str) -> None:
    said = text.format(STRONG)

    assert glance(said) & PASSWORD
    assert glance_at_json(json.dumps({"content": said})) & PASSWORD
    assert glance_at_json(json.dumps({"content": said}, ensure_ascii=False)) & PASSWORD
    assert STRONG not in redact(said, find(said)).text


@pytest.mark.parametrize("unit", [
    "password\n", "password:\n", "password is\n\n", "password |", "|password|\n|-|\n", "|password",
    "password" + " " * 60,
    "password:\n```\n", "key:\n", "key |", "key\n\n", "key" + " " * 30, "|password|\n|" + "-" * 500 + "|\n",
    "password\r",
    "password " + "|" * 60, "|password|\n|-|\n" + "|x|\n" * 64, "key:" + " \n" * 3,
])  # fmt: skip
def test_a_text_of_one_border_over_and_over_is_read_once(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    before = time.process_time()
    find(f"{text}0000000000000000@://")

    assert time.process_time() - before < 1.2
