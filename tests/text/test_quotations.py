"""Every quoted string of a text is found once, with its place; apostrophes, code and lone marks are left alone."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.text.quotations import find_quotations


def quoted(text: str) -> list[str]:
    return [quotation.text for quotation in find_quotations(text) if quotation.is_whole]


def alone(text: str) -> list[tuple[str, str, str]]:
    """Return the marks without partner, each with what may be quoted."""
    return [(*one.marks, one.text) for one in find_quotations(text) if not one.is_whole]


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


def test_a_mark_without_partner_is_given_with_what_may_be_quoted() -> None:
    assert alone('an "open mark and "a b" here') == [('"', "", "open mark and")]
    assert alone("You said “the price is 49 euro.\n\nAnd so on.") == [("“", "", "the price is 49 euro.")]
    assert alone("- the price is 49”, you said\n- b") == [("", "”", "the price is 49")]
    assert alone("「はい」と「言った") == [("「", "", "言った")]
    assert alone("Du sa: ‘Vi ses på fredag\n\nJa.") == [("‘", "", "Vi ses på fredag")]


@pytest.mark.parametrize(
    "text",
    [
        'a 5\'10" man, 6" nails and a 7" pipe',
        "‘bout time, the dogs’ bowls, 'em and the girls'",
        "'Bout time we left. ’Nuff said",
        '| a | " | b |\n| c | " | d |',
        'a lone " or “ or ” between spaces',
        '`a "b` and x',
        "“She said ‘no dogs to me”",
        "> said “to be\n\nx",
        "> 'open\n",
    ],
)
def test_what_quotes_nothing_or_stands_in_a_quotation_is_no_mark_alone(text: str) -> None:
    assert alone(text) == []


def test_a_quotation_may_run_over_lines_of_its_paragraph() -> None:
    assert quoted("so “a\nb” there") == ["a\nb"]


@pytest.mark.parametrize(
    ("opening", "closing"),
    ["“”", '""', "””", "„“", "„”", "«»", "»«", "»»", "「」", "『』", "＂＂", "〝〟", "‹›", "‚‘"],
)
def test_a_quotation_may_run_over_paragraphs(opening: str, closing: str) -> None:
    text = f"You said {opening}the one,\n\nthe other\n\nand a third{closing} then."

    (found,) = find_quotations(text)

    assert found.text == "the one,\n\nthe other\n\nand a third"
    assert (found.marks, found.is_whole, found.span.of(text)) == ((opening, closing), True, found.text)
    assert found.claimed == "user"


@pytest.mark.parametrize(("opening", "closing"), ["“”", '""', "””", "„“", "«»", "»«", "»»", "「」", "‘’", "''", "’’"])
def test_each_paragraph_of_a_quotation_may_begin_with_the_mark_again(opening: str, closing: str) -> None:
    text = f"You wrote:\n\n{opening}The one.\n\n{opening}The other.\n\n{opening}A third.{closing}\n\nAnd so on."

    (found,) = find_quotations(text)

    assert found.text == "The one.\n\nThe other.\n\nA third."
    assert found.span.of(text) == f"The one.\n\n{opening}The other.\n\n{opening}A third."
    assert (found.is_whole, found.claimed) == (True, "user")


def test_marks_within_marks_go_on_over_paragraphs_together() -> None:
    assert quoted("“She said: ‘the one.\n\n“‘The other.’ And I left.”") == [
        "She said: ‘the one.\n\nThe other.’ And I left.",
        "the one.\n\nThe other.",
    ]


def test_french_quotations_over_paragraphs_are_found() -> None:
    assert quoted("Il dit : « un.\n\ndeux. » Fin.") == ["un.\n\ndeux."]
    assert quoted("Il dit : « un.\n\n« deux.\n\n« trois. » Fin.") == ["un.\n\n deux.\n\n trois."]
    assert quoted("Il dit : « un.\n\n» deux.\n\n» trois. » Fin.") == ["un.\n\n deux.\n\n trois."]


def test_a_quotation_over_paragraphs_may_hold_others_lists_and_code() -> None:
    text = 'You said "I need:\n\n- eggs\n- ‘good’ milk\n\n```\nprint("x")\n```\n\nand bread" then.'

    assert quoted(text) == ['I need:\n\n- eggs\n- ‘good’ milk\n\n```\nprint("x")\n```\n\nand bread', "good"]
    assert alone(text) == []


def test_quotations_in_between_show_that_a_mark_stands_alone() -> None:
    text = 'a "b c\n\nthe "d e" there\n\nf g" h'

    assert quoted(text) == ["d e"]
    assert alone(text) == [('"', "", "b c"), ("", '"', "f g")]
    assert quoted('- "a b\n- "c d"\n- "e f"') == ["c d", "e f"]
    assert alone('- "a b\n- "c d"\n- "e f"') == [('"', "", "a b")]


def test_a_number_may_end_a_quotation_and_inches_do_not() -> None:
    assert quoted("You said “the price\n\nis 49” then.") == ["the price\n\nis 49"]
    assert quoted('You said "the price\n\nis 49".') == ["the price\n\nis 49"]
    assert quoted('You said "the pipe\n\nhas 7" across') == []
    assert alone('You said "the pipe\n\nhas 7" across') == [('"', "", "the pipe")]


def test_single_marks_over_paragraphs_begin_and_end_them() -> None:
    assert quoted("‘The one.\n\nThe other.’\n\nAnd so on.") == ["The one.\n\nThe other."]
    assert quoted("It's ‘bout the dogs\n\nand the dogs’ bowls") == []


def test_a_block_quote_may_hold_a_quotation_over_its_paragraphs() -> None:
    text = "> He said “one\n>\n> “two” then\n\nafter"

    found = find_quotations(text)

    assert [one.text for one in found] == ["He said “one\n\n“two” then", "one\n\ntwo"]
    assert found[1].span.of(text) == "one\n>\n> “two"


def test_lines_between_edges_of_three_signs_are_a_block_quote() -> None:
    text = "You wrote:\n\n>>>\nThe flat is\n\n- not to be let.\n>>>\n\nand so on"

    (found,) = find_quotations(text)

    assert (found.text, found.claimed) == ("The flat is\n\n- not to be let.", "user")
    assert quoted(">>>\n\nalone") == []
    assert quoted(">>> print(1)\n1") == ["print(1)"]


def test_what_stands_in_tags_is_quoted() -> None:
    text = (
        "You wrote:\n<blockquote cite='x'>\n<p>The flat is</p>\n\n<p>not to be let &amp; sold.</p>\n</blockquote>\nEnd"
    )

    (found,) = [one for one in find_quotations(text) if one.is_whole]

    assert found.text.split() == ["The", "flat", "is", "not", "to", "be", "let", "&", "sold."]
    assert (found.marks, found.claimed) == (("<blockquote cite='x'>", "</blockquote>"), "user")
    assert quoted("He said <q>a b</q> and <Q>c d</Q>, `<q>e f</q>`") == ["a b", "c d"]
    assert quoted("<blockquote>“a b”</blockquote>") == ["a b"]
    assert alone("<blockquote>a b\n\nc d") == [("<blockquote>", "", "a b")]
    assert alone("vector<q> x") == []


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
    [
        '"a ',
        "“",
        "”a ",
        "'s b' ",
        "> x\n",
        "`",
        "`` ` ",
        '> "a\n\n',
        "a” ",
        "- “b\n",
        "x y. ",
        "« ",
        'said "a b" ',
        "<q>",
        "</q>",
        "<q></q>",
        "“a\n\n",
        '"a\n\nb" ',
        "‘a\n\n",
        ">>>\na\n",
        "`<q>` ",
    ],
)
def test_a_long_text_of_marks_ends_in_seconds(unit: str) -> None:
    began = time.process_time()

    find_quotations(unit * (100_000 // len(unit)))

    assert time.process_time() - began < 20


def test_a_mark_without_partner_within_a_quotation_is_a_part_of_it() -> None:
    assert quoted("Il dit « one two” three four five » et sort.") == ["one two” three four five"]
    assert alone("Il dit « one two” three four five » et sort.") == []
    assert quoted("He wrote «one “two three» and left.") == ["one “two three"]


MARKS = [*"\"'“”‘’„‚«»‹›「」『』>`~*\\"]
PIECES = [*MARKS, *MARKS, " ", " ", "\n", "\n\n", "- ", "1. ", "two words", "so", "5", ".", ",", ": ", "日"]


@given(
    st.text(st.characters(exclude_categories=()) | st.sampled_from("\"'“”‘’„‚«»‹›「」『』>`~-*\n\r ab日."), max_size=60)
    | st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
)
def test_places_are_right_for_any_text(text: str) -> None:
    found = find_quotations(text)

    assert [one.span for one in found] == sorted((one.span for one in found), key=lambda span: (span.start, -span.end))
    assert len({(one.span, one.marks) for one in found}) == len(found)
    for one in found:
        if one.marks[0] != ">" and "\n" not in one.text and "\n\n" not in text:
            assert one.span.of(text) == one.text
        assert [c for c in one.span.of(text) if c.isalnum()] == [c for c in one.text if c.isalnum()]
        assert one.is_whole or "\n\n" not in one.text
