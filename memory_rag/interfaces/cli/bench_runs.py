"""``memory-rag bench run`` and ``tune``: questions asked of every retriever, and weights fitted to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from memory_rag.interfaces.cli.bench_group import AS_DEFINED, Name, Setup, command
from memory_rag.interfaces.cli.bench_output import print_report, print_summary, write_page
from memory_rag.interfaces.cli.option_groups import with_options
from memory_rag.interfaces.cli.output import Json, note, print_json, say, tell
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.progress import progress_bar
from memory_rag.interfaces.cli.terminal import padded

_STOPPED = "stopped; what was embedded and ranked is kept, run it again to go on"


@command("run")
@with_options(Setup)
def run(
    place: Place,
    name: Name,
    setup: Setup = AS_DEFINED,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write report, page, charts, runs.", show_default=False)
    ] = None,
    pool: Annotated[str, typer.Option("--pool", metavar="POOL", help="conversation, memory or both.")] = "both",
    retrievers: Annotated[
        str | None, typer.Option("--retrievers", metavar="NAMES", help="Default: all of them.", show_default=False)
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option("--with-embedder", metavar="NAME", help="Another embedder beside it.", show_default=False),
    ] = None,
    weights: Annotated[
        str | None, typer.Option("--weights", metavar="FILE", help="Weights of bench tune.", show_default=False)
    ] = None,
    k: Annotated[
        int | None, typer.Option("--k", metavar="N", help="Measure at k hits. Default: 10.", show_default=False)
    ] = None,
    depth: Annotated[
        int | None, typer.Option("--depth", metavar="N", help="Hits kept. Default: 100.", show_default=False)
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what is read, ask nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Ask every retriever every question and report.

    All retrievers rank the same candidates: the question's conversation, and the whole memory.
    """
    from memory_rag.evaluation.definition import definition_of
    from memory_rag.evaluation.pools import pools_named
    from memory_rag.evaluation.runner import Trial, measures_up_to
    from memory_rag.interfaces.cli.bench_sides import opened_trial
    from memory_rag.trials.contest import Telling
    from memory_rag.trials.running import chosen, kept_rankings, run_trial

    definition, names, pools = definition_of(name), chosen(retrievers), pools_named(pool)
    measures, compared = measures_up_to(k or definition.k)
    with (
        _stopping(),
        opened_trial(
            place,
            definition,
            setup,
            also=also or (),
            weights=weights,
            # Where k hits are all there is to find, any order would do.
            longer_than=(k or definition.k) if "conversation" in pools else 0,
            asks=not dry_run,
        ) as opened,
    ):
        if dry_run:
            print_summary(opened.benchmark, as_json=as_json)
            return
        trial = Trial(
            opened.benchmark,
            pools,
            depth=depth or definition.depth,
            measures=measures,
            compared=compared,
            groups=definition.groups,
            seed=setup.seed,
        )
        trial.check()
        if out is not None:
            # Hours of asking shall not end at a folder that can't be made.
            out.mkdir(parents=True, exist_ok=True)
        first, *others = opened.sides()
        kept = kept_rankings(trial, [first, *others], opened.work)
        opened.stack.callback(kept.close)
        if len(kept):
            note(f"{len(kept):,} rankings of a run that was stopped are taken up")
        trial = replace(trial, kept=kept)
        with progress_bar() as progress:
            report = run_trial(
                trial, first, others=others, retrievers=names, telling=Telling(progress=progress, note=note)
            )
        if out is not None:
            trial.write(out, report)
            write_page(out, report)
        opened.finished()
    print_report(report, as_json=as_json)
    if out is not None:
        tell(f"written to {out}: report.json, report.html, runs and qrels in TREC's form")


@command("tune")
@with_options(Setup)
def tune(
    place: Place,
    name: Name,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.", show_default=False)],
    setup: Setup = AS_DEFINED,
    pool: Annotated[str, typer.Option("--pool", metavar="POOL", help="conversation, memory or both.")] = "conversation",
    as_json: Json = False,
) -> None:
    """Fit the weights of hybrid to judged questions.

    The file is used with the setting weights (MEMORY_RAG_WEIGHTS, or weights = FILE in memory-rag.toml).
    """
    from memory_rag.evaluation.definition import definition_of
    from memory_rag.evaluation.pools import pools_named
    from memory_rag.interfaces.cli.bench_sides import opened_trial
    from memory_rag.trials.contest import Telling
    from memory_rag.trials.tuned import tuned_weights

    definition, pools = definition_of(name), pools_named(pool)
    with _stopping(), opened_trial(place, definition, setup) as opened:
        [side] = opened.sides()
        with progress_bar() as progress:
            found = tuned_weights(opened.benchmark, side, pools=pools, telling=Telling(progress=progress, note=note))
        opened.finished()
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(found.text(comment=(f"Fitted by: memory-rag bench tune {definition.name}",)), encoding="utf-8")
    if as_json:
        print_json({"weights": dict(found.weights), "fitted_on": list(found.fitted_on)})
        return
    say(f"{padded('signal', 24)}  before  fitted")
    for signal, weight in found.weights.items():
        say(f"{padded(signal, 24)}{side.weights[signal]:8.3f}{weight:8.3f}")
    tell(f"written to {out}; use it with MEMORY_RAG_WEIGHTS={out}")
    tell(f"what such weights find where they weren't fitted: hybrid-cv of memory-rag bench run {definition.name}")


@contextmanager
def _stopping() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_STOPPED) from None
