"""Which texts hold a passage: the same as looking through all of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_rag.evaluation.datasets.word_holders import WordHolders

# Few signs, so that texts often hold each other.
TEXTS = st.lists(st.text(alphabet="abA1 _-'\nåß东京", max_size=12), max_size=6)


@given(texts=TEXTS, data=st.data())
def test_it_finds_what_looking_through_all_texts_finds(texts: list[str], data: st.DataObject) -> None:
    passage = data.draw(st.sampled_from([*texts, "a b", "京a"]))

    wanted = " ".join(passage.casefold().split())
    expected = [place for place, text in enumerate(texts) if wanted in " ".join(text.casefold().split())]
    assert WordHolders(texts).holding(passage) == expected


def test_a_passage_may_begin_and_end_inside_a_word_or_between_two_scripts() -> None:
    assert WordHolders(["我用python写 the ferry leaves", "python"]).holding("python写 the fer") == [0]


def test_words_are_casefolded_and_counted_once_a_text() -> None:
    assert WordHolders(["Den GRÖNA väskan, den", "den"]).counts() == {"den": 2, "gröna": 1, "väskan": 1}
