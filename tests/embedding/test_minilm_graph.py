"""The network that is shipped: what its maker makes of the package's weights, and true to them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from memory_rag.embedding import minilm_network
from memory_rag.embedding.minilm import MiniLmEmbedder
from memory_rag.embedding.minilm_graph import Factors, Network, PackagedWeights, factors_of
from memory_rag.embedding.minilm_network import GRAPH_FILE, GRAPH_SHA256, MiniLmNetwork, packaged_model
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


def test_the_file_is_what_its_maker_writes_for_the_factors_in_it(weights: PackagedWeights, shipped: Factors) -> None:
    made: bytes = Network(weights, shipped).model().SerializeToString(deterministic=True)

    assert hashlib.sha256(made).hexdigest() == GRAPH_SHA256
    assert hashlib.sha256(GRAPH_FILE.read_bytes()).hexdigest() == GRAPH_SHA256


def test_it_holds_no_weights_of_its_own(shipped: Factors) -> None:
    own = [one for one in onnx.load_from_string(GRAPH_FILE.read_bytes()).graph.initializer if one.raw_data]

    assert len(shipped) == 21
    assert max(int(np.prod(one.dims)) for one in own) == 1536
    assert len(GRAPH_FILE.read_bytes()) < 200_000


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


@pytest.fixture
def another_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    other = tmp_path / "minilm.onnx"
    other.write_bytes(GRAPH_FILE.read_bytes()[:-1])
    monkeypatch.setattr(minilm_network, "GRAPH_FILE", other)
    return other


def test_a_network_that_was_changed_is_refused(another_graph: Path) -> None:
    with pytest.raises(EmbedderError, match=rf"{another_graph.name} has SHA-256 .* install memory-rag again"):
        MiniLmEmbedder().embed_turns(["tea"])
