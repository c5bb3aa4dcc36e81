"""A memory on a server that is too large to be held: the server names candidates, and the same turns are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory_rag.memory import Memory
from memory_rag.postgres.large_indexes import LargeIndexes
from memory_rag.retrieval.filters import Within
from memory_rag.turns import Role, Turn
from tests.end_to_end.hashed_words import HashedWords
from tests.said import said

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
SUBJECTS = ["kayak", "bread", "violin", "tax", "garden", "roof", "train", "winter", "soup", "clock", "lamp", "horse"]
DOINGS = ["repair", "lend", "paint", "sell", "forget", "measure", "borrow", "wash", "move", "count"]
PLACES = ["Oslo", "Malmö", "the barn", "the attic", "Bergen", "the quay", "the office", "Lund"]
N = 900
Open = Callable[..., Memory]


def talk(n: int = N) -> Iterator[Turn]:
    """Invented turns of many sessions, each about a thing, a doing, a place and a number of its own."""
    for number in range(n):
        subject, doing = SUBJECTS[number % 12], DOINGS[number * 7 % 10]
        yield said(
            f"Number {1000 + number}: I had to {doing} the {subject} in {PLACES[number * 5 % 8]} that day",
            turn_id=f"t{number}",
            conversation_id=f"c{number // 60}",
            session_id=f"s{number // 20}",
            role=Role.USER if number % 2 else Role.ASSISTANT,
            speaker="Ada" if number % 2 else "Bo",
            said_at=NOON + timedelta(hours=number),
        )


@pytest.fixture(scope="module")
def memories(tmp_path_factory: pytest.TempPathFactory, postgres_url: str) -> Iterator[list[Memory]]:
    """The same turns in a file, and on a server that names candidates for each question."""
    with ExitStack() as stack:
        given: dict[str, Any] = {"embedder": HashedWords(), "language": "en", "summaries": "off", "clock": lambda: NOON}
        file = stack.enter_context(Memory.open(tmp_path_factory.mktemp("file") / "memory", **given))
        with Memory.open(postgres_url, owner="large memory", **given) as first:
            first.add_many(talk())
        large = stack.enter_context(Memory.open(postgres_url, owner="large memory", resident=100, **given))
        file.add_many(talk())
        assert isinstance(large.indexes, LargeIndexes)
        assert file.embed() == large.embed() == N
        yield [file, large]


@pytest.fixture
def open_large(postgres_url: str, request: pytest.FixtureRequest) -> Iterator[Open]:
    """Open a large memory of some turns; its owner is this test's alone."""
    with ExitStack() as stack:

        def opened(*turns: Turn, **given: Any) -> Memory:
            wanted = {
                "embedder": HashedWords(),
                "language": "en",
                "summaries": "off",
                "owner": request.node.name,
            } | given
            with Memory.open(postgres_url, **{**wanted, "embedder": "none"}) as first:
                first.add_many(turns)
            return stack.enter_context(Memory.open(postgres_url, resident=3, **wanted))

        yield opened


def ids(memory: Memory, question: str, **given: Any) -> list[str]:
    return [hit.turn.turn_id for hit in memory.search(question, floor=False, **given)]


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "dense"])
def test_what_was_said_is_found_as_in_a_file(memories: list[Memory], mode: str) -> None:
    file, large = memories
    questions = [
        f"When did I {DOINGS[n * 7 % 10]} the {SUBJECTS[n % 12]} numbered {1000 + n}?" for n in range(0, N, 23)
    ]

    firsts = [ids(memory, question, mode=mode, k=1) for question in questions for memory in (file, large)]
    assert sum(one == other for one, other in zip(firsts[::2], firsts[1::2], strict=True)) >= 0.95 * len(questions)


def test_a_part_that_can_be_held_is_ranked_to_the_last_digit_as_in_a_file(memories: list[Memory]) -> None:
    for within in (Within(conversation="c3"), Within(conversation="c3", role="user"), Within(session="s7")):
        for mode in ("hybrid", "keyword", "dense", "rrf", "okapi"):
            file, large = (
                [(hit.turn.turn_id, pytest.approx(hit.score, abs=1e-6)) for hit in found]
                for found in (m.search("Who painted the roof?", mode=mode, within=within) for m in memories)
            )
            assert large == file


def test_a_filter_holds_in_a_part_of_any_size(memories: list[Memory]) -> None:
    for within in (Within(speaker="ada"), Within(role="assistant"), Within(since="2026-05-10", until="2026-05-30")):
        file, large = (memory.search("the violin in Bergen", within=within, k=20, floor=False) for memory in memories)
        allowed = set(memories[0].indexes.select(within))
        assert len(large) == len(file) == 20
        assert {hit.turn.turn_id for hit in large} <= allowed


