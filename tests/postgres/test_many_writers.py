"""Eight processes write ten thousand turns: none is lost or doubled, and numbers and places leave no gap."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from typing import Final

import pytest

from memory_rag.postgres.turn_store import PostgresTurnStore
from tests.postgres_server import PostgresServer
from tests.said import said

WRITERS: Final = 8
TURNS: Final = 10_000
OF_EACH: Final = TURNS // WRITERS
TOGETHER: Final = 9
"""Turns of one transaction; between these, one is added by itself."""


def write(url: str, owner: str, writer: int) -> list[tuple[str, str]]:
    """Store a writer's turns in one conversation that all share and one of its own; return ids and texts as told."""
    store = PostgresTurnStore(url, owner=owner)
    texts = [f"writer {writer}, turn {number}" for number in range(OF_EACH)]
    told: list[tuple[str, str]] = []
    for start in range(0, OF_EACH, TOGETHER + 1):
        turn = store.add(said(texts[start], conversation_id="shared"))
        told.append((turn.turn_id, turn.text))
        some = texts[start + 1 : start + 1 + TOGETHER]
        ids = store.append([said(text, conversation_id=f"of {writer}") for text in some]).turn_ids
        told += zip(ids, some, strict=True)
    store.close()
    return told


@pytest.mark.parametrize("n_owners", [1, WRITERS])
def test_nothing_is_lost_or_doubled(postgres: PostgresServer, n_owners: int) -> None:
    url = postgres.new_database()
    owners = [f"owner {writer % n_owners}" for writer in range(WRITERS)]

    # A forked child would have the connections of this process.
    with ProcessPoolExecutor(WRITERS, mp_context=multiprocessing.get_context("spawn")) as processes:
        told = list(processes.map(write, [url] * WRITERS, owners, range(WRITERS)))

    for owner in dict.fromkeys(owners):
        store = PostgresTurnStore(url, owner=owner)
        stored = list(store.scan())
        mine = [pair for of, pairs in zip(owners, told, strict=True) if of == owner for pair in pairs]
        assert sorted((turn.turn_id, turn.text) for _row, turn in stored) == sorted(mine)
        assert len(mine) == TURNS // n_owners
        assert [row for row, _turn in stored] == list(range(1, len(mine) + 1))
        changes = store.changes_since(0)
        assert [(change.seq, change.row) for change in changes] == [(n, n) for n in range(1, len(mine) + 1)]
        places: dict[str, list[int]] = {}
        for _row, turn in stored:
            places.setdefault(turn.conversation_id, []).append(turn.ordinal)
        assert all(ordinals == list(range(len(ordinals))) for ordinals in places.values())
        store.close()
