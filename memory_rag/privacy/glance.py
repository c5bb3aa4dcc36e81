"""A look at a text that costs a few microseconds and tells which rules could find something in it."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache, lru_cache
from typing import Final

from memory_rag.privacy.composing import Composed, may_be_decomposed
from memory_rag.privacy.key_marks import NAME_ENDS, SHAPES, TELEGRAM
from memory_rag.privacy.kinds import Kind
from memory_rag.turns import text_bytes

EMAIL, FIGURES, PASSWORD, KEY, PRIVATE_KEY = 1, 2, 4, 8, 16
ALL: Final = EMAIL | FIGURES | PASSWORD | KEY | PRIVATE_KEY
_FAMILY: Final = {
    Kind.EMAIL: EMAIL,
    Kind.PHONE: FIGURES,
    Kind.CARD: FIGURES,
    Kind.IBAN: FIGURES,
    Kind.PERSONNUMMER: FIGURES,
    Kind.FODSELSNUMMER: FIGURES,
    Kind.PASSWORD: PASSWORD,
    Kind.API_KEY: KEY,
    Kind.PRIVATE_KEY: PRIVATE_KEY,
}

_DIGITS: Final = b"0123456789"
SIGNS: Final = "#$%&*+^~@"
"""Signs that no ordinary word has inside; a password that is found has one of them or a digit."""
_OTHER_THAN_TELLING: Final = bytes(byte for byte in range(256) if byte not in _DIGITS + SIGNS.encode())
# The first bytes of digits of other scripts.
_OTHER_THAN_FOREIGN: Final = bytes(byte for byte in range(256) if byte not in (0xD9, 0xDB, 0xDF, 0xE0, 0xE1, 0xEF))
# Letters, digits and the signs of coded values become a; everything else a space.
_RUNS: Final = bytes(
    0x61 if byte in b"_-+/=.~" or (byte < 0x80 and chr(byte).isalnum()) else 0x20 for byte in range(256)
)
# Arabic, Persian, N'Ko, Devanagari to Malayalam, Thai, Lao, Tibetan, Burmese, Khmer.
_ZEROS: Final = (
    *(0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50, 0xED0, 0xF20),
    *(0x1040, 0x17E0),
)
_LONG_RUN: Final = b"a" * 16
# What a key by its mark is made of, the mark with it; all else parts one word from the next.
_KEPT: Final = bytes(
    byte if byte in b"_-./:+=" or (byte < 0x80 and chr(byte).isalnum()) else 0x20 for byte in range(256)
)
_LEAST_KEY: Final = 16
# Ids, hashes and times are made of these alone, and no mark is.
_OF_IDS: Final = b"0123456789abcdef-:.TZ+"
# Digits become 0, and what may stand between them (the bytes of other spaces and hyphens too) goes.
_FIGURES: Final = bytes(0x30 if byte in _DIGITS else 0x20 for byte in range(256))
_BETWEEN: Final = b" ()+-./" + bytes((0xC2, 0xA0, 0xE2, *range(0x80, 0xA0), 0xAF, 0x88, 0x92))
_EIGHT_DIGITS: Final = b"0" * 8
# "keyboard" and "max_tokens" are no names of a key; "nyckeln" and "tokenet" are.
_NAME: Final = re.compile(rf"(?:{'|'.join(NAME_ENDS)})(?![A-DF-MO-Za-df-mo-z0-9_])")


def _as_bytes_read(*words: str) -> tuple[str, ...]:
    # A text of one byte a character is searched three times as fast as bytes are.
    return tuple(word.encode().decode("latin-1") for word in words)


_WORDS: Final = _as_bytes_read(
    *("pass", "pwd", "login", "log in", "logg", "koden", "code", " -u", " --user", " --proxy", "mysql", "kennwort"),
    *("senha", "wachtwoord", "adgangskode", "salasana", "losenord", "contrase", "credential", "parola"),
)
# Only ASCII letters become small below.
_WORDS_BEYOND_ASCII: Final = _as_bytes_read(
    *("lösen", "lÖsen", "hasło", "парол", "Парол", "ПАРОЛ", "密码", "密碼", "口令", "パスワード", "비밀번호"),
    *("şifre", "Şifre", "ŞİFRE", "كلمة المرور", "كلمة السر", "รหัสผ่าน", "mật khẩu", "Mật khẩu"),
)


def families_of(kinds: Collection[Kind]) -> int:
    """Return the families of rules by which these kinds are found, as bits."""
    families = 0
    for kind in kinds:
        families |= _FAMILY[kind]
    return families


def glance(text: str, wanted: int = ALL, *, is_joined: bool = False) -> int:
    """Return which of the ``wanted`` families of rules are worth asking about a text, as bits.

    What isn't seen here isn't in it. Of a text that ``is_joined`` of others, in whatever order and with anything but
    letters and digits between them, it is told what is seen in any of them, and in one as the name of another.
    """
    data = text_bytes(text)
    is_ascii = len(data) == len(text)
    seen = 0
    if telling := data.translate(None, _OTHER_THAN_TELLING):
        has_at = b"@" in telling
        if has_at:
            seen = wanted & EMAIL
        has_figures = wanted & FIGURES and len(telling) >= len(_EIGHT_DIGITS)
        if has_figures and _EIGHT_DIGITS in data.translate(_FIGURES, _BETWEEN):
            seen |= FIGURES
        if wanted & PASSWORD:
            small = data.lower().decode("latin-1")
            is_told = _has_any(small, _WORDS) or (not is_ascii and _has_any(small, _WORDS_BEYOND_ASCII))
            if is_told or (has_at and "://" in small):
                seen |= PASSWORD
    if wanted & KEY and _LONG_RUN in data.translate(_RUNS):
        is_named = _has_any(text, NAME_ENDS) and (_NAME.search(text) is not None if is_joined else names_a_value(text))
        if is_named or marks_in(data):
            seen |= KEY
    if b"PRIVATE KEY" in data:
        seen |= wanted & PRIVATE_KEY
    return seen if is_ascii else seen | _seen_in_another_form(text, data, wanted, is_joined=is_joined)


def _seen_in_another_form(text: str, data: bytes, wanted: int, *, is_joined: bool) -> int:
    """Return what is seen in a text once its digits are ASCII's, or, of passwords, once its letters are composed."""
    seen = 0
    if data.translate(None, _OTHER_THAN_FOREIGN):
        seen = wanted & (FIGURES | EMAIL)
        plain = with_plain_digits(text)
        if plain != text:
            seen |= glance(plain, wanted, is_joined=is_joined)
    if wanted & PASSWORD and may_be_decomposed(data):
        composed = Composed.of(text).text
        if composed != text:
            seen |= glance(composed, PASSWORD, is_joined=is_joined)
    return seen


