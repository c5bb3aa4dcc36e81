"""What ranking needs to know of every turn, in columns.

An *entry* is one version of one turn: its number is the place in all columns and in the postings. A corrected turn
gets a new entry and the old one dies, so nothing that was said about an entry ever changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.by_value import EntriesByValue
from memory_rag.retrieval.names import Names
from memory_rag.retrieval.ranking import Entries
from memory_rag.text.telling_when import tells_when
from memory_rag.text.voice import asks, first_person
from memory_rag.text.wishes import states_wish
from memory_rag.turns import Role, Turn, text_bytes, to_microseconds

ROLES: Final = tuple(Role)
UNKNOWN_TIME: Final = np.iinfo(np.int64).min
Mask = npt.NDArray[np.bool_]

_COLUMNS: Final[Mapping[str, type]] = {
    "row": np.int64,
    "seq": np.int64,
    "content": np.int64,
    "alive": np.bool_,
    "conversation": np.int32,
    "session": np.int32,
    "ordinal": np.int64,
    "speaker": np.int32,
    "role": np.int8,
    "said_at": np.int64,
    "recalled": np.bool_,
    "asks": np.bool_,
    "first_person": np.bool_,
    "wishes": np.bool_,
    "tells_when": np.bool_,
    "fresh": np.int32,
}


class TurnTable:
    """Columns over entries; grows at the end, entries die in place."""

    def __init__(self) -> None:
        self._n = 0
        self._buffers: dict[str, npt.NDArray[np.generic]] = {
            name: np.zeros(64, dtype) for name, dtype in _COLUMNS.items()
        }
        self.conversations = Names()
        self.sessions = Names(called=_session_id)
        """Known by conversation and session (see :func:`session_name`), called by the session's id."""
        self.speakers = Names(called=str.casefold)
        self.turn_ids: list[str] = []
        self._earlier = _RowsOf(np.zeros(0, np.int64))
        self._entry_of_row: dict[int, int] = {}
        """Of entries that were appended since the table was read: of a million, such numbers would take 160 MB."""
        self.ended: list[int] = []
        """The entries that died while this table was in memory, in that order."""
        self.n_alive = 0
        self.version = 0
        self._by_conversation = EntriesByValue()
        self._by_time = EntriesByValue()

    def __len__(self) -> int:
        """The number of entries, dead ones included."""
        return self._n

    def column(self, name: str) -> npt.NDArray[np.generic]:
        return self._buffers[name][: self._n]

    @property
    def row(self) -> npt.NDArray[np.int64]:
        return self.column("row")  # type: ignore[return-value]

    @property
    def seq(self) -> npt.NDArray[np.int64]:
        return self.column("seq")  # type: ignore[return-value]

    @property
    def content(self) -> npt.NDArray[np.int64]:
        return self.column("content")  # type: ignore[return-value]

    @property
    def alive(self) -> Mask:
        return self.column("alive")  # type: ignore[return-value]

    @property
    def conversation(self) -> npt.NDArray[np.int32]:
        return self.column("conversation")  # type: ignore[return-value]

    @property
    def session(self) -> npt.NDArray[np.int32]:
        return self.column("session")  # type: ignore[return-value]

    @property
    def ordinal(self) -> npt.NDArray[np.int64]:
        return self.column("ordinal")  # type: ignore[return-value]

    @property
    def speaker(self) -> npt.NDArray[np.int32]:
        return self.column("speaker")  # type: ignore[return-value]

    @property
    def role(self) -> npt.NDArray[np.int8]:
        return self.column("role")  # type: ignore[return-value]

    @property
    def said_at(self) -> npt.NDArray[np.int64]:
        return self.column("said_at")  # type: ignore[return-value]

    @property
    def recalled(self) -> Mask:
        return self.column("recalled")  # type: ignore[return-value]

    @property
    def asks(self) -> Mask:
        return self.column("asks")  # type: ignore[return-value]

    @property
    def first_person(self) -> Mask:
        return self.column("first_person")  # type: ignore[return-value]

    @property
    def fresh(self) -> npt.NDArray[np.int32]:
        """Distinct terms that the conversation had not heard before; kept by :class:`FreshTerms`."""
        return self.column("fresh")  # type: ignore[return-value]

    @property
    def wishes(self) -> Mask:
        return self.column("wishes")  # type: ignore[return-value]

    @property
    def tells_when(self) -> Mask:
        return self.column("tells_when")  # type: ignore[return-value]

    def entry_of(self, row: int) -> int | None:
        """Return the living entry of a store row."""
        found = self._entry_of_row.get(row)
        return self._earlier_of(row) if found is None else found

    def of_conversation(self, code: int) -> Entries:
        """Return all entries of a conversation, ascending, dead ones included."""
        return self._by_conversation.between(self.conversation, code, code)

    def of_session(self, code: int) -> Entries:
        """Return all entries of a session, ascending, dead ones included."""
        conversation = self.conversations.find(self.sessions.names[code].partition("\0")[0])
        if conversation is None:
            return np.zeros(0, np.int64)
        entries = self.of_conversation(conversation)
        found: Entries = entries[self.session[entries] == code]
        return found

    def said_between(self, first_us: int, last_us: int) -> Entries:
        """Return all entries said from one instant (in microseconds) to another, both included, ascending."""
        return self._by_time.between(self.said_at, first_us, last_us)

    def n_said_between(self, first_us: int, last_us: int) -> int:
        """Count the entries that :meth:`said_between` returns."""
        return self._by_time.n_between(self.said_at, first_us, last_us)

    def turn_id(self, entry: int) -> str:
        return self.turn_ids[entry]

    def append(self, row: int, turn: Turn, *, seq: int, language: str = "en") -> int:
        """Add the version of a turn that change ``seq`` made, end the old one, and return the new entry's number.

        ``language`` is the one that the turn is in.
        """
        self.end(row)
        if self._n == len(self._buffers["row"]):
            for name, buffer in self._buffers.items():
                # Zeros take no memory before they are written over; those that are copied do.
                self._buffers[name] = np.zeros(2 * len(buffer), buffer.dtype)
                self._buffers[name][: len(buffer)] = buffer
        entry = self._n
        values = {
            "row": row,
            "seq": seq,
            "content": content_key(turn),
            "alive": True,
            "conversation": self.conversations.code(turn.conversation_id),
            # Two conversations may name their sessions alike.
            "session": self.sessions.code(session_name(turn.conversation_id, turn.session_id)),
            "ordinal": turn.ordinal,
            "speaker": self.speakers.code(turn.speaker),
            "role": ROLES.index(turn.role),
            "said_at": UNKNOWN_TIME if turn.said_at is None else to_microseconds(turn.said_at),
            "recalled": turn.recalled,
            # A model's answer ends with an offer; what the user says next does not answer that.
            "asks": turn.role is not Role.ASSISTANT and asks(turn.text),
            "first_person": first_person(turn.text, language=language),
            "wishes": turn.role is not Role.ASSISTANT and states_wish(turn.text, language=language),
            "tells_when": tells_when(turn.text, language=language),
        }
        for name, value in values.items():
            self._buffers[name][entry] = value
        self.turn_ids.append(turn.turn_id)
        self._entry_of_row[row] = entry
        self._n += 1
        self.n_alive += 1
        self.version += 1
        return entry

    def end(self, row: int) -> int | None:
        """Mark a row's entry as dead and return it; None if the row has none."""
        entry = self._entry_of_row.pop(row, None)
        if entry is None:
            entry = self._earlier_of(row)
        if entry is not None:
            self._buffers["alive"][entry] = False
            self.ended.append(entry)
            self.n_alive -= 1
            self.version += 1
        return entry

    def living(self) -> Entries:
        return np.flatnonzero(self.alive)

    def only_living(self) -> TurnTable:
        """Return a table without the dead entries, numbered anew from 0, and without names that only they had."""
        living = self.living()
        columns = {name: self.column(name)[living] for name in _COLUMNS}
        names = {"turn_ids": [self.turn_ids[entry] for entry in living.tolist()]}
        for column, known in (
            ("conversation", self.conversations),
            ("session", self.sessions),
            ("speaker", self.speakers),
        ):
            used, columns[column] = np.unique(columns[column], return_inverse=True)
            names[f"{column}s"] = [known.names[code] for code in used.tolist()]
        table = TurnTable.from_arrays({**columns, **{name: pack_texts(texts) for name, texts in names.items()}})
        table.version = self.version + 1
        return table

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return the columns and names as arrays, for a snapshot."""
        texts = {
            "turn_ids": self.turn_ids,
            "conversations": self.conversations.names,
            "sessions": self.sessions.names,
            "speakers": self.speakers.names,
        }
        return {
            **{name: self.column(name) for name in _COLUMNS},
            **{name: pack_texts(values) for name, values in texts.items()},
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[np.generic]]) -> TurnTable:
        table = cls()
        table._n = len(arrays["row"])
        table._buffers = {name: np.array(arrays[name], dtype) for name, dtype in _COLUMNS.items()}
        if table._n == 0:
            table._buffers = {name: np.zeros(64, dtype) for name, dtype in _COLUMNS.items()}
        table.turn_ids = unpack_texts(arrays["turn_ids"])
        table.conversations = Names(unpack_texts(arrays["conversations"]))
        table.sessions = Names(unpack_texts(arrays["sessions"]), called=_session_id)
        table.speakers = Names(unpack_texts(arrays["speakers"]), called=str.casefold)
        table.n_alive = int(np.count_nonzero(table.alive))
        table._earlier = _RowsOf(table.row)
        return table

    def _earlier_of(self, row: int) -> int | None:
        """Return the living entry of a row among those that were read."""
        if row > self._earlier.last:
            return None
        entries = self._earlier.entries(row)
        alive = entries[self.alive[entries]]
        return int(alive[0]) if len(alive) else None


class _RowsOf:
    """Finds entries by their store rows, which hardly ever come in another order than the entries."""

    def __init__(self, rows: npt.NDArray[np.int64]) -> None:
        self._order = None if (rows[:-1] <= rows[1:]).all() else np.argsort(rows, kind="stable")
        self._rows = rows if self._order is None else rows[self._order]
        self.last = int(self._rows[-1]) if len(rows) else -1

    def entries(self, row: int) -> Entries:
        """Return the entries of a row; a turn that was corrected has several, of which one is alive at most."""
        first, end = self._rows.searchsorted(row, "left"), self._rows.searchsorted(row, "right")
        found = np.arange(first, end)
        return found if self._order is None else self._order[first:end]


def session_name(conversation_id: str, session_id: str) -> str:
    """Return a session's name in the table: with its conversation's, by NUL, which no id has."""
    return f"{conversation_id}\0{session_id}"


def _session_id(name: str) -> str:
    return name.partition("\0")[2]


def content_key(turn: Turn) -> int:
    """Return 64 bits of the SHA-256 of what is embedded of a turn: its speaker and its searchable words.

    A vector is known by its turn's row and this key. A number of the change log would not do: a store that is put
    back from a copy, or whose last changes a power cut took, gives the same numbers to other words.
    """
    digest = hashlib.sha256(text_bytes(turn.speaker) + b"\0" + text_bytes(turn.searchable)).digest()
    return int.from_bytes(digest[:8], "little", signed=True)


def pack_texts(texts: list[str]) -> npt.NDArray[np.generic]:
    """Return strings as one byte array, each ended by 0xFF (a byte that UTF-8 never has)."""
    if "".join(texts).isascii():
        return np.frombuffer("\xff".join([*texts, ""]).encode("latin-1"), np.uint8)
    encoded = map(partial(str.encode, errors="surrogatepass"), texts)
    return np.frombuffer(b"\xff".join([*encoded, b""]), np.uint8)


def unpack_texts(array: npt.NDArray[np.generic]) -> list[str]:
    """Return the strings that :func:`pack_texts` packed."""
    # One decoding for all, and again only of what isn't ASCII: half the time of decoding each.
    parts = array.tobytes().decode("latin-1").split("\xff")[:-1]
    if np.count_nonzero(np.asarray(array, np.uint8) >= 0x80) == len(parts):
        return parts
    return [part if part.isascii() else part.encode("latin-1").decode("utf-8", "surrogatepass") for part in parts]
