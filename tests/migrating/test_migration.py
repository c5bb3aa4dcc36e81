"""A memory is moved whole, goes on where it was stopped, and is compared to the last byte."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_rag.errors import NotAMemoryError, StoreError
from memory_rag.memory import Memory
from memory_rag.migrating.copying import noted_in
from memory_rag.migrating.ends import End, end_at
from memory_rag.migrating.migration import compare, migrate, rows_to_copy
from memory_rag.migrating.tables import canonical
from memory_rag.retrieval.vectors import VectorFile
from memory_rag.settings import Settings
from memory_rag.turns import Block, Role, Source, Turn
from tests.either_engine import ENGINES, Place
from tests.end_to_end.full_memory import ODD, filled, opened
from tests.end_to_end.hashed_words import HashedWords

N_TURNS = 4500
"""More than two batches."""


class Ends:
    """Opens sides of a move: folders, and owners of the same names on the server of the engine that is tested."""

    def __init__(self, place: Place, stack: ExitStack) -> None:
        self.folder, self.server = place.folder, place.server
        self._stack = stack

    def in_folder(self, name: str, *, create: bool = False) -> End:
        return self._stack.enter_context(end_at(self.folder / name, settings=Settings(), create=create))

    def at(self, name: str, *, create: bool = False) -> End:
        """Open a side in the engine that is tested."""
        if not self.server:
            return self.in_folder(name, create=create)
        named = Settings(owner=self.owner(name))
        return self._stack.enter_context(end_at(self.server, settings=named, create=create))

    def owner(self, name: str) -> str:
        return str(self.folder / name)

    def memory(self, name: str, **given: Any) -> Memory:
        """Open the memory of a name in the engine that is tested."""
        return self._stack.enter_context(Place(self.folder / name, self.server).open(**given))


@pytest.fixture(params=ENGINES)
def ends(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ends]:
    with ExitStack() as stack:
        yield Ends(Place.of_engine(request, tmp_path), stack)


def talk(n_turns: int = N_TURNS) -> Iterator[Turn]:
    for number in range(n_turns):
        source = Source("chat", f"n{number}", f'{{"n": {number}}}') if number % 3 else None
        yield Turn("", f"c{number % 7}", "s", -1, Role.USER, "Ada", f"turn {number}, {ODD}", source=source)


def small(folder: Path, *, n_turns: int = 5) -> None:
    with Memory.open(folder, embedder="none", language="en") as memory:
        memory.add_many(talk(n_turns))


def test_everything_goes_over_and_comes_back_the_same(ends: Ends) -> None:
    filled(ends.folder / "memory", ends.folder)

    there = migrate(ends.in_folder("memory"), ends.at("there", create=True))
    back = migrate(ends.at("there"), ends.in_folder("back", create=True))
    again = compare(ends.in_folder("memory"), ends.in_folder("back"))

    assert [there.is_equal, back.is_equal, again.is_equal] == [True, True, True]
    assert [one.difference for one in again.compared if one.difference] == []
    names = {one.name for one in there.compared if one.n_source}
    assert names >= {
        "changes", "conversations", "decisions", "events", "facts", "pinned_files", "pins", "returned_blocks", "state",
        "summaries", "summary_citations", "summary_lines", "summary_turns", "tombstones", "turns", "vanished",
        "vectors hashed-words-64", "versions",
    }  # fmt: skip
    assert (there.n_turns, there.n_before) == (8, 0)
    with opened(ends.folder / "memory") as memory, opened(ends.folder / "back") as other:
        assert "".join(memory.export()) == "".join(other.export())


def test_what_was_moved_is_searched_without_embedding_anything_and_goes_on_counting(ends: Ends) -> None:
    filled(ends.folder / "memory", ends.folder)
    migrate(ends.in_folder("memory"), ends.at("there", create=True))

    moved = ends.memory("there", embedder=HashedWords(), language="en,sv")
    assert moved.embed() == 0
    with opened(ends.folder / "memory") as memory:
        assert moved.search("blue kayak", k=3).turn_ids == memory.search("blue kayak", k=3).turn_ids
        assert moved.add("one more").turn_id == memory.add("one more").turn_id
        assert moved.store.last_seq == memory.store.last_seq


class StoppedError(Exception):
    pass


def stopping_at(n: int) -> Callable[[str, int, int], None]:
    """Return what raises once so many turns were copied."""

    def tell(what: str, done: int, _total: int) -> None:
        if what == "copying" and done >= n:
            raise StoppedError

    return tell


def test_one_that_was_stopped_goes_on_behind_what_was_committed(ends: Ends) -> None:
    small(ends.folder / "memory", n_turns=N_TURNS)
    with pytest.raises(StoppedError):
        migrate(ends.in_folder("memory"), ends.at("there", create=True), tell=stopping_at(2000))
    seen: list[tuple[str, int, int]] = []

    done = migrate(ends.in_folder("memory"), ends.at("there"), tell=lambda *told: seen.append(told))

    assert done.is_equal
    assert (done.n_turns, done.n_before) == (N_TURNS, 2000)
    copied = [told for told in seen if told[0] == "copying"]
    assert (copied[0], copied[-1]) == (("copying", 2000, N_TURNS), ("copying", N_TURNS, N_TURNS))
    assert [told[1] for told in seen if told[0] == "comparing"][-1] == N_TURNS
    assert noted_in(ends.at("there").store.connections) is None


KILLED = """
import os, signal, sys
from pathlib import Path
from memory_rag.migrating.ends import end_at
from memory_rag.migrating.migration import migrate
from memory_rag.settings import Settings

