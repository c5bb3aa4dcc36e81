"""Questions made from a memory's own turns, and questions written to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError, SettingsError
from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.datasets import own
from memory_rag.evaluation.datasets.remembered_words import EXACT_RULE, HALF_REMEMBERED_RULE
from memory_rag.turns import Role, Span, Turn

Made = Callable[[str, Any], Path]
MadeLines = Callable[[str, list[Any]], Path]

TALK = (
    "The ferry to Gotland leaves Nynäshamn at seven, and we have cabin 4711 on deck eight.",
    "Grandmother wants the green suitcase, not the leather one with the broken handle.",
    "Please remind me to buy oats, two lemons and the cheap coffee before Saturday evening.",
    "The plumber found a crack behind the washing machine and will return with another pipe.",
    "ok, thanks",
    "My train was cancelled twice this winter, so the ticket office owes me thirty euro.",
    "Yesterday the neighbours planted seven apple trees along the northern fence of their meadow.",
)


def test_half_of_the_questions_are_exact_words_and_half_are_half_remembered() -> None:
    benchmark = own.load(_turns(), n=6)

    assert Counter(query.category for query in benchmark.queries) == {"exact words": 3, "half-remembered": 3}
    assert benchmark.denominators == {"exact words": 3, "half-remembered": 3}
    assert [query.query_id for query in benchmark.queries[:2]] == ["exact-words-0001", "half-remembered-0002"]


def test_how_many_questions_are_made_is_told() -> None:
    told: list[tuple[int, int]] = []

    own.load(_turns(), n=3, progress=lambda made, wanted: told.append((made, wanted)))

    assert told[0] == (0, 3)
    assert told[-1] == (3, 3)
    assert sorted(told) == told


def test_the_turn_that_the_words_come_from_is_relevant() -> None:
    benchmark = own.load(_turns(), n=6)
    text_of = {document.doc_id: document.turns[0].text for document in benchmark.documents}

    for query in benchmark.queries:
        (turn_id,) = benchmark.qrels[query.query_id]
        if query.category == "exact words":
            assert [found for found, text in text_of.items() if query.text in text] == [turn_id]
            assert 5 <= len(query.text.split()) <= 12


def test_the_same_seed_asks_the_same_and_another_seed_asks_something_else() -> None:
    assert own.load(_turns(), n=6) == own.load(_turns(), n=6)
    assert _asked(own.load(_turns(), n=6)) != _asked(own.load(_turns(), n=6, seed=1))


def test_turns_without_enough_content_are_not_asked_for() -> None:
    turns = [_turn(0, "ok, thanks"), _turn(1, "and so it was, because you are what you are and we were there")]

    benchmark = own.load(turns, n=5)

    assert benchmark.queries == ()
    assert benchmark.dropped.counts == {
        "turn not asked for: few words of content": 2,
        "question that no turn was left for": 5,
    }


def test_what_search_leaves_out_is_neither_asked_for_nor_a_document() -> None:
    turns = [_turn(0, TALK[0]), Turn("hidden", "c", "s", 1, Role.TOOL, "tool", TALK[1], recalled=False)]

    benchmark = own.load(turns, n=2)

    assert [document.doc_id for document in benchmark.documents] == ["t0"]
    assert len(benchmark.queries) == 1
    assert benchmark.dropped.counts["turn that search leaves out"] == 1


def test_words_outside_what_is_indexed_are_not_asked_for() -> None:
    text = f"{TALK[0]} ->-> generator marks never spoken by anybody at all"
    turn = Turn("t1", "c", "s", 0, Role.USER, "Ada", text, indexed=Span(0, len(TALK[0])))

    for seed in range(20):
        (query,) = own.load([turn], n=1, seed=seed).queries
        assert "spoken" not in query.text


def test_words_that_another_turn_has_too_are_not_asked_for() -> None:
    turns = [_turn(0, TALK[0]), _turn(1, TALK[0].upper(), conversation="d"), _turn(2, TALK[1])]

    benchmark = own.load(turns, n=3)

    assert {turn_id for graded in benchmark.qrels.values() for turn_id in graded} == {"t2"}
    assert benchmark.dropped.counts["turn not asked for: another turn has its words"] == 2


def test_conversations_take_turns_in_being_asked_about() -> None:
    long_talk = [_turn(n, text, conversation="long") for n, text in enumerate(TALK[2:])]
    turns = [*long_talk, *(_turn(10 + n, text, conversation="short") for n, text in enumerate(TALK[:2]))]

    benchmark = own.load(turns, n=5)

    asked = [query.conversation_id for query in benchmark.queries]
    assert asked in (["long", "short", "long", "short", "long"], ["short", "long", "short", "long", "long"])


def test_a_file_of_questions_is_asked_beside_them(made_lines: MadeLines) -> None:
    path = made_lines(
        "mine.jsonl",
        [
            {"query": "Which deck are we on?", "turn_ids": ["t0"]},
            {"query": "What about the trees and the train?", "turn_ids": ["t5", "t6", "t99"], "category": "both"},
            {"query": "What is the dog called?", "turn_ids": []},
            {"query": "Which gate?", "turn_ids": ["t98"]},
        ],
    )

    benchmark = own.load(_turns(), n=2, questions=path)

    assert [query.query_id for query in benchmark.queries[2:]] == ["q1", "q2", "q3"]
    assert benchmark.qrels["q2"] == {"t5": 1, "t6": 1}
    assert [query.query_id for query in benchmark.unanswerable()] == ["q3"]
    assert benchmark.denominators == {"exact words": 1, "half-remembered": 1, "written by hand": 2, "both": 1}
    assert benchmark.dropped.counts["evidence id of no turn"] == 2
    assert benchmark.dropped.counts["question without evidence"] == 1


def test_it_is_said_how_questions_were_made_and_whom_they_favour(made: Made) -> None:
    by_words = own.load(_turns(), n=4)
    path = made("mine.tsv", "Which deck are we on?\tt0\n")

    assert by_words.made == {"exact words": EXACT_RULE, "half-remembered": HALF_REMEMBERED_RULE}
    assert "favours retrieval by words" in by_words.caution
    assert own.load(_turns(), n=4, questions=path).caution == ""
    assert own.load(_turns(), n=0, questions=path).made == {}
    assert own.load(_turns(), n=6, paraphraser=Backwards()).made["paraphrased"] == "asked for by backwards"


def test_only_a_file_of_questions_may_be_asked(made: Made) -> None:
    path = made("mine.tsv", "Which deck are we on?\tt0\nWhat about the trees?\tt6, t5\n")

    benchmark = own.load(_turns(), n=0, questions=path)

    assert benchmark.qrels == {"q1": {"t0": 1}, "q2": {"t6": 1, "t5": 1}}
    assert benchmark.denominators == {"written by hand": 2}


def test_the_sha256_is_of_the_turns_and_of_the_file(made: Made) -> None:
    path = made("mine.tsv", "Which deck are we on?\tt0\n")
    alone = own.load(_turns(), n=0)

    assert own.load(_turns(), n=3).sha256 == alone.sha256
    assert own.load(_turns(), n=0, questions=path).sha256 != alone.sha256
    assert own.load(_turns()[:-1], n=0).sha256 != alone.sha256


def test_a_paraphraser_gets_a_third_of_the_questions() -> None:
    benchmark = own.load(_turns(), n=6, paraphraser=Backwards())

    assert Counter(query.category for query in benchmark.queries) == {
        "exact words": 2,
        "half-remembered": 2,
        "paraphrased": 2,
    }
    (query,) = (query for query in benchmark.queries if query.query_id == "paraphrased-0003")
    (turn_id,) = benchmark.qrels[query.query_id]
    assert query.text == " ".join(reversed(TALK[int(turn_id[1:])].split()))


def test_a_paraphraser_that_says_nothing_is_counted() -> None:
    benchmark = own.load([_turn(0, TALK[0]), _turn(1, TALK[1]), _turn(2, TALK[2])], n=3, paraphraser=Silent())

    assert len(benchmark.queries) == 2
    assert benchmark.dropped.counts == {
        "turn not asked for: no paraphrased of it": 1,
        "question that no turn was left for": 1,
    }


def test_turns_in_other_languages_are_asked_for_in_their_words() -> None:
    turns = [
        _turn(0, "Mormor vill ha den gröna resväskan och inte den bruna med det trasiga handtaget."),
        _turn(1, "我们明天早上七点从上海坐火车去北京看望外婆和她的小猫。"),
    ]

    benchmark = own.load(turns, n=2, languages=("sv", "zh"))

    for query in benchmark.queries:
        (turn_id,) = benchmark.qrels[query.query_id]
        if query.category == "exact words":
            assert query.text in turns[int(turn_id[1:])].text
    assert len(benchmark.queries) == 2


def test_a_negative_number_of_questions_is_refused() -> None:
    with pytest.raises(SettingsError, match="n=-1 questions can't be made; give 0 or more"):
        own.load(_turns(), n=-1)


def test_a_missing_file_of_questions_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImportFormatError, match=r"mine\.jsonl: can't be read"):
        own.load(_turns(), questions=tmp_path / "mine.jsonl")


class Backwards:
    """A paraphraser without a model: the same words the other way round."""

    name = "backwards"

    def question_for(self, passage: str) -> str:
        return " ".join(reversed(passage.split()))


class Silent:
    """A paraphraser that has nothing to say."""

    name = "silent"

    def question_for(self, passage: str) -> str:
        return ""


def _turns() -> list[Turn]:
    return [_turn(number, text) for number, text in enumerate(TALK)]


def _turn(number: int, text: str, *, conversation: str = "c") -> Turn:
    return Turn(f"t{number}", conversation, f"{conversation}/s", number, Role.USER, "Ada", text)


def _asked(benchmark: Benchmark) -> list[str]:
    return [query.text for query in benchmark.queries]
