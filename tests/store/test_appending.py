"""A source's newer state laid over the stored one: edits are corrections, what is gone is marked, nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.store.turn_store import Appended
from memory_rag.turns import Block, Role, Source, Turn, Withheld


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteTurnStore]:
    opened = SqliteTurnStore(tmp_path / "memory")
    yield opened
    opened.close()


def said(native_id: str, text: str, ordinal: int, *, recalled: bool = True, talk: str = "c") -> Turn:
    source = Source("chat", native_id, f"raw of {text}")
    return Turn("", talk, talk, ordinal, Role.USER, "Ada", text, source=source, recalled=recalled)


TALK = [said("a", "ett", 0), said("b", "två", 1), said("c", "tre", 2), said("d", "fyra", 3)]


def newer(store: SqliteTurnStore, *items: Turn | Withheld) -> Appended:
    return store.append(items, newer=True, whole=True)


def test_the_same_state_again_changes_nothing(store: SqliteTurnStore) -> None:
    newer(store, *TALK)
    before = store.last_seq

    assert newer(store, *TALK) == Appended((), already_there=4)
    assert store.last_seq == before


def test_what_was_edited_at_its_source_is_corrected_and_the_earlier_text_kept(store: SqliteTurnStore) -> None:
    newer(store, *TALK)

    again = newer(store, TALK[0], said("b", "två!", 1), *TALK[2:])

    assert again == Appended((), already_there=4, corrected=("t2",))
    assert store.get(["t2"])[0].text == "två!"
    assert store.get(["t2"])[0].source == Source("chat", "b", "raw of två!")
    assert [turn.text for turn in store.earlier_versions("t2")] == ["två"]


def test_an_older_state_of_the_source_brings_no_edit_back(store: SqliteTurnStore) -> None:
    newer(store, *TALK)
    newer(store, TALK[0], said("b", "två!", 1), *TALK[2:])

    assert newer(store, *TALK) == Appended((), already_there=4, differing=("t2",))
    assert store.get(["t2"])[0].text == "två!"


def test_what_was_corrected_here_stays_while_its_source_stays_as_it_was(store: SqliteTurnStore) -> None:
    newer(store, *TALK)
    store.correct("t2", text="mitt", keep_old=False)

    assert newer(store, *TALK) == Appended((), already_there=4, differing=("t2",))
    assert store.get(["t2"])[0].text == "mitt"


def test_what_is_gone_amid_a_conversation_is_marked_and_kept(store: SqliteTurnStore) -> None:
    newer(store, *TALK)

    again = newer(store, TALK[0], TALK[3], said("e", "fem", 4))

    assert again == Appended(("t5",), already_there=2, vanished=("t2", "t3"))
    assert list(store.vanished()) == ["t2", "t3"]
    assert len(store) == 5
    assert newer(store, TALK[0], TALK[3]).vanished == ()


def test_what_comes_back_loses_its_mark(store: SqliteTurnStore) -> None:
    newer(store, *TALK)
    newer(store, TALK[0], TALK[3])
    newer(store, *TALK)

    assert store.vanished() == {}


def test_a_part_of_a_conversation_says_nothing_of_the_rest(store: SqliteTurnStore) -> None:
    newer(store, *TALK)

    assert newer(store, *TALK[1:3]).vanished == ()
    assert newer(store, said("z", "annat", 0, talk="other")).vanished == ()


def test_a_dry_run_says_what_would_be_gone_and_marks_nothing(store: SqliteTurnStore) -> None:
    newer(store, *TALK)

    assert store.append([TALK[0], TALK[3]], newer=True, whole=True, dry_run=True).vanished == ("t2", "t3")
    assert store.vanished() == {}


def test_a_removed_turn_is_marked_no_more(store: SqliteTurnStore) -> None:
    newer(store, *TALK)
    newer(store, TALK[0], TALK[3])
    store.remove(["t2"])

    assert list(store.vanished()) == ["t3"]


def test_what_left_the_shown_branch_goes_out_of_recall_and_comes_back_with_it(store: SqliteTurnStore) -> None:
    newer(store, *TALK)

    moved = newer(store, *TALK[:2], said("x", "annat", 2), Withheld("chat", "c", ("c", "d", "never stored")))

    assert (moved.vanished, moved.corrected) == ((), ())
    assert [turn.recalled for turn in store.get(["t3", "t4"])] == [False, False]
    newer(store, *TALK)
    assert [turn.recalled for turn in store.get(["t3", "t4"])] == [True, True]


def test_a_source_that_touched_only_its_own_notes_changes_nothing_that_shows(store: SqliteTurnStore) -> None:
    newer(store, *TALK)
    store.correct("t2", speaker="Ada Ek")
    before = store.last_seq
    touched = replace(TALK[1], source=Source("chat", "b", "other raw"))

    assert newer(store, touched) == Appended((), already_there=1)
    assert store.last_seq == before
    assert (store.get(["t2"])[0].speaker, store.get(["t2"])[0].source) == ("Ada Ek", touched.source)

    newer(store, replace(touched, source=Source("chat", "b", "third raw"), blocks=(Block("image", {}, "katt"),)))
    assert store.last_seq == before + 1
    assert store.get(["t2"])[0].blocks == (Block("image", {}, "katt"),)


def test_without_being_newer_a_known_turn_is_left_alone(store: SqliteTurnStore) -> None:
    store.append(TALK)

    assert store.append([said("b", "två!", 1)]) == Appended((), already_there=1, differing=("t2",))
    assert store.get(["t2"])[0].text == "två"


def test_changes_are_numbered_in_the_order_they_were_made(store: SqliteTurnStore) -> None:
    newer(store, *TALK[:2])
    newer(store, said("n", "ny", 0), said("b", "två!", 1), TALK[2])

    assert [(change.kind, change.row) for change in store.changes_since(0)] == [
        ("add", 1),
        ("add", 2),
        ("add", 3),
        ("correct", 2),
        ("add", 4),
    ]
