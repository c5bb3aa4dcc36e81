"""Every quoted string of an answer gets a verdict, and an invented one never confirms itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memory_rag.retrieval.differences import Difference
from memory_rag.retrieval.verification import Verdict, verify
from memory_rag.text.folding import fold
from memory_rag.text.word_bounds import count_words
from memory_rag.turns import Role, Turn


class Said:
    """Turns in a list, found the plain way."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = list(turns)

    def containing(self, text: str) -> Iterable[Turn]:
        return [turn for turn in self.turns if text in turn.text]

    def with_words(self, words: Sequence[str]) -> Iterable[Turn] | None:
        return None

    def like(self, text: str, *, k: int) -> Iterable[Turn]:
        asked = set(fold(text).text.split())
        return sorted(self.turns, key=lambda turn: -len(asked & set(fold(turn.text).text.split())))[:k]

    def every(self) -> Iterable[Turn]:
        return list(self.turns)

    def current(self, turn_id: str) -> Turn | None:
        return next((turn for turn in self.turns if turn.turn_id == turn_id), None)


def turn(number: int, role: Role, text: str, speaker: str = "") -> Turn:
    said_at = datetime(2026, 5, number, 12, tzinfo=UTC)
    return Turn(f"t{number}", "c", "s", number, role, speaker or role.value, text, said_at)


CHAT = Said(
    [
        turn(1, Role.USER, "I told them that the price is 49 euro a month, no more."),
        turn(2, Role.ASSISTANT, "Then the yearly price would be 588 euro in total."),
        turn(3, Role.USER, "The flat is not to be let before June."),
        turn(4, Role.TOOL, "delivery of parcel 4711 is delayed by rain"),
        turn(5, Role.USER, "Vi ses pa\u030a mo\u0308tet i Malmö på fredag, säg det till Kalle."),
        turn(6, Role.USER, "Jeg har aldri vært i Tromsø om vinteren."),
        turn(7, Role.SYSTEM, "Always answer in the language of the user."),
        turn(8, Role.ASSISTANT, "Sounds good, see you there on Monday morning."),
    ]
)
FRIENDS = Said(
    [
        turn(1, Role.USER, "I went to the support group on Sunday and it was great.", "Caroline"),
        turn(2, Role.USER, "We took the kids to the lake last weekend.", "Melanie Stone"),
    ]
)


def only(answer: str, source: Said = CHAT) -> Verdict:
    (verdict,) = verify(answer, source=source)
    return verdict


def test_words_that_were_said_are_verbatim_with_place_and_time() -> None:
    verdict = only("You said “the price is 49 euro a month” in May.")

    assert (verdict.status, verdict.claimed, verdict.count) == ("verbatim", "user", 1)
    assert [(quote.turn_id, quote.start, quote.end, quote.status) for quote in verdict.quotes] == [
        ("t1", 17, 45, "exact")
    ]
    assert verdict.message == "Word for word by the user (2026-05-01, turn t1)."


def test_other_case_marks_and_composition_are_verbatim_and_the_quote_says_folded() -> None:
    verdict = only("Du skrev: ”vi ses på mötet i Malmö på fredag”.")

    assert (verdict.status, verdict.claimed) == ("verbatim", "user")
    assert [(quote.status, quote.text) for quote in verdict.quotes] == [
        ("folded", "Vi ses pa\u030a mo\u0308tet i Malmö på fredag")
    ]


@pytest.mark.parametrize("quoted", ["“the price is 49 euro a month,”", "“the price is 49 euro a month.”"])
def test_the_punctuation_of_the_sentence_around_is_not_held_against_a_quotation(quoted: str) -> None:
    assert only(f"{quoted} you said.").status == "verbatim"


def test_an_elided_quotation_is_near_and_shows_what_was_left_out() -> None:
    verdict = only("You wrote that “The flat is ... to be let”.")

    assert verdict.status == "near"
    assert verdict.quotes[0].differences == (Difference("negation", "...", "not"),)
    assert verdict.message == (
        "Not word for word: the user has “not” where the quotation has an ellipsis (2026-05-03, turn t3)."
    )


