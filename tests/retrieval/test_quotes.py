"""Quotes come back as they were written, with their place, or not at all."""

from __future__ import annotations

import dataclasses
import random
import time
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memory_rag.errors import QueryError, StoreError
from memory_rag.retrieval.differences import Difference
from memory_rag.retrieval.occurrences import says_something
from memory_rag.retrieval.quotes import Quote, count_turns, find_quotes
from memory_rag.text.folding import fold
from memory_rag.turns import Role, Source, Turn


class Said:
    """Turns in a list, found the plain way; ``narrows`` False is a source that has no index of words."""

    def __init__(self, turns: Sequence[Turn], *, narrows: bool = True) -> None:
        self.turns = list(turns)
        self.narrows = narrows

    def containing(self, text: str) -> Iterable[Turn]:
        return [turn for turn in self.turns if text in turn.text]

    def with_words(self, words: Sequence[str]) -> Iterable[Turn] | None:
        if not self.narrows:
            return None
        return [turn for turn in self.turns if set(words) <= self._words(turn.text)]

    def like(self, text: str, *, k: int) -> Iterable[Turn]:
        asked = self._words(text)
        return sorted(self.turns, key=lambda turn: -len(asked & self._words(turn.text)))[:k]

    def every(self) -> Iterable[Turn]:
        return list(self.turns)

    def current(self, turn_id: str) -> Turn | None:
        return next((turn for turn in self.turns if turn.turn_id == turn_id), None)

    @staticmethod
    def _words(text: str) -> set[str]:
        folded = fold(text).text
        return set("".join(sign if sign.isalnum() else " " for sign in folded).split())


def said(*texts: str, narrows: bool = True) -> Said:
    turns = [Turn(f"t{n}", "c", "s", n, Role.USER, "user", text) for n, text in enumerate(texts, 1)]
    return Said(turns, narrows=narrows)


def found(query: str, *texts: str) -> list[tuple[str, str, int, int, str]]:
    quotes = find_quotes(query, source=said(*texts))
    return [(quote.status, quote.turn_id, quote.start, quote.end, quote.text) for quote in quotes]


FLAT = "The flat is not to be let before June."


@pytest.mark.parametrize(
    "query",
    [
        "The flat is ... to be let",
        "The flat is … to be let",
        "The flat is [...] to be let",
        "to be let ... The flat is",
        "... to be let before June",
        "The flat … June",
    ],
)
def test_an_elided_quote_is_never_exact_nor_folded(query: str) -> None:
    """G16."""
    assert {status for status, *_ in found(query, FLAT)} <= {"near"}


def test_the_words_without_an_ellipsis_are_exact() -> None:
    """G16."""
    assert found("not to be let before June", FLAT) == [("exact", "t1", 12, 37, "not to be let before June")]


def test_an_ellipsis_that_swallows_a_not_is_near_and_says_so() -> None:
    (quote,) = find_quotes("The flat is ... to be let", source=said(FLAT))

    assert (quote.status, quote.text) == ("near", "The flat is not to be let")
    assert quote.differences == (Difference("negation", "...", "not"),)


def test_pieces_in_another_order_are_not_found() -> None:
    assert found("to be let ... The flat is", FLAT) == []


def test_pieces_in_two_turns_or_far_apart_are_not_found() -> None:
    filler = "and then we spoke of other things for a long time " * 7

    assert found("the flat on the hill ... to be let", "the flat on the hill", "is to be let") == []
    assert found("the flat on the hill ... to be let", f"the flat on the hill {filler} to be let") == []


def test_a_stored_ellipsis_can_be_quoted() -> None:
    assert found("well… not today", "well… not today, I think") == [("exact", "t1", 0, 15, "well… not today")]
    assert found("well... not today", "well… not today") == [("folded", "t1", 0, 15, "well… not today")]


