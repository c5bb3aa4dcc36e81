"""Turns into the tables, in one transaction: new ones added, known ones left, newer states of a source laid over."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from memory_rag.errors import TurnError
from memory_rag.store.connections import Connection
from memory_rag.store.turn_rows import COLUMNS, check_id, check_ids, digest, row_values
from memory_rag.store.turn_store import NEXT, Appended
from memory_rag.store.vanishing import Passage, Vanishing
from memory_rag.turns import Conversation, Source, Turn, Withheld, text_bytes

_INSERTED: Final = (*COLUMNS.split(", "), "sha256")
_INSERT: Final = (
    f"INSERT INTO turns ({', '.join(_INSERTED)}) VALUES ({', '.join('?' * len(_INSERTED))}) "
    "ON CONFLICT (turn_id) DO NOTHING"
)
_REFRESHED: Final = (
    "session_id",
    "ordinal",
    "role",
    "speaker",
    "text",
    "sha256",
    "said_at",
    "said_at_text",
    "blocks",
    "raw",
    "recalled",
    "indexed_start",
    "indexed_end",
)
_RENEWED: Final = ("session_id", "ordinal", "blocks", "recalled", "indexed_start", "indexed_end")
_REFRESH: Final = f"UPDATE turns SET {', '.join(f'{name} = :{name}' for name in _REFRESHED)} WHERE row = :row"


_LOGGED_AT_ONCE: Final = 1000


@dataclass(slots=True)
class _Known:
    """A stored turn of the same source, as far as it is needed to tell whether the source has changed."""

    row: int
    turn_id: str
    sha256: bytes
    recalled: bool
    session_id: str
    same_source: bool


@dataclass(slots=True)
class _Fresh:
    """A conversation, whether nothing of it was stored before, and if so the native ids of it that are by now."""

    source_name: str
    conversation_id: str
    is_new: bool
    native_ids: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Appending:
    """One transaction in which turns are stored.

    With ``newer`` the items are a source's present state, and what was edited there becomes a correction; otherwise a
    known turn is left as it is stored. With ``whole`` the items are whole conversations: what is stored between the
    first and the last turn that one has now, and isn't among them, is marked as vanished.
    """

    connection: Connection
    newer: bool = False
    whole: bool = False
    now: int = field(default_factory=lambda: time.time_ns() // 1000)
    _stored: list[str] = field(default_factory=list)
    _already_there: int = 0
    _differing: list[str] = field(default_factory=list)
    _corrected: list[str] = field(default_factory=list)
    _vanishing: Vanishing = field(init=False)
    _next_row: int = 0
    _first_row: int = 0
    _added: list[int] = field(default_factory=list)
    _fresh: _Fresh | None = None

    def __post_init__(self) -> None:
        select = "SELECT ifnull(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'turns'"
        self._first_row = self._next_row = int(self.connection.execute(select).fetchone()[0])
        self._vanishing = Vanishing(self.connection, self.now, self._first_row)

    def take(self, item: Turn | Conversation | Withheld) -> None:
        """Store one item, or leave it.

        Raises:
            TurnError: an id that can't be an id, or that another turn has.
        """
        if isinstance(item, Conversation):
            store_title(self.connection, item)
            return
        if isinstance(item, Withheld):
            self._withhold(item)
            return
        known = self._known(item)
        passage = self._passage(item.source, item.conversation_id)
        if known is None:
            is_next = item.ordinal == NEXT
            stored = self.insert(item).turn_id if is_next else self._insert(item, is_named=bool(item.turn_id))
            self._stored.append(stored)
        else:
            self._already_there += 1
            self._compare(item, known)
        if passage is not None and item.recalled:
            passage.reach(item.ordinal)
        if passage is not None and known is not None:
            passage.rows.add(known.row)

    def done(self) -> Appended:
        """Return what was done, once everything was taken."""
        self._vanishing.end()
        self.log_added()
        return Appended(
            tuple(self._stored),
            self._already_there,
            tuple(self._differing),
            corrected=tuple(self._corrected),
            vanished=tuple(self._vanishing.turn_ids),
        )

    def _passage(self, source: Source | None, conversation_id: str) -> Passage | None:
        return self._vanishing.passage(source.name, conversation_id) if self.whole and source is not None else None

    def insert(self, turn: Turn) -> Turn:
        """Store a turn that isn't there and return it with its id and ordinal.

        Raises:
            TurnError: an id that can't be an id, or that another turn has.
        """
        if turn.ordinal == NEXT:
            check_ids(turn)
            select = "SELECT ifnull(max(ordinal), -1) + 1 FROM turns WHERE conversation_id = ?"
            following = self.connection.execute(select, (turn.conversation_id,)).fetchone()[0]
            # A copy of a turn takes a tenth of the time of an add: one is enough.
            stored = replace(turn, ordinal=following, turn_id=turn.turn_id or self._next_id)
        else:
            stored = replace(turn, turn_id=turn.turn_id or self._next_id)
        turn_id = self._insert(stored, is_named=bool(turn.turn_id))
        self.log_added()
        return stored if turn_id == stored.turn_id else replace(stored, turn_id=turn_id)

    @property
    def _next_id(self) -> str:
        return f"t{self._next_row}"

    def _insert(self, turn: Turn, *, is_named: bool) -> str:
        """Store a turn and return its id; one without an id, or not ``is_named``, gets the next that is free."""
        values = row_values(turn)
        row, turn_id = self._next_row, turn.turn_id or self._next_id
        values["row"], values["turn_id"] = row, turn_id
        if not self.connection.execute(_INSERT, [values[name] for name in _INSERTED]).rowcount:
            if is_named:
                raise TurnError(
                    f"a turn with the id {turn_id!r} is stored already; leave turn_id empty to get a new one, "
                    "or correct the stored turn"
                )
            values["turn_id"] = turn_id = f"t{row}-{self.now}"
            self.connection.execute(_INSERT, [values[name] for name in _INSERTED])
        self._added.append(row)
        if len(self._added) >= _LOGGED_AT_ONCE:
            self.log_added()
        self._next_row += 1
        return turn_id

    def log_added(self) -> None:
        """Number the additions that aren't numbered yet; every other change comes after them."""
        added, self._added = self._added, []
        self.connection.executemany(
            "INSERT INTO changes (kind, row, changed_at) VALUES ('add', ?, ?)", [(row, self.now) for row in added]
        )

    def _known(self, turn: Turn) -> _Known | None:
        source = turn.source
        if source is None:
            return None
        check_ids(turn)
        if self._is_new(source, turn.conversation_id):
            return None
        raw = None if source.raw is None else text_bytes(source.raw)
        found = self.connection.execute(
            "SELECT row, turn_id, sha256, recalled, session_id, raw IS ? FROM turns "
            "WHERE source_name = ? AND conversation_id = ? AND source_id = ?",
            (raw, source.name, turn.conversation_id, source.native_id),
        ).fetchone()
        return None if found is None else _Known(found[0], found[1], found[2], bool(found[3]), found[4], bool(found[5]))

    def _is_new(self, source: Source, conversation_id: str) -> bool:
        """Whether a turn can't be there, since nothing of its conversation was: most of an import, asked for once."""
        fresh = self._fresh
        if fresh is None or (fresh.source_name, fresh.conversation_id) != (source.name, conversation_id):
            select = "SELECT 1 FROM turns WHERE source_name = ? AND conversation_id = ? LIMIT 1"
            stored = self.connection.execute(select, (source.name, conversation_id)).fetchone()
            fresh = self._fresh = _Fresh(source.name, conversation_id, stored is None)
        if not fresh.is_new:
            return False
        if source.native_id in fresh.native_ids:
            return False
        fresh.native_ids.add(source.native_id)
        return True

    def _compare(self, turn: Turn, known: _Known) -> None:
        """Lay a turn over the stored one where its source has changed since; leave what was changed here."""
        sha256 = digest(turn.text)
        if not self.newer or known.row >= self._first_row or turn.source is None or turn.source.raw is None:
            if sha256 != known.sha256:
                self._differing.append(known.turn_id)
            return
        self._vanishing.came_back(known.row)
        moved = known.recalled != turn.recalled or known.session_id != turn.session_id
        if known.same_source:
            # The text was changed here, not there.
            if sha256 != known.sha256:
                self._differing.append(known.turn_id)
            if not moved:
                return
            self._update(
                known.row,
                "recalled = ?, session_id = ?, ordinal = ?",
                (int(turn.recalled), turn.session_id, turn.ordinal),
            )
        elif sha256 == known.sha256:
            self._renew(turn, known.row)
        elif self._was_earlier(known.row, turn.text):
            self._differing.append(known.turn_id)
        else:
            self._keep_version(known.row, self._refresh(turn, known.row))
            self._corrected.append(known.turn_id)

    def _was_earlier(self, row: int, text: str) -> bool:
        """Whether a turn had this text before it was corrected: the source is an older state then."""
        select = "SELECT 1 FROM versions WHERE row = ? AND text = ?"
        return self.connection.execute(select, (row, text_bytes(text))).fetchone() is not None

    def _keep_version(self, row: int, before: tuple[int, Any, Any, Any]) -> None:
        seq, text, speaker, said_at = before
        self.connection.execute("INSERT INTO versions VALUES (?, ?, ?, ?, ?)", (row, seq, text, speaker, said_at))

    def _refresh(self, turn: Turn, row: int) -> tuple[int, Any, Any, Any]:
        """Give a row all that the source says now, and return the change's number with what was there before."""
        before = self.connection.execute("SELECT text, speaker, said_at FROM turns WHERE row = ?", (row,)).fetchone()
        values = row_values(turn)
        self.connection.execute(_REFRESH, {"row": row, **{name: values[name] for name in _REFRESHED}})
        return self._log_correction(row), *before

    def _renew(self, turn: Turn, row: int) -> None:
        """Take over what else the source says now of the same words; a speaker and a time given here stay.

        It is a change only if it shows: sources touch their own notes on a message more often than the message.
        """
        values = row_values(turn)
        found = self.connection.execute(f"SELECT {', '.join(_RENEWED)} FROM turns WHERE row = ?", (row,)).fetchone()
        self.connection.execute("UPDATE turns SET raw = ? WHERE row = ?", (values["raw"], row))
        new = [values[name] for name in _RENEWED]
        if list(found) != new:
            self._update(row, ", ".join(f"{name} = ?" for name in _RENEWED), new)

    def _update(self, row: int, what: str, values: Sequence[object]) -> None:
        self.connection.execute(f"UPDATE turns SET {what} WHERE row = ?", (*values, row))
        self._log_correction(row)

    def _log_correction(self, row: int) -> int:
        self.log_added()
        return log(self.connection, "correct", row, self.now)

    def _withhold(self, item: Withheld) -> None:
        """Take what a source shows no more out of recall; what was never stored stays unstored."""
        passage = self._passage(Source(item.source_name, ""), item.conversation_id)
        for native_id in item.native_ids:
            found = self.connection.execute(
                "SELECT row, recalled FROM turns WHERE source_name = ? AND conversation_id = ? AND source_id = ?",
                (item.source_name, item.conversation_id, native_id),
            ).fetchone()
            if found is None:
                continue
            if passage is not None:
                passage.rows.add(found[0])
            if found[1] and self.newer:
                self._update(found[0], "recalled = 0", ())


def store_title(connection: Connection, conversation: Conversation) -> None:
    """Remember what a source calls a conversation."""
    check_id("conversation_id", conversation.conversation_id)
    connection.execute(
        "INSERT INTO conversations VALUES (?, ?) ON CONFLICT (conversation_id) DO UPDATE SET title = excluded.title",
        (conversation.conversation_id, text_bytes(conversation.title)),
    )


def log(connection: Connection, kind: str, row: int, now: int) -> int:
    """Number a change, and return its number."""
    cursor = connection.execute("INSERT INTO changes (kind, row, changed_at) VALUES (?, ?, ?)", (kind, row, now))
    return int(cursor.lastrowid or 0)
