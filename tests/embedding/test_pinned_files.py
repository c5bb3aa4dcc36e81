"""A model file is used only if it is the one that was tested."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from memory_rag.embedding.pinned_files import check_sha256, sha256_of
from memory_rag.errors import EmbedderError


def test_the_file_that_was_pinned_passes_and_another_names_both_hashes_and_a_cure(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(b"weights")
    pinned = hashlib.sha256(b"weights").hexdigest()

    check_sha256(file, pinned, cure="install it again")
    file.write_bytes(b"Weights")

    with pytest.raises(EmbedderError) as refused:
        check_sha256(file, pinned, cure="install it again")
    found = hashlib.sha256(b"Weights").hexdigest()
    assert str(refused.value) == (
        f"{file} has SHA-256 {found}, but {pinned} is the file that was tested; install it again"
    )


def test_a_file_that_is_not_there_is_an_embedder_error(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match=r"none\.onnx can't be read: No such file"):
        sha256_of(tmp_path / "none.onnx")
