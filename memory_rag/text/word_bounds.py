"""Where words begin and end, as a reader sees them, so that a quotation never ends inside one.

This is not the analyzer: nothing is dropped, stemmed or split. ``don't``, ``4711-ZX``, ``49.90``, ``-5`` and
an emoji sequence are one word each; ``€`` and ``%`` are words; in scripts written without spaces each sign is
a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from memory_rag.text.folding import is_mark
from memory_rag.turns import Span

# Thai and Lao, Burmese, Khmer, kana, bopomofo, Chinese.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u312f"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_UNSPACED_SIGN = re.compile(f"[{_UNSPACED}]")
_LETTER = rf"[^\W{_UNSPACED}]"
_PICTURE = "[\u2190-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff]"
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
_HELD = "\u00ad\u200b\u200c\u200d\u2060\ufe0e\ufe0f"
_REACH = 100


def words(text: str) -> list[Span]:
    """Return the spans of the words in a text, in order; none when it holds only space and punctuation."""
    return list(each_word(text))


def each_word(text: str) -> Iterator[Span]:
    """Yield what :func:`words` returns, word by word: enough where the first few tell."""
    return (Span(*match.span()) for match in _pattern(_held(text)).finditer(text))


def count_words(text: str) -> int:
    """Return how many words a text holds; in a script without spaces, two signs count as one word."""
    found = _pattern(_held(text)).findall(text)
    signs = 0 if is_spaced(text) else sum(not is_spaced(word[0]) for word in found)
    return len(found) - signs + signs // 2


def is_spaced(text: str) -> bool:
    """Tell whether a text has no sign of the scripts that are written without spaces between words."""
    return text.isascii() or _UNSPACED_SIGN.search(text) is None


def inside_word(text: str, at: int) -> bool:
    """Tell whether a cut before code point ``at`` falls inside a word, a number or a written character."""
    word = _word_around(text, at)
    return word is not None and word.start < at < word.end


def whole_words(text: str, span: Span) -> Span:
    """Return the span widened so that it neither begins nor ends inside a word."""
    first, last = _word_around(text, span.start), _word_around(text, span.end)
    start = first.start if first is not None and first.start < span.start < first.end else span.start
    end = last.end if last is not None and last.start < span.end < last.end else span.end
    return Span(start, end)


def standing_alone(needle: str) -> re.Pattern[str]:
    """Return a pattern for a short text with no letter or digit right before or after: a first, fast sieve.

    What it finds may still end inside a word (``can`` in ``can't``); what it passes over always does.
    """
    before = f"(?<!{_LETTER})" if re.match(_LETTER, needle) else ""
    after = f"(?!{_LETTER})" if re.match(_LETTER, needle[-1:]) else ""
    return re.compile(before + re.escape(needle) + after)


def _word_around(text: str, at: int) -> Span | None:
    """Return the word that has code points on both sides of ``at``, looked for within 100 on each side."""
    if not 0 < at < len(text) or text[at - 1].isspace() or text[at].isspace():
        return None
    low = max(0, at - _REACH)
    near = text[low : at + _REACH]
    for match in _pattern(_held(near)).finditer(near):
        if match.end() > at - low:
            within = match.start() < at - low
            return Span(low + match.start(), low + match.end()) if within else None
    return None


def _held(text: str) -> str:
    """Return the characters of a text that belong to the letter before them."""
    if text.isascii():
        return ""
    return "".join(sorted(sign for sign in set(text) if sign in _HELD or is_mark(sign)))


@lru_cache(maxsize=256)
def _pattern(held: str) -> re.Pattern[str]:
    also = f"[{re.escape(held)}]" if held else "(?!)"
    letters = f"{_LETTER}(?:{_LETTER}|{also})*"
    return re.compile(
        rf"(?:(?<!\w)[-+\u2212](?=\d))?{letters}(?:(?:['’ʼ\u2010\u2011-]|(?<=\d)[.,:/](?=\d)){letters})*"
        rf"|[{_UNSPACED}]{also}*|[$¢£¥€₹₽%‰°]"
        rf"|(?:{_FLAG}|{_PICTURE}){also}*(?:(?<=\u200d){_PICTURE}{also}*)*"
    )
