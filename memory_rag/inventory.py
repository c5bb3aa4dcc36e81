"""What is in a memory: turns, people, times, bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_rag.errors import EmbedderError, MissingExtraError
from memory_rag.html.cards import card, listed, share_bar, table
from memory_rag.retrieval.indexes import Indexes
from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.store.files import DERIVED
from memory_rag.store.screening import Counts
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.store.whole import row_counts
from memory_rag.text.word_bounds import count_words
from memory_rag.turns import Turn

_SHOWN = 12
"""Conversations that a notebook lists."""


@dataclass(slots=True)
class ConversationStats:
    """One conversation: its title ("" if its source gave none), its turns, and when the first and last were said."""

    conversation_id: str
    title: str = ""
    n_turns: int = 0
    first: datetime | None = None
    last: datetime | None = None

    def count(self, turn: Turn) -> None:
        self.n_turns += 1
        if turn.said_at is not None:
            self.first = min(self.first or turn.said_at, turn.said_at)
            self.last = max(self.last or turn.said_at, turn.said_at)

    def as_json(self) -> dict[str, Any]:
        return {
            "conversation_id": self.conversation_id,
            "title": self.title,
            "n_turns": self.n_turns,
            "first": _iso(self.first),
            "last": _iso(self.last),
        }


@dataclass(frozen=True, slots=True)
class Stats:
    """What is in a memory.

    ``by_role`` and ``by_speaker`` count turns, the most frequent first. ``undated`` turns have no known time,
    ``unrecalled`` ones are left out of search. ``n_bytes`` is what lies on disk, by kind: ``words``, ``vectors``,
    ``derived``; on a server it is this owner's rows, without the indexes, which they share with others. ``rows`` counts
    what is kept beside turns, by table. ``folder`` is None on a server. ``embedder`` is the fingerprint,
    None without one; ``note`` says why there is none, if there should be. ``found`` counts secrets and personal data by
    (kind, what was done); ``off_record_since`` is since when no turn is stored. ``snapshot_seq`` is the change up to
    which the keyword index is saved, None if it isn't; ``seq`` the last.
    """

    place: str
    folder: Path | None
    n_turns: int
    by_role: Mapping[str, int]
    by_speaker: Mapping[str, int]
    n_sessions: int
    conversations: tuple[ConversationStats, ...]
    undated: int
    unrecalled: int
    n_words: int
    languages: tuple[str, ...]
    n_bytes: Mapping[str, int]
    embedder: str | None
    embedded: int
    pending: int
    seq: int
    snapshot_seq: int | None
    note: str = ""
    found: Counts = field(default_factory=dict)
    off_record_since: str | None = None
    rows: Mapping[str, int] = field(default_factory=dict)

    @property
    def first(self) -> datetime | None:
        """When the oldest turn was said; None if no turn's time is known."""
        return min((one.first for one in self.conversations if one.first is not None), default=None)

    @property
    def last(self) -> datetime | None:
        """When the newest turn was said; None if no turn's time is known."""
        return max((one.last for one in self.conversations if one.last is not None), default=None)

    def as_json(self) -> dict[str, Any]:
        """Return what ``stats --json`` prints, without the list of conversations."""
        return {
            "place": self.place,
            "folder": None if self.folder is None else str(self.folder),
            "n_turns": self.n_turns,
            "by_role": dict(self.by_role),
            "by_speaker": dict(self.by_speaker),
            "n_conversations": len(self.conversations),
            "n_sessions": self.n_sessions,
            "first": _iso(self.first),
            "last": _iso(self.last),
            "undated": self.undated,
            "unrecalled": self.unrecalled,
            "n_words": self.n_words,
            "languages": list(self.languages),
            "n_bytes": dict(self.n_bytes),
            "rows": dict(self.rows),
            "embedder": self.embedder,
            "embedded": self.embedded,
            "pending": self.pending,
            "seq": self.seq,
            "snapshot_seq": self.snapshot_seq,
            "found": _by_kind(self.found),
            "off_record_since": self.off_record_since,
            "note": self.note or None,
        }

    def _repr_html_(self) -> str:
        most = max((one.n_turns for one in self.conversations), default=0)
        newest = sorted(self.conversations, key=lambda one: _iso(one.last) or "", reverse=True)
        rows = [
            [one.title or one.conversation_id, share_bar(one.n_turns / most), f"{one.n_turns:,}", _days(one)]
            for one in newest[:_SHOWN]
        ]
        earlier = len(newest) - _SHOWN
        size = ", ".join(f"{readable_size(n)} {kind}" for kind, n in self.n_bytes.items() if n)
        facts = [
            f"{self.n_words:,} words by {', '.join(f'{who} ({n:,})' for who, n in self.by_speaker.items())}",
            f"in {self.place}: {size}",
            f"{self.embedded:,} turns embedded, {self.pending:,} pending" if self.embedder else "no embedder",
            self.note,
        ]
        title = f"{self.n_turns:,} turns in {len(self.conversations):,} conversations"
        rest = [f"and {earlier:,} earlier ones"] if earlier > 0 else []
        listing = table(["conversation", "turns", "", "said"], rows)
        return card(listed(fact for fact in facts if fact), listing, listed(rest), title=title)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far a memory is embedded, in turns; ``embedder`` is None without one, and ``note`` may say why."""

    embedder: str | None
    embedded: int
    pending: int
    note: str = ""


@dataclass(slots=True)
class _Count:
    conversations: dict[str, ConversationStats] = field(default_factory=dict)
    roles: Counter[str] = field(default_factory=Counter)
    speakers: Counter[str] = field(default_factory=Counter)
    sessions: set[tuple[str, str]] = field(default_factory=set)
    undated: int = 0
    unrecalled: int = 0
    n_words: int = 0

    def count(self, turn: Turn) -> None:
        self.conversations.setdefault(turn.conversation_id, ConversationStats(turn.conversation_id)).count(turn)
        self.roles[turn.role.value] += 1
        self.speakers[turn.speaker] += 1
        self.sessions.add((turn.conversation_id, turn.session_id))
        self.undated += turn.said_at is None
        self.unrecalled += not turn.recalled
        self.n_words += count_words(turn.text)


def stats(store: TurnWriter, indexes: Indexes, *, folder: Path | None) -> Stats:
    """Count what is in a memory; reads every turn once. An embedder that can't be loaded is noted, not raised.

    ``folder`` is where it lies, None on a server.
    """
    counted = _Count()
    for _row, turn in store.scan():
        counted.count(turn)
    for conversation in store.conversations():
        if conversation.conversation_id in counted.conversations:
            counted.conversations[conversation.conversation_id].title = conversation.title
    coverage = coverage_of(indexes)
    return Stats(
        place=store.connections.place,
        folder=folder,
        n_turns=sum(counted.roles.values()),
        by_role=dict(counted.roles.most_common()),
        by_speaker=dict(sorted(counted.speakers.items(), key=lambda pair: (-pair[1], pair[0]))),
        n_sessions=len(counted.sessions),
        conversations=tuple(counted.conversations[key] for key in sorted(counted.conversations)),
        undated=counted.undated,
        unrecalled=counted.unrecalled,
        n_words=counted.n_words,
        languages=indexes.languages(),
        n_bytes=n_bytes_of(store),
        embedder=coverage.embedder,
        embedded=coverage.embedded,
        pending=coverage.pending,
        seq=store.last_seq,
        snapshot_seq=None if folder is None else _saved_seq(folder, indexes),
        note=coverage.note,
        found=store.findings.counts(),
        off_record_since=store.off_record_since,
        rows=row_counts(store.connections),
    )


def n_bytes_of(store: TurnWriter) -> dict[str, int]:
    """Return how many bytes a memory takes, by kind, as :class:`Stats` says.

    Raises:
        StoreError: it can't be looked at.
    """
    with store.connections.reading() as connection:
        return store.connections.catalogue.n_bytes(connection)


def _saved_seq(folder: Path, indexes: Indexes) -> int | None:
    return KeywordIndex.load(folder / DERIVED, indexes.keyword.analyzer).applied_seq or None


def coverage_of(indexes: Indexes) -> Coverage:
    """Count the turns that have a vector and those that don't; without an embedder none has, and a note may say why."""
    searched = indexes.n_recalled()
    try:
        embedder = indexes.embedder
        pending = indexes.n_pending()
    except (EmbedderError, MissingExtraError) as error:
        return Coverage(None, 0, searched, str(error))
    return Coverage(None if embedder is None else embedder.fingerprint, searched - pending, pending)


def readable_size(n_bytes: int) -> str:
    """Return a number of bytes for a reader: ``0 B``, ``12 kB``, ``3.4 MB``, ``76.7 GB``."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            amount = n_bytes / size
            return f"{amount:.0f} {unit}" if unit == "kB" or amount >= 100 else f"{amount:.1f} {unit}"
    return f"{n_bytes} B"


def _days(one: ConversationStats) -> str:
    days = [f"{instant:%Y-%m-%d}" for instant in (one.first, one.last) if instant is not None]
    return " to ".join(dict.fromkeys(days))


def _by_kind(found: Counts) -> dict[str, dict[str, int]]:
    kinds: dict[str, dict[str, int]] = {}
    for (kind, action), n in found.items():
        kinds.setdefault(kind, {})[action] = n
    return kinds


def _iso(instant: datetime | None) -> str | None:
    return None if instant is None else instant.astimezone(UTC).isoformat().replace("+00:00", "Z")
