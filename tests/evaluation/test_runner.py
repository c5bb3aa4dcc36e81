from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from memory_rag.errors import QueryError, SettingsError
from memory_rag.evaluation.benchmark import Query
from memory_rag.evaluation.datasets.files_read import FilesRead
from memory_rag.evaluation.datasets.question_file import read_written
from memory_rag.evaluation.definition import definition_of, definitions
from memory_rag.evaluation.file_scores import score_files
from memory_rag.evaluation.pools import Pools
from memory_rag.evaluation.report_file import by_pool, read_report
from memory_rag.evaluation.report_shape import PoolName
from memory_rag.evaluation.retrievers import Contender, Ranked, baselines, bounds
from memory_rag.evaluation.runner import Trial, measures_up_to, read_questions
from memory_rag.evaluation.runs import read_qrels, read_run
from tests.evaluation.made_report import DEPTH, HOSTILE, made_benchmark

MEASURES, COMPARED = measures_up_to(5)


def made_trial(*pools: PoolName) -> Trial:
    return Trial(made_benchmark(), pools or ("conversation",), depth=DEPTH, measures=MEASURES, compared=COMPARED)


def ask_all(trial: Trial, contenders: Sequence[Contender]) -> None:
    for pool in trial.pools:
        trial.ask(contenders, pool)


def simple(trial: Trial) -> list[Contender]:
    pools = Pools(trial.benchmark)
    return [*baselines(pools), *bounds(trial.benchmark, pools, seed=0)]


def test_a_report_has_every_retriever_on_every_pool_and_the_time_of_those_that_are_timed() -> None:
    trial = made_trial("conversation", "memory")
    ask_all(trial, simple(trial))

    report = trial.report(provenance={"commit": "abc"}, not_measured=["dense: there is no embedder"])

    conversation, memory = by_pool(report)
    assert [conversation["pool"], memory["pool"]] == ["conversation", "memory"]
    for one in (conversation, memory):
        assert list(one["retrievers"]) == ["overlap", "rank-bm25", "random", "oracle"]
        assert one["retrievers"]["oracle"]["measures"]["recall@5"]["mean"] == 1
        assert one["retrievers"]["overlap"]["latency_ms"] is not None
        assert one["retrievers"]["random"]["latency_ms"] is None
        assert "dense: there is no embedder" in one["not_measured"]


def test_weights_go_with_their_retriever() -> None:
    trial = made_trial()
    seen = {"source": "shipped", "fitted_on": [trial.benchmark.sha256]}
    ask_all(trial, [Contender("hybrid", simple(trial)[0].rank, seen)])  # type: ignore[arg-type]

    [report] = by_pool(trial.report(provenance={}))

    assert report["retrievers"]["hybrid"]["weights"] == seen
    assert report["retrievers"]["hybrid"]["in_sample"]


def test_what_is_written_can_be_read_and_scored_again(tmp_path: Path) -> None:
    trial = made_trial()
    ask_all(trial, simple(trial))
    report = trial.report(provenance={})
    trial.write(tmp_path, report)

    assert read_report(tmp_path / "report.json") == report
    assert read_questions(tmp_path)["c0/q0"] == HOSTILE
    questions = tmp_path / "questions.jsonl"
    written = {one.query_id: one for one in read_written(FilesRead(questions), questions)}
    assert written["c1/q2"].turn_ids == ("c1/t2", "c1/t9")
    assert written["c0/q0"].query == HOSTILE
    assert read_qrels(tmp_path / "qrels")["c1/q2"] == {"c1/t2": 1, "c1/t9": 1}
    run = read_run(tmp_path / "runs" / "conversation-rank-bm25.run")
    of_first = trial.runs["conversation"]["rank-bm25"]["c1/q2"]
    assert sorted(run["c1/q2"], key=lambda found: -run["c1/q2"][found]) == list(of_first)
    scored = score_files(
        tmp_path / "runs" / "conversation-rank-bm25.run", tmp_path / "qrels", measures=["recall@5", "rr@5"]
    )
    [one] = by_pool(report)
    for name in ("recall@5", "rr@5"):
        expected = one["retrievers"]["rank-bm25"]["measures"][name]["mean"]
        assert scored["measures"][name]["mean"] == pytest.approx(expected)


