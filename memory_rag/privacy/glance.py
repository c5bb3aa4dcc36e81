"""A look at a text that costs a few microseconds and tells which rules could find something in it."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Final

from memory_rag.privacy.key_marks import MARKS
from memory_rag.privacy.kinds import Kind
from memory_rag.turns import text_bytes

EMAIL, FIGURES, PASSWORD, KEY, PRIVATE_KEY = 1, 2, 4, 8, 16
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
# Letters, digits, _ and - become a; everything else a space.
_RUNS: Final = bytes(0x61 if byte in b"_-" or (byte < 0x80 and chr(byte).isalnum()) else 0x20 for byte in range(256))
# Arabic, Persian, N'Ko, Devanagari to Malayalam, Thai, Lao, Tibetan, Burmese, Khmer.
_ZEROS: Final = (
    *(0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50, 0xED0, 0xF20),
    *(0x1040, 0x17E0),
)
_LONG_RUN: Final = b"a" * 16
# Digits become 0, and what may stand between them (the bytes of other spaces and hyphens too) goes.
_FIGURES: Final = bytes(0x30 if byte in _DIGITS else 0x20 for byte in range(256))
_BETWEEN: Final = b" ()+-./" + bytes((0xC2, 0xA0, 0xE2, *range(0x80, 0xA0), 0xAF, 0x88, 0x92))
_EIGHT_DIGITS: Final = b"0" * 8


def _as_bytes_read(*words: str) -> tuple[str, ...]:
    # A text of one byte a character is searched three times as fast as bytes are.
    return tuple(word.encode().decode("latin-1") for word in words)


_WORDS: Final = _as_bytes_read(
    *("pass", "pwd", "login", "log in", "logg", "koden", "code", " -u", " --user", " --proxy", "mysql", "kennwort"),
    *("senha", "wachtwoord", "adgangskode", "salasana", "losenord", "contrase", "credential"),
)
# Only ASCII letters become small below.
_WORDS_BEYOND_ASCII: Final = _as_bytes_read(
    *("lösen", "lÖsen", "hasło", "парол", "Парол", "ПАРОЛ", "密码", "密碼", "口令", "パスワード", "비밀번호")
)


def families_of(kinds: Collection[Kind]) -> int:
    """Return the families of rules by which these kinds are found, as bits."""
    families = 0
    for kind in kinds:
        families |= _FAMILY[kind]
    return families


def glance(text: str) -> int:
    """Return the families of rules that are worth asking about a text, as bits; what isn't seen here isn't in it."""
    data = text_bytes(text)
    is_ascii = len(data) == len(text)
    seen = 0
    if telling := data.translate(None, _OTHER_THAN_TELLING):
        if b"@" in telling:
            seen = EMAIL
        if len(telling) >= len(_EIGHT_DIGITS) and _EIGHT_DIGITS in data.translate(_FIGURES, _BETWEEN):
            seen |= FIGURES
        small = data.lower().decode("latin-1")
        is_told = _has_any(small, _WORDS) or (not is_ascii and _has_any(small, _WORDS_BEYOND_ASCII))
        if is_told or (b"@" in telling and "://" in small):
            seen |= PASSWORD
    if _LONG_RUN in data.translate(_RUNS) and _has_any(text, MARKS):
        seen |= KEY
        if b"PRIVATE KEY" in data:
            seen |= PRIVATE_KEY
    if not is_ascii and data.translate(None, _OTHER_THAN_FOREIGN):
        seen |= FIGURES | EMAIL
        plain = with_plain_digits(text)
        if plain != text:
            seen |= glance(plain)
    return seen


def with_plain_digits(text: str) -> str:
    """Return a text with the digits of all scripts, and fullwidth letters, as ASCII; as long as before."""
    return text if text.isascii() else text.translate(_plain_digits())


def _has_any(text: str, words: tuple[str, ...]) -> bool:
    for word in words:  # noqa: SIM110  a generator takes as long again as the search
        if word in text:
            return True
    return False


@cache
def _plain_digits() -> dict[int, str]:
    digits = {zero + value: str(value) for zero in _ZEROS for value in range(10)}
    return digits | {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
