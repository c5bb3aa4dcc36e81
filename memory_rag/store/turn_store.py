"""What a store of turns is: every word kept as it was said, and each change numbered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

from memory_rag.store.screening import Counts
from memory_rag.turns import Conversation, Turn, Withheld

NEXT: Final = -1
"""As a turn's ordinal: the next free one of its conversation."""


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the change log: ``kind`` is ``add``, ``correct`` or ``remove``.

    ``row`` is the turn's number in this store, never given twice; ``changed_at`` is in microseconds since 1970 UTC.
    """

    seq: int
    kind: str
    row: int
    changed_at: int


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append did: the ids of the turns stored now, in order, and how many were there already.

    ``differing`` names those of the latter whose source now gives another text; the stored text stays.
    ``corrected`` names those whose text was edited at their source and is now as there, the earlier one kept;
    ``vanished`` those that their source holds no more: they stay, marked. ``forgotten`` are the native ids of those
    that were forgotten earlier and therefore left out. ``unstored`` counts, by reason, those that a rule kept out;
    ``found`` what was tagged in, or taken out of, those that were stored, by (kind, action).
    """

    turn_ids: tuple[str, ...] = ()
    already_there: int = 0
    differing: tuple[str, ...] = ()
    corrected: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    unstored: Mapping[str, int] = field(default_factory=dict)
    found: Counts = field(default_factory=dict)


class TurnStore(Protocol):
    """Where words are kept. One contract suite (tests/contracts) holds for every implementation."""

    @property
    def last_seq(self) -> int: ...
    def add(self, turn: Turn) -> Turn: ...
    def append(
        self,
        items: Iterable[Turn | Conversation | Withheld],
        *,
        dry_run: bool = False,
        newer: bool = False,
        whole: bool = False,
        include_forgotten: bool = False,
        secrets: str = "",
        before_commit: Callable[[Appended], None] | None = None,
    ) -> Appended: ...
    def together(self) -> AbstractContextManager[None]: ...
    def settle(self) -> None: ...
    def note_export(
        self, *, source_name: str, account: str, conversation_ids: Iterable[str], latest: datetime
    ) -> list[str]: ...
    def correct(
        self,
        turn_id: str,
        *,
        text: str | None = None,
        speaker: str | None = None,
        said_at: datetime | None = None,
        keep_old: bool = True,
    ) -> Turn: ...
    def remove(self, turn_ids: Sequence[str]) -> int: ...
    def get(self, turn_ids: Sequence[str]) -> list[Turn]: ...
    def rows_of(self, turn_ids: Sequence[str]) -> list[int]: ...
    def turns_at(self, rows: Sequence[int]) -> dict[int, Turn]: ...
    def scan(self, *, conversation_id: str | None = None) -> Iterator[tuple[int, Turn]]: ...
    def changes_since(self, seq: int, *, limit: int | None = None) -> list[Change]: ...
    def __len__(self) -> int: ...