@pytest.mark.parametrize(
    ("query", "text", "start", "end"),
    [
        ("MÖTET", "DİL: mötet är kl 9", 5, 10),
        ("STRASSE", "Große Straße 9", 6, 12),
        ("dil ve yazı", "DIL VE YAZI, Dil ve yazı", 13, 24),
        ("istanbul'da", "Yarın İSTANBUL’DA", 6, 17),
        ("İSTANBUL'DA", "Yarın i̇stanbul’da", 6, 18),
        ("σοφος", "ὁ ΣΟΦΟΣ λέγει", 2, 7),
        ("ΣΟΦΟΣ", "ὁ σοφος λέγει", 2, 7),
        ("find the office", "We \ufb01nd the o\ufb03ce", 3, 15),
        ("한국 사람", "저는 \u1112\u1161\u11ab\u1100\u116e\u11a8 \u1109\u1161\u1105\u1161\u11b7", 3, 15),
        ("på mötet i Malmö", "Vi ses pa\u030a mo\u0308tet i Malmo\u0308", 7, 26),
        ("HEY 👩\u200d👧 you", "so hey 👩\u200d👧  you", 3, 15),
        ("you 👩👧 there", "oh you 👩\u200d👧 there", 3, 16),
        ("“don't  do that”", "please don’t do that", 7, 20),
        ("2020-2021 was hard", "2020–2021\nWAS hard", 0, 18),
        ("the soft hyphen", "the so\u00adft\u200b hy\u00adphen", 0, 18),
    ],
)
def test_case_marks_and_composition_are_folded_and_the_place_is_right(
    query: str, text: str, start: int, end: int
) -> None:
    assert found(query, text) == [("folded", "t1", start, end, text[start:end])]


def test_a_place_shifted_by_letters_that_grow_is_right_in_every_folded_quote() -> None:
    assert found("ja", "İİ ja İß JA ﬃ Ja") == [
        ("exact", "t1", 3, 5, "ja"),
        ("folded", "t1", 9, 11, "JA"),
        ("folded", "t1", 14, 16, "Ja"),
    ]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("s", "ß"),
        ("stras", "Straß"),
        ("👩", "👩\u200d👧"),
        ("👍", "👍🏽"),
        ("🇸🇪", "🇳🇸🇪🇴"),
        ("f", "ﬁ"),
    ],
)
def test_a_part_of_a_written_character_is_no_folded_quote(query: str, text: str) -> None:
    assert [quote for quote in find_quotes(query, source=said(text)) if quote.status != "exact"] == []


def test_exact_quotes_come_first_and_all_of_them_come() -> None:
    assert found("see you", "See you! see you, see you", "I see you", "SEE YOU") == [
        ("exact", "t1", 9, 16, "see you"),
        ("exact", "t1", 18, 25, "see you"),
        ("exact", "t2", 2, 9, "see you"),
        ("folded", "t1", 0, 7, "See you"),
        ("folded", "t3", 0, 7, "SEE YOU"),
    ]


def test_no_more_quotes_come_than_asked_for() -> None:
    source = said("ja ja JA", "ja")

    assert [q.turn_id for q in find_quotes("ja", source=source, limit=3)] == ["t1", "t1", "t2"]
    assert [q.status for q in find_quotes("JA", source=source, limit=2)] == ["exact", "folded"]


def test_words_on_their_own_are_preferred_to_parts_of_words() -> None:
    assert found("art", "a party of artists", "modern art is fine") == [("exact", "t2", 7, 10, "art")]
    assert found("price is 4", "the price is 49", "The PRICE is 4") == [
        ("exact", "t1", 4, 14, "price is 4"),
        ("folded", "t2", 4, 14, "PRICE is 4"),
    ]


@pytest.mark.parametrize(
    ("query", "text", "whole"),
    [
        ("art", "a party", Difference("changed", "art", "party")),
        ("I can", "I can't go", Difference("negation", "can", "can't")),
        ("costs 49", "it costs 49.90 now", Difference("changed", "49", "49.90")),
        ("5 degrees", "it was -5 degrees", Difference("changed", "5", "-5")),
        ("Malmo", "i Malmo\u0308", Difference("changed", "Malmo", "Malmo\u0308")),
        ("👩", "👩\u200d👧", Difference("changed", "👩", "👩\u200d👧")),
        ("PART", "a party", Difference("changed", "part", "party")),
    ],
)
def test_a_quote_that_ends_inside_a_word_names_the_whole_word(query: str, text: str, whole: Difference) -> None:
    (quote,) = find_quotes(query, source=said(text))

    assert quote.status in ("exact", "folded")
    assert quote.differences == (whole,)


