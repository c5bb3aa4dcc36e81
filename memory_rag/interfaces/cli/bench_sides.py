"""What a benchmark is run on: its questions, and a memory for each embedder, open for as long as it takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from memory_rag.errors import SettingsError
from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.datasets.own import USUAL_N
from memory_rag.evaluation.datasets.registry import DATASETS, load
from memory_rag.evaluation.definition import Definition
from memory_rag.evaluation.pools import limited
from memory_rag.interfaces.cli.bench_group import Setup
from memory_rag.interfaces.cli.output import note
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.progress import Tell, progress_bar
from memory_rag.settings import ALL_RESIDENT
from memory_rag.trials.contest import Side
from memory_rag.trials.model_paraphrases import KeptParaphrases, ModelParaphraser
from memory_rag.trials.running import refuse_leaks
from memory_rag.trials.weights_named import weights_of
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
    paraphrases: KeptParaphrases | None
    stack: ExitStack

    def finished(self) -> None:
        """Let go of what was kept to go on with, had this been stopped."""
        if self.paraphrases is not None:
            self.paraphrases.forget()

    def sides(self) -> list[Side]:
        """Open the memory with its embedder, and with each of the others; they are closed with the whole."""
        return [self._side(self.place.embedder, ""), *(self._side(name, name) for name in self.also)]

    def _side(self, embedder: str | None, name: str) -> Side:
        settings, remembered = remembering(self.work, embedder=embedder, home=self.place.home, weights=self.weights)
        if self.is_own:
            # Whoever is compared ranks every turn.
            memory = self.place.open(embedder="none" if remembered is None else remembered, resident=ALL_RESIDENT)
        else:
            memory = benchmark_memory(
                self.benchmark, self.work, settings=settings, embedder=remembered, language=self.place.language
            )
        self.stack.enter_context(memory)
        weights, origin = weights_of(settings)
        return Side(memory=memory, embedder=remembered, weights=weights, origin=origin, name=name)


@contextmanager
def opened_trial(
    place: Place,
    definition: Definition,
    setup: Setup,
    *,
    also: Sequence[str] = (),
    weights: str | None = None,
    longer_than: int = 0,
    asks: bool = True,
) -> Iterator[Opened]:
    """Give a benchmark as a command line names it, with all that was opened for it; it is closed at the end.

    Of a memory of one's own, only conversations ``longer_than`` so many turns are asked for. Unless it ``asks``, no
    model is asked for anything and nothing is refused.

    Raises:
        SettingsError: the data are missing or not wanted.
        ImportFormatError: they are not the data set's.
        QueryError: ids or order alone find the evidence.
        ModelError: a model that is to paraphrase can't be reached.
    """
    takes = DATASETS[definition.dataset].takes
    data = setup.data or definition.data
    is_own = takes == "memory"
    if data is not None and is_own:
        raise SettingsError("own takes a memory and no --data; name the memory with --memory")
    if data is None and takes not in ("memory", "nothing"):
        raise SettingsError(f"{definition.name} needs its data: name the {takes} with --data PATH")
    for option, given in (("--questions", setup.questions), ("--n", setup.n), ("--paraphrase", setup.paraphrase)):
        if given is not None and not is_own:
            raise SettingsError(f"{option} is for own; {definition.name} has its own questions")
    work = setup.work or default_work_folder(place.home)
    options = {**definition.options, "unit": setup.unit or definition.unit}
    with ExitStack() as stack:
        paraphrases = None
        if is_own:
            with progress_bar() as tell:
                paraphrases = _paraphrases(setup, work, stack, asks=asks, tell=tell)
                options |= {"longer_than": longer_than, "paraphraser": paraphrases}
                benchmark = _of_own_memory(place, setup, options, tell=tell)
        else:
            benchmark = definition.named(load(definition.dataset, data, **options), data)
        if asks:
            refuse_leaks(benchmark, force=setup.force, note=note)
        yield Opened(limited(benchmark, setup.limit), place, work, also, weights, is_own, paraphrases, stack)


def _of_own_memory(place: Place, setup: Setup, options: Mapping[str, Any], *, tell: Tell | None) -> Benchmark:
    with place.open() as memory:
        memory.indexes.catch_up(progress=tell)
        wanted: dict[str, Any] = {"seed": setup.seed, "languages": memory.indexes.languages()}
        if tell is not None and setup.paraphrase is None:
            wanted["progress"] = partial(tell, "making questions")
        wanted |= {} if setup.n is None else {"n": setup.n}
        wanted |= {"questions": setup.questions} if setup.questions else {}
        benchmark = load("own", list(memory.turns()), **{**options, **wanted})
    return replace(benchmark, name=f"own-{memory.name}")


def _paraphrases(
    setup: Setup, work: Path, stack: ExitStack, *, asks: bool, tell: Tell | None
) -> KeptParaphrases | None:
    """Return what paraphrases turns, if a command line names a model for it; a dry run asks none."""
    if setup.paraphrase is None:
        return None
    model = ModelParaphraser.named(setup.paraphrase)
    if not asks:
        note(f"a dry run asks no model: questions in the words of {model.name} are left out")
        return None
    stack.callback(model.close)
    wanted = -(-(USUAL_N if setup.n is None else setup.n) // 3)
    kept = KeptParaphrases(
        model, work / "stopped", told=lambda n: None if tell is None else tell("asking for paraphrases", n, wanted)
    )
    already = f"; {len(kept):,} are kept from a run that was stopped" if len(kept) else ""
    note(f"turns are sent to {model.name}, which writes about {wanted:,} questions{already}")
    return kept
