"""The network that is shipped: what its maker makes of the package's weights, and true to them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from memory_rag.embedding import minilm_network
from memory_rag.embedding.generic_questions import ENGLISH
from memory_rag.embedding.minilm import OWN_TOKENS, MiniLmEmbedder
from memory_rag.embedding.minilm_graph import Factors, Network, PackagedWeights, factors_of, files
from memory_rag.embedding.minilm_network import (
    GRAPH_FILE,
    GRAPH_SHA256,
    PROBE_FILE,
    PROBE_SHA256,
    SIGNED_FILE,
    SIGNED_SHA256,
    MiniLmNetwork,
    multiplies_exactly,
    packaged_model,
)
from memory_rag.embedding.wordpiece import FIRST, LAST, WordPiece
from memory_rag.errors import EmbedderError

OUTLYING = "inner.encoder.layer.1.intermediate.dense"
TEXTS = [
    "What did I say about tea?",
    "We adopted a kitten in March, and she sleeps on the radiator.",
    "def total(rows):\n    return sum(row.price for row in rows)  # 25 % VAT",
    "Vi ses på mötet i Malmö",
    "no " * 120,
]


@pytest.fixture(scope="module")
def weights() -> PackagedWeights:
    return PackagedWeights(packaged_model())


@pytest.fixture(scope="module")
def shipped() -> Factors:
    tensors = onnx.load_from_string(GRAPH_FILE.read_bytes()).graph.initializer
    ending = ".factors"
    return {
        one.name.removesuffix(ending): np.asarray(numpy_helper.to_array(one), np.float32)
        for one in tensors
        if one.name.endswith(ending)
    }


@pytest.fixture(scope="module")
def renamed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package's model under another name, so that it is run with its own network."""
    path = tmp_path_factory.mktemp("model") / "as-packaged.onnx"
    path.write_bytes(packaged_model().read_bytes())
    return path


def test_the_packages_file_reached_by_another_way_is_the_same_model(minilm: MiniLmEmbedder, renamed: Path) -> None:
    link = renamed.with_name("model.onnx")
    link.symlink_to(packaged_model())
    elsewhere = MiniLmEmbedder(model_path=link)

    assert elsewhere.fingerprint == minilm.fingerprint != MiniLmEmbedder(model_path=renamed).fingerprint
    assert (elsewhere.embed_turns(TEXTS) == minilm.embed_turns(TEXTS)).all()


def test_the_files_are_what_their_maker_writes_for_the_factors_in_them(
    weights: PackagedWeights, shipped: Factors
) -> None:
    made = files(weights, shipped)

    digests = {GRAPH_FILE: GRAPH_SHA256, SIGNED_FILE: SIGNED_SHA256, PROBE_FILE: PROBE_SHA256}
    assert {path: hashlib.sha256(content).hexdigest() for path, content in made.items()} == digests
    assert {path: path.read_bytes() for path in made} == made


@pytest.mark.parametrize("file", [GRAPH_FILE, SIGNED_FILE])
def test_they_hold_no_weights_of_their_own(file: Path, shipped: Factors) -> None:
    own = [one for one in onnx.load_from_string(file.read_bytes()).graph.initializer if one.raw_data]

    assert len(shipped) == 21
    assert max(int(np.prod(one.dims)) for one in own) == 1536
    assert len(file.read_bytes()) < 200_000


def test_where_signed_weights_lose_nothing_they_give_the_vectors_of_unsigned_ones_to_the_last_bit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken = MiniLmNetwork.of(None)
    monkeypatch.setattr(minilm_network, "multiplies_exactly", lambda: False)
    unsigned = MiniLmNetwork.of(None)

    for text in (*TEXTS, *ENGLISH, "z" * 400, ""):
        tokens = WordPiece().ids(text)[:OWN_TOKENS]
        assert np.array_equal(taken.run(tokens), unsigned.run(tokens))


def test_a_processor_that_loses_products_takes_unsigned_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """As AVX2 does: two products are added up in 16 bits."""

    class Saturating:
        def run(self, _names: None, given: dict[str, np.ndarray]) -> list[np.ndarray]:
            pairs = given["values"].shape[-1] // 2
            return [np.full(given["values"].shape, pairs * 32767 / 255, np.float32)]

    taken: list[Path] = []
    load = minilm_network._shipped

    def shipped(graph: Path, digest: str, *, folder: Path) -> object:
        taken.append(graph)
        return Saturating() if graph == PROBE_FILE else load(graph, digest, folder=folder)

    monkeypatch.setattr(minilm_network, "_shipped", shipped)
    monkeypatch.setattr(minilm_network, "multiplies_exactly", multiplies_exactly.__wrapped__)

    MiniLmNetwork.of(None)

    assert taken == [PROBE_FILE, GRAPH_FILE]


def test_vectors_are_nearly_those_of_the_packages_own_network(minilm: MiniLmEmbedder, renamed: Path) -> None:
    as_packaged = MiniLmEmbedder(model_path=renamed).embed_turns(TEXTS)

    assert (minilm.embed_turns(TEXTS) * as_packaged).sum(axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=0.004)


def test_in_floats_the_network_is_the_packages_own_and_shows_what_goes_into_each_layer(
    weights: PackagedWeights, renamed: Path
) -> None:
    network = Network(weights)
    folder = packaged_model().parent
    ids = np.array([[FIRST, *WordPiece().ids(TEXTS[1]), LAST]])

    states, *given = minilm_network.session_of(network.model().SerializeToString(), folder=folder).run(
        None, {"input_ids": ids}
    )
    mean = MiniLmNetwork.of(renamed).run(WordPiece().ids(TEXTS[1]))

    assert states[0].mean(axis=0) == pytest.approx(mean, abs=1e-5)
    assert [one.shape[-1] for one in given] == [384, 384, 384] * 3 + [384, 384, 384, 1536] * 3


def test_a_channel_with_large_numbers_is_divided_by_more(weights: PackagedWeights, shipped: Factors) -> None:
    tokens = [[FIRST, *WordPiece().ids(text), LAST] for text in TEXTS]

    found = factors_of(weights, folder=packaged_model().parent, texts=tokens)

    assert found.keys() == shipped.keys()
    for layer, factors in found.items():
        assert np.log(factors).mean() == pytest.approx(0, abs=1e-5)
        assert layer != OUTLYING or factors.argmax() == shipped[layer].argmax()
    assert found[OUTLYING].max() > 3


@pytest.mark.parametrize("is_exact", [True, False])
def test_a_network_that_was_changed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_exact: bool) -> None:
    name, whole = ("SIGNED_FILE", SIGNED_FILE) if is_exact else ("GRAPH_FILE", GRAPH_FILE)
    (other := tmp_path / whole.name).write_bytes(whole.read_bytes()[:-1])
    monkeypatch.setattr(minilm_network, name, other)
    monkeypatch.setattr(minilm_network, "multiplies_exactly", lambda: is_exact)

    with pytest.raises(EmbedderError, match=rf"{other.name} has SHA-256 .* install memory-rag again"):
        MiniLmEmbedder().embed_turns(["tea"])