def test_signs_of_scripts_without_spaces_stand_on_their_own() -> None:
    assert found("日志", "步骤3:重启api-gw后日志清零") == [("exact", "t1", 13, 15, "日志")]
    assert find_quotes("日志", source=said("重启后日志清零"))[0].differences == ()


@pytest.mark.parametrize("query", ["", " ", "?!", "--", "*", ")(", '"', '" "', "\u00a0", "…", "\u200b", "\x00", "`"])
def test_a_query_that_says_nothing_finds_nothing(query: str) -> None:
    assert found(query, f'{query} ?! -- * )( " … ` \x00 all of it') == []


@pytest.mark.parametrize("query", ["a\x00b", "x\ud800y", "\ud800", "👍", "€", "1"])
def test_nul_lone_surrogates_and_pictures_are_quoted(query: str) -> None:
    assert found(query, f"so {query}!") == [("exact", "t1", 3, 3 + len(query), query)]


def test_marks_around_the_query_do_not_hinder() -> None:
    assert found(" “the price is 49 euro” ", "I said the price is 49 euro.") == [
        ("folded", "t1", 7, 27, "the price is 49 euro")
    ]


def test_near_words_come_with_their_differences() -> None:
    (quote,) = find_quotes("the meeting is at the town hall", source=said("So the meeting was at our town hall!"))

    assert (quote.status, quote.text) == ("near", "the meeting was at our town hall")
    assert quote.differences == (Difference("changed", "is", "was"), Difference("changed", "the", "our"))
    assert quote.similarity == pytest.approx(85.71)


@pytest.mark.parametrize(
    ("query", "text", "difference"),
    [
        ("the price is 49 euro", "The price is 59 euro", Difference("changed", "49", "59")),
        ("we will go to the sea", "we will not go to the sea", Difference("negation", "", "not")),
        ("I have never been to Oslo", "I have been to Oslo", Difference("negation", "never", "")),
        ("I do want the red one", "I don't want the red one", Difference("negation", "do", "don't")),
        ("jag kommer på mötet", "jag kommer inte på mötet", Difference("negation", "", "inte")),
        ("jeg har ikke sett filmen", "jeg har sett filmen", Difference("negation", "ikke", "")),
        ("jeg har aldri sett filmen", "jeg har sett filmen", Difference("negation", "aldri", "")),
        ("det kostar 1 500 kronor", "det kostar 1 600 kronor", Difference("changed", "500", "600")),
        ("it costs 50 € a month", "it costs 50 $ a month", Difference("changed", "€", "$")),
    ],
)
def test_a_negation_or_a_number_that_differs_is_shown_and_grave(query: str, text: str, difference: Difference) -> None:
    (quote,) = find_quotes(query, source=said(text))

    assert quote.status == "near"
    assert quote.differences == (difference,)
    assert difference.grave


def test_a_turned_meaning_ranks_below_a_less_similar_wording() -> None:
    quotes = find_quotes(
        "the price is 49 euro a month",
        source=said("the price is 48 euro a month", "the price is 49 euro per month"),
    )

    assert [quote.turn_id for quote in quotes] == ["t2", "t1"]
    assert quotes[0].similarity < quotes[1].similarity


def test_only_punctuation_that_differs_is_a_difference_too() -> None:
    (quote,) = find_quotes("let us eat, dear grandma", source=said("let us eat dear grandma"))

    assert quote.differences == (Difference("changed", "eat,", "eat"),)


@pytest.mark.parametrize("query", ["red apple", "a b c d", "Oslo in May"])
def test_short_queries_are_never_near(query: str) -> None:
    assert found(query, query.replace("a", "o").replace("M", "J")) == []


def test_a_short_turn_is_not_near_because_the_query_holds_it() -> None:
    assert found("yes that is what I said yesterday", "yes", "that is what") == []


def test_near_quotes_begin_and_end_at_words_and_hold_whole_characters() -> None:
    quotes = find_quotes("vi träffas på mötet i Lund", source=said("Ja, vi ses pa\u030a mo\u0308tet i Lund\u200b."))

    assert [quote.text for quote in quotes] == []
    quotes = find_quotes("vi ses nog på mötet i Malmö", source=said("Ja, vi ses pa\u030a mo\u0308tet i Malmo\u0308."))
    assert [quote.text for quote in quotes] == ["vi ses pa\u030a mo\u0308tet i Malmo\u0308"]


