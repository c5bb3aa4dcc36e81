"""Tokens are counted by the model's own file, or estimated so that it errs high."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from memory_rag.embedding.wordpiece import TOKENIZER_FILE
from memory_rag.errors import EmbedderError
from memory_rag.prompt.tokens import (
    IMAGE_TOKENS,
    MESSAGE_OVERHEAD,
    CountedOnce,
    Estimate,
    TokenizerFile,
    message_tokens,
    messages_tokens,
    token_counter,
)
from memory_rag.sample import history_path
from tests.prompt.word_counter import Words

TEXTS = {
    "English": "We agreed on forty-nine euro for the first season, and the workshop costs 45 euro per person, jar "
    "included. I would rather not change it before autumn, since the printed flyers already say so.",
    "Swedish": "Vi kom överens om fyrtionio euro för första säsongen, och kursen kostar 45 euro per person, burk "
    "inräknad. Jag ändrar helst inget före hösten, eftersom de tryckta lapparna redan säger så.",
    "Swedish without its letters": "Vi ses inte denna vecka, men kom till oss nästa om du vill, sa hon.",
    "code": "def mean(values: list[float]) -> float:\n    if not values:\n        raise ValueError('no values')\n"
    "    return sum(values) / len(values)\n",
    "CJK": "我们同意第一季收取四十九欧元,研讨会每人四十五欧元。東京は夜の七時です。오늘 회의는 세 시입니다",
    "emoji": "Great 🎉🎉 see you 👩🏽‍💻 at 7 🇸🇪 ❤️",
}


@pytest.fixture(scope="module")
def wordpiece() -> TokenizerFile:
    return TokenizerFile(TOKENIZER_FILE)


@pytest.fixture(scope="module")
def byte_pairs(tmp_path_factory: pytest.TempPathFactory) -> TokenizerFile:
    """A byte-level tokenizer as chat models have it, but with few words: it knows a summer's talk of bread."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=3000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator([history_path().read_text(encoding="utf-8")], trainer)
    path = tmp_path_factory.mktemp("model") / "tokenizer.json"
    tokenizer.save(str(path))
    return TokenizerFile(path)


@pytest.mark.parametrize("kind", TEXTS)
def test_the_estimate_errs_high_beside_a_models_file(kind: str, wordpiece: TokenizerFile) -> None:
    assert wordpiece.count(TEXTS[kind]) <= Estimate().count(TEXTS[kind])


@pytest.mark.parametrize("kind", ["English", "Swedish", "code", "emoji"])
def test_it_errs_high_beside_byte_pairs_too(kind: str, byte_pairs: TokenizerFile) -> None:
    assert byte_pairs.count(TEXTS[kind]) <= Estimate().count(TEXTS[kind])


@pytest.mark.parametrize("kind", ["English", "Swedish", "code"])
def test_it_errs_by_less_than_the_double(kind: str, wordpiece: TokenizerFile) -> None:
    assert Estimate().count(TEXTS[kind]) < 2 * wordpiece.count(TEXTS[kind])


def test_an_estimate_is_marked_as_one(wordpiece: TokenizerFile) -> None:
    assert (Estimate().name, Estimate().is_estimate) == ("estimate", True)
    assert (wordpiece.name, wordpiece.is_estimate) == ("tokenizer.json", False)


def test_the_models_file_is_used_where_there_is_one() -> None:
    assert isinstance(token_counter(str(TOKENIZER_FILE)), TokenizerFile)
    assert isinstance(token_counter(""), Estimate)
    assert isinstance(token_counter(None), Estimate)


def test_long_texts_are_counted_whole(wordpiece: TokenizerFile) -> None:
    """The file by itself cuts at 128 tokens and fills shorter texts up to them."""
    assert wordpiece.count("bread " * 1000) == 1000
    assert wordpiece.count("bread") == 1


class Noting(Estimate):
    """Notes what it is asked to count."""

    def __init__(self) -> None:
        self.counted: list[str] = []

    def count(self, text: str) -> int:
        self.counted.append(text[:1])
        return super().count(text)


def test_a_long_text_is_counted_once_and_a_short_one_each_time() -> None:
    noting = Noting()
    counter = CountedOnce(noting)
    texts = ["a " * 50_000, "b " * 50_000, "c\ud800" * 50_000, "d"]

    first, second = ([counter.count(text) for text in texts] for _ in range(2))

    assert first == second == [Estimate().count(text) for text in texts]
    assert noting.counted == ["a", "b", "c", "d", "d"]
    assert (counter.name, counter.is_estimate) == ("estimate", True)


def test_a_file_that_is_no_tokenizer_says_what_one_is(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    for path in (tmp_path / "tokenizer.json", tmp_path / "missing.json"):
        with pytest.raises(EmbedderError, match=r"it is the tokenizer\.json that lies beside a model"):
            token_counter(path)


@given(st.text(alphabet=st.characters()))
def test_any_text_with_a_letter_costs_something(text: str) -> None:
    assert Estimate().count(f"{text}a") > 0
    assert Estimate().count("") == 0


def test_a_message_costs_its_words_and_its_marks() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "one two three"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a b"}]},
    ]

    assert message_tokens(messages[0], counter=Words()) == 4 + 3
    assert messages_tokens(messages, counter=Words()) == 7 + 4 + 3


@pytest.mark.parametrize(
    ("text", "n"), [("·", 2), ("…", 3), ("[t1 · Ebba]", 8), ("one · two … three", 12), ("[…]\n", 6)]
)
def test_the_marks_of_a_quoted_turn_count_as_many_tokens_as_amid_other_letters(text: str, n: int) -> None:
    assert Estimate().count(text) == n
    # A letter without the ASCII range, by itself one token.
    assert Estimate().count(f"Я{text}") == n + 1


@pytest.mark.parametrize(
    ("part", "n_tokens"),
    [
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 1_400_000}}, IMAGE_TOKENS),
        ({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}, IMAGE_TOKENS),
        ({"type": "input_image", "image_url": "data:image/png;base64," + "A" * 1_400_000}, IMAGE_TOKENS),
        ({"type": "input_image", "file_id": "file-1"}, IMAGE_TOKENS),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 90}}, 90),
        ({"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}, IMAGE_TOKENS),
        ({"type": "image", "source": None}, IMAGE_TOKENS),
    ],
)
def test_an_image_has_a_price_of_its_own_not_its_bytes(part: dict[str, Any], n_tokens: int) -> None:
    text = {"type": "text", "text": "An image of a cat."}
    without = MESSAGE_OVERHEAD + Estimate().count(json.dumps([text, {"type": part["type"]}]))

    assert message_tokens({"role": "user", "content": [text, part]}, counter=Estimate()) == without + n_tokens
