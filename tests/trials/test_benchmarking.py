"""A benchmark in one call: a data set, our own, or a memory that is open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_rag import Memory, run_benchmark, score_run
from memory_rag.errors import MemoryRagError, SettingsError
from memory_rag.sample import history_path, questions_about
from tests.trials.made_talks import locomo_file

WORDS = ("overlap", "keyword", "hybrid")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("sample") / "ebba", embedder="none") as opened:
        opened.import_path(history_path())
        yield opened


def test_a_memory_is_asked_questions_that_are_written_down(memory: Memory, tmp_path: Path) -> None:
    asked = questions_about(memory.turns())

    report = run_benchmark(
        "own", memory=memory, questions=asked, n=0, retrievers=WORDS, pool="memory", work=tmp_path / "work"
    )

    assert sorted(report.questions.values()) == sorted(asked)
    assert report.pools == ("memory",)
    assert report.mean("keyword")["n"] == 20
    assert report.mean("hybrid")["mean"] > report.mean("overlap")["mean"]
    # The memory is still open, and has no word more.
    assert len(memory) == 326
    assert len(memory.search("sourdough")) > 0


def test_a_memory_is_asked_questions_made_of_its_words(memory: Memory, tmp_path: Path) -> None:
    report = run_benchmark("own", memory=memory, n=12, retrievers=WORDS, pool="memory", work=tmp_path)

    assert report.mean("keyword")["n"] == 12
    assert report.mean("keyword")["mean"] > 0.5


def test_a_data_set_is_run_and_written_for_others_to_score(tmp_path: Path) -> None:
    notes: list[str] = []

    report = run_benchmark(
        "locomo",
        data=locomo_file(tmp_path),
        retrievers=("keyword", "random"),
        pool="conversation",
        limit=20,
        embedder="none",
        work=tmp_path / "work",
        out=tmp_path / "out",
        note=notes.append,
    )

    scored = score_run(tmp_path / "out/runs/conversation-keyword.run", tmp_path / "out/qrels", measures=["recall@10"])
    assert scored.n_queries == 20
    assert scored.means["recall@10"] == pytest.approx(report.mean("keyword")["mean"])
    assert (tmp_path / "out/report.html").is_file()
    assert any("keyword, pool conversation" in text for text in notes)


def test_data_are_looked_for_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = locomo_file(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "locomo10.json").write_bytes(made.read_bytes())
    monkeypatch.setenv("MEMORY_RAG_DATA", str(tmp_path / "data"))

    report = run_benchmark(
        "locomo", retrievers=("keyword",), pool="memory", limit=5, embedder="none", work=tmp_path / "work"
    )

    assert report.mean("keyword")["n"] == 5


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("locomo", {}, "locomo needs its data: name the file with data=, or set MEMORY_RAG_DATA"),
        ("own", {}, "own asks a memory of yours and takes no data; give memory="),
        ("chats", {"n": 5}, "chats has its own turns and questions; memory=, n= and questions= are for own"),
        ("chats", {"retrievers": ["best"]}, "unknown retriever 'best'; retrievers are: overlap"),
        ("chats", {"pool": "all"}, "unknown pool 'all'"),
        ("lokomo", {}, "unknown benchmark 'lokomo'; there are: beam"),
    ],
)
def test_what_is_missing_or_not_wanted_is_said(
    name: str, given: dict[str, object], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("MEMORY_RAG_DATA", raising=False)

    with pytest.raises(SettingsError) as said:
        run_benchmark(name, work=tmp_path, **given)  # type: ignore[arg-type]
    assert message in str(said.value)
    assert isinstance(said.value, MemoryRagError)


def test_a_memory_is_asked_with_its_own_embedder(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="open it with another one instead"):
        run_benchmark("own", memory=memory, n=5, pool="memory", embedder="minilm", work=tmp_path)
