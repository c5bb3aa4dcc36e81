"""How many tokens a text costs: counted by the model's own tokenizer file, or estimated so that it errs high."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from string import ascii_letters
from typing import Any, Final, Protocol

from memory_rag.embedding.readable import pieces
from memory_rag.embedding.tokenizer_file import open_tokenizer
from memory_rag.turns import printable, text_bytes

MESSAGE_OVERHEAD: Final = 4
"""Tokens that a chat template puts around a message: the role and the marks before and after it."""
REPLY_OVERHEAD: Final = 3
"""Tokens that begin the model's answer."""


IMAGE_TOKENS: Final = 4_800
"""What an image costs at most: at the highest resolution in common use (Anthropic's; others take a third of it)."""
_IMAGES: Final = frozenset({"image", "image_url", "input_image", "computer_screenshot"})


class TokenCounter(Protocol):
    """Counts the tokens of texts. ``is_estimate`` tells that the numbers are no model's own."""

    name: str
    is_estimate: bool

    def count(self, text: str) -> int: ...


class TokenizerFile:
    """Counts with a model's ``tokenizer.json``, without the marks that the model puts around a whole prompt."""

    is_estimate = False

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._tokenizer = open_tokenizer(path)

    def count(self, text: str) -> int:
        clean = printable(text)
        return sum(len(self._tokenizer.encode(span.of(clean), add_special_tokens=False).ids) for span in pieces(clean))


_WORD: Final = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_WORD_OR_SPACE: Final = re.compile(r"[A-Za-z\u00c0-\u024f \t]+")
_INDENT: Final = re.compile(r"[ \t]{2,}")
_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]+")
_ONE_EACH: Final = re.compile(r"[\0-\x7f\u0370-\u0590\u05d0-\u06ff\u0900-\u0fff\u10a0-\u10ff]+")
_ENGLISH: Final = frozenset(
    {"the", "a", "an", "and", "or", "of", "to", "in", "is", "are", "was", "for"}
    | {"on", "it", "that", "with", "you", "we", "i", "be", "this", "not", "as", "at"}
)
_ENGLISH_FROM: Final = 0.15
"""The share of a text's words that are among these, from which on it is taken for English prose."""
_ENGLISH_LETTERS: Final = 3
_OTHER_LETTERS: Final = 2
_SPACES: Final = 4
_LONG: Final = 50_000
_MOST_LONG: Final = 256
_CJK_TOKENS: Final = 2
_ENGLISH_BYTES: Final = frozenset(word.encode() for word in _ENGLISH)
_LOWERED: Final = bytes(ord(chr(byte).lower()) if chr(byte) in ascii_letters else ord(" ") for byte in range(256))
_OUR_MARKS: Final = (("·", 1), ("…", 2))
"""What stands in every heading and gap of quoted turns, and how many tokens it has more than a full stop."""
_LETTERS_AND_SPACES: Final = ascii_letters.encode() + b" \t"


