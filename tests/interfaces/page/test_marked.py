"""What a list shows of a text."""

from __future__ import annotations

from memory_rag.interfaces.page.marked import first_words


def test_first_words_are_one_line_cut_between_words() -> None:
    assert first_words("a\n b  c") == "a b c"
    assert first_words("word " * 100, most=12) == "word word …"
