"""One transaction that takes turns out of all of the store: rows, summaries, what was written down beside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory_rag.errors import TurnError, UnknownTurnError
from memory_rag.privacy.beside import Beside, BesideTurns, texts_beside
from memory_rag.privacy.own_words import OwnWords, own_words, telling_words, words_in, words_of_turn
from memory_rag.privacy.traces import (
    drop_answers_after,
    drop_empty_summaries,
    drop_gone_conversations,
    erase_quoting_sources,
)
from memory_rag.store.correcting import Correction, erase_and_correct
from memory_rag.store.engine import Connection
from memory_rag.store.removal import in_parts, take_out
from memory_rag.store.tombstones import Tombstones
from memory_rag.store.turn_rows import COLUMNS, can_be_id, turn_of
from memory_rag.summaries.withdrawal import withdraw
from memory_rag.turns import Turn, text_from_bytes


@dataclass(frozen=True, slots=True)
class Removed:
    """What one transaction took away, or would take.

    ``turns`` are those that go, as they were. ``beside`` is what was written down apart and goes with them.
    ``sources`` are ids of turns that stay and whose source's JSON quoted them; ``n_answers`` are providers' answers
    that could stand for them; ``n_versions`` earlier versions.
    """

    turns: tuple[Turn, ...]
    rows: tuple[int, ...]
    said: tuple[str, ...]
    is_gone: bool = True
    """False where the turn stays, with other words."""
    beside: tuple[Beside, ...] = ()
    sources: tuple[str, ...] = ()
    n_answers: int = 0
    n_versions: int = 0


def found_turns(connection: Connection, turn_ids: Sequence[str], *, place: str) -> dict[int, Turn]:
    """Return turns by row, in the order asked for.

    Raises:
        UnknownTurnError: no turn has one of these ids, or one is named twice.
        TurnError: a text was given for the list of ids: its letters may be ids of other turns.
    """
    if isinstance(turn_ids, str):
        raise TurnError(
            f"turn ids are given as a list, got the text {turn_ids!r:.60}; for one turn: [{turn_ids!r:.60}]"
        )
    turns: dict[int, Turn] = {}
    for turn_id in turn_ids:
        record = None
        if can_be_id(turn_id):
            record = connection.execute(f"SELECT {COLUMNS} FROM turns WHERE turn_id = ?", (turn_id,)).fetchone()
        if record is None:
            raise UnknownTurnError(f"no turn has the id {turn_id!r} in {place}; find ids with: memory-rag search")
        if record[0] in turns:
            raise UnknownTurnError(f"turn {turn_id!r} is named twice; name each turn once")
        turns[record[0]] = turn_of(record)
    return turns


def remove_turns(connection: Connection, turns: dict[int, Turn], *, now: int, beside: bool = True) -> Removed:
    """Remove turns, set up their tombstones, and take out whatever else in the store tells of them.

    With ``beside`` False pins, decisions and the state stay, since they were written down apart; they name the turns
    no more.
    """
    rows = tuple(turns)
    versions = _versions(connection, rows)
    said = tuple(text for turn in turns.values() for text in words_of_turn(turn)) + tuple(versions)
    tombstones = Tombstones(connection)
    for turn in turns.values():
        tombstones.set_up(turn, now=now)
    take_out(connection, rows, now=now)
    withdraw(connection, rows)
    drop_empty_summaries(connection)
    conversation_ids = {turn.conversation_id for turn in turns.values()}
    gone = {name for name in conversation_ids if not _has_turns(connection, name)}
    drop_gone_conversations(connection, gone)
    firsts: dict[str, int] = {}
    for turn in turns.values():
        firsts[turn.conversation_id] = min(turn.ordinal, firsts.get(turn.conversation_id, turn.ordinal))
    others = BesideTurns(
        connection,
        own_words(connection, said, besides=texts_beside(connection)),
        turn_ids={turn.turn_id for turn in turns.values()},
        gone=gone,
        said=said,
        now=now,
    )
    if beside:
        others.go_over()
    else:
        others.unlink()
    return Removed(
        turns=tuple(turns.values()),
        rows=rows,
        said=said,
        beside=tuple(others.found),
        sources=tuple(erase_quoting_sources(connection, said, conversation_ids=conversation_ids, now=now)),
        n_answers=drop_answers_after(connection, sorted(firsts.items()), said, now=now),
        n_versions=len(versions) // 2,
    )


def correct_turn(
    connection: Connection, row: int, old: Turn, correction: Correction, *, now: int
) -> tuple[Turn, Removed]:
    """Put a turn right, erase what it was, and take out whatever else in the store tells of that."""
    new = correction.of(old)
    right = set[str]().union(*map(words_in, words_of_turn(new)))
    wrong = tuple(
        was
        for was, now_said in (
            (old.text, new.text),
            (old.speaker, new.speaker),
            (old.said_at_text or "", new.said_at_text),
        )
        if was and was != now_said
    )
    own = OwnWords(frozenset(set[str]().union(*map(telling_words, wrong)) - right))
    corrected = erase_and_correct(connection, row, old, correction, tells=_telling(own, wrong), now=now)
    if old.source is None:
        # An export of this memory made before holds what was wrong; a turn with a source is known by its row.
        Tombstones(connection).set_up(old, now=now)
    withdraw(connection, [row])
    others = BesideTurns(
        connection,
        own_words(connection, wrong, besides=texts_beside(connection)),
        turn_ids=set(),
        gone=set(),
        said=[text for text in wrong if text not in new.text],
        now=now,
    )
    others.go_over()
    return corrected, Removed(
        turns=(old,),
        rows=(row,),
        said=wrong,
        is_gone=False,
        beside=tuple(others.found),
        sources=tuple(erase_quoting_sources(connection, wrong, conversation_ids={old.conversation_id}, now=now)),
        n_answers=drop_answers_after(connection, [(old.conversation_id, old.ordinal)], wrong, now=now),
    )


def _telling(own: OwnWords, wrong: Sequence[str]) -> Callable[[str], bool]:
    return lambda text: bool(own.told_by(text)) or any(words in text for words in wrong)


def _versions(connection: Connection, rows: Sequence[int]) -> list[str]:
    """Return text and speaker of every earlier version of these rows."""
    found: list[str] = []
    for part, marks in in_parts(rows):
        for text, speaker in connection.execute(f"SELECT text, speaker FROM versions WHERE row IN ({marks})", part):
            found += text_from_bytes(text), text_from_bytes(speaker)
    return found


def _has_turns(connection: Connection, conversation_id: str) -> bool:
    select = "SELECT 1 FROM turns WHERE conversation_id = ? LIMIT 1"
    return connection.execute(select, (conversation_id,)).fetchone() is not None
