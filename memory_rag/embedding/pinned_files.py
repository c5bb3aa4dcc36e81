"""Model files that are known by their SHA-256, and checked before they are used."""

from __future__ import annotations

import hashlib
from pathlib import Path

from memory_rag.errors import EmbedderError


def sha256_of(path: Path) -> str:
    """Return a file's SHA-256 as 64 hex digits.

    Raises:
        EmbedderError: the file can't be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderError(f"the model file {path} can't be read: {error.strerror}") from error


def check_sha256(path: Path, expected: str, *, cure: str) -> None:
    """Refuse a file that isn't the one that was pinned; ``cure`` says what to do about it.

    Raises:
        EmbedderError: the file can't be read or is another one.
    """
    found = sha256_of(path)
    if found != expected:
        raise EmbedderError(f"{path} has SHA-256 {found}, but {expected} is the file that was tested; {cure}")
