"""What a stopped run has ranked is there again, and only for the same run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.errors import MemoryRagError
from memory_rag.evaluation.benchmark import Query
from memory_rag.evaluation.kept_rankings import KeptRankings
from memory_rag.evaluation.report_shape import PoolName
from memory_rag.evaluation.retrievers import Contender, Ranked
from memory_rag.evaluation.runner import Trial
from tests.evaluation.made_report import DEPTH, made_benchmark

MADE_WITH = {"code": "1", "depth": 10}
ANY_ID = st.text(st.characters(codec=None, categories=None), max_size=12)


@given(rankings=st.dictionaries(ANY_ID, st.lists(ANY_ID, max_size=4), max_size=4), retriever=st.text(max_size=5))
def test_any_ids_come_back(
    tmp_path_factory: pytest.TempPathFactory, rankings: Mapping[str, list[str]], retriever: str
) -> None:
    folder = tmp_path_factory.mktemp("kept")
    kept = KeptRankings(folder, MADE_WITH)
    for query, doc_ids in rankings.items():
        kept.add("memory", retriever, query, Ranked(doc_ids, 1.25))
    kept.flush()

    found = KeptRankings(folder, MADE_WITH).of("memory", retriever)
    kept.close()

    assert found == {query: Ranked(doc_ids, 1.25) for query, doc_ids in rankings.items()}


def test_a_line_that_was_cut_off_is_forgotten_and_written_again(tmp_path: Path) -> None:
    kept = KeptRankings(tmp_path, MADE_WITH)
    kept.add("memory", "keyword", "q1", Ranked(["a"], None))
    kept.add("memory", "keyword", "q2", Ranked(["b"], None))
    kept.close()
    [file] = tmp_path.rglob("*.jsonl")
    file.write_bytes(file.read_bytes()[:-4])

    later = KeptRankings(tmp_path, MADE_WITH)
    assert list(later.of("memory", "keyword")) == ["q1"]
    later.add("memory", "keyword", "q2", Ranked(["c"], 2.0))
    later.close()

    assert KeptRankings(tmp_path, MADE_WITH).of("memory", "keyword")["q2"] == Ranked(["c"], 2.0)


def test_another_run_does_not_take_them(tmp_path: Path) -> None:
    kept = KeptRankings(tmp_path, MADE_WITH)
    kept.add("memory", "keyword", "q1", Ranked(["a"], None))
    kept.close()

    assert len(KeptRankings(tmp_path, MADE_WITH)) == 1
    assert len(KeptRankings(tmp_path, {**MADE_WITH, "code": "2"})) == 0
    assert KeptRankings(tmp_path, MADE_WITH).of("conversation", "keyword") == {}


def test_a_finished_run_leaves_nothing(tmp_path: Path) -> None:
    kept = KeptRankings(tmp_path, MADE_WITH)
    kept.add("memory", "keyword", "q1", Ranked(["a"], None))
    kept.keep_value("memory", "weights", {"a": 0.1})
    assert kept.value("memory", "weights") == {"a": 0.1}
    kept.forget()

    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(MemoryRagError, match=r"file/.* can't be made .* name another folder with --work"):
        KeptRankings(tmp_path / "file", MADE_WITH)


def test_what_was_ranked_is_not_ranked_again(tmp_path: Path) -> None:
    asked: list[str] = []

    def rank(query: Query, pool: PoolName, _depth: int) -> Ranked:
        if len(asked) == 45:
            raise KeyboardInterrupt
        asked.append(f"{pool} {query.query_id}")
        return Ranked([f"{query.query_id.partition('/')[0]}/t{len(asked) % 20}"], float(len(asked)))

    def trial() -> Trial:
        return Trial(made_benchmark(), ("conversation", "memory"), depth=DEPTH, kept=KeptRankings(tmp_path, MADE_WITH))

    stopped, contender = trial(), Contender("one", rank)
    stopped.ask([contender], "conversation")
    with pytest.raises(KeyboardInterrupt):
        stopped.ask([contender], "memory")
    assert stopped.kept is not None
    stopped.kept.close()
    done, asked[:] = len(asked), ["x"] * 100
    resumed = trial()
    for pool in resumed.pools:
        resumed.ask([contender], pool)
    assert resumed.kept is not None
    resumed.kept.forget()

    # Thirty questions in each of two pools.
    assert done == 45
    assert len(asked) == 100 + 60 - 45
    assert resumed.runs["conversation"] == stopped.runs["conversation"]
    assert resumed.latencies_ms["conversation"]["one"] == [float(n) for n in range(1, 31)]
