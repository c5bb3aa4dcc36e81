"""What is secret or personal in a text is found with its exact span, and what only looks like it is left alone."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.privacy.finding import find
from memory_rag.privacy.glance import glance
from memory_rag.privacy.kinds import Kind
from memory_rag.privacy.redaction import redact

# No file holds what looks like a key: the marks stand here in two pieces.
_AWS = "AK" + "IA"
_PEM = "-" * 5


def found(text: str) -> list[tuple[str, str]]:
    """Return (kind, words) of everything found."""
    return [(one.kind.value, one.span.of(text)) for one in find(text)]


def test_g25_a_key_next_to_chinese_text_is_seen() -> None:
    key = _AWS + "Z" * 16
    text = f"密钥是{key}。请勿外传"

    (one,) = find(text)
    assert (one.span.start, one.span.end, one.kind) == (3, 23, Kind.API_KEY)
    assert redact(text, [one], placeholder="[REDACTED]").text == "密钥是[REDACTED]。请勿外传"
    assert redact(text, [one]).text == "密钥是[redacted: api_key]。请勿外传"
    assert find(f"x{key}") == []


@pytest.mark.parametrize(
    "before", [r"\n", r"\t", r"\r\n", r"\u003d", "\u200b", "\u00ad", "키는", "ключ", "คีย์", "é ", "\u0301"]
)
@pytest.mark.parametrize("after", ["", r"\n", "입니다", "ключ", "\u200b", "\u0301", "。"])
def test_g25_a_key_ends_and_begins_where_an_escape_or_another_script_does(before: str, after: str) -> None:
    key = _AWS + "Q7XKZ3MWP2NB5TYR"

    assert found(f"{before}{key}{after}") == [("api_key", key)]


def test_g26_a_mobile_number_is_no_coordination_number_and_a_clock_is_no_card() -> None:
    text = (
        "Ring 070-174 06 07 eller 0701740607. Test: 640823-3234, 640823+3234 och 701063-2391. "
        "Org.nr 559999-9991. t=1764460800006"
    )

    assert found(text) == [
        ("phone", "070-174 06 07"),
        ("phone", "0701740607"),
        ("personnummer", "640823-3234"),
        ("personnummer", "640823+3234"),
        ("personnummer", "701063-2391"),
    ]


def test_ten_digits_that_may_be_a_phone_are_a_person_where_the_words_say_so() -> None:
    assert found("Personnummer: 0701740607") == [("personnummer", "0701740607")]
    assert found("samordningsnummer 701063 2391") == [("personnummer", "701063 2391")]


@pytest.mark.parametrize("value", [
    "1764460800", "1700000000006", "1764460800006", "20261130T0714", "2026-11-30 07:14:22.123456", "0.4111111111111111",
    "4111111111111112", "9780306406157", "SE4550000000058398257467", "559999-9991", "12345678901", "641332-1234",
    "10 452 326", "2001:db8:85a3::8a2e:370:7334", "192.168.100.204", "1234567890123456789012345", "0900-1730",
    "04-10-2026", "6580822 674032", "ISBN 0-306-40615-2", "2.4.10.1234.55", "1e10", "99999999999",
])  # fmt: skip
def test_a_number_without_shape_and_check_digits_is_nothing(value: str) -> None:
    assert found(f"det var {value} som stod där") == []


def test_a_number_is_found_however_it_is_written() -> None:
    assert found("４１１１１１１１１１１１１１１１") == [("card", "４１１１１１１１１１１１１１１１")]
    assert found("kortet 4111\u00a01111\u00a01111\u00a01111") == [("card", "4111\u00a01111\u00a01111\u00a01111")]
    assert found("电话是+44 7700 900345。") == [("phone", "+44 7700 900345")]
    assert found("iban se45 5000 0000 0583 9825 7466") == [("iban", "se45 5000 0000 0583 9825 7466")]
    assert found("٠٧٠١٧٤٠٦٠٧") == [("phone", "٠٧٠١٧٤٠٦٠٧")]


@pytest.mark.parametrize("text", [
    "git clone git@github.example:team/repo.git", "icon@2x.png", "see @ruth and @app.route", "3 st @ 12 kr",
    "https://medium.example/@somebody", "react@18.2.0", "@user@social.example", "ssh://git@host.example:22/x", "a@b",
])  # fmt: skip
def test_what_has_an_at_sign_need_not_be_mail(text: str) -> None:
    assert found(text) == []


def test_mail_ends_where_the_sentence_goes_on() -> None:
    assert found("Write to 'ruth@example.com', or o'hara@mail.example.org.") == [
        ("email", "ruth@example.com"),
        ("email", "o'hara@mail.example.org"),
    ]


def test_a_private_key_goes_from_its_first_line_to_its_last_or_to_where_it_was_cut() -> None:
    lines = "\n".join(["MIIE" + "A1b2" * 15] * 3)
    begin, end = f"{_PEM}BEGIN RSA PRIVATE KEY{_PEM}", f"{_PEM}END RSA PRIVATE KEY{_PEM}"

    assert found(f"here:\n{begin}\n{lines}\n{end}\nbye") == [("private_key", f"{begin}\n{lines}\n{end}")]
    assert found(f"here:\n{begin}\n{lines}") == [("private_key", f"{begin}\n{lines}")]
    inner = lines.replace("\n", "\\n")
    assert found(f'{{"key": "{begin}\\n{inner}\\n{end}"}}') == [("private_key", f"{begin}\\n{inner}\\n{end}")]
    assert found(f"{_PEM}BEGIN CERTIFICATE{_PEM}\n{lines}\n{_PEM}END CERTIFICATE{_PEM}") == []


def test_a_key_without_a_mark_is_found_by_the_name_before_it() -> None:
    value = "".join(random.Random(1).choices(string.ascii_letters + string.digits, k=40))

    for line in (
        f"api_key={value}",
        f'"client_secret": "{value}"',
        f"Authorization: Bearer {value}",
        f"nyckeln är {value}",
        rf"{{\"api_key\": \"{value}\"}}",
    ):
        assert found(line) == [("api_key", value)], line
    for line in (f"commit {value}", f"max_tokens {value[:10]}", f"key to the door {value[:12]}"):
        assert found(line) == [], line


MIXED, HEX = "aB3dE5fG7hJ9" + "kL1mN3pQ5rS7", "9f8e7d6c5b4a3928" * 2


@pytest.mark.parametrize(("text", "value"), [
    ("API密钥是{}。", HEX), ("密钥：{}", MIXED), ("APIキーは{}です", HEX),
    ("アクセストークン：{}", MIXED), ("token：「{}」", MIXED), ("API-Schlüssel: {}", HEX),
    ("ключ API: {}", MIXED), ("API-nøglen er {}", HEX), ("API-sleutel: {}", HEX),
    ("klucz API = {}", MIXED),
])  # fmt: skip
def test_a_key_is_found_by_its_name_in_many_languages(text: str, value: str) -> None:
    said = text.replace("{}", value)

    assert [one.span.of(said) for one in find(said)] == [value]


def test_a_value_of_short_parts_between_slashes_is_seen_too() -> None:
    value = "/".join(["aB3dE5", "fG7hJ9", "kL1mN3", "pQ5rS7", "xY9zW2"])

    assert [one.span.of(f"token={value}") for one in find(f"token={value}")] == [value]


@pytest.mark.parametrize("number", [
    "+46 70 174 06 07", "+46701740607", "+44 20 7946 0958", "+1-212-555-0187", "+81 90-1234-5678", "0046 70 174 06 07",
    "+49 151 23456789", "+47 412 34 567", "+46 (0)70 174 06 07", "+46 (70) 174 06 07",
])  # fmt: skip
def test_an_international_number_in_brackets_is_a_phone(number: str) -> None:
    for text in (f"Anna ({number})", f"({number})", f"ring mig (mobil {number}) i kväll", f"[{number}]"):
        assert [one.span.of(text) for one in find(text)] == [number]


@pytest.mark.parametrize("text", [
    "a47ab8ab-2f4a-4b50-be21-29fc92218538", "id {a47ab8ab-2f4a-4b50-be21-29fc92218538}",
    "<@649673039532535109> hi", "<@!649673039532535109>", "in <#649673039532535109>", "<:wave:649673039532535109>",
    "https://x.example/a/status/649673039532535109", "/channels/649673039532535109/649673039532535109",
])  # fmt: skip
def test_a_records_id_is_no_card_and_no_account(text: str) -> None:
    assert find(text) == []


def test_of_two_that_lie_over_each_other_the_graver_stays() -> None:
    assert found("postgres://rota:k33pMeSafe@db.example.com/rota") == [("password", "k33pMeSafe")]


def test_only_the_kinds_asked_for_come_and_the_others_still_take_their_place() -> None:
    text = "postgres://rota:k33pMeSafe@db.example.com/rota, ruth@example.com"

    assert [one.span.of(text) for one in find(text, {Kind.EMAIL})] == ["ruth@example.com"]


@given(st.text())
def test_findings_lie_in_order_inside_the_text_and_not_over_each_other(text: str) -> None:
    places = [place for one in find(text) for place in (one.span.start, one.span.end)]

    assert places == sorted(places)
    assert all(0 <= place <= len(text) for place in places)


@given(st.text(alphabet=" 0123456789+-()./@:=\"'abkAZåpswordläöen#!\n", max_size=120))
def test_what_a_glance_does_not_see_is_not_there(text: str) -> None:
    everything = 31
    assert find(text, seen=everything) == find(text)
    assert glance(text) <= everything
