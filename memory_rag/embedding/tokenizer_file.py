"""A model's ``tokenizer.json``, opened so that it neither cuts nor pads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memory_rag.errors import EmbedderError

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def open_tokenizer(path: Path) -> Tokenizer:
    """Return the tokenizer of a file; what the file says of truncation and padding is switched off.

    Raises:
        EmbedderError: the file isn't there, or is none that the ``tokenizers`` package reads.
    """
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        # The package raises a bare Exception, whatever went wrong.
        raise EmbedderError(
            f"{path} can't be read as a tokenizer ({error}); it is the tokenizer.json that lies beside a model"
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