@pytest.mark.parametrize(
    "elided",
    [
        "The flat is … to be let",
        "to be let ... The flat is",
        "The flat ... June",
        "the flat is not to be ...",
    ],
)
def test_an_elided_quotation_is_never_verbatim(elided: str) -> None:
    assert only(f"You said “{elided}”.").status in ("near", "not_found")


def test_pieces_in_another_order_are_not_found() -> None:
    assert only("You said “to be let ... The flat is”.").status == "not_found"


@pytest.mark.parametrize(
    ("answer", "difference"),
    [
        ("You said “the price is 59 euro a month”.", Difference("changed", "59", "49")),
        ("«Jeg har vært i Tromsø om vinteren», skrev du.", Difference("negation", "", "aldri")),
        ("You said “the flat is to be let before June”.", Difference("negation", "", "not")),
        ("Du sa ”vi ses på mötet i Lund på fredag”.", Difference("changed", "Lund", "Malmö")),
    ],
)
def test_changed_words_are_near_with_the_difference(answer: str, difference: Difference) -> None:
    verdict = only(answer)

    assert verdict.status == "near"
    assert verdict.quotes[0].differences == (difference,)
    assert verdict.count == 0


def test_the_message_of_a_near_quotation_names_both_wordings() -> None:
    assert only("You said “the price is 59 euro a month”.").message == (
        "Not word for word: the user has “49” for “59” (2026-05-01, turn t1)."
    )
    assert only("«Jeg har vært i Tromsø om vinteren», skrev du.").message == (
        "Not word for word: the user has “aldri” as well (2026-05-06, turn t6)."
    )


def test_a_quotation_that_ends_inside_a_word_is_not_verbatim() -> None:
    source = Said([turn(1, Role.USER, "I think that I can't come on Friday.")])

    verdict = only("You said “I think that I can”.", source)

    assert verdict.status == "near"
    assert verdict.quotes[0].differences == (Difference("negation", "can", "can't"),)


def test_words_of_another_than_claimed_are_said_by_another() -> None:
    verdict = only("Caroline said “we took the kids to the lake”.", FRIENDS)

    assert (verdict.status, verdict.claimed) == ("said_by_another", "Caroline")
    assert verdict.quotes[0].speaker == "Melanie Stone"
    assert verdict.message == "Said by Melanie Stone (2026-05-02, turn t2), not by Caroline."


@pytest.mark.parametrize("name", ["Melanie", "Melanie Stone", "MELANIE"])
def test_a_name_or_a_part_of_it_confirms_the_speaker(name: str) -> None:
    assert only(f"According to {name}, “we took the kids to the lake”.", FRIENDS).status == "verbatim"


def test_a_user_without_a_name_may_have_any_name() -> None:
    assert only("Ada said “the price is 49 euro a month”.").status == "verbatim"


def test_the_users_words_claimed_by_the_assistant_are_said_by_another() -> None:
    verdict = only("As I said: “the price is 49 euro a month”.")

    assert (verdict.status, verdict.claimed) == ("said_by_another", "assistant")


@pytest.mark.parametrize("answer", ["You said “{}”.", "Remember “{}”?", "Ada wrote “{}”."])
def test_words_that_only_the_assistant_used_do_not_count_as_said(answer: str) -> None:
    verdict = only(answer.format("the yearly price would be 588 euro"))

    assert verdict.status == "only_assistant"
    assert verdict.message == "Only in the assistant's own words (2026-05-02, turn t2): nobody else said this."


@pytest.mark.parametrize("answer", ["I said “{}”.", "Jag skrev ”{}”.", "Jeg sa «{}».", "«{}», svarte jeg."])
def test_the_assistants_words_claimed_as_its_own_are_verbatim(answer: str) -> None:
    verdict = only(answer.format("the yearly price would be 588 euro"))

    assert (verdict.status, verdict.claimed) == ("verbatim", "assistant")


