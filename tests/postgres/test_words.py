"""The turns that share words with a question are found on the server, an owner's own and all of them."""

from __future__ import annotations

import pytest

from memory_rag.postgres.turn_store import PostgresTurnStore
from memory_rag.postgres.words import Analyzed, ServerWords
from tests.postgres.conftest import Open, Say
from tests.postgres.test_owners import HOSTILE
from tests.postgres.test_vectors import in_conversation
from tests.postgres_server import PostgresServer


@pytest.fixture(params=[True, False], ids=["pg_textsearch", "tsvector"])
def by_bm25(request: pytest.FixtureRequest, postgres: PostgresServer) -> bool:
    offered = postgres.as_superuser("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_textsearch'")
    if request.param and not offered:
        pytest.skip("the server of MEMORY_RAG_TEST_PG has no pg_textsearch")
    return bool(request.param)


@pytest.fixture
def store(open_store: Open) -> PostgresTurnStore:
    return open_store()


def of(store: PostgresTurnStore, *, by_bm25: bool) -> ServerWords:
    words = ServerWords(store.connections, fingerprint="by blanks", by_bm25=by_bm25)
    words.set_up()
    return words


def fill(store: PostgresTurnStore, words: ServerWords, *texts: str, say: Say, conversation: str = "c") -> list[int]:
    """Store turns whose terms are what stands between their blanks, and return their rows."""
    ids = store.append([say(text, conversation_id=conversation) for text in texts]).turn_ids
    rows = store.rows_of(ids)
    turns = zip(rows, store.get(ids), strict=True)
    assert words.put([Analyzed(row, turn, turn.text.split()) for row, turn in turns]) == len(texts)
    return rows


def test_turns_that_share_more_and_rarer_words_come_first(store: PostgresTurnStore, said: Say, by_bm25: bool) -> None:
    words = of(store, by_bm25=by_bm25)
    both, one, _none = fill(store, words, "red kayak lake", "red house on a hill far away", "tax form", say=said)

    assert words.best(["red", "kayak"], n=5) == [both, one]
    assert words.best(["red", "kayak"], n=1) == [both]
    assert (words.best(["snow"], n=5), words.best([], n=5)) == ([], [])


@pytest.mark.parametrize("term", ["4711-zx", "c++", "日志", "don't", "&", "!x", "\ud800", "\0", "x" * 5000, *HOSTILE])
def test_any_term_is_one_word(store: PostgresTurnStore, said: Say, by_bm25: bool, term: str) -> None:
    words = of(store, by_bm25=by_bm25)
    turn, other = store.add(said("a")), store.add(said("b"))
    words.put([Analyzed(1, turn, ["a", term]), Analyzed(2, other, ["4711", "zx", "c", "日", "don", "b"])])

    assert words.best([term], n=5) == [1]


def test_a_rare_owners_five_of_five_are_found_among_a_crowd(open_store: Open, said: Say, by_bm25: bool) -> None:
    crowd, rare = open_store("crowd"), open_store("rare")
    fill(crowd, of(crowd, by_bm25=by_bm25), *["kayak kayak kayak"] * 300, say=said)
    words = of(rare, by_bm25=by_bm25)
    rows = fill(rare, words, *[f"a kayak among {number} other words of this turn" for number in range(5)], say=said)

    assert sorted(words.best(["kayak"], n=5)) == rows
    assert sorted(words.best(["kayak"], n=50)) == rows


def test_one_conversations_turns_are_found_among_all(store: PostgresTurnStore, said: Say, by_bm25: bool) -> None:
    words = of(store, by_bm25=by_bm25)
    fill(store, words, *["kayak kayak"] * 100, say=said)
    rows = fill(store, words, *["far from any kayak"] * 5, say=said, conversation="rare")

    assert words.best(["kayak"], n=5, part=in_conversation("rare")) == rows
    assert words.best(["kayak"], n=5, part=in_conversation("nobody's")) == []


def test_a_turn_of_any_length_is_found_by_its_last_word_and_once(
    store: PostgresTurnStore, said: Say, by_bm25: bool
) -> None:
    words = of(store, by_bm25=by_bm25)
    turn, short = store.add(said("long")), store.add(said("short"))
    words.put([Analyzed(1, turn, [*(f"{n % 7000}" for n in range(40_000)), "last"]), Analyzed(2, short, ["1"])])

    assert words.best(["last"], n=2) == [1]
    assert sorted(words.best(["1"], n=2)) == [1, 2]


def test_no_term_outlives_its_turns_words(store: PostgresTurnStore, said: Say, by_bm25: bool) -> None:
    words = of(store, by_bm25=by_bm25)
    rows = fill(store, words, "kayak one", "kayak two", "kayak three", say=said)
    before = store.get(["t1", "t2"])
    assert words.pending(limit=9) == []

    store.remove(["t1"])
    store.correct("t2", text="other")

    assert words.best(["kayak"], n=9) == rows[2:]
    assert words.pending(limit=9) == [2]
    assert words.put([Analyzed(row, turn, ["kayak"]) for row, turn in zip(rows, before, strict=False)]) == 0
    assert words.put([Analyzed(2, store.get(["t2"])[0], [])]) == 1
    assert (words.pending(limit=9), words.best(["kayak"], n=9)) == ([], rows[2:])
