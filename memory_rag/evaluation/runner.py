"""Every retriever asked every question in every pool; what comes of it is written down."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from memory_rag.errors import QueryError
from memory_rag.evaluation.benchmark import Benchmark, Dropped, Query
from memory_rag.evaluation.datasets.assembly import Judged
from memory_rag.evaluation.datasets.own import TOO_SHORT
from memory_rag.evaluation.datasets.question_file import written_line
from memory_rag.evaluation.kept_rankings import KeptRankings
from memory_rag.evaluation.pools import by_conversation
from memory_rag.evaluation.report import COMPARED, MEASURES, build_report
from memory_rag.evaluation.report_file import over_pools, with_pool_sizes, write_report
from memory_rag.evaluation.report_shape import AnyReport, PoolName, PoolSize, Weights
from memory_rag.evaluation.retrievers import Contender, Ranked
from memory_rag.evaluation.runs import qrels_lines, run_lines
from memory_rag.evaluation.scores import scorers

Progress = Callable[[str, int, int], None]
REPORT: Final = "report.json"
QRELS: Final = "qrels"
QUESTIONS: Final = "questions.jsonl"
DEPTH: Final = 100


@dataclass(frozen=True)
class Trial:
    """A benchmark on some pools, and the rankings made so far, by pool and retriever."""

    benchmark: Benchmark
    pools: Sequence[PoolName]
    depth: int = DEPTH
    measures: Sequence[str] = MEASURES
    compared: Sequence[str] = COMPARED
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seed: int = 0
    runs: dict[PoolName, dict[str, dict[str, Sequence[str]]]] = field(default_factory=dict)
    latencies_ms: dict[PoolName, dict[str, list[float]]] = field(default_factory=dict)
    weights: dict[str, Weights] = field(default_factory=dict)
    pool_sizes: dict[str, list[PoolSize]] = field(default_factory=dict)
    kept: KeptRankings | None = None

    def check(self) -> None:
        """Refuse what couldn't be scored, before anything is ranked.

        Raises:
            QueryError: no questions, or a k at or above the size of a question's pool.
        """
        if not self.benchmark.answerable():
            raise QueryError(
                f"{self.benchmark.name} has no question with evidence, so nothing can be measured"
                + _why_none(self.benchmark.dropped)
            )
        for pool in self.pools:
            scorers(self.benchmark, {}, pool=pool, depth=self.depth, measures=self.measures, tokens=None)

    def ask(
        self,
        contenders: Sequence[Contender],
        pool: PoolName,
        *,
        progress: Progress | None = None,
        beside: Callable[[Query], None] | None = None,
    ) -> None:
        """Let retrievers rank the candidates of every answerable question in a pool, question by question.

        What a run that was stopped has ranked is taken as it is. ``beside`` is called with each question after them.
        """
        queries = self.benchmark.answerable()
        found = self.rankings(
            contenders, by_conversation(queries), pool, depth=self.depth, progress=progress, beside=beside
        )
        for contender in contenders:
            of_query = found[contender.name]
            self.runs.setdefault(pool, {})[contender.name] = {
                query.query_id: of_query[query.query_id].doc_ids for query in queries
            }
            spent = [ms for query in queries if (ms := of_query[query.query_id].ms) is not None]
            if spent:
                self.latencies_ms.setdefault(pool, {})[contender.name] = spent
            if contender.weights is not None:
                self.weights[contender.name] = contender.weights

    def rankings(
        self,
        contenders: Sequence[Contender],
        queries: Sequence[Query],
        pool: PoolName,
        *,
        depth: int,
        named: str | None = None,
        progress: Progress | None = None,
        beside: Callable[[Query], None] | None = None,
    ) -> dict[str, dict[str, Ranked]]:
        """Return each retriever's rankings by query, which are asked in this order; ``named`` is the pool's name where
        it isn't the whole of one.
        """
        where = named or pool
        found = {one.name: self.kept.of(where, one.name) if self.kept else {} for one in contenders}
        what = f"asking {', '.join(found)} ({where})"
        for done, query in enumerate(queries):
            if progress is not None and done % 20 == 0:
                progress(what, done, len(queries))
            for contender in contenders:
                of_query = found[contender.name]
                if query.query_id not in of_query:
                    ranked = of_query[query.query_id] = contender.rank(query, pool, depth)
                    # What isn't timed, a bound, costs nothing to rank again.
                    if self.kept is not None and ranked.ms is not None:
                        self.kept.add(where, contender.name, query.query_id, ranked)
            if beside is not None:
                beside(query)
        if self.kept is not None:
            self.kept.flush()
        return found

    def report(
        self,
        *,
        provenance: Mapping[str, Any],
        tokens: Mapping[str, int] | None = None,
        token_counter: str | None = None,
        not_measured: Sequence[str] = (),
    ) -> AnyReport:
        """Score the rankings and return the report on the pool, or on all pools if there are several.

        Raises:
            QueryError: there is nothing to score.
        """
        reports = []
        for pool in self.pools:
            runs = self.runs.get(pool, {})
            report = build_report(
                self.benchmark,
                runs,
                pool=pool,
                depth=self.depth,
                provenance=provenance,
                weights={name: weights for name, weights in self.weights.items() if name in runs},
                latencies_ms=self.latencies_ms.get(pool),
                tokens=tokens,
                token_counter=token_counter,
                measures=self.measures,
                compared=self.compared,
                groups=self.groups,
                seed=self.seed,
            )
            report["not_measured"] += not_measured
            if pool == "memory" and self.pool_sizes:
                report = with_pool_sizes(report, self.pool_sizes)
            reports.append(report)
        return reports[0] if len(reports) == 1 else over_pools(*reports)

    def write(self, folder: Path, report: AnyReport) -> list[Path]:
        """Write the report, a TREC run a pool and retriever, the qrels and the questions, and return the files.

        The questions are written as a question file, which ``bench run own --questions`` asks again.
        """
        folder.mkdir(parents=True, exist_ok=True)
        written = [folder / REPORT, folder / QRELS, folder / QUESTIONS]
        write_report(written[0], report)
        asked = self.benchmark.answerable()
        judged = {query.query_id: self.benchmark.qrels[query.query_id] for query in asked}
        _write(written[1], "".join(qrels_lines(judged)))
        lines = "".join(written_line(Judged(query, judged[query.query_id])) for query in asked)
        # A lone surrogate as its escape in JSON.
        written[2].write_bytes(lines.encode("utf-8", "backslashreplace"))
        for pool, runs in self.runs.items():
            for name, run in runs.items():
                path = folder / "runs" / f"{pool}-{quote(name, safe=' ()').replace(' ', '-')}.run"
                path.parent.mkdir(exist_ok=True)
                _write(path, "".join(run_lines(run, tag=name)))
                written.append(path)
        return written


def measures_up_to(k: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the measures that look at k hits at most, and those that retrievers are compared by, all at k.

    For k = 10 they are the usual ones.

    Raises:
        QueryError: k is below 1.
    """
    if k < 1:
        raise QueryError(f"k must be at least 1, got {k}")
    compared = tuple(f"{name.partition('@')[0]}@{k}" for name in COMPARED)
    smaller = (name for name in MEASURES if int(name.partition("@")[2]) < k)
    deepest = (f"{name.partition('@')[0]}@{k}" for name in MEASURES if name.endswith("@10"))
    return tuple(dict.fromkeys((*smaller, *deepest))), compared


def read_questions(folder: Path) -> dict[str, str]:
    """Return the texts of a run's questions by id; nothing if they aren't there."""
    path = folder / QUESTIONS
    if not path.is_file():
        return {}
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    # Until 0.1.0 it was called "text".
    return {line["query_id"]: line.get("query", line.get("text", "")) for line in lines}


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "surrogatepass"))


def _why_none(dropped: Dropped) -> str:
    """Return why most of what could have been asked was left out, and what would ask it, if that is known."""
    short = [(reason, n) for reason, n in dropped.counts.items() if reason.startswith(TOO_SHORT)]
    told = "; ".join(f"{reason}: {n:,}" for reason, n in short or dropped.counts.most_common(2))
    remedy = "; leave a conversation's length aside with: --pool memory" if short else ""
    return (f" ({told})" if told else "") + remedy
