"""Every quoted string of a text is found once, with its place; apostrophes, code and lone marks are left alone."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.text.quotations import find_quotations


def quoted(text: str) -> list[str]:
    return [quotation.text for quotation in find_quotations(text)]


@pytest.mark.parametrize(
    ("text", "inside", "marks"),
    [
        ("so “a b” there", "a b", ("“", "”")),
        ('so "a b" there', "a b", ('"', '"')),
        ("so 'a b' there", "a b", ("'", "'")),
        ("so ‘a b’ there", "a b", ("‘", "’")),
        ("så ”a b” där", "a b", ("”", "”")),
        ("så ’a b’ där", "a b", ("’", "’")),
        ("så »a b» där", "a b", ("»", "»")),
        ("så «a b» der", "a b", ("«", "»")),
        ("so »a b« da", "a b", ("»", "«")),
        ("et « a b » ici", "a b", ("«", "»")),
        ("so „a b“ da", "a b", ("„", "“")),
        ("tak „a b” tam", "a b", ("„", "”")),
        ("so ‚a b‘ da", "a b", ("‚", "‘")),
        ("so ›a b‹ da", "a b", ("›", "‹")),
        ('so "a b” there', "a b", ('"', "”")),
        ("so ＂a b＂ there", "a b", ("＂", "＂")),
        ("彼は〝本〟と", "本", ("〝", "〟")),
        ('\u200f"a b"\u200f.', "a b", ('"', '"')),
        ("\ufeff”a b”\u200b, så", "a b", ("”", "”")),
        ('so \\"a b\\" there', "a b", ('"', '"')),
        ("他说「你好」了", "你好", ("「", "」")),
        ("彼は『本』と", "本", ("『", "』")),
        ('他说"你好"了', "你好", ('"', '"')),
        ("**“a b”** and", "a b", ("“", "”")),
        ('("a b")', "a b", ('"', '"')),
        ('he—"a b"—she', "a b", ('"', '"')),
        ('"a b."', "a b.", ('"', '"')),
        ("“*a b*”", "a b", ("“", "”")),
        ('Filmen "Bamse"s slut', "Bamse", ('"', '"')),
    ],
)
def test_all_kinds_of_marks_are_known(text: str, inside: str, marks: tuple[str, str]) -> None:
    (quotation,) = find_quotations(text)

    assert (quotation.text, quotation.marks) == (inside, marks)
    assert quotation.span.of(text) == inside


@pytest.mark.parametrize(
    "text",
    [
        "I don't know, it isn’t the boys' toys nor the girls’ room",
        "rock 'n' roll in the '90s, rock ’n’ roll in the ’90s",
        "'twas the boys' idea, give 'em the kids' books",
        'a 5\'10" man with a 7" pipe and a 6" nail',
        'an empty "" or " " or “…” quotes nothing',
        "“ and ” apart",
        "L'été, l’hiver, d'accord",
    ],
)
def test_apostrophes_inches_and_empty_marks_quote_nothing(text: str) -> None:
    assert quoted(text) == []


def test_an_apostrophe_does_not_end_a_quotation() -> None:
    assert quoted("'I don't know the boys' names', he said") == ["I don't know the boys' names"]
    assert quoted("‘I don’t know the boys’ names’, he said") == ["I don’t know the boys’ names"]
    assert quoted("'yes' and 'no'") == ["yes", "no"]
    assert quoted("'the class' and 'the boys'") == ["the class", "the boys"]


def test_a_quotation_within_another_is_found_once_after_it() -> None:
    assert quoted("“She said ‘no dogs’ to me”") == ["She said ‘no dogs’ to me", "no dogs"]
    assert quoted("\"She said 'no dogs' to me\"") == ["She said 'no dogs' to me", "no dogs"]
    assert quoted("„Er sagte ‚nein‘ dazu“") == ["Er sagte ‚nein‘ dazu", "nein"]
    assert quoted("«Hun sa “nei takk” da»") == ["Hun sa “nei takk” da", "nei takk"]
    assert quoted("「彼は『はい』と言った」") == ["彼は『はい』と言った", "はい"]
    assert quoted("“‘only the inner one’”") == ["only the inner one"]


def test_quotations_in_json_are_found_however_often_they_are_escaped() -> None:
    assert quoted('{"a": "You said \\"no dogs\\"."}') == ["a", 'You said \\"no dogs\\".', "no dogs"]
    assert quoted(r"{\"a\": \"You said \\\"no dogs\\\".\"}") == ["a", r"You said \\\"no dogs\\\".", "no dogs"]
    assert quoted(r"[\"no dogs\", \"no cats\"]") == ["no dogs", "no cats"]
    assert quoted('"Han sa ”nej tack” där"') == ["Han sa ”nej tack” där", "nej tack"]


def test_a_mark_without_partner_swallows_nothing() -> None:
    assert quoted('an "open mark and "a b" here') == ["a b"]
    assert quoted('an "open mark\n\nnext "a b" here') == ["a b"]
    assert quoted("an “open mark\n\nnext ”a b” here") == ["a b"]
    assert quoted('- item "open\n- item "a b" closed\n') == ["a b"]
    assert quoted('closed" and "a b"') == ["a b"]
    assert quoted("“a 'b c” d' e") == ["a 'b c"]


def test_a_quotation_may_run_over_lines_of_its_paragraph() -> None:
    assert quoted("so “a\nb” there") == ["a\nb"]


def test_code_holds_no_quotations() -> None:
    assert quoted('`"a b"` and ``x `"c d"` y`` and "e f"') == ["e f"]
    assert quoted('```python\nprint("a b")\n```\n"c d"') == ["c d"]
    assert quoted('~~~\n"a b"\n```\n~~~\n"c d"') == ["c d"]
    assert quoted('   ```\n> "a b"\n   ```') == []
    assert quoted('```\n"a b"\nnever closed "c d"') == []
    assert quoted('run “the `"x"` thing” now') == ['the `"x"` thing']
    assert quoted('a lone ` and "a b"') == ["a b"]


def test_lines_of_a_block_quote_are_one_quotation() -> None:
    text = "You wrote:\n\n> The flat is\n>not to  be let.\n>\n> > Really.\n\nand so on"

    (quotation,) = find_quotations(text)

    assert quotation.text == "The flat is\nnot to  be let.\n\nReally."
    assert quotation.marks == (">", "")
    assert quotation.claimed == "user"
    assert quotation.span.of(text) == "The flat is\n>not to  be let.\n>\n> > Really."


def test_block_quotes_apart_are_two_and_marks_inside_have_their_right_place() -> None:
    text = "> one “a\n> b” two\n\nbetween\n\n> three"

    found = find_quotations(text)

    assert [quotation.text for quotation in found] == ["one “a\nb” two", "a\nb", "three"]
    assert found[1].span.of(text) == "a\n> b"


def test_a_block_quote_of_nothing_but_a_quoted_string_is_that_string() -> None:
    (quotation,) = find_quotations('> "a b c"\n')

    assert (quotation.text, quotation.marks, quotation.span.start) == ("a b c", ('"', '"'), 3)


def test_the_signature_of_a_block_quote_is_the_claim_and_not_the_quotation() -> None:
    (quotation,) = find_quotations("> The price is 49 euro.\n> — Caroline, 3 May\n")

    assert (quotation.text, quotation.claimed) == ("The price is 49 euro.", "Caroline")


def test_an_alert_is_no_block_quote_and_windows_line_ends_stay_out() -> None:
    assert quoted("> [!NOTE]\n> Take care.\n") == []
    assert quoted("> a b\r\n> c d\r\n") == ["a b\nc d"]


def test_what_a_quotation_quotes_is_claimed_for_its_speaker() -> None:
    text = "“Ola said ‘no dogs here’ to me,” Caroline wrote."

    assert [quotation.claimed for quotation in find_quotations(text)] == ["Caroline", "Caroline"]


def test_swedish_marks_and_claims_go_together() -> None:
    found = find_quotations("Du sa ”priset är 49 euro”, och jag svarade ”det låter bra”.")

    assert [(one.text, one.claimed) for one in found] == [
        ("priset är 49 euro", "user"),
        ("det låter bra", "assistant"),
    ]


def test_nothing_quoted_is_nothing_found() -> None:
    assert find_quotations("") == ()
    assert find_quotations("just words") == ()


@pytest.mark.parametrize(
    "unit",
    ['"a ', "“", "”a ", "'s b' ", "> x\n", "`", "`` ` ", '> "a\n\n', "a” ", "- “b\n", "x y. ", "« ", 'said "a b" '],
)
def test_a_long_text_of_marks_ends_in_seconds(unit: str) -> None:
    began = time.process_time()

    find_quotations(unit * (100_000 // len(unit)))

    assert time.process_time() - began < 20


@given(
    st.text(st.characters(exclude_categories=()) | st.sampled_from("\"'“”‘’„‚«»‹›「」『』>`~-*\n\r ab日."), max_size=60)
)
def test_places_are_right_for_any_text(text: str) -> None:
    found = find_quotations(text)

    assert [one.span for one in found] == sorted((one.span for one in found), key=lambda span: (span.start, -span.end))
    assert len({(one.span, one.marks) for one in found}) == len(found)
    for one in found:
        if one.marks[0] != ">" and "\n" not in one.text:
            assert one.span.of(text) == one.text
        assert [c for c in one.span.of(text) if c.isalnum()] == [c for c in one.text if c.isalnum()]
        assert "\n\n" not in one.text or ">" in one.span.of(text)
