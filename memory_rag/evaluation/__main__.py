"""Measure and write down: ``python -m memory_rag.evaluation not-found --data PATH --out eval/results``.

``not-found``, ``asking`` and ``speed`` write JSON results; ``tables`` makes the tables of the pages from these, and
from those of recall, which ``memory-rag bench run`` and, as a summary, ``memory-rag bench report`` write.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from memory_rag.embedding.catalogue import open_embedder
from memory_rag.errors import MemoryRagError
from memory_rag.evaluation.asking import Labelled, asking_trial
from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.datasets.fifty import LANGUAGES, read_fifty
from memory_rag.evaluation.datasets.registry import load
from memory_rag.evaluation.definition import definition_of
from memory_rag.evaluation.not_found import K, not_found_trial
from memory_rag.evaluation.provenance import provenance, write_result
from memory_rag.evaluation.recall_tables import SETS
from memory_rag.evaluation.speed import SEED, SIZES, speed_trial
from memory_rag.evaluation.speed_corpus import Corpus
from memory_rag.evaluation.speed_imports import TURNS, import_trial
from memory_rag.evaluation.speed_subjects import Repetitions, Subjects
from memory_rag.evaluation.tables import fill_pages
from memory_rag.memory import Memory
from memory_rag.prompt.asking_for_details import need_of_details
from memory_rag.retrieval.signals import WEIGHTS
from memory_rag.settings import Settings
from memory_rag.talks.ranking import WEIGHTS as TALK_WEIGHTS
from memory_rag.trials.fifty import fifty_trial
from memory_rag.trials.labelled_secrets import labelled_secrets
from memory_rag.trials.new_subjects import joined_of_benchmark, joined_of_fifty, subjects_heard
from memory_rag.trials.work_folder import benchmark_memory, remembering

_PATHS = {"locomo": "locomo10.json", "beam": "beam/100K"}
_CONSOLE = Console(stderr=True)
"""Progress only; the results go to the file and standard output."""
_DRAWN_EVERY_S = 0.5


def main(arguments: list[str] | None = None) -> int:
    """Run one trial over the evaluation data or over invented turns, or make the tables, and return the exit code."""
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
    telling.add_argument("--labels", type=Path, default=Path("eval/ask-details.jsonl"), help="labelled utterances")
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
    importing = commands.add_parser("imports", help="how fast histories of every format are read and stored")
    importing.set_defaults(run=_import)
    importing.add_argument("--out", type=Path, required=True, help="folder for imports.json")
    importing.add_argument("--seed", type=int, default=SEED)
    importing.add_argument("--turns", type=int, default=TURNS, help="of each format")
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
    tabling.add_argument("--pages", type=Path, nargs="+", default=[Path("eval/README.md"), Path("README.md")])
    given = parser.parse_args(arguments)
    try:
        given.run(given)
    except MemoryRagError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def _ask(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        for name in given.sets.split(","):
            path = given.data / _PATHS[name]
            # Under the name by which a benchmark's run keeps what it embedded.
            benchmark = definition_of(name).named(load(name, path), path)
            settings, embedder = remembering(given.work or Path(scratch), embedder=given.embedder)
            with (
                benchmark_memory(
                    benchmark, given.work or Path(scratch), settings=settings, embedder=embedder
                ) as memory,
                _progress() as shown,
            ):
                memory.embed(progress=_told(shown))
                try:
                    result = _not_found(memory, name, benchmark, tell=_told(shown))
                finally:
                    # Also of a trial that is stopped: the next one goes on from here.
                    if embedder is not None:
                        embedder.save()
            suffix = "" if given.embedder == "minilm" else f"-{given.embedder.replace(':', '-')}"
            write_result(given.out / f"not-found-{name}{suffix}.json", result)


def _tell_asking(given: argparse.Namespace) -> None:
    labelled = Labelled.read(given.labels)
    result = {
        "dataset": {"name": "ask-details", "sha256": labelled.sha256, "n_questions": len(labelled.utterances)},
        "provenance": provenance(languages=[]),
        "result": asking_trial(labelled.utterances, need_of=lambda text: need_of_details(text, languages=()).value),
    }
    write_result(given.out / "ask-details.json", result)


def _not_found(
    memory: Memory, name: str, benchmark: Benchmark, *, tell: Callable[[str, int, int], None]
) -> dict[str, Any]:
    embedder = memory.indexes.embedder
    return {
        "dataset": {
            "name": name,
            "sha256": benchmark.sha256,
            "n_questions": len(benchmark.queries),
            "n_turns": len(memory),
            "dropped": benchmark.dropped.as_json(),
        },
        "provenance": provenance(
            embedder=embedder.fingerprint if embedder else None,
            weights=dict(WEIGHTS),
            k=K,
            languages=list(memory.indexes.languages()),
        ),
        "result": not_found_trial(
            lambda text, within: memory.search(text, k=K, within=within, floor=False),
            benchmark,
            progress=lambda done, total: tell("not found", done, total),
        ),
    }


def _talk(given: argparse.Namespace) -> None:
    sets = [read_fifty(given.fifty, language=language) for language in LANGUAGES]
    embedders = {name: open_embedder(name) for name in given.embedders.split(",")}
    with _progress() as shown:
        result = {
            name: {one.language: fifty_trial(one, embedder=embedder, progress=_told(shown)) for one in sets}
            for name, embedder in embedders.items()
        }
    dataset = {
        "name": "fifty",
        "sha256": hashlib.sha256("".join(one.sha256 for one in sets).encode()).hexdigest(),
        "n_questions": sum(len(one.questions) for one in sets),
        "n_turns": sum(len(talk.turns) for one in sets for talk in one.talks.values()),
    }
    made = provenance(
        embedders={name: embedder.fingerprint for name, embedder in embedders.items()},
        weights=dict(WEIGHTS),
        talk_weights=dict(TALK_WEIGHTS),
    )
    write_result(given.out / "fifty.json", {"dataset": dataset, "provenance": made, "result": result})


def _join(given: argparse.Namespace) -> None:
    benchmarks = {name: load(name, given.data / path) for name, path in _PATHS.items()}
    fifties = [read_fifty(given.fifty, language=language) for language in LANGUAGES]
    joined = {name: joined_of_benchmark(one, seed=given.seed) for name, one in benchmarks.items()}
    joined |= {f"fifty-{one.language}": joined_of_fifty(one, seed=given.seed) for one in fifties}
    embedders = {name: open_embedder(name) for name in given.embedders.split(",")}
    drift = Settings().summary_drift
    with _progress() as shown:
        result = {
            name: subjects_heard(joined, embedder=embedder, drift=drift, progress=_told(shown))
            for name, embedder in embedders.items()
        }
    digests = [*(one.sha256 for one in benchmarks.values()), *(one.sha256 for one in fifties)]
    dataset = {"name": "joined", "sha256": hashlib.sha256("".join(digests).encode()).hexdigest()}
    made = provenance(
        embedders={name: embedder.fingerprint for name, embedder in embedders.items()}, drift=drift, seed=given.seed
    )
    write_result(given.out / "subjects.json", {"dataset": dataset, "provenance": made, "result": result})


def _time(given: argparse.Namespace) -> None:
    # Loaded here, so that the other trials do without; the model is loaded with its first text.
    from memory_rag.embedding.minilm import MiniLmEmbedder
    from memory_rag.embedding.wordpiece import WordPiece
    from memory_rag.retrieval.faiss_indexes import FlatVectors
    from memory_rag.retrieval.overlap import RankBm25

    embedder = MiniLmEmbedder()
    often = Repetitions().scaled(given.repetitions / 100)
    n_embedded = often.embedding_rounds * often.embedding_turns
    load_before = os.getloadavg()

    def rank_bm25(tokens: Any) -> Callable[[Any], object]:
        ranker = RankBm25(tokens)
        return lambda query: np.argsort(-ranker.scores(query), kind="stable")[:10]

    def flat(vectors: Any) -> Callable[..., object]:
        index = FlatVectors(embedder.dim)
        index.add(vectors)
        return lambda query, *, k, threads: index.nearest(query[0], k=k, threads=threads)

    with tempfile.TemporaryDirectory() as scratch, _progress(auto_refresh=False) as shown:
        if given.data is None:
            texts = Corpus(seed=given.seed).texts_of_tokens(n_embedded, count=WordPiece().count)
        else:
            texts = _locomo_texts(given.data, Path(scratch) / "locomo", n_embedded, seed=given.seed)
        result = speed_trial(
            Subjects(
                open_memory=lambda folder, *, durability, embedder: Memory.open(
                    folder, durability=durability, embedder=embedder
                ),
                rank_bm25=rank_bm25,
                flat=flat,
                embedder=embedder,
            ),
            scratch=Path(scratch),
            embedded=texts,
            sizes=[int(size) for size in given.sizes.split(",")],
            often=often,
            seed=given.seed,
            tell=_told(shown),
        )
    tokens = [WordPiece().count(text) for text in texts]
    result["embedding"]["texts"] = {
        "of": "invented" if given.data is None else "locomo",
        "n": len(texts),
        "tokens_mean": float(np.mean(tokens)),
        "tokens_p95": float(np.percentile(tokens, 95)),
    }
    settings = {
        "seed": given.seed,
        "embedder": embedder.fingerprint,
        "load_average_before": load_before[0],
        "load_average_after": os.getloadavg()[0],
    }
    write_result(given.out / "speed.json", {"provenance": provenance(**settings), "result": result})


def _import(given: argparse.Namespace) -> None:
    from memory_rag.importers import open_import
    from memory_rag.store.sqlite_store import SqliteTurnStore

    def stored(folder: Path, path: Path) -> int:
        store = SqliteTurnStore(folder)
        with open_import(path) as opened:
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


def _find_secrets(given: argparse.Namespace) -> None:
    paths = {} if given.data is None else _PATHS
    found = labelled_secrets(
        given.examples, {SETS[name]: load(name, given.data / path) for name, path in paths.items()}
    )
    write_result(given.out / "secrets.json", {"provenance": provenance(), **found})


def _locomo_texts(data: Path, scratch: Path, n: int, *, seed: int) -> list[str]:
    """Return n of LoCoMo's turns, drawn at random."""
    with Memory.open(scratch, embedder="none") as memory:
        memory.import_path(data / "locomo10.json")
        texts = [turn.searchable for turn in memory.turns()]
    return [texts[place] for place in np.random.default_rng(seed).choice(len(texts), n, replace=False)]


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
