"""A turn's text as it may leave the memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.turns import printable


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("plain\nwords", "plain\nwords"),
        ("a\0b", "a\ufffdb"),
        ("å\0 😀", "å\ufffd 😀"),
        ("\ud800 lone \udc00", "\ufffd lone \ufffd"),
        ("\ud83d\ude00", "😀"),
    ],
)
def test_what_no_terminal_takes_is_replaced(stored: str, shown: str) -> None:
    assert printable(stored) == shown


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_can_be_written_as_utf_8_and_stays_so(text: str) -> None:
    shown = printable(text)

    assert "\0" not in shown
    assert shown.encode().decode() == shown == printable(shown)
