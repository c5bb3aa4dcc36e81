"""A new subject is heard where two talks were joined, and not in the midst of one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.embedding.minilm import MiniLmEmbedder
from memory_rag.errors import EmbedderError
from memory_rag.summaries.opening import MeaningVectors
from memory_rag.summaries.triggers import Triggers, Vectors, new_subjects, safe_cut, term_vectors, what_is_due
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Block, Role, Turn
from tests.prompt.conversations import STEPS, Step
from tests.prompt.made_turns import turns_of

Talk = Callable[..., list[Turn]]

GARDEN = (
    "I want to plant roses along the garden wall this spring.",
    "Roses need six hours of sun and well drained soil.",
    "The soil in my garden is heavy clay, will that do for roses?",
    "Mix compost into the clay before you plant the roses.",
    "How often should I water the young plants?",
    "Water them deeply twice a week in the first summer.",
)
MONEY = (
    "My bank raised the interest rate on our mortgage again.",
    "You could ask the bank for a fixed rate for five years.",
    "What would a fixed rate cost us every month?",
    "At four percent the loan costs about nine hundred a month.",
    "We could pay off a part of the loan with our savings.",
    "Keep three months of salary in savings before you pay off the loan.",
)


def test_the_joint_of_two_talks_is_a_new_subject(talk: Talk) -> None:
    embedder = MiniLmEmbedder()
    vectors_of = MeaningVectors(lambda: embedder, analyzer=lambda: Analyzer(("en",)))
    turns = talk(*(("Ebba", text) for text in (*GARDEN, *MONEY)))

    assert new_subjects(turns, vectors_of=vectors_of, least=0.7) == [6]
    assert new_subjects(talk(*(("Ebba", text) for text in GARDEN * 2)), vectors_of=vectors_of, least=0.7) == []


def test_an_embedder_that_cannot_be_loaded_leaves_the_terms(talk: Talk) -> None:
    def fails() -> MiniLmEmbedder:
        raise EmbedderError("no model here")

    analyzer = Analyzer(("en",))
    given = MeaningVectors(fails, analyzer=lambda: analyzer)(["red roses", "red walls"])

    assert np.array_equal(given, term_vectors(analyzer)(["red roses", "red walls"]))


def test_no_subject_is_looked_for_where_too_little_was_said(talk: Talk) -> None:
    def never(texts: object) -> Vectors:
        raise AssertionError("too short to tell")

    assert new_subjects(talk(*(("Ebba", text) for text in GARDEN)), vectors_of=never, least=0.1) == []


def test_nothing_is_due_within_the_newest_turns(talk: Talk) -> None:
    turns = talk(*(("Ebba", "word " * 9_000) for _ in range(4)))

    assert what_is_due(turns, Triggers(tokens=1, turns=1, keep_recent=4)) is None


@pytest.mark.parametrize(("at", "expected"), [(0, 0), (1, 1), (2, 1), (3, 1), (4, 4), (5, 5), (9, 5), (-3, 0)])
def test_a_cut_falls_only_where_no_result_follows_its_call(at: int, expected: int) -> None:
    roles = (Role.USER, Role.ASSISTANT, Role.TOOL, Role.USER, Role.ASSISTANT)
    blocks = ((), (), (), (Block("tool_result"),), ())
    turns = [
        Turn(f"t{n}", "c", "s", n, role, "x", "text", blocks=own)
        for n, (role, own) in enumerate(zip(roles, blocks, strict=True))
    ]

    assert safe_cut(turns, at) == expected


@given(STEPS, st.sampled_from(["openai_chat", "anthropic", "responses"]))
def test_no_cut_leaves_a_result_behind_its_call(steps: list[Step], shape: str) -> None:
    turns = turns_of(steps, shape=shape)

    def keys(some: list[Turn], kind: str) -> set[str]:
        names = ("call_id", "id") if kind == "tool_call" else ("tool_use_id", "tool_call_id", "call_id")
        blocks = [block.data for turn in some for block in turn.blocks if block.kind == kind]
        return {str(next(data[name] for name in names if name in data)) for data in blocks}

    for at in range(len(turns) + 1):
        cut = safe_cut(turns, at)

        assert cut <= at
        assert not keys(turns[:cut], "tool_call") & keys(turns[cut:], "tool_result")
        for place in range(cut + 1, at + 1):
            # It is the last such place: every later one parts something.
            parted = keys(turns[:place], "tool_call") & keys(turns[place:], "tool_result")
            assert parted or (place < len(turns) and turns[place].role is Role.TOOL)
