"""The data sets that a benchmark can be run on, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from memory_rag.errors import SettingsError
from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.datasets import beam, beir, chats, locomo, longmemeval, own, realtalk, trec

Takes = Literal["file", "folder", "file or folder", "memory", "nothing"]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set: what it is, what its loader takes, and the loader.

    The loader's first argument is a path, a memory's turns for ``memory``, and not there for ``nothing``.
    """

    name: str
    what: str
    takes: Takes
    loader: Callable[..., Benchmark]

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the options that the loader has, such as ``unit``."""
        found = inspect.signature(self.loader).parameters.values()
        return tuple(option.name for option in found if option.kind is option.KEYWORD_ONLY)


DATASETS: Final[Mapping[str, Dataset]] = {
    dataset.name: dataset
    for dataset in (
        Dataset("beam", "a person and a model: a BEAM folder of numbered chats, such as 100K", "folder", beam.load),
        Dataset("beir", "a folder with corpus.jsonl, queries.jsonl and qrels/", "folder", beir.load),
        Dataset("chats", "a person and a model: our own set, in the package", "nothing", chats.load),
        Dataset("locomo", "people talking: LoCoMo's locomo10.json", "file", locomo.load),
        Dataset("longmemeval", "a person and a model: LongMemEval's oracle, S or M file", "file", longmemeval.load),
        Dataset("own", "a memory of yours: questions made from its turns, or written by you", "memory", own.load),
        Dataset("realtalk", "people talking: REALTALK's folder of Chat_*.json", "file or folder", realtalk.load),
        Dataset("trec", "turns in JSON Lines, queries and TREC judgements", "file or folder", trec.load),
    )
}


def load(name: str, source: Any = None, **options: Any) -> Benchmark:
    """Return the benchmark that a data set's loader makes of a path, or of a memory's turns.

    ``chats`` needs no source, all others do.

    Raises:
        SettingsError: no data set has this name, its loader has no such option, or the source is missing.
        ImportFormatError: the path holds no such data set.
    """
    if name not in DATASETS:
        raise SettingsError(f"unknown data set {name!r}; there are: {', '.join(DATASETS)}")
    dataset = DATASETS[name]
    unknown = sorted(options.keys() - set(dataset.options))
    if unknown:
        raise SettingsError(f"{name} has no option {unknown[0]!r}; it has: {', '.join(dataset.options)}")
    if source is not None:
        return dataset.loader(source, **options)
    if dataset.takes != "nothing":
        raise SettingsError(f"{name} needs a {dataset.takes} to read; name it")
    return dataset.loader(**options)
