"""Words that only the forgotten turns said: by these, what was written down beside them is known to tell of them."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from itertools import chain
from typing import Final

from memory_rag.store.engine import Connection
from memory_rag.store.row_pages import row_pages
from memory_rag.turns import Turn, text_from_bytes

LONG: Final = 8
"""Letters from which on a word tells by itself."""
_LEAST_WITH_DIGIT: Final = 4
_LEAST_NAME: Final = 3
_LOOKED_BACK: Final = 8
_WORD: Final = re.compile(r"[^\W_]+(?:[-._@'’+/:#][^\W_]+)*")
WORD: Final = re.compile(r"[^\W_]+")
# Scripts that put no space between words: of Chinese and Japanese what isn't grammar, of others any letters.
_PACKED: Final = (
    (re.compile(r"[\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]{4,}"), 4),
    (re.compile(r"[\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u104f\u1780-\u17d3]{8,}"), 8),
)
_GRAMMAR: Final = frozenset(
    "的了是在我你他她它们們这這那和与與就也都不吗嗎呢吧有没沒会會要去来來说說什么甚麼今天明昨很"
)
_SENTENCE_END: Final = frozenset(".!?…:\n\"'“”‘’«»(-–—*#>")


def folded(text: str) -> str:
    """Return a text in which words are compared: NFC, without case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def words_in(text: str) -> set[str]:
    """Return the words of a text, folded: whole (``4711-ZX``) and in parts (``4711``, ``zx``).

    Where a script puts no space between words, every few letters in a row are one too.
    """
    plain = folded(text)
    return set(_WORD.findall(plain)) | set(WORD.findall(plain)) | _packed_in(plain)


def _packed_in(plain: str) -> set[str]:
    """Return the letters in a row that tell as much as a long word does, of scripts without spaces."""
    if plain.isascii():
        return set()
    return {
        letters
        for run, n in _PACKED
        for found in run.finditer(plain)
        for at in range(found.start(), found.end() - n + 1)
        if _GRAMMAR.isdisjoint(letters := plain[at : at + n])
    }


def telling_words(text: str) -> set[str]:
    """Return the words of a text that may give it away, folded: long ones, those with a digit, names.

    Of Chinese, Japanese, Thai and other scripts without spaces, any few letters in a row.
    """
    found = {word for word in words_in(text) if len(word) >= LONG or _has_digit(word)} | _packed_in(folded(text))
    text = unicodedata.normalize("NFC", text)
    for match in WORD.finditer(text):
        word = match.group()
        before = text[max(0, match.start() - _LOOKED_BACK) : match.start()].rstrip(" \t")[-1:]
        # A capital at the start of a sentence says nothing.
        if word[0].isupper() and len(word) >= _LEAST_NAME and before and before not in _SENTENCE_END:
            found.add(folded(word))
    return found


def _has_digit(word: str) -> bool:
    return len(word) >= _LEAST_WITH_DIGIT and any(letter.isdigit() for letter in word)


@dataclass(frozen=True)
class OwnWords:
    """Words of some turns that were, or are being, forgotten, and that nobody else is known to have said."""

    words: frozenset[str]

    def told_by(self, text: str) -> set[str]:
        """Return which of them a text has, as whole words."""
        return words_in(text) & self.words if self.words else set()


def words_of_turn(turn: Turn) -> Iterator[str]:
    """Yield what was said in a turn and by whom, captions and the texts in its blocks among it; not its raw source."""
    yield turn.text
    yield turn.speaker
    for block in turn.blocks:
        yield block.caption
        yield json.dumps(block.data, ensure_ascii=False)


def own_words(connection: Connection, said: Iterable[str], *, besides: Iterable[str]) -> OwnWords:
    """Return those telling words of ``said`` that stand in ``besides`` and that no stored turn has.

    Only what stands besides matters, and that is little: the stored turns are read only if it has any of the words.
    """
    telling: set[str] = set()
    for text in said:
        telling |= telling_words(text)
    there: set[str] = set()
    for text in besides:
        there |= words_in(text) & telling
    return OwnWords(frozenset(there - _said_by_others(connection, there)))


def _said_by_others(connection: Connection, words: Set[str]) -> set[str]:
    """Return which of these words any stored turn, or earlier version of one, has."""
    found: set[str] = set()
    left = set(words)
    for page in chain(
        row_pages(connection, "turns", ("text", "speaker", "blocks")),
        row_pages(connection, "versions", ("text", "speaker"), key=("row", "replaced_by")),
    ):
        for parts in page:
            if not left:
                return found
            text = folded(text_from_bytes(b"\n".join(part or b"" for part in parts)))
            # Nearly all turns have none of them, which is told without taking them apart.
            if any(word in text for word in left):
                here = words_in(text) & left
                found |= here
                left -= here
    return found