def test_a_query_that_a_run_does_not_have_scores_0_and_is_counted(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d2 1\nq3 0 d3 0\n")
    (tmp_path / "run").write_text("q1 Q0 d1 1 2.0 x\nq9 Q0 d1 1 2.0 x\n")

    found = score_files(tmp_path / "run", tmp_path / "qrels", measures=["recall@1"])

    assert found["measures"]["recall@1"]["mean"] == 0.5
    assert found["per_query"] == {"recall@1": {"q1": 1.0, "q2": 0.0}}
    assert (found["n_queries"], found["without_hits"], found["not_judged"]) == (2, 1, 1)


def test_judgements_without_anything_relevant_are_refused(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q1 0 d1 0\n")
    (tmp_path / "run").write_text("")
    with pytest.raises(QueryError, match="judges nothing as relevant"):
        score_files(tmp_path / "run", tmp_path / "qrels", measures=["recall@1"])


def test_a_k_that_is_the_size_of_a_pool_is_refused_before_anything_is_asked() -> None:
    measures, compared = measures_up_to(20)
    trial = Trial(made_benchmark(), ("conversation",), depth=100, measures=measures, compared=compared)

    with pytest.raises(QueryError, match=r"success@20 says nothing|recall@20 says nothing"):
        trial.check()
    made_trial().check()


def test_measures_go_as_deep_as_asked() -> None:
    assert measures_up_to(3) == (
        ("recall@1", "success@1", "recall@3", "success@3", "all_found@3", "rr@3", "ndcg@3"),
        ("recall@3", "ndcg@3", "success@3"),
    )
    assert "recall@5" in measures_up_to(20)[0]
    with pytest.raises(QueryError, match="k must be at least 1, got 0"):
        measures_up_to(0)


def test_progress_tells_what_is_asked_and_how_much_is_done() -> None:
    trial, told = made_trial(), list[tuple[str, int, int]]()

    trial.ask(
        [Contender("nothing", lambda _query, _pool, _depth: Ranked([]))],
        "conversation",
        progress=lambda what, done, total: told.append((what, done, total)),
    )

    assert told == [("asking nothing (conversation)", 0, 30), ("asking nothing (conversation)", 20, 30)]
    assert trial.runs["conversation"]["nothing"]["c0/q0"] == []


def test_questions_without_evidence_are_not_asked() -> None:
    trial, asked = made_trial(), list[str]()

    def rank(query: Query, _pool: PoolName, _depth: int) -> Ranked:
        asked.append(query.query_id)
        return Ranked([])

    trial.ask([Contender("nothing", rank)], "memory")

    assert "c0/nothing" not in asked
    assert len(asked) == 30


def test_every_data_set_has_a_definition_in_the_package() -> None:
    found = definitions()

    assert set(found) == {"beam", "beir", "chats", "locomo", "longmemeval", "own", "realtalk", "trec"}
    assert all(one.k == 10 and one.unit == "turn" and one.about for one in found.values())


def test_a_definition_of_ones_own_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('dataset = "trec"\nk = 5\ndata = "turns"\n[options]\nqrels = "q.txt"\n')

    found = definition_of(str(path))

    assert (found.name, found.k, found.data, found.options) == (
        "mine",
        5,
        tmp_path / "turns",
        {"qrels": tmp_path / "q.txt"},
    )


def test_data_with_another_digest_run_under_their_own_name(tmp_path: Path) -> None:
    definition, made = definition_of("locomo"), made_benchmark(name="locomo")

    assert definition.named(made, tmp_path / "talks.json").name == "locomo-talks"
    assert definition.named(made, tmp_path / "locomo10.json").name == "locomo10"
    assert definition.named(made, tmp_path / "locomo.json").name == "locomo-55555555"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('dataset = "squad"', "dataset is one of: beam"),
        ('dataset = "trec"\ncutoff = 3', "has no 'cutoff'; it has: dataset"),
        ('dataset = "trec"\nk = "3"', "k is a int, got '3'"),
        ('dataset = "trec"\nunit = "word"', "unit is one of: turn, session; got 'word'"),
        ('dataset = "trec"\ndepth = 0', "depth must be at least 1, got 0"),
        ("dataset", "can't be read as a benchmark's definition"),
    ],
)
def test_a_file_that_is_no_definition_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=message):
        definition_of(str(path))


def test_an_unknown_benchmark_is_refused_with_those_that_are() -> None:
    with pytest.raises(SettingsError, match="unknown benchmark 'lokomo'; there are: beam, beir"):
        definition_of("lokomo")