def test_only_admitted_turns_are_quoted() -> None:
    source = said("the sky is blue today", "the sky is blue today", "The Sky is blue today", "the sky is red today")

    quotes = find_quotes("the sky is blue today", source=source, within=lambda turn: turn.turn_id not in ("t1", "t3"))

    assert [quote.turn_id for quote in quotes] == ["t2"]


def test_turns_are_counted_once_and_only_where_the_words_stand_alone() -> None:
    assert count_turns("Art", source=said("art and art", "party", "ART", "no")) == 2
    assert count_turns("?", source=said("a?")) == 0


def test_a_source_without_an_index_of_words_gives_the_same_quotes() -> None:
    texts = ["Vi SES på mötet i morgon", "the so\u00adft hyphen is here", "art"]
    for query in ("ses på mötet i", "the soft hyphen", "ART"):
        assert find_quotes(query, source=said(*texts)) == find_quotes(query, source=said(*texts, narrows=False)) != ()


class Changing(Said):
    """A store in which another process changes or removes the turn after it was found."""

    def __init__(self, turns: Sequence[Turn], now: Turn | None) -> None:
        super().__init__(turns)
        self.now = now

    def current(self, turn_id: str) -> Turn | None:
        return self.now


def test_a_quote_that_the_store_does_not_confirm_never_leaves() -> None:
    turn = Turn("t1", "c", "s", 1, Role.USER, "user", "the old words")

    with pytest.raises(StoreError, match="'t1' was changed while it was being quoted; ask for the quote again"):
        find_quotes("old words", source=Changing([turn], dataclasses.replace(turn, text="the new words")))
    with pytest.raises(StoreError, match="'t1' is not stored any more"):
        find_quotes("old words", source=Changing([turn], None))


def test_a_quote_carries_who_when_and_where() -> None:
    said_at = datetime(2026, 5, 3, 10, 30, tzinfo=timezone(timedelta(hours=2)))
    turn = Turn(
        "t9",
        "conv",
        "sess",
        4,
        Role.USER,
        "Ada",
        "Priset är 49 euro.",
        said_at,
        source=Source("locomo", "D1:3"),
    )

    (quote,) = find_quotes("priset är 49 euro", source=Said([turn]))

    assert quote == Quote("folded", "t9", "D1:3", "conv", "sess", Role.USER, "Ada", said_at, 0, 17, "Priset är 49 euro")
    assert quote.as_json() == {
        "status": "folded",
        "turn_id": "t9",
        "source_id": "D1:3",
        "role": "user",
        "speaker": "Ada",
        "said_at": "2026-05-03T08:30:00Z",
        "start": 0,
        "end": 17,
        "text": "Priset är 49 euro",
        "differences": [],
        "corrected_at": None,
    }


def test_an_unknown_time_and_source_are_null_and_differences_are_objects() -> None:
    (quote,) = find_quotes("the price is 49 euro", source=said("the price is 59 euro"))

    shown = quote.as_json()
    assert (shown["source_id"], shown["said_at"]) == (None, None)
    assert shown["differences"] == [{"kind": "changed", "expected": "49", "found": "59"}]


def test_a_time_in_json_keeps_its_fraction() -> None:
    turn = Turn("t1", "c", "s", 1, Role.USER, "u", "hello", datetime(2026, 1, 1, 0, 0, 0, 250_000, tzinfo=UTC))

    assert find_quotes("hello", source=Said([turn]))[0].as_json()["said_at"] == "2026-01-01T00:00:00.250000Z"


def test_wrong_limits_are_refused() -> None:
    with pytest.raises(QueryError, match="limit is 0; ask for at least 1"):
        find_quotes("a", source=said("a"), limit=0)
    with pytest.raises(QueryError, match="near_threshold is 101; it is a similarity from 0 to 100"):
        find_quotes("a", source=said("a"), near_threshold=101)


