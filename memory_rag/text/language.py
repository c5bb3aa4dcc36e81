"""Which language a memory is written in, told by its small words, its letters and its scripts.

No model and no dependency: a text's score in a language is the number of its words that are small words
there, each divided by the number of languages that share it. A language with a script of its own is known
by that.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from memory_rag.errors import SettingsError
from memory_rag.text.function_words import FUNCTION_WORDS, TELLING_LETTERS, TELLING_SPELLINGS

DEFAULT_LANGUAGE = "en"


class Language(NamedTuple):
    """A language's English name, and its Snowball stemmer if there is one."""

    name: str
    stemmer: str | None


LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {
        "ar": Language("Arabic", "arabic"),
        "bg": Language("Bulgarian", None),
        "ca": Language("Catalan", "catalan"),
        "cs": Language("Czech", "czech"),
        "da": Language("Danish", "danish"),
        "de": Language("German", "german"),
        "el": Language("Greek", "greek"),
        "en": Language("English", "english"),
        "eo": Language("Esperanto", "esperanto"),
        "es": Language("Spanish", "spanish"),
        "et": Language("Estonian", "estonian"),
        "eu": Language("Basque", "basque"),
        "fa": Language("Persian", "persian"),
        "fi": Language("Finnish", "finnish"),
        "fr": Language("French", "french"),
        "ga": Language("Irish", "irish"),
        "he": Language("Hebrew", None),
        "hi": Language("Hindi", "hindi"),
        "hu": Language("Hungarian", "hungarian"),
        "hy": Language("Armenian", "armenian"),
        "id": Language("Indonesian", "indonesian"),
        "is": Language("Icelandic", None),
        "it": Language("Italian", "italian"),
        "ja": Language("Japanese", None),
        "ko": Language("Korean", None),
        "lt": Language("Lithuanian", "lithuanian"),
        "nb": Language("Norwegian", "norwegian"),
        "ne": Language("Nepali", "nepali"),
        "nl": Language("Dutch", "dutch"),
        "pl": Language("Polish", "polish"),
        "pt": Language("Portuguese", "portuguese"),
        "ro": Language("Romanian", "romanian"),
        "ru": Language("Russian", "russian"),
        "sr": Language("Serbian", "serbian"),
        "st": Language("Sesotho", "sesotho"),
        "sv": Language("Swedish", "swedish"),
        "ta": Language("Tamil", "tamil"),
        "th": Language("Thai", None),
        "tr": Language("Turkish", "turkish"),
        "uk": Language("Ukrainian", None),
        "yi": Language("Yiddish", "yiddish"),
        "zh": Language("Chinese", None),
    }
)

_ALIASES = {
    "no": "nb",
    "nn": "nb",
    "norwegian bokmål": "nb",
    "norwegian bokmal": "nb",
    "norwegian nynorsk": "nb",
    "bokmål": "nb",
    "bokmal": "nb",
    "nynorsk": "nb",
    "farsi": "fa",
    "mandarin": "zh",
} | {language.name.lower(): code for code, language in LANGUAGES.items()}

# The language that a script speaks for by itself, its code points, and the evidence of one of them in
# words: a Chinese character is about half a word; Russian and others with company in their script get little.
_SCRIPTS = (
    ("zh", "\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U000323af", 0.5),
    ("ja", "\u3040-\u30ff\u31f0-\u31ff", 0.5),
    ("ko", "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af", 0.4),
    ("ru", "\u0400-\u052f", 0.03),
    ("el", "\u0370-\u03ff\u1f00-\u1fff", 0.1),
    ("ar", "\u0600-\u06ff\u0750-\u077f", 0.03),
    ("he", "\u0590-\u05ff", 0.03),
    ("hi", "\u0900-\u097f", 0.03),
    ("hy", "\u0530-\u058f", 0.1),
    ("ta", "\u0b80-\u0bff", 0.1),
    ("th", "\u0e00-\u0e7f", 0.1),
)

# Long answers would outweigh a person's own short turns, and fenced code is English whoever asked for it.
_READ_PER_TEXT = 2_000
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LAST_LATIN = "\u024f"
_ENOUGH = 1.5
_PRESENT_SHARE = 0.1
_CLOSE = 0.75


def language_names(codes: Iterable[str]) -> list[str]:
    """Return the English names of languages, those without one left out."""
    return [LANGUAGES[code].name for code in codes if code in LANGUAGES]


def parse_language(name: str) -> str:
    """Return the code of a language named by its code or its English name, in any case.

    ``no`` and ``nn`` are Norwegian (``nb``); a region or script after the code is dropped (``sv-SE``).

    Raises:
        SettingsError: no such language; the message lists those that are known.
    """
    wanted = " ".join(name.lower().split())
    for candidate in (wanted, re.split(r"[-_.]", wanted)[0]):
        code = _ALIASES.get(candidate, candidate)
        if code in LANGUAGES:
            return code
    known = ", ".join(f"{code} ({language.name})" for code, language in LANGUAGES.items())
    raise SettingsError(f"unknown language {name[:60]!r}; give one of: {known}")


