"""The people who speak in a memory, and how a question names them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.retrieval.participants import Participants

ANY_TEXT = st.text(st.characters(exclude_categories=()))


def named(text: str, *speakers: str, languages: tuple[str, ...] = ("en",)) -> tuple[str, ...]:
    return Participants(speakers, languages=languages).named_in(text)


def stripped(text: str, *speakers: str, language: str = "en") -> str:
    return Participants(speakers, languages=(language,)).stripped(text, language=language)


@pytest.mark.parametrize(
    ("text", "speakers"),
    [
        ("What did Caroline research?", ("Caroline",)),
        ("what did caroline research?", ("Caroline",)),
        ("What did caroline say about LGBTQ rights?", ("Caroline",)),
        ("WHAT DID CAROLINE SAY?", ("Caroline",)),
        ("Caroline's and Melanie’s plan", ("Caroline", "Melanie")),
        ("Melanie and Caroline, and Melanie", ("Melanie", "Caroline")),
        ("Carolines plan", ("Caroline",)),
        ("Carolinea", ()),
        ("MissCaroline", ()),
        ("Who was it?", ()),
        ("", ()),
    ],
)
def test_a_name_is_found_in_any_case_and_as_an_owner(text: str, speakers: tuple[str, ...]) -> None:
    assert named(text, "Caroline", "Melanie", "user", "Assistant") == speakers


def test_a_first_name_names_everybody_who_has_it_and_a_whole_name_one() -> None:
    speakers = ("Anna Berg", "Anna Ek", "Bo Ek")

    assert named("What did Anna say?", *speakers) == ("Anna Berg", "Anna Ek")
    assert named("What did Anna Ek say to anna berg?", *speakers) == ("Anna Ek", "Anna Berg")
    assert named("What did Ek say?", *speakers) == ()


@pytest.mark.parametrize("role", ["user", "Assistant", "SYSTEM", "ChatGPT", "you", "User 1"])
def test_a_part_in_a_conversation_is_no_person(role: str) -> None:
    assert named("What did the user say to the assistant, the system, ChatGPT and you?", role) == ()


@pytest.mark.parametrize(
    ("text", "speakers"),
    [
        ("Will I need a visa?", ()),
        ("What did Will say?", ("Will",)),
        ("what will it cost", ()),
        ("Will's birthday", ("Will",)),
        ("Is it Will’s?", ("Will",)),
        ("May I ask what it cost?", ()),
        ("What happened in May?", ()),
        ("What happened on May 7?", ()),
        ("What happened since last May?", ()),
        ("What did May do in May?", ("May",)),
        ("Mark the date", ()),
        ("Did you ask Mark?", ("Mark",)),
        ("please mark the date", ()),
        ("I hope so", ()),
        ("Where does Hope live?", ("Hope",)),
        ("It is fine. Hope you are well", ()),
        ("A letter from Hope", ("Hope",)),
    ],
)
def test_a_name_that_is_a_word_is_a_person_only_where_it_must_be(text: str, speakers: tuple[str, ...]) -> None:
    assert named(text, "Will", "May", "Mark", "Hope") == speakers


@pytest.mark.parametrize(
    ("text", "speakers"),
    [
        ("Vad sa Liv om resan?", ("Liv",)),
        ("hur är livet", ()),
        ("ett nytt liv", ()),
        ("Livs hund", ("Liv",)),
        ("Vad hände i maj?", ()),
        ("Vad sa Maj?", ("Maj",)),
        ("vad sa åsa", ("Åsa",)),
        ("A\u030asas hund", ("Åsa",)),
        ("10 kr per styck", ()),
        ("Ring Per!", ("Per",)),
        ("vad sa ella och mia", ("Ella", "Mia")),
    ],
)
def test_swedish_names_and_genitives(text: str, speakers: tuple[str, ...]) -> None:
    assert named(text, "Liv", "Maj", "Åsa", "Per", "Ella", "Mia", languages=("sv",)) == speakers


def test_a_word_of_another_language_than_the_memorys_is_a_name() -> None:
    assert named("what did liv say", "Liv", languages=("en",)) == ("Liv",)
    assert named("vad sa will", "Will", languages=("sv",)) == ("Will",)
    assert named("what did liv say", "Liv", languages=("en", "sv")) == ()


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("What did Strauß say?", "Strauß"),
        ("田中さんは何と言いましたか", "田中"),
        ("민수가 뭐라고 했어?", "민수"),
        ("What did bob_92 write?", "bob_92"),
        ("What did J. R. say?", "J. R."),
        ("What did C++ fan say?", "C++ fan"),
        ("What did A say?", "A"),
        ("Что сказала Мария?", "Мария"),
        ("Vad sa Åsa?", "A\u030asa"),
    ],
)
def test_names_of_any_script_and_spelling(text: str, speaker: str) -> None:
    assert named(text, speaker) == (speaker,)


def test_a_letter_that_is_a_name_is_no_article() -> None:
    assert named("a man with a plan", "A") == ()
    assert named("What is 42?", "42") == ()


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("What did Caroline research?", "What did they research?"),
        ("What is Caroline's job, and Melanie’s?", "What is their job, and their?"),
        ("what did caroline see", "what did they see"),
        ("Caroline and Melanie Smith met", "they and they met"),
        ("Nobody", "Nobody"),
    ],
)
def test_names_become_pronouns(text: str, without: str) -> None:
    assert stripped(text, "Caroline", "Melanie Smith") == without


def test_pronouns_are_of_the_questions_language() -> None:
    assert stripped("Vad sa Åsa om Åsas hund?", "Åsa", language="sv") == "Vad sa de om deras hund?"
    assert stripped("Hva sa Kari om Karis hund?", "Kari", language="nb") == "Hva sa de om deres hund?"
    assert stripped("Was sagte Uwe?", "Uwe", language="de") == "Was sagte sie?"
    assert stripped("Mitä Ritva sanoi?", "Ritva", language="fi") == "Mitä they sanoi?"


@given(ANY_TEXT, st.lists(ANY_TEXT, max_size=5))
def test_any_text_and_any_speakers(text: str, speakers: list[str]) -> None:
    people = Participants(speakers)

    found = people.named_in(text)

    assert set(found) <= set(speakers)
    if not found:
        assert people.stripped(text, language="en").count("they") == text.count("they")


@given(st.lists(st.text("abcdeåäöÅÄÖ", min_size=2, max_size=8), min_size=1, max_size=5, unique=True))
def test_every_speaker_is_named_by_their_own_name(speakers: list[str]) -> None:
    people = Participants(speakers, languages=())

    assert all(speaker in people.named_in(f"What did {speaker} say?") for speaker in speakers)


def test_nobody_speaks_in_an_empty_memory() -> None:
    assert named("What did Caroline say?") == ()
    assert stripped("What did Caroline say?") == "What did Caroline say?"
