"""Measure and write down: ``python -m memory_rag.evaluation not-found --data PATH --out eval/results``.

``not-found``, ``asking``, ``speed`` and their like write JSON results; ``tables`` makes the tables of the pages from
these, and from those of recall, which ``memory-rag bench run`` and, as a summary, ``memory-rag bench report`` write.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from memory_rag.errors import MemoryRagError, SettingsError
from memory_rag.evaluation.datasets.registry import load
from memory_rag.evaluation.definition import definition_of
from memory_rag.evaluation.provenance import provenance, write_result
from memory_rag.evaluation.speed import SEED, SIZES
from memory_rag.evaluation.speed_charts import write_speed_charts
from memory_rag.evaluation.speed_imports import TURNS, import_trial
from memory_rag.evaluation.speed_peers_command import (
    add_chart_options,
    add_options,
    draw_charts,
    load_everybody,
    peers_result,
)
from memory_rag.evaluation.speed_subjects import Repetitions
from memory_rag.evaluation.tables import fill_pages
from memory_rag.memory import Memory
from memory_rag.trials.results import (
    PATHS,
    asking_result,
    fifty_result,
    not_found_result,
    secrets_result,
    subjects_result,
)
from memory_rag.trials.work_folder import benchmark_memory, remembering

_CONSOLE = Console(stderr=True)
"""Progress only; the results go to the file and standard output."""
_DRAWN_EVERY_S = 0.5
PAGES = [Path("eval/README.md"), Path("README.md"), Path("docs/postgres.md")]
"""Where tables stand."""


def main(arguments: list[str] | None = None) -> int:
    """Run one trial over the evaluation data or over invented turns, or make the tables, and return the exit code."""
    given = _parser().parse_args(arguments)
    try:
        given.run(given)
    except MemoryRagError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m memory_rag.evaluation", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    asking = commands.add_parser("not-found", help="how many questions without an answer are rightly empty")
    asking.set_defaults(run=_ask)
    asking.add_argument("--data", type=Path, required=True, help="folder with locomo10.json and beam/100K")
    asking.add_argument("--out", type=Path, required=True, help="folder for not-found-<data set>.json")
    asking.add_argument("--sets", default="locomo,beam")
    asking.add_argument("--embedder", default="minilm")
    asking.add_argument("--work", type=Path, help="keep the embedded turns here, and use them again")
    telling = commands.add_parser("asking", help="how well it is told whether somebody asks for what was said before")
    telling.set_defaults(run=_tell_asking)
    labels = [Path("eval/ask-details.jsonl"), Path("eval/ask-details-2.jsonl")]
    telling.add_argument("--labels", type=Path, nargs="+", default=labels, help="files of labelled utterances")
    telling.add_argument("--out", type=Path, required=True, help="folder for ask-details.json")
    talking = commands.add_parser("fifty", help="which of fifty conversations a question is about, and which of five")
    talking.set_defaults(run=_talk)
    talking.add_argument("--fifty", type=Path, default=Path("eval/fifty"), help="folder of conversations and questions")
    talking.add_argument("--out", type=Path, required=True, help="folder for fifty.json")
    talking.add_argument("--embedders", default="e5,minilm")
    joining = commands.add_parser("subjects", help="how well a new subject is heard where conversations are joined")
    joining.set_defaults(run=_join)
    joining.add_argument("--data", type=Path, required=True, help="folder with locomo10.json and beam/100K")
    joining.add_argument("--fifty", type=Path, default=Path("eval/fifty"), help="folder of conversations")
    joining.add_argument("--out", type=Path, required=True, help="folder for subjects.json")
    joining.add_argument("--embedders", default="e5,minilm")
    joining.add_argument("--seed", type=int, default=0)
    timing = commands.add_parser("speed", help="how fast it is, beside rank-bm25 and plain FAISS")
    timing.set_defaults(run=_time)
    timing.add_argument("--out", type=Path, required=True, help="folder for speed.json")
    timing.add_argument("--data", type=Path, help="folder with locomo10.json, whose turns are embedded then")
    timing.add_argument("--sizes", default=",".join(map(str, SIZES)), help="turns at which it is measured")
    timing.add_argument("--seed", type=int, default=SEED)
    timing.add_argument(
        "--repetitions", type=float, default=100, metavar="PERCENT", help="of what is usual; a trial run"
    )
    comparing = commands.add_parser("speed-peers", help="how fast it is beside other memories, in turns with each")
    comparing.set_defaults(run=_compare)
    add_options(comparing)
    drawing = commands.add_parser("speed-charts", help="draw the charts of a comparison that was made")
    drawing.set_defaults(run=draw_charts)
    add_chart_options(drawing)
    counting = commands.add_parser("speed-counted", help="what an add and a search do, counted and not timed")
    counting.set_defaults(run=_count)
    counting.add_argument("--out", type=Path, required=True, help="folder for speed-counted.json")
    serving = commands.add_parser("speed-postgres", help="how fast it is on a PostgreSQL server, beside a folder")
    serving.set_defaults(run=_serve)
    serving.add_argument("--url", required=True, help="of an empty database, or of one that was filled here before")
    serving.add_argument("--work", type=Path, required=True, help="the same memories in folders, kept for the next run")
    serving.add_argument("--out", type=Path, required=True, help="folder for speed-postgres.json")
    serving.add_argument("--owners", type=int, default=100)
    serving.add_argument("--turns", type=int, default=1_000, help="of each owner")
    serving.add_argument("--large", type=int, default=0, help="turns of one owner more, which no process holds")
    serving.add_argument("--only-fill", action="store_true", help="store what is to be measured, and measure nothing")
    serving.add_argument("--seed", type=int, default=SEED)
    importing = commands.add_parser("imports", help="how fast histories of every format are read and stored")
    importing.set_defaults(run=_import)
    importing.add_argument("--out", type=Path, required=True, help="folder for imports.json")
    importing.add_argument("--seed", type=int, default=SEED)
    importing.add_argument("--turns", type=int, default=TURNS, help="of each format")
    loading = commands.add_parser("load", help="how many chats and searches one server answers at once, nothing lost")
    loading.set_defaults(run=_load)
    loading.add_argument("--out", type=Path, required=True, help="folder for load.json")
    loading.add_argument("--turns", type=int, default=100_000, help="in the memory before")
    loading.add_argument("--chats", type=int, default=50, help="that stream at once")
    loading.add_argument("--seconds", type=float, default=10, help="of each kind of search")
    loading.add_argument("--embedder", default="minilm", choices=("minilm", "none"))
    loading.add_argument("--seed", type=int, default=SEED)
    finding = commands.add_parser("secrets", help="how well secrets and personal data are found")
    finding.set_defaults(run=_find_secrets)
    finding.add_argument(
        "--examples", default="tests.eval_sets.made_secrets", help="the module that puts them together"
    )
    finding.add_argument("--data", type=Path, help="folder with locomo10.json and beam/100K, whose turns are read too")
    finding.add_argument("--out", type=Path, required=True, help="folder for secrets.json")
    tabling = commands.add_parser("tables", help="make the tables of the pages from the results")
    tabling.set_defaults(run=_tabulate)
    tabling.add_argument("--results", type=Path, default=Path("eval/results"))
    tabling.add_argument("--pages", type=Path, nargs="+", default=PAGES)
    return parser


def _ask(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        work, names = given.work or Path(scratch), given.sets.split(",")
        if unknown := [name for name in names if name not in PATHS]:
            raise SettingsError(f"unknown set {unknown[0]!r}; sets are: {', '.join(PATHS)}")
        for name in names:
            path = given.data / PATHS[name]
            # Under the name by which a benchmark's run keeps what it embedded.
            benchmark = definition_of(name).named(load(name, path), path)
            settings, embedder = remembering(work, embedder=given.embedder)
            with (
                benchmark_memory(benchmark, work, settings=settings, embedder=embedder) as memory,
                _progress() as shown,
            ):
                memory.embed(progress=_told(shown))
                try:
                    result = not_found_result(memory, name, benchmark, tell=_told(shown))
                finally:
                    # Also of a trial that is stopped: the next one goes on from here.
                    if embedder is not None:
                        embedder.save()
            suffix = "" if given.embedder == "minilm" else f"-{given.embedder.replace(':', '-')}"
            write_result(given.out / f"not-found-{name}{suffix}.json", result)


def _tell_asking(given: argparse.Namespace) -> None:
    write_result(given.out / "ask-details.json", asking_result(given.labels))


def _talk(given: argparse.Namespace) -> None:
    with _progress() as shown:
        result = fifty_result(given.fifty, embedders=given.embedders.split(","), tell=_told(shown))
    write_result(given.out / "fifty.json", result)


def _join(given: argparse.Namespace) -> None:
    with _progress() as shown:
        result = subjects_result(
            given.data,
            fifty=given.fifty,
            embedders=given.embedders.split(","),
            seed=given.seed,
            tell=_told(shown),
        )
    write_result(given.out / "subjects.json", result)


def _time(given: argparse.Namespace) -> None:
    # Loaded here, so that the other trials do without the engines.
    from memory_rag.trials.speed_result import speed_result

    with tempfile.TemporaryDirectory() as scratch, _progress(auto_refresh=False) as shown:
        result = speed_result(
            data=given.data,
            scratch=Path(scratch),
            sizes=[int(size) for size in given.sizes.split(",")],
            often=Repetitions().scaled(given.repetitions / 100),
            seed=given.seed,
            tell=_told(shown),
        )
    write_result(given.out / "speed.json", result)


def _compare(given: argparse.Namespace) -> None:
    if given.load_only:
        with _progress(auto_refresh=False) as shown:
            load_everybody(given, tell=_told(shown))
        return
    with _progress(auto_refresh=False) as shown:
        result = peers_result(given, tell=_told(shown))
    write_result(given.out / "speed-peers.json", result)
    write_speed_charts(result["result"], given.out.parent / "charts")


def _count(given: argparse.Namespace) -> None:
    from memory_rag.trials.counted_work import counted_result

    with tempfile.TemporaryDirectory() as scratch:
        write_result(given.out / "speed-counted.json", counted_result(Path(scratch)))


def _serve(given: argparse.Namespace) -> None:
    from memory_rag.trials.speed_postgres import Amount, speed_postgres_result

    amount = Amount(n_owners=given.owners, n_turns=given.turns, n_large=given.large)
    with _progress(auto_refresh=False) as shown:
        result = speed_postgres_result(
            given.url, given.work, amount=amount, seed=given.seed, only_fill=given.only_fill, tell=_told(shown)
        )
    if result is not None:
        write_result(given.out / "speed-postgres.json", result)


def _import(given: argparse.Namespace) -> None:
    from memory_rag.importers import open_import
    from memory_rag.store.sqlite_store import SqliteTurnStore

    def stored(folder: Path, path: Path) -> int:
        store = SqliteTurnStore(folder)
        with open_import(path) as opened, store.together():
            n = sum(
                len(store.append(file, newer=True, whole=file.whole_conversations).turn_ids) for file in opened.files
            )
        store.close()
        return n

    def screened(folder: Path, path: Path) -> int:
        with Memory.open(folder, embedder="none") as memory:
            return memory.import_path(path).kept

    with tempfile.TemporaryDirectory() as scratch, _progress(auto_refresh=False) as shown:
        result = import_trial(
            stored, screened, scratch=Path(scratch), seed=given.seed, n_turns=given.turns, tell=_told(shown)
        )
    write_result(given.out / "imports.json", {"provenance": provenance(seed=given.seed), "result": result})


def _load(given: argparse.Namespace) -> None:
    from memory_rag.trials.load_result import Load, load_result

    load = Load(n_turns=given.turns, n_chats=given.chats, seconds=given.seconds)
    with tempfile.TemporaryDirectory() as scratch, _progress(auto_refresh=False) as shown:
        result = load_result(Path(scratch), load=load, seed=given.seed, embedder=given.embedder, tell=_told(shown))
    write_result(given.out / "load.json", result)


def _find_secrets(given: argparse.Namespace) -> None:
    write_result(given.out / "secrets.json", secrets_result(given.examples, data=given.data))


def _tabulate(given: argparse.Namespace) -> None:
    for page, names in fill_pages(given.pages, results=given.results).items():
        sys.stdout.write(f"{page}: {', '.join(names)}\n")


def _progress(*, auto_refresh: bool = True) -> Progress:
    columns = (TextColumn("{task.description:28}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=_CONSOLE, disable=not sys.stderr.isatty(), auto_refresh=auto_refresh)


def _told(shown: Progress) -> Callable[[str, int, int], None]:
    tasks: dict[str, Any] = {}
    drawn = 0.0

    def tell(what: str, done: int, total: int) -> None:
        nonlocal drawn
        if what not in tasks:
            tasks[what] = shown.add_task(what, total=total)
        # Where nothing draws by itself, it is drawn here, between two measurements and not too often.
        draw = not shown.live.auto_refresh and time.monotonic() - drawn > _DRAWN_EVERY_S
        shown.update(tasks[what], completed=done, total=total, refresh=draw)
        drawn = time.monotonic() if draw else drawn

    return tell


if __name__ == "__main__":
    sys.exit(main())
