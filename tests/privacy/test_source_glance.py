"""What a deep search of a source's JSON finds, a glance at it has seen, however its strings are escaped."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_rag.privacy.finding import find
from memory_rag.privacy.glance import ALL, EMAIL, FIGURES, KEY, PASSWORD, PRIVATE_KEY, glance, marks_in
from memory_rag.privacy.json_values import is_json, literals_of
from memory_rag.privacy.key_marks import NAME_ENDS, SHAPES
from memory_rag.privacy.kinds import SECRETS
from memory_rag.privacy.screening import Screening
from memory_rag.privacy.source_glance import beside, glance_at_json, glance_at_strings, unescaped
from memory_rag.settings import Settings
from memory_rag.turns import Role, Source, Turn
from tests.privacy.without_glance import found_without_glance

PIECES = (
    *("password", "pwd", "lösenord", " is ", ": ", "=", "Granola77!", "-u bob:Granola77", "curl", "login", "ada / "),
    *(
        "api_key",
        "token",
        "Bearer ",
        "input_tokens",
        "a8F3kLm9Qw2Zx7Tp5Rv1Yd4S",
        "9f54c54d-305b-5048-87e9-b861807e274d",
    ),
    *(
        "hooks.slack.com/services/",
        "T00AAAAAA/B00AAAAAA/aB3dE5fG7hI9jK1lM3nO5pQ7",
        "https://bob:Granola77@example.com/x",
    ),
    *(
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END RSA PRIVATE KEY-----",
        "ｐａｓｓｗｏｒｄ",
        "\n",
        "\t",
        '"',
        "\\",
        "/",
    ),
    *("4", "070-174 06 58", "ruth@example.com", "😀", "\ud83d", "å", " ", "sk-", "gh" + "p_", "x" * 16, "deadbeef" * 4),
)
texts = st.lists(st.sampled_from(PIECES), max_size=6).map("".join) | st.text(max_size=12)
names = st.sampled_from(["password", "api_key", "token", "input_tokens", "text", "uuid", "cwd", "a" * 20]) | texts
values = st.recursive(
    texts | st.integers(0, 10**18) | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)
TAKEN = PASSWORD | KEY | PRIVATE_KEY


@st.composite
def written(draw: st.DrawFn) -> str:
    """JSON as programs write it: escaped or not, with or without spaces and line ends, slashes escaped or not."""
    value = draw(st.dictionaries(names, values, max_size=4) | st.lists(values, max_size=3))
    indent, separators = draw(st.sampled_from([(None, None), (None, (",", ":")), (None, (", ", " : ")), (2, None)]))
    text = json.dumps(value, ensure_ascii=draw(st.booleans()), indent=indent, separators=separators)
    text = text.replace("/", "\\/") if draw(st.booleans()) else text
    if draw(st.booleans()) and "\\" not in text:
        return re.sub('"[^"]*"', lambda string: string[0].replace("a", "\\u0061"), text)
    return text


def families_found(text: str) -> int:
    """The families of what every rule finds in a text, asked without a glance before it."""
    return families_of_all(find(text, seen=ALL))


def families_of_all(found: list[Any]) -> int:
    of = {"email": EMAIL, "password": PASSWORD, "api_key": KEY, "private_key": PRIVATE_KEY}
    seen = 0
    for one in found:
        seen |= of.get(one.kind, FIGURES)
    return seen


@given(written())
@example(json.dumps({"token": "-u bob:Granola77"}))
@example(json.dumps({"usage": {"input_tokens": 4}, "api_key": "9f54c54d-305b-5048-87e9-b861807e274d"}))
def test_what_is_found_in_a_string_of_json_or_after_its_name_is_seen_in_the_whole(text: str) -> None:
    for wanted in (ALL, TAKEN):
        seen = glance_at_json(text, wanted)
        escaped = "\\" in text
        # Without escapes the text as a whole is what is searched first.
        found = 0 if escaped else families_found(text)
        for _start, _end, decoded, name in literals_of(text) if escaped else ():
            found |= families_found(decoded) | families_found(f"{name}: {decoded}" if name else "")
        assert found & wanted & ~seen == 0
        assert seen & ~wanted == 0


@given(written())
def test_parts_that_were_met_before_change_nothing(text: str) -> None:
    assert glance_at_json(text, TAKEN) == glance_at_json(text, TAKEN)


@given(st.lists(st.tuples(texts, names), max_size=5))
def test_what_is_found_in_strings_is_seen_in_all_of_them_together(strings: list[tuple[str, str]]) -> None:
    seen = glance_at_strings(part for pair in strings for part in pair)
    for text, name in strings:
        assert families_found(text) & ~seen == 0
        assert families_found(f"{name}: {text}") & ~seen == 0


@given(texts)
def test_a_glance_at_a_text_sees_all_that_is_found_in_it(text: str) -> None:
    assert find(text, seen=ALL) == find(text)
    for wanted in (TAKEN, FIGURES, KEY):
        assert glance(text, wanted) == glance(text) & wanted


@given(written())
def test_decoded_strings_stand_in_the_unescaped_text(text: str) -> None:
    joined = unescaped(text).encode("utf-16", "surrogatepass")
    for _start, _end, decoded, _name in literals_of(text):
        assert decoded.encode("utf-16-le", "surrogatepass") in joined


def test_every_shape_of_a_key_is_one_long_word_with_its_mark() -> None:
    kept = re.compile(r"[A-Za-z0-9_./:+=-]{16,}")
    for mark, key in {
        "AKIA": "AKIA" + "B7" * 8,
        "SG.": "SG." + "b7" * 8 + "." + "c8" * 8,
        "hooks.slack.com/": "hooks.slack.com/services/" + "T0/" * 10,
        "eyJ": "eyJ" + "hbGciOi9." + "eyJ" + "zdWIiOi9." + "b7" * 8,
        "ya29.": "ya29." + "b7" * 20,
    }.items():
        assert re.fullmatch(SHAPES[mark], key, re.ASCII)
        assert kept.fullmatch(key)
        assert mark in marks_in(f"the key {key}, and more".encode())


def test_no_mark_and_no_name_is_made_of_what_ids_are_made_of() -> None:
    ids = set("0123456789abcdef-:.TZ+,{}[] ")
    assert [mark for mark in (*SHAPES, ":AA", *NAME_ENDS) if set(mark) <= ids] == []


def test_a_text_under_a_name_that_tells_is_looked_at_with_it() -> None:
    plain, told = json.dumps({"text": "Granola77"}), json.dumps({"password": "Granola77"})

    assert beside(plain, "Granola77") == '{"text": }'
    assert beside(told, "Granola77") == told
    screening = Screening.of_settings(Settings())
    turn = Turn("", "talk", "day", 0, Role.USER, "Åsa", "Granola77", source=Source("made", "1", told))
    assert [finding.kind for finding in screening.turn(turn).findings] == ["password", "password"]


@pytest.mark.parametrize(("source", "text", "left"), [
    ("31/12/2023, 21:05 - Ada: see you at 7", "see you at 7", ""),
    ("31/12/2023, 21:05 - Ada: one\ntwo", "one\ntwo", ""),
    ("31/12/2023, 21:05 - password: Granola77", "Granola77", "31/12/2023, 21:05 - password: Granola77"),
    ("api_key=a8F3kLm9Qw2Zx7Tp5Rv1Yd4S", "a8F3kLm9Qw2Zx7Tp5Rv1Yd4S", "api_key=a8F3kLm9Qw2Zx7Tp5Rv1Yd4S"),
    ("Ada: other words", "these words", "Ada: other words"),
    ('{"text": "hi", "parts": [{"text": "hi"}]}', "hi", '{"text": , "parts": [{"text": }]}'),
    ('{"text": "hi", "secret": ["x", "hi"]}', "hi", '{"text": "hi", "secret": ["x", "hi"]}'),
    ('{"a\\u0062": ["hi"]}', "hi", '{"a\\u0062": ["hi"]}'),
])  # fmt: skip
def test_of_a_source_is_looked_at_what_stands_beside_the_text(source: str, text: str, left: str) -> None:
    assert beside(source, text) == left


@given(texts, texts, texts)
def test_what_stands_around_a_text_in_which_nothing_was_found_is_searched_with_it(
    before: str, text: str, after: str
) -> None:
    raw = f"{before}{text}{after}"
    screening = Screening.of_settings(Settings())
    turn = Turn("", "talk", "day", 0, Role.USER, "Åsa", text, source=Source("made", "1", raw))
    if find(text) or is_json(raw):
        return

    kept = screening.turn(turn).turn

    assert kept.source is not None
    for one in find(raw, SECRETS, seen=ALL):
        assert one.span.of(raw) not in (kept.source.raw or "")


@given(written())
def test_a_source_is_searched_as_if_there_were_no_glance(raw: str) -> None:
    screening = Screening.of_settings(Settings())

    assert [(value, one.kind) for value, one in screening.found_in_raw(raw)] == list(found_without_glance(raw))
