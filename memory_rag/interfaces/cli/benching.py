"""``memory-rag bench``: how well each kind of recall finds the evidence, on data sets and on one's own memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from memory_rag.interfaces.cli.bench_output import print_report, print_summary, report_file, write_page
from memory_rag.interfaces.cli.output import Json, note, print_json, say, tell
from memory_rag.interfaces.cli.place import Place, with_place
from memory_rag.interfaces.cli.progress import progress_bar
from memory_rag.interfaces.cli.terminal import columns_of, padded, screen_width, wrapped

if TYPE_CHECKING:
    from memory_rag.evaluation.report_shape import Comparison

Function = TypeVar("Function", bound=Callable[..., None])
_STOPPED = "stopped; what was embedded is kept, run it again to go on"

bench = typer.Typer(
    name="bench",
    help="""Measure how well turns are found, on data sets or on your own memory.

    \b
    memory-rag bench run chats --out DIR
    memory-rag bench run locomo --data PATH --out DIR
    memory-rag bench run own --memory NAME --out DIR

    Two reports on other data or settings are compared with --force only.
    """,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _command(name: str) -> Callable[[Function], Function]:
    """Make a function one of the commands, with the options that every command has."""

    def register(function: Function) -> Function:
        bench.command(name, context_settings={"help_option_names": ["-h", "--help"]})(with_place(function))
        return function

    return register


Name = Annotated[str, typer.Argument(metavar="NAME|TOML", help="A benchmark of bench list, or a definition of yours.")]
Data = Annotated[Path | None, typer.Option("--data", metavar="PATH", help="Where the data lie.", show_default=False)]
Unit = Annotated[
    str | None, typer.Option("--unit", metavar="UNIT", help="turn or session. Default: as defined.", show_default=False)
]
Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", help="Ask N of the questions, evenly chosen.", show_default=False)
]
Work = Annotated[
    Path | None,
    typer.Option(
        "--work", metavar="FOLDER", help="Where embedded turns are kept. Default: .bench under the home folder.",
        show_default=False,
    ),
]  # fmt: skip
Force = Annotated[bool, typer.Option("--force", help="Go on where a guard says no.", show_default=False)]
Questions = Annotated[
    Path | None,
    typer.Option("--questions", metavar="FILE", help="own: your questions with turn ids.", show_default=False),
]
N = Annotated[int, typer.Option("--n", help="own: questions made from turns.")]
Seed = Annotated[int, typer.Option("--seed", help="Decides what is drawn.")]


@_command("list")
def list_(place: Place, as_json: Json = False) -> None:
    """List the benchmarks and what each needs."""
    from memory_rag.evaluation.datasets.registry import DATASETS
    from memory_rag.evaluation.definition import definitions

    listed = [
        {"name": name, "about": found.about, "takes": DATASETS[found.dataset].takes, "unit": found.unit, "k": found.k}
        for name, found in definitions().items()
    ]
    if as_json:
        print_json(listed)
        return
    width = max(columns_of(str(one["name"])) for one in listed) + 2
    for one in listed:
        text = f"{one['about']} (takes: {one['takes']})"
        for number, line in enumerate(wrapped(text, screen_width() - width)):
            say(padded("" if number else str(one["name"]), width) + line.of(text))


@_command("run")
def run(
    place: Place,
    name: Name,
    data: Data = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write report, page, charts, runs.", show_default=False)
    ] = None,
    pool: Annotated[str, typer.Option("--pool", help="conversation, memory or both.")] = "both",
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
    unit: Unit = None,
    limit: Limit = None,
    k: Annotated[int | None, typer.Option("--k", help="Measure at k hits. Default: 10.", show_default=False)] = None,
    depth: Annotated[int | None, typer.Option("--depth", help="Hits kept. Default: 100.", show_default=False)] = None,
    questions: Questions = None,
    n: N = 200,
    seed: Seed = 0,
    work: Work = None,
    force: Force = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what is read, ask nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Ask every retriever every question and report.

    All retrievers rank the same candidates: the question's conversation, and the whole memory.
    """
    from memory_rag.evaluation.definition import definition_of
    from memory_rag.evaluation.pools import limited, pools_named
    from memory_rag.evaluation.runner import Trial, measures_up_to
    from memory_rag.interfaces.cli.bench_sides import opened_trial
    from memory_rag.trials.running import Telling, chosen, refuse_leaks, run_trial

    definition, names, pools = definition_of(name), chosen(retrievers), pools_named(pool)
    measures, compared = measures_up_to(k or definition.k)
    with (
        _stopping(),
        opened_trial(
            place,
            definition,
            data=data,
            unit=unit,
            questions=questions,
            n=n,
            seed=seed,
            work=work,
            also=also or [],
            weights=weights,
        ) as opened,
    ):
        benchmark = limited(opened.benchmark, limit)
        if dry_run:
            print_summary(benchmark, as_json=as_json)
            return
        refuse_leaks(opened.benchmark, force=force, note=note)
        trial = Trial(
            benchmark, pools, depth=depth or definition.depth, measures=measures, compared=compared, seed=seed
        )
        trial.check()
        first, *others = opened.sides()
        with progress_bar() as progress:
            report = run_trial(
                trial, first, others=others, retrievers=names, telling=Telling(progress=progress, note=note)
            )
        if out is not None:
            trial.write(out, report)
            write_page(out, report)
    print_report(report, as_json=as_json)
    if out is not None:
        tell(f"written to {out}: report.json, report.html, runs and qrels in TREC's form")


