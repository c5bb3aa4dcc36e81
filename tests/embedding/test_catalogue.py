"""An embedder is named by a short spec, and a wrong one is answered with the right ones."""

from __future__ import annotations

import pytest

from memory_rag.embedding.catalogue import offer_for, open_embedder
from memory_rag.embedding.minilm import MiniLmEmbedder
from memory_rag.embedding.openai import OpenAIEmbedder
from memory_rag.errors import EmbedderError


def test_minilm_and_openai_are_opened_by_name() -> None:
    hosted = open_embedder("openai:text-embedding-3-small", api_key="k", dimensions=256)

    assert isinstance(open_embedder("minilm", threads=1), MiniLmEmbedder)
    assert isinstance(hosted, OpenAIEmbedder)
    assert (hosted.dim, hosted.fingerprint) == (256, "openai:text-embedding-3-small:256:p192-24:speaker")


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "mini",
        "MiniLM",
        "none",
        "minilm:",
        "minilm:x",
        "e5:small",
        "openai",
        "openai:",
        "sentence-transformers: ",
    ],
)
def test_an_unknown_spec_lists_what_is_allowed(spec: str) -> None:
    with pytest.raises(EmbedderError) as refused:
        open_embedder(spec)

    assert str(refused.value) == (
        f"unknown embedder {spec!r}; an embedder is one of: "
        "minilm, e5, sentence-transformers:<name or path>, openai:<model>"
    )


@pytest.mark.parametrize("languages", [("English",), ()])
def test_nothing_is_offered_for_english_or_for_nothing_yet(languages: tuple[str, ...]) -> None:
    assert offer_for(languages, spec="minilm") == ""


def test_of_languages_that_minilm_does_not_read_each_is_named() -> None:
    assert "little Norwegian and German;" in offer_for(("Norwegian", "English", "German"), spec="minilm")
    for spec in ("e5", "none", "openai:some-model", "sentence-transformers:minilm"):
        assert offer_for(("Norwegian", "English", "German"), spec=spec) == ""
