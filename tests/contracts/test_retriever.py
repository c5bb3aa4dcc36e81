"""What holds for everything that ranks the turns of a pool, whichever way it ranks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.memory import Memory
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.ranking import Ranking, Retriever
from memory_rag.retrieval.searcher import Mode
from memory_rag.turns import Role, Turn
from tests.retrieval.given_vectors import GivenVectors

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
TEXTS = [
    "We took the red kayak to the lake",
    "The kayak was red, the lake was cold",
    "Where did you buy the kayak?",
    "At the market in Lund",
    "My tax form is due in May",
    "Vi ses på mötet i Malmö",
    "步骤3:重启api-gw后日志清零",
    "",
    "???",
    "kayak",
    "kayak",
    "kayak " * 300,
]


class OneWay:
    """One way of ranking as a retriever: a memory and a mode, and who may be found."""

    def __init__(self, memory: Memory, mode: Mode, within: Within | None = None) -> None:
        self.memory = memory
        self.mode = mode
        self.within = within

    def search(self, query: str, *, k: int) -> Ranking:
        return self.memory.search(query, k=k, mode=self.mode, within=self.within, floor=False)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    vectors = {text: (1.0, n / 3, n % 3) for n, text in enumerate(TEXTS)}
    embedder = GivenVectors(vectors, dim=3, elsewhere=(0.5, 1.0, 0.2), passage=400)
    memory = Memory.open(
        tmp_path_factory.mktemp("contract") / "memory", embedder=embedder, language="en,sv", clock=lambda: NOON
    )
    memory.add_many(
        Turn(f"t{n:02}", "cd"[n % 2], f"s{n // 3}", n, Role.USER, ["Ada", "Bo"][n % 2], text, said_at=NOON)
        for n, text in enumerate(TEXTS)
    )
    memory.embed()
    yield memory
    memory.close()


@pytest.fixture(params=list(Mode), ids=str)
def mode(request: pytest.FixtureRequest) -> Mode:
    found: Mode = request.param
    return found


@pytest.fixture(params=[None, Within(speaker="Ada"), Within(conversation="d")], ids=["everybody", "Ada", "d"])
def retriever(memory: Memory, mode: Mode, request: pytest.FixtureRequest) -> Retriever:
    return OneWay(memory, mode, request.param)


QUESTIONS = [
    "kayak",
    "red kayak lake",
    "Where did Ada buy it?",
    "mötet i Malmö",
    "日志",
    "snow",
    "the",
    "kayak kayak tax",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_hits_are_ranked_from_one_best_first_ties_by_id_each_turn_once(retriever: Retriever, question: str) -> None:
    ranking = retriever.search(question, k=50)

    assert [hit.rank for hit in ranking] == list(range(1, len(ranking) + 1))
    assert len(set(ranking.turn_ids)) == len(ranking)
    placed = [(-hit.score, hit.turn.turn_id) for hit in ranking]
    assert placed == sorted(placed)
    assert ranking.query == question


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("k", [1, 3, 1000])
def test_k_cuts_the_ranking_and_changes_nothing_else(retriever: Retriever, question: str, k: int) -> None:
    whole = retriever.search(question, k=50)

    cut = retriever.search(question, k=k)

    assert cut.hits == whole.hits[:k]


@pytest.mark.parametrize("question", ["", " ", "?!", '"', "\u00a0", "*", "\ud800"])
def test_a_question_without_a_word_has_no_hits(retriever: Retriever, question: str) -> None:
    assert retriever.search(question, k=10).hits == ()


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_same_question_has_the_same_answer_again(retriever: Retriever, question: str) -> None:
    assert retriever.search(question, k=10) == retriever.search(question, k=10)


@pytest.mark.parametrize("question", QUESTIONS)
def test_hits_are_stored_turns_that_the_filter_allows_with_a_span_in_them(
    memory: Memory, retriever: Retriever, question: str
) -> None:
    assert isinstance(retriever, OneWay)
    within = retriever.within or Within()

    for hit in retriever.search(question, k=50):
        assert hit.turn == memory.get(hit.turn.turn_id)
        assert within.speaker in (None, hit.turn.speaker)
        assert within.conversation in (None, hit.turn.conversation_id)
        assert 0 <= hit.span.start <= hit.span.end <= len(hit.turn.text)


def test_a_turn_is_found_by_its_own_words(memory: Memory, mode: Mode) -> None:
    """rank-bm25 splits at white space and finds no Chinese word; dense recall has made-up vectors here."""
    if mode in (Mode.DENSE, Mode.OVERLAP, Mode.RANK_BM25):
        mode = Mode.KEYWORD
    for question, turn_id in (("tax form", "t04"), ("cold lake", "t01"), ("Malmö", "t05"), ("日志", "t06")):
        assert turn_id in OneWay(memory, mode).search(question, k=5).turn_ids


@given(question=st.text(st.characters(exclude_categories=())))
@pytest.mark.parametrize("way", list(Mode), ids=str)
def test_any_question_is_answered_without_an_error(memory: Memory, way: Mode, question: str) -> None:
    ranking = OneWay(memory, way).search(question, k=3)

    assert len(ranking) <= 3


@given(data=st.data())
def test_every_word_of_a_turn_that_is_no_stop_word_finds_the_turn_by_keyword(
    memory: Memory, data: st.DataObject
) -> None:
    turn = data.draw(st.sampled_from(list(memory.turns())))
    words = turn.text.split() or [""]
    word = data.draw(st.sampled_from(words))

    if not memory.indexes.keyword.analyzer.is_common(word):
        assert turn.turn_id in OneWay(memory, Mode.KEYWORD).search(word, k=50).turn_ids
