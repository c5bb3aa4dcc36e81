"""What a benchmark is run on: its questions, and a memory for each embedder, open for as long as it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from memory_rag.errors import SettingsError
from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.datasets.registry import DATASETS, load
from memory_rag.evaluation.definition import Definition
from memory_rag.evaluation.report_shape import Weights
from memory_rag.evaluation.weights_origin import shipped_weights
from memory_rag.interfaces.cli.place import Place
from memory_rag.memory import Memory
from memory_rag.retrieval.signals import WEIGHTS
from memory_rag.retrieval.weights_file import read_weights
from memory_rag.settings import Settings
from memory_rag.trials.contest import Side
from memory_rag.trials.work_folder import benchmark_memory, default_work_folder, remembering


@dataclass(frozen=True, slots=True)
class Opened:
    """A benchmark, and how its memories are opened."""

    benchmark: Benchmark
    place: Place
    work: Path
    also: Sequence[str]
    weights: str | None
    is_own: bool
    stack: ExitStack

    def sides(self) -> list[Side]:
        """Open the memory with its embedder, and with each of the others; they are closed with the whole."""
        return [self._side(self.place.embedder, ""), *(self._side(name, name) for name in self.also)]

    def _side(self, embedder: str | None, name: str) -> Side:
        settings, remembered = remembering(self.work, embedder=embedder, home=self.place.home, weights=self.weights)
        if self.is_own:
            memory = Memory.open(
                self.place.name,
                home=self.place.home,
                embedder="none" if remembered is None else remembered,
                create=False,
                language=self.place.language,
                timezone=self.place.timezone,
            )
        else:
            memory = benchmark_memory(
                self.benchmark, self.work, settings=settings, embedder=remembered, language=self.place.language
            )
        self.stack.enter_context(memory)
        weights, origin = weights_of(settings)
        return Side(memory=memory, embedder=remembered, weights=weights, origin=origin, name=name)


def weights_of(settings: Settings) -> tuple[dict[str, float], Weights]:
    """Return the weights that these settings name, and where they come from."""
    if not settings.weights:
        return dict(WEIGHTS), shipped_weights()
    found = read_weights(Path(settings.weights).expanduser())
    return dict(found.weights), {"source": "file", "fitted_on": list(found.fitted_on)}


@contextmanager
def opened_trial(
    place: Place,
    definition: Definition,
    *,
    data: Path | None,
    unit: str | None,
    questions: Path | None,
    n: int,
    seed: int,
    work: Path | None,
    also: Sequence[str],
    weights: str | None,
) -> Iterator[Opened]:
    """Give a benchmark as a command line names it, with all that was opened for it; it is closed at the end.

    Raises:
        SettingsError: the data are missing or not wanted.
        ImportFormatError: they are not the data set's.
    """
    takes = DATASETS[definition.dataset].takes
    data = data or definition.data
    is_own = takes == "memory"
    if data is not None and is_own:
        raise SettingsError("own takes a memory and no --data; name the memory with --memory")
    if data is None and takes not in ("memory", "nothing"):
        raise SettingsError(f"{definition.name} needs its data: name the {takes} with --data PATH")
    options = {**definition.options, "unit": unit or definition.unit}
    with ExitStack() as stack:
        if is_own:
            memory = stack.enter_context(place.open())
            memory.indexes.catch_up()
            languages = memory.indexes.languages()
            options |= {"n": n, "seed": seed, "languages": languages}
            options |= {"questions": questions} if questions else {}
            benchmark = load(definition.dataset, list(memory.turns()), **options)
            benchmark = replace(benchmark, name=f"own-{memory.folder.name}")
        else:
            if questions is not None:
                raise SettingsError(f"--questions is for own; {definition.name} has its own questions")
            benchmark = definition.named(load(definition.dataset, data, **options), data)
        yield Opened(benchmark, place, work or default_work_folder(place.home), also, weights, is_own, stack)
