"""MiniLM's words as token numbers, all of them: its tokenizer file by itself cuts at 128 and pads to 128."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from memory_rag.embedding.pinned_files import check_sha256
from memory_rag.embedding.readable import pieces
from memory_rag.embedding.tokenizer_file import open_tokenizer
from memory_rag.turns import printable

TOKENIZER_FILE: Final = Path(__file__).with_name("tokenizer.json")
TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
FIRST: Final = 101
"""``[CLS]``, which stands before every text."""
LAST: Final = 102
"""``[SEP]``, which stands after every text."""


class WordPiece:
    """The tokenizer of all-MiniLM-L6-v2 for texts of any length and content.

    It tokenizes text by text: ``encode_batch`` starts threads of its own, and warns on stderr when the
    process forks.
    """

    def __init__(self) -> None:
        check_sha256(TOKENIZER_FILE, TOKENIZER_SHA256, cure="install memory-rag again")
        self._tokenizer = open_tokenizer(TOKENIZER_FILE)

    def ids(self, text: str) -> list[int]:
        """Return the numbers of a text's tokens, without the marks before and after it."""
        clean = printable(text)
        return [
            number
            for span in pieces(clean)
            for number in self._tokenizer.encode(span.of(clean), add_special_tokens=False).ids
        ]

    def count(self, text: str) -> int:
        """Return how many tokens a text has, without the marks before and after it."""
        return len(self.ids(text))

    def starts(self, text: str) -> Sequence[int]:
        """Return the place in a printable text at which each token starts, ascending."""
        places = array("q")
        for span in pieces(text):
            encoded = self._tokenizer.encode(span.of(text), add_special_tokens=False)
            places.extend(span.start + start for start, _ in encoded.offsets)
        return places
