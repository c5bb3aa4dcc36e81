"""What a client asks of the memory, in headers of its request and in the name of the model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from memory_rag.errors import SettingsError
from memory_rag.interfaces.serving.entrance import TOKEN_HEADER

MODE, NAME, CONVERSATION, SPEAKER, TOKENS = (
    "x-memory",
    "x-memory-name",
    "x-memory-conversation",
    "x-memory-speaker",
    "x-memory-tokens",
)
_HEADERS: Final = (MODE, NAME, CONVERSATION, SPEAKER, TOKENS)
OFF_RECORD, OFF, ON = "off-record", "off", "on"
SUFFIX: Final = "::"
"""Between a model's name and a memory's, as in ``gpt-5::work``."""
TOKENS_BY_DEFAULT: Final = 4000
_MOST_TOKENS: Final = 1_000_000
_LONGEST_ID: Final = 500
_MEMORY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True, slots=True)
class ChatWish:
    """Which memory, which conversation, who speaks, and what of it is stored and told.

    ``memory`` None is the server's own; ``conversation`` None is found out. ``n_tokens`` is how much of a prompt the
    memory may take beside what the client sends.
    """

    memory: str | None = None
    conversation: str | None = None
    speaker: str | None = None
    stores: bool = True
    recalls: bool = True
    n_tokens: int = TOKENS_BY_DEFAULT


def wish_of(headers: Mapping[str, str], model: str, *, n_tokens: int = TOKENS_BY_DEFAULT) -> tuple[ChatWish, str]:
    """Return what a request's headers (names in lower case) and model ask for, and the model as the upstream knows it.

    Raises:
        SettingsError: a header that says nothing this server knows.
    """
    _refuse_unknown(headers)
    model, found, suffix = model.rpartition(SUFFIX) if SUFFIX in model else (model, "", "")
    mode = headers.get(MODE, ON).strip().lower()
    if mode not in (ON, OFF_RECORD, OFF):
        raise SettingsError(
            f"{MODE}: {mode!r:.40} is none; it is one of: {ON}, {OFF_RECORD} (nothing is stored), {OFF}"
        )
    name = headers.get(NAME) or suffix or None
    if found and not (model and suffix):
        raise SettingsError(f"a model with a memory is written model{SUFFIX}memory")
    return (
        ChatWish(
            memory=None if name is None else memory_name(name),
            conversation=_id(headers.get(CONVERSATION), CONVERSATION),
            speaker=_id(headers.get(SPEAKER), SPEAKER),
            stores=mode == ON,
            recalls=mode != OFF,
            n_tokens=_tokens(headers.get(TOKENS), n_tokens),
        ),
        model,
    )


def _refuse_unknown(headers: Mapping[str, str]) -> None:
    # Whoever sends "X-Memory-Off-Record: 1" would be on the record, and never know.
    for name in headers:
        if name.startswith(f"{MODE}-") and name not in (*_HEADERS, TOKEN_HEADER.decode()):
            raise SettingsError(
                f"no header {name!r:.60} is known; the memory's are: {', '.join(_HEADERS)}; "
                f"off the record is {MODE}: {OFF_RECORD}"
            )


def memory_name(name: str) -> str:
    """Return a memory's name; it names a folder under the home folder, and never a path.

    Raises:
        SettingsError: it can't.
    """
    if not _MEMORY.fullmatch(name):
        raise SettingsError(f"{name!r:.80} can't name a memory here; letters a to z, digits, '_', '.' and '-' can")
    return name


def in_header(value: str) -> str:
    """Return any text as a header can carry it: percent-encoded where it must be."""
    return quote(value, safe=" /:;,.()[]@!$'*+=~_-", errors="replace")


def _id(given: str | None, header: str) -> str | None:
    if given is None or not given.strip():
        return None
    value = unquote(given.strip(), errors="replace")
    if len(value) > _LONGEST_ID or not value.isprintable():
        raise SettingsError(f"{header} has up to {_LONGEST_ID} printable characters, percent-encoded outside of ASCII")
    return value


def _tokens(given: str | None, default: int) -> int:
    if given is None:
        return default
    if not (given.strip().isascii() and given.strip().isdigit()) or not 0 <= int(given[:12]) <= _MOST_TOKENS:
        raise SettingsError(f"{TOKENS} is a number from 0 to {_MOST_TOKENS:,}, got {given!r:.40}")
    return int(given)