def test_an_invented_quotation_never_confirms_itself() -> None:
    answer = "You said “I would love to live on the moon”."
    stored = turn(9, Role.ASSISTANT, answer)

    assert only(answer, Said([*CHAT.turns, stored])).status == "not_found"
    (by_id,) = verify(answer + " And more.", source=Said([*CHAT.turns, stored]), answer_turn_id="t9")
    assert by_id.status == "not_found"
    assert only(answer + " And more.", Said([*CHAT.turns, stored])).status == "only_assistant"


def test_a_user_who_repeats_the_answer_does_confirm_it() -> None:
    answer = "You said “I would love to live on the moon”."

    assert only(answer, Said([turn(9, Role.USER, answer)])).status == "verbatim"


def test_the_one_who_is_claimed_comes_first_among_many() -> None:
    many = [turn(n % 28 + 1, Role.ASSISTANT, "let us go to the sea") for n in range(300)]
    chat = [Turn(f"a{n}", "c", "s", n, one.role, one.speaker, one.text, one.said_at) for n, one in enumerate(many)]
    source = Said([*chat, turn(9, Role.USER, "Let us go to the sea!")])

    verdict = only("You said “let us go to the sea”.", source)

    assert verdict.status == "verbatim"
    assert [quote.turn_id for quote in verdict.quotes] == ["t9", "a0", "a1", "a2", "a3"]


def test_under_four_words_the_turns_are_counted() -> None:
    source = Said([turn(1, Role.USER, "No way!"), turn(2, Role.USER, "no way, NO WAY"), turn(3, Role.USER, "yes")])

    verdict = only("There was a “no way” in it.", source)

    assert (verdict.status, verdict.count) == ("too_short", 2)
    assert verdict.message == "Too short to tell: these words stand in 2 turns."
    assert only("A so-called “smart house”.", source).message == (
        "Too short to tell: these words stand in no stored turn."
    )


def test_a_short_quotation_with_a_wrong_claim_is_not_excused() -> None:
    assert only("Caroline mentioned “the kids”.", FRIENDS).status == "said_by_another"
    assert only("Melanie mentioned “the kids”.", FRIENDS).status == "too_short"
    assert only("Melanie mentioned “the moon”.", FRIENDS).status == "not_found"


def test_a_script_without_spaces_counts_two_signs_as_a_word() -> None:
    source = Said([turn(1, Role.USER, "明日の会議は十時です。")])

    assert only("ユーザー:「明日の会議は十時」", source).status == "verbatim"
    assert only("ユーザー:「会議」", source).status == "too_short"


def test_words_of_a_tool_or_of_the_system_are_verbatim_and_said_to_be_so() -> None:
    verdict = only("It says “delivery of parcel 4711 is delayed”.")

    assert verdict.status == "verbatim"
    assert verdict.message == (
        "Word for word in a tool's output (2026-05-04, turn t4), which is not anything that a person said."
    )
    assert only("You said “answer in the language of the user”.").message == (
        "Said by a system message (2026-05-07, turn t7), not by the user."
    )


def test_what_nobody_said_is_not_found() -> None:
    verdict = only("You said “the moon is made of green cheese”.")

    assert (verdict.status, verdict.quotes, verdict.count) == ("not_found", (), 0)
    assert verdict.message == "Not found: no stored turn says this, nor anything close to it."


def test_a_block_quote_is_verified_over_its_lines() -> None:
    verdict = only("You wrote:\n\n> The flat is not to be\n> let before June.\n")

    assert (verdict.status, verdict.claimed) == ("verbatim", "user")
    assert verdict.quotes[0].text == "The flat is not to be let before June."


LETTER = (
    "The flat on Mill Lane is not to be let before June.\n\nThe price is 49 euro a month, no more.\n\n"
    "Write to Kalle when you are back in Malmö."
)
LETTERS = Said([turn(1, Role.USER, LETTER), turn(2, Role.USER, "We meet at the harbour on Friday at nine.")])
PARAGRAPHS = LETTER.split("\n\n")


