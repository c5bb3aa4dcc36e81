"""``memory-rag bench``: from data, or a memory of one's own, to a report."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from memory_rag.evaluation.report_file import by_pool, read_report
from memory_rag.evaluation.weights_origin import shipped_weights
from memory_rag.memory import Memory
from memory_rag.retrieval.signals import WEIGHTS
from memory_rag.retrieval.weights_file import read_weights
from tests.interfaces.command_line import CommandLine
from tests.model_server import model_server
from tests.trials.made_talks import locomo_file


@pytest.fixture
def data(tmp_path: Path) -> str:
    return str(locomo_file(tmp_path))


def run(memory_rag: CommandLine, data: str, out: Path, *more: str, **environment: str) -> None:
    """Run the made talks into a folder."""
    ran = memory_rag("bench", "run", "locomo", "--data", data, "--out", str(out), *more, **environment)
    assert ran.code == 0, ran


def test_the_benchmarks_are_listed_with_what_each_takes(memory_rag: CommandLine) -> None:
    listed = {one["name"]: one["takes"] for one in memory_rag("bench", "list", "--json").json}

    assert listed["locomo"] == "file"
    assert listed["own"] == "memory"
    assert listed["chats"] == "nothing"
    assert max(map(len, memory_rag("bench", "list").lines)) <= 80


def test_a_run_prints_a_table_and_writes_report_page_and_runs(
    memory_rag: CommandLine, data: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ran = memory_rag("bench", "run", "locomo", "--data", data, "--out", str(out))

    assert ran.code == 0, ran
    assert "36 questions, 3 conversations, 108 turns" in ran.out
    # By words only: said before anything is embedded.
    assert "note: keyword, pool conversation: recall@10 " in ran.err
    assert "dense, rrf and convex: there is no embedder" in " ".join(ran.out.split())
    conversation, memory = by_pool(read_report(out / "report.json"))
    expected = {"overlap", "rank-bm25", "keyword", "hybrid", "hybrid-cv", "random", "oracle"}
    assert set(conversation["retrievers"]) == set(memory["retrievers"]) == expected
    assert conversation["benchmark"] == "locomo-made_talks"
    assert conversation["retrievers"]["hybrid-cv"]["weights"] == {
        "source": "cv",
        "fitted_on": [conversation["dataset"]["sha256"]],
    }
    assert not conversation["retrievers"]["hybrid"]["in_sample"]
    assert "<svg" in (out / "report.html").read_text(encoding="utf-8") or "note: there are no charts" in ran.err
    assert {path.name for path in (out / "runs").iterdir()} == {
        f"{pool}-{name}.run" for pool in ("conversation", "memory") for name in expected
    }


def test_the_same_run_gives_the_same_report(memory_rag: CommandLine, data: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        run(memory_rag, data, tmp_path / name)
    first, second = (read_report(tmp_path / name / "report.json") for name in ("a", "b"))

    for one, other in zip(by_pool(first), by_pool(second), strict=True):
        assert one["per_query"] == other["per_query"]
        assert one["comparisons"] == other["comparisons"]


def test_a_written_run_scores_as_the_report_says(memory_rag: CommandLine, data: str, tmp_path: Path) -> None:
    run(memory_rag, data, tmp_path / "out")
    files = ("--run", f"{tmp_path}/out/runs/memory-hybrid.run", "--qrels", f"{tmp_path}/out/qrels")

    scored = memory_rag("bench", "score", *files, "--json").json

    means = by_pool(read_report(tmp_path / "out" / "report.json"))[1]["retrievers"]["hybrid"]["measures"]
    for name in ("recall@10", "ndcg@10", "rr@10"):
        assert scored["measures"][name]["mean"] == pytest.approx(means[name]["mean"], abs=1e-12)
    assert memory_rag("bench", "score", *files).lines[-1] == "36 queries with judgements, 0 of them without hits"


def test_reports_are_compared_and_unlike_ones_only_with_force(
    memory_rag: CommandLine, data: str, tmp_path: Path
) -> None:
    run(memory_rag, data, tmp_path / "a")
    run(memory_rag, data, tmp_path / "b", "--limit", "20")

    alike = memory_rag("bench", "compare", f"{tmp_path}/a", f"{tmp_path}/a/report.json", "--json").json
    refused = memory_rag("bench", "compare", f"{tmp_path}/a", f"{tmp_path}/b")
    forced = memory_rag("bench", "compare", f"{tmp_path}/a", f"{tmp_path}/b", "--force")

    assert {row["difference"] for rows in alike.values() for row in rows} == {0}
    assert refused.code == 1
    assert "questions: 36 and 20, 20 in both" in refused.err
    assert "--force" in refused.err
    assert forced.code == 0
    assert forced.lines[0] == "pool conversation, a - b, 20 questions"
    assert "note: pool memory: questions: 36 and 20, 20 in both" in forced.err


def test_a_report_is_printed_again(memory_rag: CommandLine, data: str, tmp_path: Path) -> None:
    run(memory_rag, data, tmp_path / "out", "--pool", "memory")
    (tmp_path / "out" / "report.html").unlink()

    again = memory_rag("bench", "report", str(tmp_path / "out"))

    assert "36 questions, 3 conversations, 108 turns" in again.out
    assert (tmp_path / "out" / "report.html").is_file()


def test_weights_are_tuned_written_and_used(memory_rag: CommandLine, data: str, tmp_path: Path) -> None:
    path = tmp_path / "weights.toml"
    tuned = memory_rag("bench", "tune", "locomo", "--data", data, "--out", str(path))
    assert tuned.code == 0, tuned
    run(memory_rag, data, tmp_path / "out", "--weights", str(path), "--retrievers", "hybrid,keyword")

    [one, _] = by_pool(read_report(tmp_path / "out" / "report.json"))

    assert f"MEMORY_RAG_WEIGHTS={path}" in tuned.err
    assert tuned.lines[0].split() == ["signal", "before", "fitted"]
    rows = [line.split() for line in tuned.lines[1:]]
    assert {name: float(before) for name, before, _ in rows} == dict(WEIGHTS)
    assert {name: float(fitted) for name, _, fitted in rows} == pytest.approx(read_weights(path).weights, abs=1e-3)
    assert one["retrievers"]["hybrid"]["weights"] == {
        "source": "file",
        "fitted_on": [*shipped_weights()["fitted_on"], one["dataset"]["sha256"]],
    }
    assert one["retrievers"]["hybrid"]["in_sample"]


def test_weights_named_for_one_run_are_forgotten_after_it(memory_rag: CommandLine, data: str, tmp_path: Path) -> None:
    path = tmp_path / "weights.toml"
    path.write_text("[weights]\nkeyword = 1.0\n")
    run(memory_rag, data, tmp_path / "a", "--weights", str(path), "--retrievers", "hybrid")
    run(memory_rag, data, tmp_path / "b", "--retrievers", "hybrid")

    sources = [
        by_pool(read_report(tmp_path / name / "report.json"))[0]["retrievers"]["hybrid"]["weights"] for name in "ab"
    ]

    assert [one["source"] for one in sources if one] == ["file", "shipped"]


def test_questions_are_made_of_a_memory_of_ones_own(memory_rag: CommandLine, tmp_path: Path) -> None:
    talk = memory_rag("import", str(locomo_file(tmp_path)), "--memory", "mine")
    assert talk.code == 0, talk

    ran = memory_rag("bench", "run", "own", "--memory", "mine", "--out", f"{tmp_path}/out", "--n", "20")

    assert ran.code == 0, ran
    [one, _] = by_pool(read_report(tmp_path / "out" / "report.json"))
    assert one["benchmark"] == "own-mine"
    assert set(one["categories"]) == {"exact words", "half-remembered"}
    with Memory.open(memory_rag.home / "mine", embedder="none", create=False) as memory:
        assert len(memory) == 108


def test_conversations_too_short_to_rank_in_are_not_asked_about(memory_rag: CommandLine, tmp_path: Path) -> None:
    things = ("kayak", "violin", "ladder", "lantern", "compass", "saddle")
    with Memory.open(memory_rag.home / "mine", embedder="none") as memory:
        for name, n in (("short", 10), ("long", 40)):
            for number in range(n):
                thing = f"{things[number % 6]} number {name} {number}"
                memory.add(f"Yesterday we carried the {thing} across that frozen harbour", conversation_id=name)
    words = ("bench", "run", "own", "--memory", "mine", "--n", "12", "--retrievers", "keyword", "--json")

    both, whole = memory_rag(*words), memory_rag(*words, "--pool", "memory")

    assert set(both.json["conversations"]) == {"long"}
    assert set(whole.json["conversations"]) == {"short", "long"}
    left_out = [one["reason"] for one in both.json["dataset"]["dropped"]]
    assert "turn not asked for: its conversation has 10 turns at most" in left_out


def test_a_memory_of_short_talks_is_told_how_it_can_be_asked(memory_rag: CommandLine, tmp_path: Path) -> None:
    with Memory.open(memory_rag.home / "mine", embedder="none") as memory:
        for name in ("kayak", "violin", "ladder"):
            memory.add(f"Yesterday we carried that heavy {name} across the frozen harbour", conversation_id=name)

    ran = memory_rag("bench", "run", "own", "--memory", "mine", "--out", f"{tmp_path}/out")

    assert (ran.code, ran.err) == (
        1,
        "error: own-mine has no question with evidence, so nothing can be measured (turn not asked for: its "
        "conversation has 10 turns at most: 3); leave a conversation's length aside with: --pool memory\n",
    )
    assert not (tmp_path / "out").exists()


def test_a_run_that_cannot_be_written_is_not_begun(memory_rag: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file", encoding="utf-8")

    ran = memory_rag("bench", "run", "chats", "--limit", "2", "--retrievers", "overlap", "--out", f"{tmp_path}/out")

    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"error: {tmp_path}/out: File exists\n"


def test_bench_alone_shows_its_help(memory_rag: CommandLine) -> None:
    alone, asked = memory_rag("bench"), memory_rag("bench", "--help")

    assert (alone.code, alone.err) == (2, "")
    assert alone.out == asked.out


def test_a_third_of_the_questions_are_in_a_models_words_and_can_be_asked_again(
    memory_rag: CommandLine, tmp_path: Path
) -> None:
    memory_rag("import", str(locomo_file(tmp_path)), "--memory", "mine")
    words = ("bench", "run", "own", "--memory", "mine", "--pool", "memory")
    work = ("--work", f"{tmp_path}/work", "--retrievers", "keyword,overlap")
    asked = ("--n", "9", "--paraphrase", "openai:small", "--out", f"{tmp_path}/out")
    with model_server() as server:
        server.says = lambda request: f"Which day was it, {len(server.requests)}?"
        dry = memory_rag(*words, *asked, "--dry-run", OPENAI_BASE_URL=server.url)
        assert (dry.code, server.requests) == (0, [])

        ran = memory_rag(*words, *work, *asked, OPENAI_BASE_URL=server.url)

        assert ran.code == 0, ran
        assert len(server.requests) == 3
    assert "note: a dry run asks no model: questions in the words of openai:small are left out" in dry.err
    assert "note: turns are sent to openai:small, which writes about 3 questions" in ran.err
    [one] = by_pool(read_report(tmp_path / "out" / "report.json"))
    assert Counter(one["categories"]) == {"exact words": 3, "half-remembered": 3, "paraphrased": 3}
    assert one["dataset"]["made"]["paraphrased"] == "asked for by openai:small"
    assert [*(tmp_path / "work").rglob("paraphrases-*")] == []

    again = memory_rag(*words, *work, "--n", "0", "--questions", f"{tmp_path}/out/questions.jsonl", "--json")

    assert again.json["queries"] == one["queries"]
    assert again.json["per_query"] == one["per_query"]


def test_a_model_that_fails_leaves_the_paraphrases_that_it_wrote(memory_rag: CommandLine, tmp_path: Path) -> None:
    memory_rag("import", str(locomo_file(tmp_path)), "--memory", "mine")
    words = ("bench", "run", "own", "--memory", "mine", "--pool", "memory", "--n", "9", "--work", f"{tmp_path}/work")
    asked = ("--paraphrase", "openai:small", "--retrievers", "keyword")
    with model_server() as server:
        server.will_say("Which day?")
        server.will_fail(401)
        failed = memory_rag(*words, *asked, OPENAI_BASE_URL=server.url)
        assert failed.code == 1, failed

        ran = memory_rag(*words, *asked, OPENAI_BASE_URL=server.url)

        assert ran.code == 0, ran
        assert "; 1 are kept from a run that was stopped" in ran.err
        assert len(server.requests) == 4


def test_a_dry_run_says_what_is_read(memory_rag: CommandLine, data: str) -> None:
    summary = memory_rag("bench", "run", "locomo", "--data", data, "--dry-run", "--json").json

    assert (summary["n_turns"], summary["n_answerable"]) == (108, 36)
    assert "n_turns: 108" in memory_rag("bench", "run", "locomo", "--data", data, "--dry-run").lines


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["locomo"], "locomo needs its data: name the file with --data PATH"),
        (["nothing"], "unknown benchmark 'nothing'; there are: beam"),
        (["chats", "--retrievers", "bm26"], "unknown retriever 'bm26'; retrievers are: overlap"),
        (["chats", "--pool", "all"], "unknown pool 'all'"),
        (["chats", "--k", "1000", "--depth", "2000"], "any order would do; choose a smaller k"),
        (["chats", "--k", "200"], "looks at 200 hits, but the runs have 100"),
        (["own", "--data", "x"], "own takes a memory and no --data"),
        (["chats", "--questions", "x"], "--questions is for own"),
        (["chats", "--paraphrase", "openai:x"], "--paraphrase is for own"),
        (["chats", "--n", "20"], "--n is for own; chats has its own questions"),
        (["own", "--paraphrase", "gpt"], "unknown paraphraser 'gpt'; one is named as openai:<model>"),
    ],
)
def test_a_run_that_cannot_be_is_refused(memory_rag: CommandLine, words: list[str], message: str) -> None:
    refused = memory_rag("bench", "run", *words)

    assert refused.code == 1
    assert message in refused.err


def test_a_benchmark_whose_ids_give_the_evidence_away_needs_force(memory_rag: CommandLine, tmp_path: Path) -> None:
    turns = [
        {
            "turn_id": f"{'answer' if number % 10 == 0 else 'other'}_{number}",
            "text": f"the {number} kayak",
            "role": "user",
        }
        for number in range(400)
    ]
    (tmp_path / "turns.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    (tmp_path / "queries.jsonl").write_text(
        "".join(json.dumps({"_id": f"q{n}", "text": f"what of {n}?"}) + "\n" for n in range(0, 400, 10))
    )
    (tmp_path / "qrels.txt").write_text("".join(f"q{n} 0 answer_{n} 1\n" for n in range(0, 400, 10)))
    words = ("bench", "run", "trec", "--data", str(tmp_path), "--retrievers", "keyword,overlap")

    refused, forced = memory_rag(*words), memory_rag(*words, "--force")

    assert refused.code == 1, refused
    assert "gives its evidence away" in refused.err
    assert forced.code == 0, forced
    assert "note: trec-" in forced.err


@pytest.mark.needs_data
def test_a_conversation_of_locomo_runs_with_vectors(memory_rag: CommandLine, data_dir: Path, tmp_path: Path) -> None:
    first = json.loads((data_dir / "locomo10.json").read_bytes())[:1]
    (tmp_path / "first.json").write_text(json.dumps(first), encoding="utf-8")

    run(
        memory_rag,
        f"{tmp_path}/first.json",
        tmp_path / "out",
        *("--embedder", "minilm", "--pool", "conversation", "--limit", "40"),
    )

    [one] = by_pool(read_report(tmp_path / "out" / "report.json"))
    assert {"dense", "rrf", "convex", "hybrid"} <= set(one["retrievers"])
    # All questions are about one conversation.
    assert "hybrid-cv" not in one["retrievers"]
    assert any("weights can't be fitted" in text for text in one["not_measured"])
