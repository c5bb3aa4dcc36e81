"""What a model thinks aloud is told from its answer."""

from __future__ import annotations

import pytest

from memory_rag.text.thoughts import without_thoughts


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("<think>Let me see.</think>\n\nFour.", "\n\nFour."),
        (" <thinking>a\nb</thinking>Four.", "Four."),
        ("Let me see.</think>Four.", "Four."),
        ("<think>a</think> <think>b</think> Four.", " Four."),
        ("<think>not ended", "<think>not ended"),
        ("<think>nothing else</think>\n", "<think>nothing else</think>\n"),
        ("Write <think>a</think> before it.", "Write <think>a</think> before it."),
        ("<think>a</think>Close it with </think> then.", "Close it with </think> then."),
        ("Four.", "Four."),
        ("", ""),
    ],
)
def test_an_answer_is_what_comes_after_the_thoughts(answer: str, left: str) -> None:
    assert without_thoughts(answer) == left