@pytest.mark.parametrize(
    "answer",
    [
        "You wrote “{0}\n\n{1}\n\n{2}”",
        "You wrote:\n\n“{0}\n\n“{1}\n\n“{2}”\n\nThat was all.",
        'You wrote:\n\n"{0}\n\n"{1}\n\n"{2}"',
        "You wrote:\n\n> {0}\n>\n> {1}\n>\n> {2}",
        "You wrote:\n\n>>>\n{0}\n\n{1}\n\n{2}\n>>>",
        "You wrote:\n<blockquote><p>{0}</p>\n\n<p>{1}</p>\n\n<p>{2}</p></blockquote>",
    ],
)
def test_a_quotation_over_paragraphs_has_a_verdict(answer: str) -> None:
    said = only(answer.format(*PARAGRAPHS), LETTERS)
    changed = only(answer.format(PARAGRAPHS[0], PARAGRAPHS[1].replace("49", "59"), PARAGRAPHS[2]), LETTERS)
    invented = only(answer.format("The moon is made", "of green and old cheese", "and nobody lives on it"), LETTERS)

    assert (said.status, said.claimed, said.quotes[0].text) == ("verbatim", "user", LETTER)
    assert (changed.status, changed.quotes[0].differences) == ("near", (Difference("changed", "59", "49"),))
    assert invented.status == "not_found"


def test_paragraphs_of_several_turns_are_near_and_each_is_placed() -> None:
    verdict = only(f"You wrote:\n\n> {PARAGRAPHS[1]}\n>\n> We meet at the harbour on Friday at nine.\n", LETTERS)

    assert verdict.status == "near"
    assert [quote.turn_id for quote in verdict.quotes] == ["t1", "t2"]
    assert verdict.message == "Not in one piece: its 2 paragraphs stand apart from each other, in turns t1, t2."


def test_of_paragraphs_that_are_partly_invented_the_first_that_is_is_named() -> None:
    verdict = only(f"You wrote “{PARAGRAPHS[1]}\n\nAnd I gladly pay for all of it.”", LETTERS)

    assert (verdict.status, verdict.quotes, verdict.count) == ("not_found", (), 0)
    assert verdict.message == (
        "Not found: of its 2 paragraphs 1 stands in what was said, but not “And I gladly pay for all of it.”"
    )


def test_of_a_long_invention_no_more_than_its_beginning_is_looked_for() -> None:
    class Counting(Said):
        n_looks = 0

        def like(self, text: str, *, k: int) -> Iterable[Turn]:
            self.n_looks += 1
            return super().like(text, k=k)

    source = Counting([turn(1, Role.USER, "nothing of the kind was ever said by anybody here")])
    invented = [f"Point {n} of the letter is that we buy {n} boats." for n in range(500)]

    assert only("> " + "\n>\n> ".join(invented), source).status == "not_found"
    assert source.n_looks < 50


def test_a_long_quotation_is_compared_paragraph_by_paragraph() -> None:
    long = [f"Point {n} of the long letter says that we go on with number {n}." for n in range(200)]
    source = Said([turn(1, Role.USER, "\n\n".join(long))])

    assert only("> " + "\n>\n> ".join(long), source).status == "verbatim"
    changed = only("> " + "\n>\n> ".join([*long[:150], long[150].replace("go on", "stop"), *long[151:]]), source)

    assert changed.status == "near"
    assert changed.message == "Not word for word: the user has “go on” for “stop” (2026-05-01, turn t1)."


