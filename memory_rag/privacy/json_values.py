"""Secrets in JSON: in its strings, under names that say what they are, and in JSON that is only text yet."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

Redact = Callable[[str, str], str]
"""Called with (a string, the name it stands under or ""), returns the string as it may be kept."""

_LITERAL: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\w.+-])[0-9]{8,19}(?![\w.])', re.DOTALL)
_TELLING_NAME: Final = re.compile(
    r"pass|pwd|key|token|secret|auth|bearer|credential|cookie|lösen|losen|kennwort|senha|contrase|wachtwoord|nyckel|nøkkel|"
    r"adgangskode|密码|密碼|パスワード|парол",
    re.IGNORECASE,
)
_MOST_IN_PIECES: Final = 100
_LEAST_NUMBER: Final = 10**7
"""From this on a number may be a card's or a person's: it is read as its digits."""
_NAME_FOLLOWS: Final = re.compile(r"\s*:")


def redacted_value(value: Any, redact: Redact, *, name: str = "") -> Any:
    """Return a JSON value with every string in it redacted, names too; the very same object if nothing was."""
    if isinstance(value, str):
        return redact(value, name)
    if is_number(value):
        kept = redact(str(value), name)
        return value if kept == str(value) else kept
    if isinstance(value, Mapping):
        pairs = [(redact(key, ""), redacted_value(inner, redact, name=key)) for key, inner in value.items()]
        is_same = all(
            key == old and new is before for (key, new), (old, before) in zip(pairs, value.items(), strict=True)
        )
        return value if is_same else dict(pairs)
    if isinstance(value, (list, tuple)):
        items = [redacted_value(inner, redact, name=name) for inner in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value


def strings_in(value: Any, *, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield every string of a JSON value with the name it stands under; names themselves under none."""
    if isinstance(value, str) or is_number(value):
        yield str(value), name
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield key, ""
            yield from strings_in(inner, name=key)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from strings_in(inner, name=name)


@lru_cache(maxsize=4096)
def is_telling(name: str) -> bool:
    """Tell whether a value may be a secret for the name alone that it stands under."""
    return _TELLING_NAME.search(name) is not None


def is_number(value: Any) -> bool:
    """Tell whether a JSON value is a whole number long enough to be somebody's."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= _LEAST_NUMBER


def is_json(text: str) -> bool:
    """Tell whether a text is a JSON object or list."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def literals_of(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield (start, end, decoded, name it stands under) of every string and long number in a JSON text."""
    name = ""
    for found in _LITERAL.finditer(text):
        is_plain = found[0][0] != '"' or "\\" not in found[0]
        decoded = found[0].strip('"') if is_plain else str(json.loads(found[0], strict=False))
        is_name = _NAME_FOLLOWS.match(text, found.end()) is not None
        yield found.start(), found.end(), decoded, "" if is_name else name
        name = decoded if is_name else name


def redacted_json(text: str, redact: Redact) -> str:
    """Return a JSON text with every string and long number redacted; the rest stays as it was written, byte by byte."""
    parts: list[str] = []
    done = 0
    for start, end, decoded, name in literals_of(text):
        kept = redact(decoded, name)
        if kept != decoded:
            parts += text[done:start], json.dumps(kept, ensure_ascii=False)
            done = end
    return "".join([*parts, text[done:]]) if parts else text


def holds_in_pieces(text: str, values: Sequence[str]) -> bool:
    """Tell whether a JSON text holds one of these values over several of its strings, as formatted text has it."""
    if not 0 < len(values) <= _MOST_IN_PIECES:
        return False
    joined = "".join(decoded for _start, _end, decoded, name in literals_of(text) if name)
    listed = "".join(decoded for _start, _end, decoded, _name in literals_of(text))
    return any(value in joined or value in listed for value in values)
