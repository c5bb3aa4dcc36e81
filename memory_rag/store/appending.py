"""Turns into the tables, in one transaction: new ones added, known ones left, newer states of a source laid over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from memory_rag.errors import RefusedError
from memory_rag.store.engine import Connection
from memory_rag.store.findings import replace_findings
from memory_rag.store.inserting import Inserting, log
from memory_rag.store.known_turns import Known, KnownTurns
from memory_rag.store.removal import IS_EMPTY
from memory_rag.store.screening import Finding, OpenDoor, Screen
from memory_rag.store.tombstones import Tombstones
from memory_rag.store.turn_rows import check_id, check_ids, digest, row_values
from memory_rag.store.turn_store import NEXT, Appended
from memory_rag.store.vanishing import Passage, Vanishing
from memory_rag.turns import Conversation, Source, Turn, Withheld, text_bytes

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
_LOOKED_AHEAD: Final = 100


@dataclass(slots=True)
class Appending:
    """One transaction in which turns are stored.

    With ``newer`` the items are a source's present state, and what was edited there becomes a correction; otherwise a
    known turn is left as it is stored. With ``whole`` the items are whole conversations: what is stored between the
    first and the last turn that one has now, and isn't among them, is marked as vanished. What was forgotten is left
    out, or taken in again with ``include_forgotten``. Everything passes ``screen`` first; what it refuses, and off the
    record every new turn, is left out and counted.
    """

    connection: Connection
    newer: bool = False
    whole: bool = False
    include_forgotten: bool = False
    screen: Screen = field(default_factory=OpenDoor)
    _stored: list[str] = field(default_factory=list)
    _already_there: int = 0
    _differing: list[str] = field(default_factory=list)
    _corrected: list[str] = field(default_factory=list)
    _forgotten: list[str] = field(default_factory=list)
    _emptied: set[str] = field(default_factory=set)
    _unstored: Counter[str] = field(default_factory=Counter)
    _found: Counter[tuple[str, str]] = field(default_factory=Counter)
    _new: Inserting = field(init=False)
    _known: KnownTurns = field(init=False)
    _tombstones: Tombstones = field(init=False)
    _vanishing: Vanishing = field(init=False)

    def __post_init__(self) -> None:
        self._new = Inserting(self.connection)
        self._tombstones = Tombstones(self.connection)
        self._known = KnownTurns(self.connection)
        self._vanishing = Vanishing(self.connection, self._new.now, self._new.first_row)

    def take(self, items: Iterable[Turn | Conversation | Withheld]) -> None:
        """Store the items, or leave them, in their order.

        Raises:
            TurnError: an id that can't be an id, or that another turn has.
        """
        coming = iter(items)
        while group := list(islice(coming, _LOOKED_AHEAD)):
            turns = [item for item in group if isinstance(item, Turn)]
            for turn in turns:
                check_ids(turn)
            self._known.look_ahead(turns)
            for item in group:
                if isinstance(item, Turn):
                    self._take(item)
                elif isinstance(item, Conversation):
                    self._entitle(item)
                else:
                    self._withhold(item)

    def _take(self, item: Turn) -> None:
        screened = self.screen.turn(item)
        item = screened.turn
        known = self._known.find(item)
        passage = self._passage(item.source, item.conversation_id)
        if known is None and self._is_forgotten(item):
            self._forgotten.append(item.source.native_id if item.source else "")
            self._emptied.add(item.conversation_id)
            return
        refusal = self._new.refusal(screened)
        if known is None and refusal:
            self._unstored[refusal] += 1
            return
        if known is None:
            self._stored.append(self._take_new(item, screened.findings))
        else:
            self._already_there += 1
            if not refusal:
                self._compare(item, known, screened.findings)
        if passage is not None and item.recalled:
            passage.reach(item.ordinal)
        if passage is not None and known is not None:
            passage.rows.add(known.row)

    def _take_new(self, turn: Turn, findings: tuple[Finding, ...]) -> str:
        self._found.update((one.kind, one.action) for one in findings)
        if turn.ordinal == NEXT:
            return self._new.add(turn, findings).turn_id
        return self._new.put(turn, findings, is_named=bool(turn.turn_id))

    def done(self) -> Appended:
        """Return what was done, once everything was taken."""
        self._vanishing.end()
        self._new.log_added()
        for conversation_id in sorted(self._emptied):
            # The source gives its title all the same.
            self.connection.execute(
                f"DELETE FROM conversations WHERE conversation_id = ? AND {IS_EMPTY}", (conversation_id,)
            )
        return Appended(
            tuple(self._stored),
            self._already_there,
            tuple(self._differing),
            corrected=tuple(self._corrected),
            vanished=tuple(self._vanishing.turn_ids),
            forgotten=tuple(self._forgotten),
            unstored=dict(self._unstored),
            found=dict(self._found),
        )

    def _entitle(self, conversation: Conversation) -> None:
        if self._new.is_off_record:
            return
        if self.include_forgotten or not self._tombstones.holds_title(conversation.conversation_id):
            with suppress(RefusedError):
                title = self.screen.text(conversation.title, what="the title of a conversation")
                store_title(self.connection, Conversation(conversation.conversation_id, title))

    def _is_forgotten(self, turn: Turn) -> bool:
        """Whether a turn was forgotten and is to stay so."""
        if turn.source is None or not self._tombstones.any:
            return False
        if self.include_forgotten:
            self._tombstones.lift(turn)
            return False
        return self._tombstones.holds(turn)

    def _passage(self, source: Source | None, conversation_id: str) -> Passage | None:
        return self._vanishing.passage(source.name, conversation_id) if self.whole and source is not None else None

    def _compare(self, turn: Turn, known: Known, findings: tuple[Finding, ...]) -> None:
        """Lay a turn over the stored one where its source has changed since; leave what was changed here."""
        sha256 = digest(turn.text)
        if not self.newer or known.row >= self._new.first_row or turn.source is None or turn.source.raw is None:
            if sha256 != known.sha256:
                self._differing.append(known.turn_id)
            return
        self._vanishing.came_back(known.row)
        if self._was_erased(known.row):
            # What its source says would bring back what was erased here.
            self._differing.append(known.turn_id)
            return
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
            replace_findings(self.connection, known.row, findings)
        elif self._was_earlier(known.row, turn.text):
            self._differing.append(known.turn_id)
        else:
            self._keep_version(known.row, self._refresh(turn, known.row))
            replace_findings(self.connection, known.row, findings)
            self._found.update((one.kind, one.action) for one in findings)
            self._corrected.append(known.turn_id)

    def _was_erased(self, row: int) -> bool:
        return self.connection.execute("SELECT 1 FROM erased WHERE row = ?", (row,)).fetchone() is not None

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
        self._new.log_added()
        return log(self.connection, "correct", row, self._new.now)

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