def tell(what, done, total):
    if (what, done >= 2000) == (sys.argv[4], True) or what == sys.argv[4] == "copying vectors":
        os.kill(os.getpid(), signal.SIGKILL)

source, target = Settings(), Settings(owner=sys.argv[3])
place = sys.argv[2] if "://" in sys.argv[2] else Path(sys.argv[2])
with end_at(Path(sys.argv[1]), settings=source, create=False) as a, end_at(place, settings=target, create=True) as b:
    migrate(a, b, tell=tell)
"""


@pytest.mark.parametrize("at", ["copying", "copying vectors", "comparing"])
def test_one_that_was_killed_loses_and_doubles_nothing(ends: Ends, at: str) -> None:
    with Memory.open(ends.folder / "memory", embedder=HashedWords(), language="en") as memory:
        memory.add_many(talk(N_TURNS))
        memory.embed()
    place = ends.server or str(ends.folder / "there")
    words = [str(ends.folder / "memory"), place, ends.owner("there"), at]

    killed = subprocess.run([sys.executable, "-c", KILLED, *words], env={**os.environ}, check=False)
    assert killed.returncode == -signal.SIGKILL
    done = migrate(ends.in_folder("memory"), ends.at("there"))

    assert done.is_equal, [one.difference for one in done.compared]
    assert done.n_before == (N_TURNS if at != "copying" else 2000)
    assert next(one for one in done.compared if one.name.startswith("vectors ")).n_target >= N_TURNS


def test_a_source_that_was_changed_meanwhile_is_not_mixed_with_what_it_was(ends: Ends) -> None:
    small(ends.folder / "memory", n_turns=N_TURNS)
    with pytest.raises(StoppedError):
        migrate(ends.in_folder("memory"), ends.at("there", create=True), tell=stopping_at(2000))
    with Memory.open(ends.folder / "memory", embedder="none") as memory:
        memory.correct("t7", text="changed")

    with pytest.raises(StoreError, match=r"was changed since its migration to .* began.* --anew"):
        migrate(ends.in_folder("memory"), ends.at("there"))
    done = migrate(ends.in_folder("memory"), ends.at("there"), anew=True)

    assert done.is_equal
    assert done.n_before == 0


@pytest.mark.parametrize("change", ["a pin", "a turn"])
def test_a_source_that_changes_while_it_is_copied_is_told_at_the_end(ends: Ends, change: str) -> None:
    small(ends.folder / "memory")

    def tell(what: str, done: int, _total: int) -> None:
        if (what, done) == ("comparing", 0):
            with Memory.open(ends.folder / "memory", embedder="none") as memory:
                if change == "a pin":
                    memory.prompt.pins.add("late")
                else:
                    memory.add("late")

    with pytest.raises(StoreError, match="was changed while it was being copied, so the copy lacks what came since"):
        migrate(ends.in_folder("memory"), ends.at("there", create=True), tell=tell)

    assert noted_in(ends.at("there").store.connections) is not None
    assert migrate(ends.in_folder("memory"), ends.at("there"), anew=True).is_equal


def test_a_target_that_holds_something_else_is_left_alone(ends: Ends) -> None:
    small(ends.folder / "memory")
    ends.memory("there", embedder="none", language="en").add("mine")

    with pytest.raises(StoreError, match=r"holds a memory already \(1 turns\), and nothing was copied"):
        migrate(ends.in_folder("memory"), ends.at("there"), anew=True)

    assert [turn.text for _, turn in ends.at("there").store.scan()] == ["mine"]


def test_a_target_that_somebody_wrote_to_while_it_was_unfinished_is_told(ends: Ends) -> None:
    small(ends.folder / "memory", n_turns=N_TURNS)
    with pytest.raises(StoppedError):
        migrate(ends.in_folder("memory"), ends.at("there", create=True), tell=stopping_at(2000))
    ends.memory("there", embedder="none", language="en").add("mine", turn_id="mine")

    with pytest.raises(StoreError, match="was changed by somebody else while its migration was stopped"):
        migrate(ends.in_folder("memory"), ends.at("there"))
    assert migrate(ends.in_folder("memory"), ends.at("there"), anew=True).is_equal


def test_two_that_fill_the_same_target_do_not_mix(ends: Ends) -> None:
    small(ends.folder / "memory", n_turns=N_TURNS)

    def other(what: str, done: int, _total: int) -> None:
        if (what, done) == ("copying", 2000):
            assert migrate(ends.in_folder("memory"), ends.at("there")).is_equal

    with pytest.raises(StoreError, match="is being filled by another process too"):
        migrate(ends.in_folder("memory"), ends.at("there", create=True), tell=other)

    assert compare(ends.in_folder("memory"), ends.at("there")).is_equal


def test_an_unfinished_memory_is_no_source(ends: Ends) -> None:
    small(ends.folder / "memory", n_turns=N_TURNS)
    with pytest.raises(StoppedError):
        migrate(ends.in_folder("memory"), ends.at("there", create=True), tell=stopping_at(2000))

    with pytest.raises(StoreError, match="is itself not whole"):
        migrate(ends.at("there"), ends.in_folder("further", create=True))


def test_the_doctor_tells_that_a_memory_is_not_whole(ends: Ends) -> None:
    small(ends.folder / "memory", n_turns=N_TURNS)
    with pytest.raises(StoppedError):
        migrate(ends.in_folder("memory"), ends.at("there", create=True), tell=stopping_at(2000))

    def told() -> tuple[str, str]:
        with Place(ends.folder / "there", ends.server).open(embedder="none", language="en") as memory:
            (words,) = [one for one in memory.doctor().findings if one.name == "words"]
        return words.state, words.message

    assert told() == ("fail", "2,000 turns, but not all: a migration into this memory was stopped")
    assert migrate(ends.in_folder("memory"), ends.at("there")).is_equal
    assert told()[0] == "ok"


def test_a_memory_is_not_moved_onto_itself(ends: Ends) -> None:
    ends.memory("memory", embedder="none", language="en").add("words")

    with pytest.raises(StoreError, match="source and target are both"):
        migrate(ends.at("memory"), ends.at("memory"))


def test_a_source_that_is_not_there_is_told(ends: Ends) -> None:
    with pytest.raises(NotAMemoryError):
        ends.at("nothing")


CHANGED: dict[str, tuple[str, str]] = {
    "text": ("UPDATE turns SET text = x'414243' WHERE row = 3", "turns, row 3: text differ"),
    "raw": ("UPDATE turns SET raw = NULL WHERE row = 3", "turns, row 3: raw differ"),
    "missing": ("DELETE FROM turns WHERE row = 3", "turns, row 3: "),
    "the last": ("DELETE FROM turns WHERE row = 5", "turns, row 5: is missing in the target"),
    "a kind": ("UPDATE turns SET speaker = CAST(speaker AS TEXT) WHERE row = 3", "turns, row 3: speaker differ"),
    "a fact": ("INSERT INTO facts VALUES ('x', 'y')", "facts, name 'x': is only in the target"),
    "a number": (
        "UPDATE sqlite_sequence SET seq = 9 WHERE name = 'changes'",
        "numbers, table 'changes': last differ (5 and 9)",
    ),
    "a digest": ("UPDATE turns SET sha256 = x'00' WHERE row = 3", "turns, row 3: sha256 differ"),
}


@pytest.mark.parametrize("how", CHANGED)
def test_the_first_difference_is_named(tmp_path: Path, how: str) -> None:
    small(tmp_path / "memory")
    with (
        end_at(tmp_path / "memory", settings=Settings(), create=False) as source,
        end_at(tmp_path / "copy", settings=Settings(), create=True) as target,
    ):
        assert migrate(source, target).is_equal
    statement, told = CHANGED[how]
    database = sqlite3.connect(tmp_path / "copy" / "turns.sqlite")
    database.execute(statement)
    database.commit()
    database.close()

    with (
        end_at(tmp_path / "memory", settings=Settings(), create=False) as source,
        end_at(tmp_path / "copy", settings=Settings(), create=False) as target,
    ):
        done = compare(source, target)

    (unlike,) = [one for one in done.compared if not one.is_equal]
    assert unlike.difference.startswith(told)
    assert unlike.sha256_source != unlike.sha256_target


def test_a_text_that_is_damaged_on_both_sides_is_a_difference_too(tmp_path: Path) -> None:
    small(tmp_path / "memory")
    database = sqlite3.connect(tmp_path / "memory" / "turns.sqlite")
    database.execute("UPDATE turns SET text = x'41' WHERE row = 2")
    database.commit()
    database.close()

    with (
        end_at(tmp_path / "memory", settings=Settings(), create=False) as source,
        end_at(tmp_path / "copy", settings=Settings(), create=True) as target,
    ):
        done = migrate(source, target)

    assert done.compared[0].difference == "turns, row 2: its text doesn't have the SHA-256 it was stored with"


def test_a_changed_vector_is_a_difference_and_outdated_ones_stay_behind(ends: Ends) -> None:
    with Memory.open(ends.folder / "memory", embedder=HashedWords(), language="en") as memory:
        for number in range(5):
            memory.add(f"turn {number}")
        memory.embed()
        memory.correct("t2", text="quite another text")
    done = migrate(ends.in_folder("memory"), ends.at("there", create=True))
    (vectors,) = [one for one in done.compared if one.name.startswith("vectors ")]
    assert (vectors.n_source, vectors.n_target, vectors.is_equal) == (4, 4, True)

    file = VectorFile(ends.folder / "memory" / "vectors", fingerprint=HashedWords().fingerprint, dim=64)
    rows = file.read_new()
    assert rows is not None
    ids = rows.ids[rows.ids["row"] == 4]
    file.append(np.full((len(ids), 64), 0.125, np.float32), ids)
    again = compare(ends.in_folder("memory"), ends.at("there"))

    assert [one.difference.partition(" (")[0] for one in again.compared if not one.is_equal] == [
        "vectors hashed-words-64, row 4: vector differ"
    ]


def test_turns_of_a_megabyte_go_over_a_few_at_a_time(ends: Ends) -> None:
    with Memory.open(ends.folder / "memory", embedder="none", language="en") as memory:
        memory.add_many(
            Turn(
                "",
                "c",
                "s",
                -1,
                Role.USER,
                "Ada",
                f"{number} {ODD} " * 20_000,
                source=Source("x", f"{number}", "r" * 10**6),
            )
            for number in range(20)
        )
    steps: list[int] = []

    done = migrate(
        ends.in_folder("memory"),
        ends.at("there", create=True),
        tell=lambda what, n, _total: steps.append(n) if what == "copying" else None,
    )

    assert done.is_equal
    assert len(steps) > 4


def test_what_would_be_copied_is_counted(ends: Ends) -> None:
    ends.memory("memory", embedder="none", language="en").add_many(talk(5))

    assert rows_to_copy(ends.at("memory")) == {"turns": 5, "changes": 5}


texts = st.text(st.characters(codec=None, exclude_categories=()) | st.sampled_from("\ud83d\ude00\0~"), max_size=12)
instants = st.none() | st.datetimes(timezones=st.timezones())
scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | texts
blocks = st.builds(Block, texts, st.dictionaries(texts, scalars, max_size=2), texts)


@settings(max_examples=12)
@given(st.lists(st.tuples(texts, texts, texts, instants, blocks, texts), max_size=4))
def test_any_words_go_over_and_come_back(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, str, str, Any, Block, str]]
) -> None:
    place = tmp_path_factory.mktemp("any")
    with Memory.open(place / "memory", embedder="none", language="en") as memory:
        for number, (text, speaker, later, at, block, raw) in enumerate(said):
            turn = Turn("", "c", "s", -1, Role.USER, speaker, text, said_at=at, blocks=(block,))
            memory.add_many([turn, Turn("", "c", "s", -1, Role.USER, "x", raw, source=Source("x", f"{number}", raw))])
            memory.correct(f"t{2 * number + 1}", text=later)
    with (
        end_at(place / "memory", settings=Settings(), create=False) as source,
        end_at(place / "there", settings=Settings(), create=True) as there,
        end_at(place / "back", settings=Settings(), create=True) as back,
    ):
        assert migrate(source, there).is_equal
        assert migrate(there, back).is_equal
        assert compare(source, back).is_equal


@settings(max_examples=5)
@given(st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=3))
def test_any_words_go_to_a_server_and_come_back(
    tmp_path_factory: pytest.TempPathFactory, postgres_url: str, said: list[tuple[str, str, str]]
) -> None:
    place = tmp_path_factory.mktemp("any")
    with Memory.open(place / "memory", embedder="none", language="en") as memory:
        for text, speaker, later in said:
            memory.correct(memory.add(text, speaker=speaker).turn_id, text=later)
            memory.prompt.decisions.add(text + ".", because=later + ".")
    with (
        end_at(place / "memory", settings=Settings(), create=False) as source,
        end_at(postgres_url, settings=Settings(owner=str(place)), create=True) as there,
        end_at(place / "back", settings=Settings(), create=True) as back,
    ):
        assert migrate(source, there).is_equal
        assert migrate(there, back).is_equal
        assert compare(source, back).is_equal


values = st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | texts | st.binary(max_size=9)


@given(st.lists(values, max_size=4), st.lists(values, max_size=4))
def test_two_rows_have_the_same_bytes_only_if_they_are_the_same(one: list[Any], other: list[Any]) -> None:
    told = [[(type(value), repr(value)) for value in row] for row in (one, other)]

    assert (canonical(one) == canonical(other)) == (told[0] == told[1])