def guess_language(texts: Iterable[str]) -> str:
    """Return the code of the language that most of these texts are in.

    It is ``en`` on a tie or with too little text. The first 2,000 code points of each text are read,
    without fenced code.
    """
    return _best(_total(map(_scores, texts)))


def languages_present(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the languages in use: the dominant one, then those with a tenth of the turns, most first.

    Turns whose language can't be told ("ok", a link) count for none. A turn that is nearly as good in the
    dominant language as in another counts as the dominant one. Ties come in the order of their codes.
    """
    scores = [_scores(text) for text in texts]
    dominant = _best(_total(scores))
    told = [score for score in scores if score and max(score.values()) >= _ENOUGH]
    turns = Counter(_spoken(score, dominant) for score in told)
    others = [code for code in turns if code != dominant and turns[code] >= _PRESENT_SHARE * len(told)]
    return (dominant, *sorted(others, key=lambda code: (-turns[code], code)))


def _total(scores: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for score in scores:
        for code, evidence in score.items():
            total[code] = total.get(code, 0.0) + evidence
    return total


def _spoken(score: Mapping[str, float], dominant: str) -> str:
    best = min(score, key=lambda code: (-score[code], code))
    return dominant if score.get(dominant, 0.0) >= _CLOSE * score[best] else best


def _best(total: Mapping[str, float]) -> str:
    ranked = sorted(total.items(), key=lambda item: -item[1])
    if not ranked or ranked[0][1] < _ENOUGH:
        return DEFAULT_LANGUAGE
    if len(ranked) > 1 and ranked[0][1] - ranked[1][1] < 1e-9:
        return DEFAULT_LANGUAGE
    return ranked[0][0]


def _weighed(rows: Mapping[str, Iterable[str]], weight: float) -> dict[str, tuple[tuple[str, float], ...]]:
    speakers: dict[str, list[str]] = {}
    for code, signs in rows.items():
        for sign in dict.fromkeys(signs):
            speakers.setdefault(sign, []).append(code)
    return {sign: tuple((code, weight / len(codes)) for code in codes) for sign, codes in speakers.items()}


@dataclass(frozen=True, slots=True)
class _Signs:
    """What speaks for which language, and how much; made at the first guess."""

    words: Mapping[str, tuple[tuple[str, float], ...]]
    spellings: Mapping[str, tuple[tuple[str, float], ...]]
    letters: Mapping[str, tuple[tuple[str, float], ...]]
    letter: re.Pattern[str]
    word: re.Pattern[str]
    scripts: tuple[tuple[str, re.Pattern[str], float], ...]


@cache
def _signs() -> _Signs:
    letters = _weighed(TELLING_LETTERS, 0.5)
    return _Signs(
        words=_weighed(FUNCTION_WORDS, 1.0),
        spellings=_weighed(TELLING_SPELLINGS, 0.5),
        letters=letters,
        letter=re.compile(f"[{''.join(letters)}]"),
        word=re.compile(r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0900-\u0dff])*"),
        scripts=tuple((code, re.compile(f"[{ranges}]"), weight) for code, ranges, weight in _SCRIPTS),
    )


def _scores(text: str) -> dict[str, float]:
    """Evidence for each language, in words; empty when the text has none."""
    signs = _signs()
    text = text[: 10 * _READ_PER_TEXT]
    if "```" in text:
        text = _FENCED.sub(" ", text)
    text = unicodedata.normalize("NFC", text[:_READ_PER_TEXT]).lower()
    scores: dict[str, float] = {}
    for word in signs.word.findall(text):
        for code, weight in _evidence(word):
            scores[code] = scores.get(code, 0.0) + weight
    if text.isascii():
        return scores
    for letter in signs.letter.findall(text):
        for code, weight in signs.letters[letter]:
            scores[code] = scores.get(code, 0.0) + weight
    if max(text) > _LAST_LATIN:
        _add_scripts(text, scores)
    return scores


@lru_cache(maxsize=16_384)
def _evidence(word: str) -> tuple[tuple[str, float], ...]:
    signs = _signs()
    spelled = (known for sign, known in signs.spellings.items() if sign in f"{word}$")
    return (*signs.words.get(word, ()), *chain.from_iterable(spelled))


def _add_scripts(text: str, scores: dict[str, float]) -> None:
    for code, pattern, weight in _signs().scripts:
        count = len(pattern.findall(text))
        if count:
            scores[code] = scores.get(code, 0.0) + count * weight
    # Japanese writes Chinese characters too; Chinese never writes kana.
    if scores.get("ja", 0.0) >= 0.1 * scores.get("zh", 0.0) > 0.0:
        scores["ja"] += scores.pop("zh")
