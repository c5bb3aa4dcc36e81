"""Ways to spoil a file, a JSON value or a text, each decided by a seeded generator alone."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from typing import Any, Final

ODD_VALUES: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**30, 0.5, -0.0, 1e308, float("inf"),
    float("nan"), "", " ", "\0", "\ud800", "\udfff\ud83d", "x" * 2000, "0", "-1", "NaN",
    "2026-02-30T25:61:61Z", "9999-12-31T23:59:59-14:00",
    "0000-00-00", "user", "null", [], {}, [[]], [None], [{}], {"": None}, {"text": 5}, ["a", 1, None],
    {"parts": [[[]]]},
)  # fmt: skip
ODD_TEXTS: Final = (
    "\0", "\ud83d", "\ude00", "\u2028", "\u202e", "\u200b", "\ufeff", "'", '"', "“", "”", "»", "«", "`", "```", "> ",
    "\r",
    "\n\n", "\t", "(", "[", "\\", "{", "%", "*", "€", "𝔘", "ß", "İ", "ﬁ", "e\u0301", "\u0301" * 40, "👨‍👩‍👧", "東",
    "1" * 400, "a" * 3000, "- " * 300, '"' * 200, "'" * 301, "1/" * 200, "said " * 200, ": " * 100, "..." * 100,
)  # fmt: skip


def spoiled_bytes(data: bytes, chance: random.Random) -> bytes:
    """Return the bytes with one to four places flipped, cut out, doubled, filled or moved."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if not changed:
            break
        at = chance.randrange(len(changed))
        length = chance.choice((1, 1, 2, 8, 60, len(changed)))
        match chance.randrange(7):
            case 0 | 1:
                changed[at] ^= 1 << chance.randrange(8)
            case 2:
                del changed[at : at + length]
            case 3:
                changed[at:at] = changed[at : at + length][:4000]
            case 4:
                changed[at:at] = chance.randbytes(min(length, 60))
            case 5:
                changed[at:at] = chance.choice(ODD_TEXTS).encode("utf-8", "surrogatepass")
            case _:
                other = chance.randrange(len(changed))
                changed[at], changed[other] = changed[other], changed[at]
    return bytes(changed)


def spoiled_json(data: bytes, chance: random.Random) -> bytes:
    """Return a file of JSON, or of lines of it, with one to three values or keys replaced, doubled or taken out."""
    one_each = b"\n" in data.strip()
    values = [json.loads(line) for line in (data.strip().split(b"\n") if one_each else [data])]
    for _ in range(chance.choice((1, 1, 2, 3))):
        at = chance.randrange(len(values))
        values[at] = _spoiled(values[at], chance)
    return b"\n".join(json.dumps(value).encode() for value in values) + b"\n"


def _spoiled(value: Any, chance: random.Random) -> Any:
    places = list(_places(value))
    if not places or chance.random() < 0.03:
        return deepcopy(chance.choice(ODD_VALUES))
    holder, key = chance.choice(places)
    match chance.randrange(6):
        case 0 if isinstance(holder, dict):
            del holder[key]
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.insert(key, deepcopy(holder[key]))
        case 2 if isinstance(holder, dict):
            holder[str(chance.choice(ODD_VALUES))] = holder.pop(key)
        case 3:
            other_holder, other = chance.choice(places)
            # Through JSON, so that no value holds itself.
            holder[key] = json.loads(json.dumps(other_holder[other]))
        case 4 if isinstance(holder[key], str):
            at = chance.randrange(len(holder[key]) + 1)
            holder[key] = holder[key][:at] + chance.choice(ODD_TEXTS) + holder[key][at:]
        case _:
            # A copy: a later change to the file must not change what later cases draw from.
            holder[key] = deepcopy(chance.choice(ODD_VALUES))
    return value


def _places(value: Any) -> Any:
    """Yield (holder, key) of everything inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in list(inside):
        yield value, key
        yield from _places(one)


def spoiled_text(texts: tuple[str, ...], chance: random.Random) -> str:
    """Return pieces of texts put together with odd signs between them, up to a few thousand characters."""
    parts = []
    for _ in range(chance.choice((1, 2, 3, 6))):
        text = chance.choice(texts)
        start = chance.randrange(len(text))
        parts.append(text[start : start + chance.choice((3, 20, 200))])
        parts.append(chance.choice(ODD_TEXTS) if chance.random() < 0.7 else chr(chance.randrange(0x110000)))
    chance.shuffle(parts)
    return "".join(parts)