def test_quotes_are_found_exactly_folded_and_nearly(memories: list[Memory]) -> None:
    for words in ("Number 1500: I had", "number  1500: i HAD", "I had to wash the clock in the barn that dey"):
        file, large = (memory.quote(words, limit=3) for memory in memories)
        assert [(quote.status, quote.text) for quote in large][:1] == [(quote.status, quote.text) for quote in file][:1]
        assert len(large) > 0


def test_what_a_filter_selects_is_the_same(memories: list[Memory]) -> None:
    for within in (
        Within(),
        Within(conversation="c2"),
        Within(role="user", without=("t1", "t3")),
        Within(speaker="BO"),
    ):
        file, large = (memory.indexes.select(within) for memory in memories)
        assert large == file


def test_a_turn_is_found_as_soon_as_it_is_stored_and_gone_as_soon_as_it_is_removed(open_large: Open) -> None:
    memory = open_large(*talk(40))
    assert ids(memory, "Who carved the wooden spoon?", k=1) != ["spoon"]

    memory.add("I carved the wooden spoon in Lund", turn_id="spoon")
    assert ids(memory, "Who carved the wooden spoon?", k=1) == ["spoon"]
    memory.correct("spoon", text="I carved the wooden ladle in Lund")
    assert ids(memory, "Who carved the wooden ladle?", k=1) == ["spoon"]
    memory.store.remove(["spoon"])
    assert "spoon" not in ids(memory, "Who carved the wooden ladle?", k=40)


def test_what_another_process_stores_is_found(open_large: Open, postgres_url: str) -> None:
    memory = open_large(*talk(40))
    ids(memory, "the kayak")

    with Memory.open(postgres_url, owner=memory.settings.owner, embedder="none", summaries="off") as other:
        other.add("The parcel came from Tromsø", turn_id="parcel")
        other.correct("t5", text="The parcel for Bodø was lost")

    assert ids(memory, "Which parcel came from Tromsø?", k=1) == ["parcel"]
    assert ids(memory, "What became of the parcel for Bodø?", k=1) == ["t5"]


def test_words_are_analyzed_anew_for_another_language(open_large: Open) -> None:
    turns = [said("Vi målade båtarna", turn_id="boats"), *talk(20)]
    english = open_large(*turns, language="en")
    assert ids(english, "båten", mode="keyword") == []

    swedish = open_large(language="sv")
    assert ids(swedish, "båten", mode="keyword") == ["boats"]


def test_a_lasting_wish_is_named_whatever_is_asked_for(open_large: Open) -> None:
    wish = said("Always answer in bullet points.", turn_id="wish", role=Role.USER, conversation_id="first")
    memory = open_large(wish, *talk(400))

    (found,) = (hit for hit in memory.search("Give me a plan for it", floor=False, k=400) if hit.turn.turn_id == "wish")
    assert found.signals["standing"] > 0


def test_large_memories_of_two_owners_know_nothing_of_each_other(open_large: Open) -> None:
    mine = open_large(*talk(30), owner="mine of two")
    theirs = open_large(*(said(f"secret kayak {n}", turn_id=f"x{n}") for n in range(30)), owner="theirs of two")

    for memory, begins in ((mine, "t"), (theirs, "x")):
        found = ids(memory, "the secret kayak", k=50)
        assert found
        assert all(turn_id.startswith(begins) for turn_id in found)
        assert all(quote.turn_id.startswith(begins) for quote in memory.quote("kayak"))


def test_what_was_held_for_earlier_questions_is_let_go(open_large: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_rag.postgres.large_indexes._MOST_HELD", 50)
    memory = open_large(*talk(300))
    memory.embed()

    for number in range(0, 300, 40):
        held = memory.indexes.keyword
        assert ids(memory, f"Number {1000 + number}", k=1) == [f"t{number}"]
        assert memory.indexes.keyword is not held


def test_all_turns_are_counted_however_few_are_held(memories: list[Memory], open_large: Open) -> None:
    file, large = (memory.stats() for memory in memories)
    assert (large.n_turns, large.embedded, large.pending) == (file.n_turns, file.embedded, file.pending) == (N, N, 0)

    counted = open_large(*talk(30)).stats()
    assert (counted.n_turns, counted.embedded, counted.pending) == (30, 0, 30)


def test_a_memory_may_be_left_on_the_server_from_its_first_turn_on(postgres_url: str) -> None:
    given: dict[str, Any] = {"owner": "from its first turn on", "embedder": HashedWords(), "language": "en"}
    with Memory.open(postgres_url, resident=0, **given) as memory:
        assert isinstance(memory.indexes, LargeIndexes)
        assert ids(memory, "the kayak") == []
        memory.add_many(talk(40))
        assert ids(memory, "Number 1007", k=1) == ["t7"]
        memory.add("A parcel for Tromsø", turn_id="parcel")
        assert ids(memory, "Who has the parcel?", k=1) == ["parcel"]
        assert memory.embed() == 0