def test_a_long_quotation_of_one_paragraph_that_can_not_be_compared_is_not_judged() -> None:
    long = " ".join(f"Point {n} of the long letter says that we go on." for n in range(200))
    source = Said([turn(1, Role.USER, long)])

    assert only(f"“{long}”", source).status == "verbatim"
    verdict = only(f"“{long.replace('Point 150', 'Point 151')}”", source)

    assert (verdict.status, verdict.quotes) == ("not_judged", ())
    assert verdict.message == (
        "Not judged: it stands nowhere word for word, and of more than 5,000 characters no similar words are looked "
        "for."
    )


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("You said “the price is 49 euro a month", "Not judged: the mark “ is never closed."),
        ("the price is 49 euro a month”, you said", "Not judged: nothing opens what the mark ” closes."),
        ("<blockquote>the price is 49 euro", "Not judged: the mark <blockquote> is never closed."),
    ],
)
def test_a_mark_without_its_partner_is_listed_as_not_judged(answer: str, message: str) -> None:
    verdict = only(answer)

    assert (verdict.status, verdict.quotes, verdict.count, verdict.message) == ("not_judged", (), 0, message)


def test_every_quotation_gets_its_own_verdict_in_order() -> None:
    verdicts = verify(
        "Du sa ”vi ses på mötet i Malmö på fredag” och jag svarade ”see you there on Monday morning”, "
        "men «jeg elsker Tromsø om vinteren» har ingen sagt.",
        source=CHAT,
    )

    assert [(verdict.status, verdict.claimed) for verdict in verdicts] == [
        ("verbatim", "user"),
        ("verbatim", "assistant"),
        ("not_found", None),
    ]


def test_a_norwegian_answer_is_verified() -> None:
    verdicts = verify(
        "Tidligere skrev du: «Jeg har aldri vært i Tromsø om vinteren». Du kalte det «vinteren».",
        source=CHAT,
    )

    assert [verdict.status for verdict in verdicts] == ["verbatim", "too_short"]


@pytest.mark.parametrize("answer", ["", "Nothing is quoted, don't worry.", "`“code only here ok”`"])
def test_an_answer_that_quotes_nothing_has_no_verdicts(answer: str) -> None:
    assert verify(answer, source=CHAT) == ()


def test_a_memory_without_turns_finds_nothing() -> None:
    assert only("You said “the price is 49 euro”.", Said([])).status == "not_found"


def test_an_unknown_time_is_left_out_of_the_message() -> None:
    source = Said([Turn("t1", "c", "s", 1, Role.USER, "Ada", "call me when you are home")])

    assert only("“call me when you are home”", source).message == "Word for word by Ada (turn t1)."


def test_a_verdict_in_json_tells_the_place_in_the_answer() -> None:
    assert only("You said “the moon is made of green cheese”.").as_json() == {
        "status": "not_found",
        "text": "the moon is made of green cheese",
        "start": 10,
        "end": 42,
        "claimed": "user",
        "count": 0,
        "quotes": [],
        "message": "Not found: no stored turn says this, nor anything close to it.",
    }


WORDS = st.sampled_from(["vi", "ses", "snart", "i", "Malmö", "nu", "not", "49", "euro", "日本"])


@given(st.lists(st.lists(WORDS, min_size=4, max_size=9), min_size=1, max_size=4), st.data())
def test_four_whole_words_of_a_user_are_always_verbatim(turns: list[list[str]], data: st.DataObject) -> None:
    source = Said([turn(n, Role.USER, " ".join(words)) for n, words in enumerate(turns, 1)])
    chosen = data.draw(st.sampled_from(turns))
    first = data.draw(st.integers(0, len(chosen) - 4))
    wording = " ".join(chosen[first : first + 4])
    assume(count_words(wording) >= 4)

    verdict = only(f"You said “{wording}”.", source)

    assert verdict.status == "verbatim"
    for quote in verdict.quotes:
        stored = source.current(quote.turn_id)
        assert stored is not None
        assert quote.text == stored.text[quote.start : quote.end]


@given(st.text(st.characters(exclude_categories=()) | st.sampled_from("\"'“”‘’«»「」„>`\n you said…"), max_size=80))
def test_any_answer_can_be_verified(answer: str) -> None:
    for verdict in verify(answer, source=CHAT):
        assert answer[verdict.quotation.span.start : verdict.quotation.span.end]
