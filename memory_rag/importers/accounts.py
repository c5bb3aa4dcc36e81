"""Whose export it is: an account's whole history, of which a newer export may lack conversations."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from memory_rag.errors import ImportFormatError
from memory_rag.importers.messages import as_list, as_object
from memory_rag.importers.source import SourceFile

_FILES: Final = {"chatgpt": ("user.json", "id"), "claude": ("users.json", "uuid")}
"""Where an export of a format says whose it is: the file beside the conversations, and the field in it."""


@dataclass(frozen=True, slots=True)
class Account:
    """An account of a service, by the id it has there."""

    format: str
    native_id: str


def account_of(formats: Iterable[str], found: Iterable[SourceFile]) -> Account | None:
    """Return the one account whose whole export these files are, or None if they don't tell.

    ``formats`` are those of the files that are read; all must be of one format whose exports name their account.
    """
    chosen = set(formats)
    if len(chosen) != 1:
        return None
    name = chosen.pop()
    file_name, key = _FILES.get(name, ("", ""))
    told = [file for file in found if file.path.name == file_name]
    if len(told) != 1:
        return None
    with suppress(ImportFormatError):
        document: Any = told[0].read_json()
        first = document if isinstance(document, dict) else next(iter(as_list(document)), None)
        native_id = as_object(first).get(key)
        if isinstance(native_id, str) and native_id:
            return Account(name, native_id)
    return None