def test_ten_megabytes_in_the_query_or_in_a_turn_end_in_seconds() -> None:
    words = [f"w{n}" for n in range(5000)]
    chance = random.Random(7)
    huge = " ".join(chance.choice(words) for _ in range(2_000_000))
    source = said("a few words", huge)
    began = time.process_time()

    assert find_quotes(huge, source=source)[0].status == "exact"
    assert find_quotes(huge.upper(), source=source)[0].status == "folded"
    assert find_quotes("x" + huge, source=source) == ()
    passage = huge[5_000_000:5_000_300].partition(" ")[2].rpartition(" ")[0]
    near = find_quotes(passage.replace(" ", " extra ", 1), source=source)
    assert [(quote.status, quote.text) for quote in near] == [("near", passage)]
    assert time.process_time() - began < 40


def test_a_letter_repeated_a_million_times_ends_in_seconds() -> None:
    began = time.process_time()

    assert len(find_quotes("a", source=said("a" * 1_000_000))) == 10
    assert len(find_quotes("a a", source=said("a " * 500_000))) == 10
    assert find_quotes("aab", source=said("a" * 1_000_000)) == ()
    assert time.process_time() - began < 20


any_text = st.text(
    st.characters(exclude_categories=()) | st.sampled_from("abcåäöÅßİıΣς ’'“”.,-…\u0301\u0308\u200d👩👧日本"),
    max_size=60,
)


@given(st.lists(any_text, min_size=1, max_size=4), st.data())
def test_any_part_of_any_turn_is_found_exactly_as_it_stands(texts: list[str], data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(texts))
    start = data.draw(st.integers(0, len(text)))
    part = text[start : data.draw(st.integers(start, len(text)))]
    assume(says_something(part))
    source = said(*texts)

    quotes = find_quotes(part, source=source)

    assert quotes[0].status == "exact"
    for quote in quotes:
        turn = source.current(quote.turn_id)
        assert turn is not None
        assert quote.text == turn.text[quote.start : quote.end]
        assert quote.status != "exact" or quote.text == part


@st.composite
def respelled(draw: st.DrawFn, text: str) -> str:
    """A text as somebody else might type it: other case, spaces, marks and composition."""
    spelled = []
    for sign in text:
        others = {sign, sign.upper(), sign.lower(), sign.title(), unicodedata.normalize("NFD", sign)}
        alike = {"'": "’‘´", '"': "“”«»", "-": "–—", " ": ("  ", "\n", "\u00a0\t")}
        others |= set(alike.get(fold(sign).text, ""))
        spelled.append(draw(st.sampled_from(sorted(o for o in others if fold(o).text == fold(sign).text))))
    return "".join(spelled)


WORDS = st.sampled_from(
    [
        "vi",
        "ses",
        "mötet",
        "Straße",
        "don't",
        "İstanbul",
        "σοφός",
        "49",
        "4711-ZX",
        "“ja”",
        "nej—",
        "日志",
        "o\ufb03ce",
    ]
)


@given(st.lists(st.lists(WORDS, min_size=3, max_size=8), min_size=1, max_size=3), st.booleans(), st.data())
def test_three_words_typed_another_way_are_found_folded(
    turns: list[list[str]], narrows: bool, data: st.DataObject
) -> None:
    chosen = data.draw(st.sampled_from(turns))
    first = data.draw(st.integers(0, len(chosen) - 3))
    wording = " ".join(chosen[first : data.draw(st.integers(first + 3, len(chosen)))])
    typed = data.draw(respelled(wording))
    source = said(*(" ".join(turn) for turn in turns), narrows=narrows)

    quotes = find_quotes(typed, source=source)

    assert quotes[0].status in ("exact", "folded")
    for quote in quotes:
        turn = source.current(quote.turn_id)
        assert turn is not None
        assert quote.text == turn.text[quote.start : quote.end]
        assert fold(quote.text).text == fold(typed).text.strip(" \"'") or quote.text == typed


@given(st.lists(any_text, min_size=1, max_size=3), any_text)
def test_whatever_is_asked_the_text_is_the_slice(texts: list[str], query: str) -> None:
    source = said(*texts)

    for quote in find_quotes(query, source=source, near_threshold=0):
        turn = source.current(quote.turn_id)
        assert turn is not None
        assert quote.text == turn.text[quote.start : quote.end]
