"""Whatever a text holds, a place in what the tokenizer reads leads back to the place in the stored text."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from memory_rag.embedding.readable import LONGEST_WORD, PIECE, Readable, pieces, spaced
from memory_rag.turns import Span, printable

any_text = st.text(alphabet=st.one_of(st.characters(), st.sampled_from("\ud83d\ude00\0\ufeff ")), max_size=60)


@given(any_text)
@example("\ud83d\ude00a")
@example("\ude00\ud83d\ud83d\ude00\0")
@example("\ufeff\ud800")
def test_every_readable_character_leads_back_to_its_own_code_points(stored: str) -> None:
    readable = Readable.of(stored)
    spans = [readable.stored_span(Span(place, place + 1)) for place in range(len(readable.text))]

    assert "".join(printable(span.of(stored)) for span in spans) == readable.text
    assert [span.start for span in spans[1:]] == [span.end for span in spans[:-1]]
    assert readable.stored_span(Span(0, len(readable.text))) == Span(0, len(stored))


def test_two_surrogates_of_a_pair_are_read_as_one_character() -> None:
    readable = Readable.of("a\ud83d\ude00b\ud83d")

    assert readable.text == "a😀b\ufffd"
    assert readable.stored_span(Span(1, 2)) == Span(1, 3)
    assert readable.stored_span(Span(2, 4)) == Span(3, 5)


@given(st.text(alphabet="aå.東\u0301 \n", max_size=5).map(lambda unit: unit * 8000))
def test_pieces_follow_each_other_without_a_gap(text: str) -> None:
    spans = list(pieces(text))

    assert "".join(span.of(text) for span in spans) == text
    assert all(span.end - span.start <= PIECE + LONGEST_WORD + 1 for span in spans)


def test_words_are_cut_only_when_they_are_longer_than_a_word() -> None:
    assert list(pieces("a" * 100)) == [Span(0, 100)]
    assert list(pieces("b " + "a" * 101)) == [
        Span(0, 2),
        Span(2, 34),
        Span(34, 66),
        Span(66, 98),
        Span(98, 103),
    ]
    assert spaced("b " + "a" * 100) == "b " + "a" * 100
    assert spaced("b " + "a" * 101) == "b " + " ".join(["a" * 32] * 3 + ["a" * 5])