@_command("score")
def score(
    place: Place,
    run_file: Annotated[Path, typer.Option("--run", metavar="FILE", help="A TREC run.", show_default=False)],
    qrels: Annotated[Path, typer.Option("--qrels", metavar="FILE", help="TREC judgements.", show_default=False)],
    measures: Annotated[
        str, typer.Option("--measures", help="Such as recall@10,ndcg@10.")
    ] = "recall@1,recall@5,recall@10,success@10,all_found@10,rr@10,ndcg@10",
    as_json: Json = False,
) -> None:
    """Score anybody's run by TREC judgements.

    A judged query that the run doesn't have scores 0; scores that tie are ordered as trec_eval does it.
    """
    from memory_rag.evaluation.file_scores import score_files

    found = score_files(run_file, qrels, measures=[name.strip() for name in measures.split(",")])
    if as_json:
        print_json(found)
        return
    for name, mean in found["measures"].items():
        say(f"{padded(name, 16)}{mean['mean']:.4f}")
    say(f"{found['n_queries']:,} queries with judgements, {found['without_hits']:,} of them without hits")
    if found["not_judged"]:
        note(f"{found['not_judged']:,} queries of the run have no judgements and are not scored")


@_command("compare")
def compare(
    place: Place,
    a: Annotated[Path, typer.Argument(metavar="A", help="A folder of bench run, or its report.json.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Another one.")],
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Compare two reports, question by question.

    Reports on other data, unit, pool or settings are refused without --force.
    """
    from memory_rag.errors import QueryError
    from memory_rag.evaluation.comparable import comparable, compare_reports
    from memory_rag.evaluation.report_file import by_pool, read_report
    from memory_rag.evaluation.wording import in_brackets, p_value

    sides = [{one["pool"]: one for one in by_pool(read_report(report_file(path)))} for path in (a, b)]
    shared = [pool for pool in sides[0] if pool in sides[1]]
    if not shared:
        raise QueryError(f"the reports have no pool in common: {', '.join(sides[0])} / {', '.join(sides[1])}")
    found: dict[str, list[Comparison]] = {}
    for name in shared:
        one, other = sides[0][name], sides[1][name]
        for text in comparable(one, other, force=force):
            note(f"pool {name}: {text}")
        measures = list(dict.fromkeys([one["settings"]["measure"], other["settings"]["measure"]]))
        found[name] = compare_reports(one, other, measures=measures, force=force)
    if as_json:
        print_json(found)
        return
    for pool, compared in found.items():
        say(f"pool {pool}, a - b, {compared[0]['n']:,} questions")
        for row in compared:
            retriever = row["a"].removesuffix(" (a)")
            between = in_brackets(row["low"], row["high"])
            say(
                f"  {padded(retriever, 16)}{row['measure']} {row['difference']:+.3f} {between}  "
                f"p {p_value(row['p_holm'])}"
            )


@_command("report")
def report_(
    place: Place,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of bench run.")],
    as_json: Json = False,
) -> None:
    """Print a report again, and make its page and charts anew."""
    from memory_rag.evaluation.report_file import read_report

    report = read_report(report_file(folder))
    if folder.is_dir():
        write_page(folder, report)
    print_report(report, as_json=as_json)


@_command("tune")
def tune(
    place: Place,
    name: Name,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.", show_default=False)],
    data: Data = None,
    pool: Annotated[str, typer.Option("--pool", help="conversation or memory.")] = "conversation",
    unit: Unit = None,
    limit: Limit = None,
    questions: Questions = None,
    n: N = 200,
    seed: Seed = 0,
    work: Work = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Fit the weights of hybrid to judged questions.

    The file is used with the setting weights (MEMORY_RAG_WEIGHTS, or weights = FILE in memory-rag.toml).
    """
    from memory_rag.evaluation.definition import definition_of
    from memory_rag.evaluation.pools import limited, pools_named
    from memory_rag.interfaces.cli.bench_sides import opened_trial
    from memory_rag.trials.running import Telling, refuse_leaks
    from memory_rag.trials.tuned import tuned_weights

    definition, pools = definition_of(name), pools_named(pool)
    with (
        _stopping(),
        opened_trial(
            place,
            definition,
            data=data,
            unit=unit,
            questions=questions,
            n=n,
            seed=seed,
            work=work,
            also=[],
            weights=None,
        ) as opened,
    ):
        refuse_leaks(opened.benchmark, force=force, note=note)
        [side] = opened.sides()
        with progress_bar() as progress:
            found = tuned_weights(
                limited(opened.benchmark, limit), side, pools=pools, telling=Telling(progress=progress, note=note)
            )
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(found.text(comment=(f"Fitted by: memory-rag bench tune {definition.name}",)), encoding="utf-8")
    if as_json:
        print_json({"weights": dict(found.weights), "fitted_on": list(found.fitted_on)})
        return
    for signal, weight in found.weights.items():
        say(f"{padded(signal, 24)}{weight:8.3f}")
    tell(f"written to {out}; use it with MEMORY_RAG_WEIGHTS={out}")


@contextmanager
def _stopping() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_STOPPED) from None
