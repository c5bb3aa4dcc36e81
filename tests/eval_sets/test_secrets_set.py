"""What the labelled secrets promise: published numbers, right check digits, no key in a file, traps that are traps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest

from tests.eval_sets.check_digits import (
    digits_of,
    fodselsnummer_holds,
    iban_holds,
    luhn_holds,
    personnummer_holds,
)
from tests.eval_sets.fifty_talks import lines_of
from tests.eval_sets.halves import halves
from tests.eval_sets.made_secrets import PLACEHOLDER, PREFIXES, SECRETS, read_examples

ROWS = lines_of(SECRETS)
EXAMPLES = read_examples()
KINDS = {
    "email",
    "phone",
    "card",
    "iban",
    "personnummer",
    "fodselsnummer",
    "password",
    "api_key",
    "private_key",
}
# Digits without + or 00. PTS; Nkom; Ofcom; ComReg; Bundesnetzagentur; NANP.
RESERVED = re.compile(
    r"(?:0|46)70174(?:060[5-9]|06[1-9]\d)|08465004\d\d|0313900[67]\d\d|0406280[45]\d\d|0980319[23]\d\d"
    r"|(?:47)?6805\d{4}"
    r"|0?2079460\d{3}|(?:0|44)7700900\d{3}|01(?:61|31|17)4960\d{3}|01632960\d{3}|08081570\d{3}"
    r"|3532091\d{5}"
    r"|03023125\d{3}|01713920\d{3}|494066969\d{3}"
    r"|1?\d{3}55501\d\d"
)
VALID: dict[str, Callable[[str], bool]] = {
    "email": lambda value: (
        re.fullmatch(r"[^\s@<>]+@(?:[\w-]+\.)*(?:example\.(?:com|net|org)|example)", value) is not None
    ),
    "phone": lambda value: RESERVED.fullmatch(digits_of(value).removeprefix("00")) is not None,
    "card": lambda value: luhn_holds(value) and 13 <= len(digits_of(value)) <= 19,
    "iban": iban_holds,
    "personnummer": personnummer_holds,
    "fodselsnummer": fodselsnummer_holds,
    "password": lambda value: re.fullmatch(r"\S{8,40}", value) is not None,
    "api_key": lambda value: re.fullmatch(r"\S{20,}", value) is not None,
    "private_key": lambda value: (
        re.fullmatch(r"-----BEGIN [A-Z ]*PRIVATE KEY-----\n[\s\S]+-----END [A-Z ]+-----", value) is not None
    ),
}
CLAIMS: dict[str, Callable[[str], bool]] = {
    "luhn_fails": lambda value: not luhn_holds(value),
    "luhn_passes": luhn_holds,
    "iban_fails": lambda value: not iban_holds(value),
    "fnr_fails": lambda value: len(digits_of(value)) == 11 and not fodselsnummer_holds(value),
    "date_fails": lambda value: not personnummer_holds(value),
}


def test_there_are_340_and_close_to_half_are_hard_negatives() -> None:
    assert len(EXAMPLES) >= 340
    assert 0.45 <= sum(not example.spans for example in EXAMPLES) / len(EXAMPLES) <= 0.55


@pytest.mark.parametrize("language", ["en", "sv", "nb"])
def test_each_language_has_a_hundred_with_both_sides(language: str) -> None:
    told = [bool(example.spans) for example in EXAMPLES if example.language == language]
    assert len(told) >= 100
    assert min(Counter(told).values()) >= 50


def test_each_kind_comes_often_enough_to_be_measured() -> None:
    times = Counter(span.kind for example in EXAMPLES for span in example.spans)
    assert set(times) == KINDS
    assert all(times[kind] >= 15 for kind in KINDS - {"private_key"})


def test_no_text_comes_twice() -> None:
    assert len({example.text for example in EXAMPLES}) == len({row["id"] for row in ROWS}) == len(ROWS)


def test_spans_stand_in_order_and_are_trimmed() -> None:
    for example in EXAMPLES:
        places = [place for span in example.spans for place in (span.start, span.end)]
        assert places == sorted(set(places)), example.example_id
        for span in example.spans:
            value = example.text[span.start : span.end]
            assert value == value.strip() != "", example.example_id


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_is_marked_has_the_shape_and_check_digits_of_its_kind(kind: str) -> None:
    for example in EXAMPLES:
        for span in example.spans:
            if span.kind == kind:
                value = example.text[span.start : span.end]
                assert VALID[kind](value), (example.example_id, value)


def test_what_a_trap_claims_is_true() -> None:
    claimed = Counter[str]()
    for row in ROWS:
        for claim in row.get("claims", ()):
            assert CLAIMS[claim["claim"]](row["text"][claim["start"] : claim["end"]]), row["id"]
            claimed[claim["claim"]] += 1
    assert set(claimed) == set(CLAIMS)


def test_every_value_says_where_it_was_published() -> None:
    for row in ROWS:
        for span in row["spans"]:
            assert span["source"], row["id"]
            made = PLACEHOLDER.fullmatch(row["text"][span["start"] : span["end"]])
            assert (span["kind"] in {"api_key", "private_key"}) == (made is not None), row["id"]
            assert (span["source"] == "assembled by the test") == (made is not None), row["id"]


def test_the_file_holds_no_start_of_a_key() -> None:
    written = SECRETS.read_text(encoding="utf-8")
    starts = [*PREFIXES.values(), "-----", "eyJ", "xox", "hooks.slack", "ssh-ed25519 "]
    assert [start for start in starts if re.search(rf"(?<![A-Za-z]){re.escape(start)}", written)] == []


def test_a_key_outside_a_span_is_there_on_purpose() -> None:
    for row in ROWS:
        marked = {span["start"] for span in row["spans"]}
        for match in PLACEHOLDER.finditer(row["text"]):
            if match[1] in {"api_key", "private_key"} and match.start() not in marked:
                assert row["trap"] == "key_shape", row["id"]
                assert row["text"][match.start() - 1].isascii(), row["id"]
                assert row["text"][match.start() - 1].isalpha(), row["id"]


def test_keys_are_the_same_each_time_and_never_alike() -> None:
    assert read_examples() == EXAMPLES
    keys = [
        example.text[span.start : span.end]
        for example in EXAMPLES
        for span in example.spans
        if span.kind in {"api_key", "private_key"}
    ]
    assert len(set(keys)) == len(keys)


def test_the_split_is_by_the_hash_of_the_text() -> None:
    expected = halves(ROWS, group=lambda row: (row["language"], bool(row["spans"])))
    assert {row["id"]: row["split"] for row in ROWS} == expected
