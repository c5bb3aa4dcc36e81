"""``memory-rag bench score``, ``compare`` and ``report``: what runs and reports say, without asking anything again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory_rag.interfaces.cli.bench_group import Force, command
from memory_rag.interfaces.cli.bench_output import print_report, report_file, write_page
from memory_rag.interfaces.cli.output import Json, is_colourful, note, print_json, say, tell
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.terminal import padded, screen_width

if TYPE_CHECKING:
    from memory_rag.evaluation.report_shape import Comparison


@command("score")
def score(
    place: Place,
    run_file: Annotated[Path, typer.Option("--run", metavar="FILE", help="A TREC run.", show_default=False)],
    qrels: Annotated[Path, typer.Option("--qrels", metavar="FILE", help="TREC judgements.", show_default=False)],
    measures: Annotated[
        str, typer.Option("--measures", metavar="NAMES", help="Such as recall@10,ndcg@10.")
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
        note(f"{found['not_judged']:,} queries of the run have no relevant judgement and are not scored")


@command("compare")
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
    from memory_rag.interfaces.cli.report_table import comparisons_text

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
        say()
        say(comparisons_text(compared, width=screen_width(widest=120), colour=is_colourful(sys.stdout)))
    say("In brackets: 95 % intervals. p, Holm: adjusted for all comparisons of the pool.")


@command("report")
def report_(
    place: Place,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of bench run.")],
    summary: Annotated[
        Path | None,
        typer.Option(
            "--summary", metavar="FILE", help="Also write it without what is per question.", show_default=False
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print a report again, and make its page and charts anew."""
    from memory_rag.evaluation.report_file import read_report, write_report
    from memory_rag.evaluation.report_summary import summarized

    report = read_report(report_file(folder))
    if folder.is_dir():
        write_page(folder, report)
    print_report(report, as_json=as_json)
    if summary is not None:
        write_report(summary, summarized(report))
        tell(f"written to {summary}: means and comparisons, without what is per question")
