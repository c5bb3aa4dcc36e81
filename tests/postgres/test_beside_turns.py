"""What is kept beside turns goes with them: what was found in them, and the marks of what was forgotten."""

from __future__ import annotations

import pytest

from memory_rag.errors import TurnError
from memory_rag.privacy.screening import Screening
from memory_rag.settings import Settings
from memory_rag.store.tombstones import Tombstones
from memory_rag.turns import Source
from tests.postgres.conftest import Open, Say


def test_what_is_found_in_a_turn_is_written_down_and_goes_with_it(open_store: Open, said: Say) -> None:
    store = open_store(screen=Screening.of_settings(Settings(secrets="email=redact,phone=tag")))
    store.append([said("mail ada@example.org", turn_id="a"), said("nothing", turn_id="b")])

    assert store.get(["a"])[0].text != "mail ada@example.org"
    (found,) = store.findings.of(["a", "b"])["a"]
    assert (found.kind, found.action) == ("email", "redact")
    assert (store.findings.counts(), store.findings.n_turns()) == ({("email", "redact"): 1}, 1)
    store.remove(["a"])
    assert (store.findings.of(["a", "b"]), store.findings.n_turns()) == ({}, 0)


def test_what_was_forgotten_stays_so_for_its_owner_only(open_store: Open, said: Say) -> None:
    ada, bo = open_store("ada"), open_store("bo")
    turn = said("words", turn_id="a", source=Source("chat", "1"))
    ada.add(turn)
    with ada.connections.writing() as connection:
        for _ in range(2):
            Tombstones(connection).set_up(turn, now=1)
    ada.remove(["a"])

    with pytest.raises(TurnError, match="was forgotten, and what is forgotten stays so"):
        ada.add(turn)
    assert ada.append([turn]).forgotten == ("1",)
    assert bo.add(turn).turn_id == "a"
    assert ada.append([turn], include_forgotten=True).turn_ids == ("a",)
    assert ada.append([turn]).already_there == 1


def test_one_state_is_read_whatever_is_written_meanwhile(open_store: Open, said: Say) -> None:
    store = open_store()
    store.append(said(f"{number}") for number in range(300))

    with store.connections.snapshot() as snapshot:
        rows = snapshot.rows("SELECT row FROM turns WHERE row > ? ORDER BY row", (10,))
        assert next(rows) == (11,)
        store.remove(["t12", "t300"])
        store.add(said("late"))
        assert [row for (row,) in rows] == list(range(12, 301))
        assert list(snapshot.rows("SELECT count(*) FROM turns")) == [(300,)]

    assert len(store) == 299
