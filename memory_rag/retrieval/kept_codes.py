"""Codes of a file of vectors, kept beside it, so that a large memory is searched soon after it is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.faiss_indexes import ProductCodes
from memory_rag.retrieval.vectors import Checked
from memory_rag.store.archives import read_archive, write_archive

KEPT_FROM: Final = 65_536
"""Vectors from which on their codes are kept: of fewer they are made in half a second."""
FORMAT: Final = 3


@dataclass(frozen=True, slots=True)
class KeptCodes:
    """The codes of the first vectors of a file, and how much of the file was found whole when they were made."""

    codes: ProductCodes
    checked: Checked

    def write(self, path: Path) -> None:
        """Write them to a file that may be deleted at any time."""
        arrays = {
            "codes": self.codes.as_bytes(),
            "checked": np.array([self.checked.n_bytes, self.checked.checksum]),
            "made_by": np.frombuffer(_made_by(), np.uint8),
        }
        write_archive(path, arrays)

    @classmethod
    def read(cls, path: Path) -> KeptCodes | None:
        """Return what lies in a file; None if nothing does that can be used."""

        def read(arrays: Mapping[str, npt.NDArray[np.generic]]) -> KeptCodes | None:
            if arrays["made_by"].tobytes() != _made_by():
                return None
            n_bytes, checksum = arrays["checked"].tolist()
            codes = ProductCodes.from_bytes(np.asarray(arrays["codes"], np.uint8))
            return cls(codes, Checked(n_bytes, checksum))

        return read_archive(path, read)


def _made_by() -> bytes:
    return f"{FORMAT}:{ProductCodes.made_by()}".encode()