def names_a_value(text: str) -> bool:
    """Tell whether a text has a long value after a name such as key or token."""
    from memory_rag.privacy.named_values import named_values

    return next(named_values(text), None) is not None


def marks_in(data: bytes) -> set[str]:
    """Return the marks of providers that a text's long words have in them, given as its bytes."""
    long_words = [word for word in data.translate(_KEPT).split() if len(word) >= _LEAST_KEY]
    return {mark for word in long_words if word.translate(None, _OF_IDS) for mark in _marks_of(word.decode("ascii"))}


@lru_cache(maxsize=2048)
def _marks_of(word: str) -> tuple[str, ...]:
    # Names of fields come again and again.
    return tuple(mark for mark in (*SHAPES, TELEGRAM) if mark in word)


def with_plain_digits(text: str) -> str:
    """Return a text with the digits of all scripts, and fullwidth letters and signs, as ASCII; as long as before.

    Fullwidth marks of a sentence stay: unlike ASCII's, none of them is a part of a value.
    """
    return text if text.isascii() else text.translate(_plain_digits())


def _has_any(text: str, words: tuple[str, ...]) -> bool:
    for word in words:  # noqa: SIM110  a generator takes as long again as the search
        if word in text:
            return True
    return False


@cache
def _plain_digits() -> dict[int, str]:
    digits = {zero + value: str(value) for zero in _ZEROS for value in range(10)}
    wide = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if chr(code) not in "！＂＇，；？"}
    return digits | wide
