"""What was written down beside the turns: pins, decisions, state, events, titles, summaries; what of it has to go."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final

from memory_rag.privacy.own_words import OwnWords, folded
from memory_rag.privacy.retold import drop_retold, retold_texts
from memory_rag.store.engine import Connection
from memory_rag.store.tombstones import Tombstones
from memory_rag.turns import text_bytes, text_from_bytes

_GONE: Final = object()
_LEAST_REPEATED: Final = 12


@dataclass(frozen=True, slots=True)
class Beside:
    """Something beside the turns that goes with them, or loses a part: what it is, its name, its words, and why."""

    kind: str
    name: str
    text: str
    why: str

    def as_json(self) -> dict[str, str]:
        return {"kind": self.kind, "name": self.name, "text": self.text, "why": self.why}


def texts_beside(connection: Connection) -> Iterator[str]:
    """Yield every text that is kept beside the turns, but for raw sources and what summaries quote."""
    for select in (
        "SELECT text FROM pins",
        "SELECT text, because FROM decisions",
        "SELECT value FROM state",
        "SELECT details FROM events",
        "SELECT title FROM conversations",
    ):
        for texts in connection.execute(select):
            yield from map(text_from_bytes, texts)
    yield from retold_texts(connection)


@dataclass(slots=True)
class BesideTurns:
    """Goes over all of it within the transaction that removes turns; ``found`` is what was changed, in order.

    ``turn_ids`` are the turns that go, ``gone`` the conversations that have no turn any more, ``said`` what was said.
    """

    connection: Connection
    own: OwnWords
    turn_ids: Set[str]
    gone: Set[str]
    said: Sequence[str]
    now: int
    found: list[Beside] = field(default_factory=list)
    _folded: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self._folded = [folded(text).strip() for text in self.said]

    def go_over(self) -> None:
        """Take out whatever tells of the turns."""
        self._listed("pins", "pin", "p", ("text",))
        self._listed("decisions", "decision", "d", ("text", "because"))
        self._state()
        self._events()
        self._titles()
        self._retold()

    def unlink(self) -> None:
        """Leave what was written down apart, but name none of the turns any more."""
        for table, key in (("pins", "pin"), ("decisions", "decision")):
            for number, turn_id in self.connection.execute(
                f"SELECT {key}, turn_id FROM {table} WHERE turn_id IS NOT NULL"
            ).fetchall():
                if turn_id in self.turn_ids:
                    self.connection.execute(f"UPDATE {table} SET turn_id = NULL WHERE {key} = ?", (number,))
        self._events()
        self._retold()

    def _listed(self, table: str, key: str, letter: str, columns: Sequence[str]) -> None:
        for number, turn_id, *parts in self.connection.execute(
            f"SELECT {key}, turn_id, {', '.join(columns)} FROM {table} ORDER BY {key}"
        ).fetchall():
            text = " ".join(map(text_from_bytes, parts))
            why = "it names the turn" if turn_id in self.turn_ids else self._why(text)
            if why:
                self.connection.execute(f"DELETE FROM {table} WHERE {key} = ?", (number,))
                self.found.append(Beside(key, f"{letter}{number}", text, why))

    def _state(self) -> None:
        for name, value in self.connection.execute("SELECT name, value FROM state").fetchall():
            state = json.loads(text_from_bytes(value))
            kept = _without(
                _without_entries(state, self.turn_ids, note=self._note_entry),
                self._tells,
                note=lambda path, text: self._note_field(path, text),
            )
            if kept is _GONE:
                kept = {}
            if kept != state:
                self.connection.execute(
                    "UPDATE state SET value = ? WHERE name = ?",
                    (text_bytes(json.dumps(kept, ensure_ascii=False)), name),
                )

    def _note_entry(self, path: str, text: str) -> None:
        self.found.append(Beside("state", path, text, "it names the turn"))

    def _note_field(self, path: str, text: str) -> None:
        self.found.append(Beside("state", path, text, self._why(f"{path} {text}")))

    def _events(self) -> None:
        """Keep that an event happened and what it cost; who said what goes."""
        for event, conversation_id, turn_id, details in self.connection.execute(
            "SELECT event, conversation_id, turn_id, details FROM events"
        ).fetchall():
            told = json.loads(text_from_bytes(details))
            kept: Any = _without(told, self._named)
            if conversation_id in self.gone or kept is _GONE:
                kept = {}
            conversation = None if conversation_id in self.gone else conversation_id
            turn = None if turn_id in self.turn_ids else turn_id
            if (conversation, turn, kept) != (conversation_id, turn_id, told):
                self.connection.execute(
                    "UPDATE events SET conversation_id = ?, turn_id = ?, details = ? WHERE event = ?",
                    (conversation, turn, text_bytes(json.dumps(kept, ensure_ascii=False)), event),
                )
                self.found.append(Beside("event", str(event), "", "it names the turn, or tells of it"))

    def _titles(self) -> None:
        tombstones = Tombstones(self.connection)
        for conversation_id, title in self.connection.execute(
            "SELECT conversation_id, title FROM conversations"
        ).fetchall():
            text = text_from_bytes(title)
            if why := self._why(text):
                self.connection.execute("DELETE FROM conversations WHERE conversation_id = ?", (conversation_id,))
                tombstones.set_up_title(conversation_id, now=self.now)
                self.found.append(Beside("title", conversation_id, text, why))

    def _retold(self) -> None:
        for kind, name, text in drop_retold(self.connection, lambda text: bool(self.own.told_by(text))):
            self.found.append(Beside(kind, name, text, self._why(text)))

    def _tells(self, text: str) -> bool:
        return self._repeats(text) or bool(self.own.told_by(text))

    def _repeats(self, text: str) -> bool:
        """Whether a text holds all that was said in a turn, or is a part of it; short ones are said by anybody."""
        plain = folded(text).strip()
        return len(plain) >= _LEAST_REPEATED and any(
            plain in said or (len(said) >= _LEAST_REPEATED and said in plain) for said in self._folded
        )

    def _named(self, text: str) -> bool:
        return text in self.turn_ids or text in self.gone or self._tells(text)

    def _why(self, text: str) -> str:
        if self._repeats(text):
            return "it says the same"
        own = self.own.told_by(text)
        return f"only the turn says {', '.join(sorted(own)[:3])}" if own else ""


def _without_entries(value: Any, turn_ids: Set[str], *, path: str = "", note: Callable[[str, str], object]) -> Any:
    """Return a state without the entries of its lists that name one of these turns among their ``turns``."""
    if isinstance(value, dict):
        return {
            name: _without_entries(inner, turn_ids, path=f"{path}.{name}" if path else name, note=note)
            for name, inner in value.items()
        }
    if not isinstance(value, list):
        return value
    kept = []
    for entry in value:
        named = entry.get("turns") if isinstance(entry, dict) else None
        if isinstance(named, list) and not turn_ids.isdisjoint(one for one in named if isinstance(one, str)):
            note(path, json.dumps(entry, ensure_ascii=False))
        else:
            kept.append(_without_entries(entry, turn_ids, path=path, note=note))
    return kept


def _without(
    value: Any,
    goes: Callable[[str], bool],
    *,
    path: str = "",
    note: Callable[[str, str], object] = lambda _path, _text: None,
) -> Any:
    """Return a JSON value without the fields and items whose name or text ``goes``; ``_GONE`` if it goes itself."""
    if isinstance(value, dict):
        kept: dict[str, Any] = {}
        for name, inner in value.items():
            where = f"{path}.{name}" if path else name
            left = _GONE if goes(name) else _without(inner, goes, path=where, note=note)
            if left is not _GONE:
                kept[name] = left
            elif goes(name) or not isinstance(inner, dict | list):
                note(where, json.dumps(inner, ensure_ascii=False))
        return kept
    if isinstance(value, list):
        left_over = [_without(inner, goes, path=path, note=note) for inner in value]
        for inner, left in zip(value, left_over, strict=True):
            if left is _GONE:
                note(path, json.dumps(inner, ensure_ascii=False))
        return [left for left in left_over if left is not _GONE]
    return _GONE if goes(value if isinstance(value, str) else json.dumps(value)) else value
