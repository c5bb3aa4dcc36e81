"""A talk as few long texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import EmbedderError
from memory_rag.talks.windows import Side, Window, embedded, windows_of
from memory_rag.turns import Role, Turn
from tests.retrieval.given_vectors import GivenVectors

LONGEST = 90


class Short(GivenVectors):
    """Reads thirty tokens, for which ninety code points are taken."""

    max_tokens = LONGEST // 3


class Strict(Short):
    """Refuses what is longer than forty code points; its passages are not."""

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        if any(len(text) > 40 for text in texts):
            raise EmbedderError("too long")
        return super().embed_turns(texts)


def said(*texts: str, roles: str = "") -> list[tuple[int, Turn]]:
    by = {"u": Role.USER, "a": Role.ASSISTANT}
    return [
        (row, Turn(f"t{row}", "talk", "day", row, by[(roles or "ua" * len(texts))[row - 1]], "x", text))
        for row, text in enumerate(texts, start=1)
    ]


def test_turns_are_joined_as_long_as_the_model_reads_them_at_once() -> None:
    windows = windows_of(said("a" * 40, "b" * 40, "c" * 40), embedder=Short({}))

    assert [(one.side, one.place, one.first_row, one.last_row, one.text) for one in windows] == [
        (Side.ALL, 0, 1, 2, "a" * 40 + "\n" + "b" * 40),
        (Side.ALL, 1, 3, 3, "c" * 40),
        (Side.USER, 0, 1, 3, "a" * 40 + "\n" + "c" * 40),
    ]


def test_where_the_user_spoke_every_turn_nothing_is_embedded_twice() -> None:
    assert [one.side for one in windows_of(said("one", "two", roles="uu"), embedder=Short({}))] == [Side.ALL]


def test_of_a_long_turn_the_beginning_counts_up_to_a_word_s_end() -> None:
    (window,) = windows_of(said("word " * 40, roles="u"), embedder=Short({}))

    assert window.text == "word word word word word word word word word"


def test_a_talk_without_turns_has_no_window() -> None:
    assert windows_of([], embedder=Short({})) == []


@given(st.lists(st.text(max_size=60), max_size=12), st.integers(0, 12))
def test_turns_that_are_said_later_leave_all_windows_but_the_last(texts: list[str], cut: int) -> None:
    before = windows_of(said(*texts[:cut], roles="u" * 12), embedder=Short({}))
    after = windows_of(said(*texts, roles="u" * 12), embedder=Short({}))

    assert after[: max(0, len(before) - 1)] == before[:-1]
    assert [one.n_turns for one in after] == [one.last_row - one.first_row + 1 for one in after]
    assert sum(one.n_turns for one in after) == len(texts)


def test_a_text_that_is_too_long_after_all_has_a_vector_of_each_passage() -> None:
    embedder = Strict({"x" * 30: [1.0, 0.0], "x" * 20: [0.6, 0.8]}, passage=30)
    windows = [Window(Side.ALL, 0, 1, 1, 1, "x" * 50), Window(Side.ALL, 1, 2, 2, 1, "short")]

    long, short = embedded(windows, embedder=embedder)

    np.testing.assert_allclose(long, [[1.0, 0.0], [0.6, 0.8]])
    np.testing.assert_allclose(short, [[0.0, 1.0]])
