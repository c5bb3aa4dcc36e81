"""The default embedder: meaning in English, every word counted, any text taken, and no thread left behind."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import weakref
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_rag.embedding.minilm import MAX_TOKENS, MiniLmEmbedder
from memory_rag.embedding.minilm_network import MODEL_PATH_VARIABLE
from memory_rag.embedding.passages import PassageShape
from memory_rag.errors import EmbedderError
from memory_rag.turns import Span

COSINES_IN_FP32 = [0.7035, 0.1956, 0.1495]
"""What sentence-transformers gives for the pairs below with the weights as they were released."""


def test_the_turn_that_answers_is_nearer_than_the_others(minilm: MiniLmEmbedder) -> None:
    turns = minilm.embed_turns(["We adopted a kitten.", "The invoice is due on Friday.", "It rained all weekend."])
    query = minilm.embed_queries(["Do they have a pet?"])[0]

    assert int((turns @ query).argmax()) == 0


@pytest.mark.usefixtures("no_sockets")
def test_nothing_is_downloaded() -> None:
    assert MiniLmEmbedder().embed_queries(["tea"]).shape == (1, 384)


def test_vectors_are_those_of_the_model_as_it_was_released(minilm: MiniLmEmbedder) -> None:
    left = minilm.embed_turns(["A man is eating food.", "A man is eating food.", "Vi ses på mötet i Malmö"])
    right = minilm.embed_turns(["A man is eating pasta.", "A cheetah chases its prey.", "See you at the meeting"])

    assert (left * right).sum(axis=1).tolist() == pytest.approx(COSINES_IN_FP32, abs=0.02)


def test_the_last_of_four_hundred_words_counts(minilm: MiniLmEmbedder) -> None:
    text = " ".join(f"word{number}" for number in range(399))
    one, other = f"{text} violin", f"{text} glacier"

    spans = minilm.passages(one)
    vectors = [minilm.embed_turns([span.of(text) for span in minilm.passages(text)]) for text in (one, other)]

    assert spans[-1].of(one).endswith("violin")
    assert len(vectors[0]) == len(vectors[1]) == len(spans) > 3
    assert float(vectors[0][-1] @ vectors[1][-1]) < 0.99


def test_a_text_longer_than_the_model_reads_is_refused_and_never_cut(minilm: MiniLmEmbedder) -> None:
    assert minilm.embed_turns(["tea " * 254]).shape == (1, 384)
    with pytest.raises(
        EmbedderError,
        match=rf"^text 2 of 2, 'tea tea .* has 257 tokens, but minilm reads at most {MAX_TOKENS}",
    ):
        minilm.embed_turns(["tea", "tea " * 255])


def test_a_question_longer_than_the_model_reads_is_the_mean_of_its_passages(minilm: MiniLmEmbedder) -> None:
    question = " ".join(f"word{number}" for number in range(400))

    parts = minilm.embed_turns([span.of(question) for span in minilm.passages(question)])
    mean = parts.mean(axis=0)

    assert np.allclose(minilm.embed_queries([question])[0], mean / np.linalg.norm(mean), atol=1e-5)


@pytest.mark.parametrize(
    ("question", "n_passages"),
    [("", 1), ("What did I say about tea?", 1), ("\ud83d\ude00 tea", 1), ("tea " * 126, 1), ("tea " * 127, 2)],
)
def test_a_question_of_one_passage_has_the_very_vector_of_its_text(
    minilm: MiniLmEmbedder, question: str, n_passages: int
) -> None:
    alone = minilm.embed_queries([question])

    assert len(minilm.passages(question)) == n_passages
    assert (alone.tobytes() == minilm.embed_turns([question]).tobytes()) is (n_passages == 1)
    assert (minilm.embed_queries([question, "tea " * 400, question])[[0, 2]] == alone).all()


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\0", "\ud800", "\ude00\ud83d", "😀", "\u0301", "ﷺ", "日本" * 20])
def test_every_text_has_a_vector(minilm: MiniLmEmbedder, text: str) -> None:
    assert minilm.passages(text) == (Span(0, len(text)),)
    assert np.isfinite(minilm.embed_turns([text])).all()


def test_two_surrogates_of_a_pair_mean_what_their_character_means(minilm: MiniLmEmbedder) -> None:
    one, other = minilm.embed_turns(["I love 日\U0002000b", "I love 日\ud840\udc0b"])

    assert np.array_equal(one, other)


@settings(max_examples=30)
@given(
    st.lists(
        st.sampled_from(
            [
                "tea ",
                "Donau",
                "dampf" * 30,
                "😀",
                "\ud83d\ude00",
                "\0",
                "東京",
                "e\u0301",
                ". ",
                "\n",
                "x" * 333,
            ]
        ),
        max_size=60,
    ).map("".join)
)
def test_every_passage_of_any_text_is_one_that_the_model_reads(minilm: MiniLmEmbedder, text: str) -> None:
    spans = minilm.passages(text)
    held = {place for span in spans for place in range(span.start, span.end)}

    assert minilm.embed_turns([span.of(text) for span in spans]).shape == (len(spans), 384)
    assert [place for place in range(len(text)) if place not in held and not text[place].isspace()] == []


def test_a_text_that_comes_twice_is_embedded_once_and_gives_two_equal_rows(minilm: MiniLmEmbedder) -> None:
    rows = minilm.embed_turns(["ok"] * 20_000)

    assert rows.shape == (20_000, 384)
    assert (rows == rows[0]).all()


@pytest.mark.parametrize("unit", ["a1-", "a1", "日本"])
def test_a_long_text_without_a_space_becomes_passages(minilm: MiniLmEmbedder, unit: str) -> None:
    text = unit * 50_000

    spans = minilm.passages(text)

    assert (spans[0].start, spans[-1].end) == (0, len(text))
    assert all(one.end >= following.start for one, following in pairwise(spans))


@pytest.mark.slow
def test_ten_megabytes_become_passages_in_little_memory(minilm: MiniLmEmbedder) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    spans = minilm.passages("nothing is lost, " * 600_000)

    assert len(spans) > 20_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 600_000


def test_a_text_beside_others_has_the_very_vector_that_it_has_alone(minilm: MiniLmEmbedder) -> None:
    texts = ["tea and milk, please", "x" * 300 + "!?" * 50, "What did I say about tea?", "tea " * 200]

    together = minilm.embed_turns(texts)

    assert [minilm.embed_turns([text]).tobytes() for text in texts] == [row.tobytes() for row in together]


def test_the_fingerprint_names_the_weights_and_the_passages() -> None:
    assert MiniLmEmbedder().fingerprint == "minilm-int8:384:8199be6f699a-203d9f13:p126-16"
    assert MiniLmEmbedder(shape=PassageShape(200, 20)).fingerprint == "minilm-int8:384:8199be6f699a-203d9f13:p200-20"


def test_another_model_file_has_another_fingerprint_and_is_not_checked_against_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "model.onnx"
    other.write_bytes(b"not a model")
    monkeypatch.setenv(MODEL_PATH_VARIABLE, str(other))
    embedder = MiniLmEmbedder()

    assert embedder.fingerprint == "minilm-int8:384:708811ccb151:p126-16"
    with pytest.raises(EmbedderError, match=r"ONNX Runtime can't load .*model\.onnx"):
        embedder.embed_turns(["tea"])


def test_a_model_file_that_is_not_there_is_named_with_its_variable(tmp_path: Path) -> None:
    embedder = MiniLmEmbedder(model_path=tmp_path / "none.onnx")

    for use in (lambda: embedder.embed_turns(["tea"]), lambda: embedder.fingerprint):
        with pytest.raises(EmbedderError, match=rf"no model file .*none\.onnx; {MODEL_PATH_VARIABLE} names an ONNX"):
            use()


def test_a_model_leaves_memory_with_its_embedder() -> None:
    embedder = MiniLmEmbedder()
    embedder.load_ahead()
    embedder.embed_turns(["tea"])
    kept = weakref.ref(embedder)
    gc.disable()

    try:
        del embedder
        assert kept() is None
    finally:
        gc.enable()


FORKED = """
import os, sys, warnings
from memory_rag.embedding.minilm import MiniLmEmbedder
warnings.simplefilter("ignore", DeprecationWarning)
embedder = MiniLmEmbedder(threads=2)
texts = [f"turn number {n} is about tea" for n in range(100)]
before = embedder.embed_turns(texts)
child = os.fork()
if not child:
    os._exit(0 if (embedder.embed_turns(texts) == before).all() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_a_forked_process_goes_on_with_the_model_of_its_parent() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, encoding="utf-8", timeout=120, check=False
    )

    assert (done.stdout.strip(), done.stderr) == ("0", "")
