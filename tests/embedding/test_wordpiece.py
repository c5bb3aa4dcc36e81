"""The tokenizer reads a text to its last word, whatever the text holds and however long it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from memory_rag.embedding.wordpiece import FIRST, LAST, TOKENIZER_FILE, WordPiece

UNKNOWN = 100


@pytest.fixture(scope="module")
def tokenizer() -> WordPiece:
    return WordPiece()


def test_four_hundred_words_are_four_hundred_tokens_and_no_padding(tokenizer: WordPiece) -> None:
    assert tokenizer.count("tea " * 400) == 400
    assert tokenizer.count("tea") == 1
    assert tokenizer.count("") == tokenizer.count(" \n ") == 0


def test_the_marks_are_those_of_the_file() -> None:
    raw = Tokenizer.from_file(str(TOKENIZER_FILE))

    assert [raw.token_to_id(mark) for mark in ("[CLS]", "[SEP]", "[UNK]")] == [FIRST, LAST, UNKNOWN]


def test_a_word_of_three_hundred_letters_is_not_one_unknown(tokenizer: WordPiece) -> None:
    assert UNKNOWN not in tokenizer.ids("a" * 300)
    assert tokenizer.count("a" * 300) > 30


def test_a_text_in_pieces_has_the_tokens_of_the_whole(tokenizer: WordPiece) -> None:
    text = "Vi ses på mötet i Malmö, kl. 9! " * 1000
    raw = Tokenizer.from_file(str(TOKENIZER_FILE))
    raw.no_truncation()
    raw.no_padding()

    assert tokenizer.ids(text) == raw.encode(text, add_special_tokens=False).ids
    assert list(tokenizer.starts(text)) == [start for start, _ in raw.encode(text, add_special_tokens=False).offsets]


def test_places_count_code_points_not_bytes(tokenizer: WordPiece) -> None:
    assert list(tokenizer.starts("😀 på te")) == [0, 2, 5]


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=40))
def test_there_is_a_place_for_every_token_in_ascending_order(tokenizer: WordPiece, text: str) -> None:
    starts = list(tokenizer.starts(text))

    assert starts == sorted(starts)
    assert all(0 <= start < len(text) for start in starts)
    assert len(starts) == tokenizer.count(text)
