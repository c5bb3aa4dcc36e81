"""A model's tokenizer file is opened so that it neither cuts nor pads."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_rag.embedding.tokenizer_file import open_tokenizer
from memory_rag.embedding.wordpiece import TOKENIZER_FILE
from memory_rag.errors import EmbedderError


def test_what_the_file_says_of_cutting_and_padding_is_switched_off() -> None:
    tokenizer = open_tokenizer(TOKENIZER_FILE)

    assert len(tokenizer.encode("bread " * 500, add_special_tokens=False).ids) == 500
    assert len(tokenizer.encode("bread", add_special_tokens=False).ids) == 1


def test_a_file_that_is_none_says_what_one_is(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match=r"can't be read as a tokenizer .*; it is the tokenizer\.json"):
        open_tokenizer(tmp_path / "tokenizer.json")