class Estimate:
    """Counts without a model, by script, and errs high for every tokenizer in common use.

    A token is taken to be three letters of a word in English prose and two elsewhere in Latin script, a letter of
    other alphabets, a digit, a mark, half a CJK character, or a byte of anything rarer, as emoji are. A space before a
    word is the word's own.
    """

    name = "estimate"
    is_estimate = True

    def count(self, text: str) -> int:
        # Whole classes of characters at once: a prompt is counted part by part while somebody waits.
        clean = printable(text)
        n_tokens = 0
        if "  " in clean or "\t" in clean:
            n_tokens += sum(-(-len(run) // _SPACES) for run in _INDENT.findall(clean))
        for mark, n_more in _OUR_MARKS:
            if n_marks := clean.count(mark):
                n_tokens += n_more * n_marks
                clean = clean.replace(mark, ".")
        if clean.isascii():
            # A quarter of the time that the same takes below.
            plain = clean.encode()
            words = plain.translate(_LOWERED).split()
            n_english = sum(map(_ENGLISH_BYTES.__contains__, words))
            return n_tokens + _of_words(words, n_english) + len(plain.translate(None, _LETTERS_AND_SPACES))
        spelled = _WORD.findall(clean)
        n_english = sum(map(_ENGLISH.__contains__, map(str.lower, spelled)))
        n_tokens += _of_words(spelled, n_english)
        rest = _WORD_OR_SPACE.sub("", clean)
        if rest.isascii():
            return n_tokens + len(rest)
        without_cjk = _CJK.sub("", rest)
        rarer = _ONE_EACH.sub("", without_cjk)
        n_tokens += _CJK_TOKENS * (len(rest) - len(without_cjk)) + len(without_cjk) - len(rarer)
        return n_tokens + len(rarer.encode("utf-8"))


def _of_words(words: Sequence[str] | Sequence[bytes], n_english: int) -> int:
    letters = _ENGLISH_LETTERS if n_english >= _ENGLISH_FROM * len(words) else _OTHER_LETTERS
    return sum([-(-n // letters) for n in map(len, words)])


class CountedOnce:
    """A counter that counts long texts once: one is counted for every prompt while it is among the newest turns.

    What is kept are numbers and digests, no words.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self.name, self.is_estimate = counter.name, counter.is_estimate
        self._counter = counter
        self._long: dict[bytes, int] = {}

    def count(self, text: str) -> int:
        if len(text) < _LONG:
            return self._counter.count(text)
        digest = blake2b(text_bytes(text), digest_size=16).digest()
        if digest not in self._long:
            if len(self._long) >= _MOST_LONG:
                self._long.clear()
            self._long[digest] = self._counter.count(text)
        return self._long[digest]


def token_counter(tokenizer: str | Path | None) -> TokenCounter:
    """Return what counts with this tokenizer file; nothing given means the estimate.

    Raises:
        EmbedderError: the file isn't there or is no tokenizer.
    """
    return TokenizerFile(Path(tokenizer).expanduser()) if tokenizer else Estimate()


def message_tokens(message: Mapping[str, Any], *, counter: TokenCounter) -> int:
    """Return what a message in any provider's shape costs: its words, its images, what else it holds, its marks."""
    told = (value for key, value in message.items() if key not in ("role", "type") and value is not None)
    return MESSAGE_OVERHEAD + sum(value_tokens(value, counter=counter) for value in told)


def value_tokens(value: Any, *, counter: TokenCounter) -> int:
    """Return what a text costs, or any other value as its JSON; an image has a price of its own, not its bytes'."""
    if isinstance(value, str):
        return counter.count(value)
    written = json.dumps(value, ensure_ascii=False)
    if "image" not in written and "screenshot" not in written:
        return counter.count(written)
    prices: list[int] = []
    return counter.count(json.dumps(_without_images(value, prices), ensure_ascii=False)) + sum(prices)


def _without_images(value: Any, prices: list[int]) -> Any:
    """Return a value with its images left out; what each costs goes into ``prices``."""
    if isinstance(value, list | tuple):
        return [_without_images(one, prices) for one in value]
    if not isinstance(value, Mapping):
        return value
    if value.get("type") in _IMAGES:
        prices.append(_price(value))
        return {"type": value["type"]}
    return {name: _without_images(one, prices) for name, one in value.items()}


def _price(image: Mapping[str, Any]) -> int:
    """Return what an image costs at most: no more than its bytes would as text, where it is there as base64."""
    held = image.get("source") or image.get("image_url")
    given = held.get("data") or held.get("url") if isinstance(held, Mapping) else held
    is_there = isinstance(given, str) and (given.startswith("data:") or (isinstance(held, Mapping) and "data" in held))
    return min(len(str(given)), IMAGE_TOKENS) if is_there else IMAGE_TOKENS


def messages_tokens(messages: Iterable[Mapping[str, Any]], *, counter: TokenCounter) -> int:
    """Return what a list of messages costs."""
    return sum(message_tokens(message, counter=counter) for message in messages)
