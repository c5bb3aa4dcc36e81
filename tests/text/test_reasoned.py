"""A decision reads as one line with its reason, however the two end."""

from __future__ import annotations

import pytest

from memory_rag.text.reasoned import with_reason


@pytest.mark.parametrize(
    ("text", "because", "told"),
    [
        ("One price", "two confuse people", "One price, because two confuse people"),
        ("One price.", "Two confuse people.", "One price. Because: Two confuse people."),
        ("Why not?", "it rains", "Why not? Because: it rains"),
        ("One\nprice", "Because two\nconfuse people", "One price, because two confuse people"),
        ("One price", "because", "One price, because because"),
    ],
)
def test_a_decision_and_its_reason_are_told_as_one_line(text: str, because: str, told: str) -> None:
    assert with_reason(text, because) == told
