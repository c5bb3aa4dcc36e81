"""What is kept beside turns is each owner's own: nobody sees, changes or removes another's, whatever the words are."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from memory_rag.postgres import beside_steps
from memory_rag.postgres.table import Table
from memory_rag.postgres.turn_store import PostgresTurnStore
from memory_rag.privacy.off_record import OffRecord
from memory_rag.privacy.retention import Retention, Scope
from memory_rag.prompt.decisions import Decisions
from memory_rag.prompt.events import EventKind, EventLog
from memory_rag.prompt.pinned_files import PinnedFiles
from memory_rag.prompt.pinned_words import PinnedWords
from memory_rag.prompt.pins import Pins
from memory_rag.prompt.returned_blocks import ReturnedBlocks
from memory_rag.prompt.state import TaskState
from memory_rag.store.names_used import names_used_in
from memory_rag.summaries.shelf import Shelf
from memory_rag.summaries.summary import Kind, Level, Line, Summary
from memory_rag.talks.shelf import TalkShelf
from memory_rag.talks.talk import TalkId, TalkSummary
from memory_rag.talks.window_shelf import WindowShelf
from memory_rag.talks.windows import Side, Window
from tests.postgres.conftest import Open, Say
from tests.postgres.test_owners import HOSTILE

AT = datetime(2026, 5, 4, tzinfo=UTC)
TABLES = [made.name for step in beside_steps.STEPS for made in step() if isinstance(made, Table)]
VECTOR = np.array([[0.6, 0.8]], np.float32)


def at() -> datetime:
    return AT


class Beside:
    """Everything that can be kept beside the turns of a store."""

    def __init__(self, store: PostgresTurnStore) -> None:
        self.store = store
        connections = store.connections
        self.pins = Pins(connections, clock=at)
        self.decisions = Decisions(connections, clock=at)
        self.state = TaskState(connections, clock=at)
        self.events = EventLog(connections, clock=at)
        self.file_words = PinnedWords(connections, clock=at)
        self.files = PinnedFiles(connections, clock=at, pinned=self.file_words.see)
        self.blocks = ReturnedBlocks(connections)
        self.shelf = Shelf(store, clock=at)
        self.talks = TalkShelf(connections)
        self.windows = WindowShelf(connections)
        forgetting: Any = None
        self.retention = Retention(store, forgetting, clock=at)

    def keep(self, words: str, file: Path, say: Say) -> None:
        """Keep these words wherever words or names can stand."""
        turn = self.store.add(say(words, turn_id=words, conversation_id=words, session_id=words))
        self.pins.add(words, turn_id=words)
        self.decisions.add(words, because=words, turn_id=words)
        self.state.set("words", words)
        self.events.log(
            EventKind.SUMMARY, conversation_id=words, turn_id=words, model=words, cost=0.5, details={words: words}
        )
        self.files.pin(file)
        self.blocks.keep(words, [{words: words}], provider="anthropic")
        lines = (Line(Kind.POINT, words, (words,), reason=words, speaker=words),)
        seq = self.store.last_seq
        assert self.shelf.claims.take(words)
        summary = Summary(words, Level.HUNDRED, lines, 1, words, words, words, AT, words, words)
        number = self.shelf.install(summary, turns=[turn], seq=seq)
        self.shelf.install(replace(summary, level=Level.THOUSAND), parts=[number], seq=seq)
        talk = TalkId(words, words)
        number = self.talks.install(TalkSummary(talk, lines, words, AT, 1), last_row=1, seq=seq).number
        self.talks.put_vectors(words, {number: VECTOR})
        window = Window(Side.ALL, 0, 1, 1, 1, words)
        assert self.windows.put(talk, words, [(window, VECTOR)], present=[window], seq=seq)
        self.retention.set(Scope.CONVERSATION, words, days=10_000)

    def told(self, words: str) -> list[Any]:
        """Return all that is kept, as it is asked for by these words."""
        talk = TalkId(words, words)
        return [
            [(one.pin_id, one.text, one.turn_id) for one in self.pins.all()],
            [(one.decision_id, one.text, one.because, one.turn_id) for one in self.decisions.all()],
            self.state.get(),
            [
                (one.number, one.turn_id, one.model, one.cost, dict(one.details))
                for one in self.events.events(conversation_id=words, newest=9)
            ],
            [(one.path, one.status) for one in self.files.read()],
            [one.path for one in self.file_words.with_words("rules of the house")],
            [one.content for one in self.blocks.of([words]).values()],
            [
                (one.summary.number, one.summary.focus, one.summary.note, one.summary.made_by, one.summary.lines)
                for one in self.shelf.stored(words, Level.HUNDRED)
            ],
            [turn.turn_id for turn in self.shelf.turns_of(1)],
            self.talks.of(talk),
            self.talks.numbers(),
            {number: rows.tolist() for number, rows in self.talks.vectors(words, 2).items()},
            [(one.number, one.talk, one.vectors.tolist()) for one in self.windows.read(words, 2)],
            [str(one) for one in self.retention.rules()],
            [(one.turn_id, one.conversation_id) for one in self.retention.schedule().expiries],
        ]

    def remove(self, words: str, file: Path) -> None:
        """Take away everything, by its names."""
        self.pins.remove("p1")
        self.decisions.remove("d1")
        self.state.clear()
        self.files.unpin(file)
        self.shelf.claims.release(words)
        assert self.talks.remove(TalkId(words, words))
        self.talks.keep_vectors("")
        self.windows.keep("")
        self.retention.unset(Scope.CONVERSATION, words)
        self.store.remove([words])
        self.shelf.follow()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rules.md"
    path.write_text("The rules of the house.", encoding="utf-8")
    return path


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_are_words_in_whichever_table_they_stand(
    open_store: Open, said: Say, file: Path, words: str
) -> None:
    bo, ada = Beside(open_store("bo")), Beside(open_store("ada"))
    bo.keep("Bo's", file, said)
    before = bo.told("Bo's")

    ada.keep(words, file, said)

    plain = words.strip()
    line = Line(Kind.POINT, words, (words,), reason=words, speaker=words)
    assert ada.told(words) == [
        [("p1", plain, words)],
        [("d1", plain, plain, words)],
        {"words": words},
        [(1, words, words, 0.5, {words: words})],
        [(str(file), "as pinned")],
        [str(file)],
        [[{words: words}]],
        [(1, words, words, words, (line,))],
        [words],
        TalkSummary(TalkId(words, words), (line,), words, AT, 1),
        [1],
        {1: VECTOR.tolist()},
        [(1, TalkId(words, words), VECTOR.tolist())],
        [str(ada.retention.rules()[0])],
        [(words, words)],
    ]
    assert ada.retention.rules()[0].name == words
    assert names_used_in(ada.store, "conversation", beginning=words[:3]) == [words]
    assert bo.told("Bo's") == before
    assert not any(bo.talks.titles([words]))
    ada.remove(words, file)
    nothing: list[Any] = [[], [], {}, ada.told(words)[3], [], [], [], [], [], None, [], {}, [], [], []]
    nothing[7] = [(1, "", words, words, ())]
    assert ada.told(words) == nothing
    assert bo.told("Bo's") == before


def test_off_the_record_is_one_owner_only(open_store: Open, said: Say) -> None:
    ada, bo = open_store("ada"), open_store("bo")
    OffRecord(ada, at).on()

    assert (OffRecord(ada, at).since, OffRecord(bo, at).since) == (AT, None)
    assert ada.append([said("unheard")]).turn_ids == ()
    assert bo.add(said("heard")).turn_id == "t1"


@pytest.mark.parametrize("table", TABLES)
def test_no_statement_of_anothers_sees_or_removes_a_row(
    postgres_url: str, open_store: Open, said: Say, file: Path, table: str
) -> None:
    bo = open_store("bo")
    Beside(bo).keep("Bo's", file, said)

    def n_rows(owner: str, statement: str) -> int:
        with psycopg.connect(postgres_url) as connection:
            connection.execute("SELECT set_config('memory_rag.owner', %s, true)", (owner,))
            return len(connection.execute(statement.encode(), (bo.owner,)).fetchall())

    seen = f"SELECT 1 FROM memory_rag.{table} WHERE owner = %s"
    n = n_rows(bo.owner, seen)
    assert n > 0
    assert n_rows("ada", seen) == n_rows("ada", f"{seen} OR true") == 0
    assert n_rows("ada", f"DELETE FROM memory_rag.{table} WHERE owner = %s RETURNING 1") == 0
    assert n_rows("", seen) == 0
    assert n_rows(bo.owner, seen) == n
