"""Which benchmarks can be run here: those that need no data, and those whose data MEMORY_RAG_DATA's folder holds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory_rag.errors import SettingsError
from memory_rag.evaluation.datasets.registry import DATASETS
from memory_rag.evaluation.definition import Definition, definitions
from memory_rag.html.cards import badge, card, quiet, table

FOLDER: Final = "MEMORY_RAG_DATA"
_PLACES: Final[Mapping[str, tuple[str, ...]]] = {
    "locomo": ("locomo10.json",),
    "longmemeval": ("longmemeval_oracle.json", "longmemeval_s_cleaned.json", "longmemeval_s.json"),
    "beam": ("beam/100K",),
    "realtalk": ("realtalk",),
}
"""Where a data set lies in the folder of evaluation data, under the names it is given out by."""


@dataclass(frozen=True, slots=True)
class AtHand:
    """A benchmark: what it is, what it takes, and where its data lie, None where none are here or needed."""

    name: str
    about: str
    takes: str
    data: Path | None

    @property
    def is_ready(self) -> bool:
        """Whether it runs without anything more; ``own`` needs a memory of yours."""
        return self.data is not None or self.takes == "nothing"


class Benchmarks(tuple[AtHand, ...]):
    """The benchmarks that memory_rag knows, as a tuple."""

    def first(self, *names: str) -> str:
        """Return the first of these names that can be run here.

        Raises:
            SettingsError: none of them can.
        """
        ready = [one.name for one in self if one.is_ready]
        found = next((name for name in names if name in ready), None)
        if found is None:
            raise SettingsError(
                f"none of {', '.join(names)} can be run here, only: {', '.join(ready)}; set {FOLDER} to a folder with "
                "the data"
            )
        return found

    def _repr_html_(self) -> str:
        rows = []
        for one in self:
            ready = badge("ready", "good") if one.is_ready else badge("needs data", "unsure")
            if one.takes == "memory":
                ready = badge("needs a memory", "calm")
            rows.append([one.name, ready, one.about])
        return card(table(["name", "", ""], rows), quiet(f"{FOLDER} names the folder in which data are looked for."))


def benchmarks() -> Benchmarks:
    """Return every benchmark, with where its data lie: in the folder ``MEMORY_RAG_DATA``, or nowhere."""
    return Benchmarks(
        AtHand(name, found.about, DATASETS[found.dataset].takes, data_at_hand(found))
        for name, found in definitions().items()
    )


def data_at_hand(definition: Definition) -> Path | None:
    """Return where a benchmark's data lie, by its definition or in the folder ``MEMORY_RAG_DATA``; None if nowhere."""
    if definition.data is not None:
        return definition.data
    folder = os.environ.get(FOLDER)
    if not folder:
        return None
    places = (Path(folder) / name for name in _PLACES.get(definition.dataset, ()))
    return next((place for place in places if place.exists()), None)
