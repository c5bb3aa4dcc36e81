"""Run and qrels files keep ids and order, in our tool and in others'."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.measures import measure
from memory_rag.evaluation.runs import (
    escaped,
    qrels_lines,
    ranked_ids,
    read_qrels,
    read_run,
    run_lines,
    unescaped,
)

# All of Unicode, lone surrogates too: real exports have them.
ANY_ID = st.text(st.characters(codec=None, categories=None), max_size=12)


def test_ids_with_spaces_keep_the_columns(tmp_path: Path) -> None:
    """G23: six fields on each line, and the ids come back."""
    lines = "".join(run_lines({"q 1": ["trip 7/turn 3", "trip 7/turn 4"]}, tag="our run")).splitlines(keepends=True)
    path = _written(tmp_path / "run.txt", "".join(lines))

    assert [len(line.split()) for line in lines] == [6, 6]
    assert read_run(path) == {"q 1": {"trip 7/turn 3": 2.0, "trip 7/turn 4": 1.0}}


def test_a_score_of_another_tool_is_read_with_an_escaped_id(tmp_path: Path) -> None:
    path = _written(tmp_path / "run.txt", f"{escaped('q 1')} Q0 {escaped('trip 7/turn 3')} 1 2.0 tag\n")

    assert read_run(path) == {"q 1": {"trip 7/turn 3": 2.0}}


@pytest.mark.parametrize(
    ("identifier", "field"),
    [
        ("D8:6", "D8:6"),
        (r"C:\turns\7", r"C:\turns\7"),
        ("wiki/C%2B%2B", "wiki/C%2B%2B"),
        ("100%", "100%"),
        ("trip 7", "%:trip%207"),
        ("", "%:"),
        ("%:", "%:%25:"),
        ("Åsa", "%:%C3%85sa"),
        ("a\u2028b", "%:a%E2%80%A8b"),
        ("\ud83d", "%:%ED%A0%BD"),
    ],
)
def test_an_id_is_written_so(identifier: str, field: str) -> None:
    assert escaped(identifier) == field
    assert unescaped(field) == identifier


@pytest.mark.parametrize("field", ["C%2B%2B", "a%20b", "%41", "%", "%zz", "%:%FF"])
def test_what_another_tool_wrote_is_what_it_says(field: str) -> None:
    assert unescaped(field) == field


@given(ANY_ID)
@example("\ud83d\ude00")
@example("\r\n\t \x85\xa0\u2028\u2029\ufeff\0")
def test_an_escaped_id_is_one_word_of_ascii_and_comes_back(identifier: str) -> None:
    field = escaped(identifier)

    assert field.isascii()
    assert field.split() == [field]
    assert unescaped(field) == identifier


@given(st.dictionaries(ANY_ID, st.lists(ANY_ID, unique=True, min_size=1, max_size=5), max_size=4), ANY_ID)
def test_a_run_comes_back_in_its_order(rankings: dict[str, list[str]], tag: str) -> None:
    with TemporaryDirectory() as folder:
        read = read_run(_written(Path(folder) / "run.txt", "".join(run_lines(rankings, tag=tag))))

    assert {query: ranked_ids(scores) for query, scores in read.items()} == rankings


@given(st.dictionaries(ANY_ID, st.dictionaries(ANY_ID, st.integers(-2, 5), min_size=1, max_size=5), max_size=4))
def test_judgements_come_back(qrels: dict[str, dict[str, int]]) -> None:
    with TemporaryDirectory() as folder:
        assert read_qrels(_written(Path(folder) / "qrels.txt", "".join(qrels_lines(qrels)))) == qrels


def test_scores_fall_strictly_so_that_every_tool_keeps_the_order(tmp_path: Path) -> None:
    ranked = ["b", "c", "a"]
    path = _written(tmp_path / "run.txt", "".join(run_lines({"q": ranked}, tag="ours")))

    assert path.read_text("utf-8").splitlines() == ["q Q0 b 1 3 ours", "q Q0 c 2 2 ours", "q Q0 a 3 1 ours"]
    assert ranked_ids(read_run(path)["q"]) == ranked


def test_a_run_as_pyserini_and_bm25s_users_write_it_is_read(tmp_path: Path) -> None:
    # Tabs or runs of spaces, scores with six decimals, ranks from 0 or 1, a byte order mark, Windows line ends.
    text = (
        "\ufeff1 Q0 msmarco_v1_7067032 1 12.345600 Anserini\r\n"
        "1 Q0 https://en.wikipedia.org/wiki/C%2B%2B   2 11.900000 Anserini\r\n"
        "\r\n"
        "2\tQ0\tD8:6\t0\t-1.5e-3\tbm25s\n"
        "2\tQ0\tD9:17\t1\t0\tbm25s"
    )

    assert read_run(_written(tmp_path / "run.trec", text)) == {
        "1": {"msmarco_v1_7067032": 12.3456, "https://en.wikipedia.org/wiki/C%2B%2B": 11.9},
        "2": {"D8:6": -0.0015, "D9:17": 0.0},
    }


def test_the_scores_of_a_run_count_and_not_its_ranks() -> None:
    assert ranked_ids({"a": 1.0, "c": 2.0, "b": 2.0}) == ["c", "b", "a"]


def test_scores_that_only_a_double_tells_apart_are_ties_as_in_trec_eval() -> None:
    assert ranked_ids({"a": 16777217.0, "b": 16777216.0}) == ["b", "a"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q 1 Q0 d1 1 2.0 tag", "line 1: 7 fields, but a line is 'query Q0 turn rank score tag'"),
        ("q Q0 d1 1 2.0", "line 1: 5 fields"),
        ("q Q0 d1 1 high tag", "line 1: score 'high' is no finite number"),
        ("q Q0 d1 1 nan tag", "line 1: score 'nan' is no finite number"),
        ("q Q0 d1 1 1_000 tag", "line 1: score '1_000' is no finite number"),
        ("q Q0 d1 1 ٣ tag", "line 1: score '٣' is no finite number"),
        ("q Q0 d1 1 inf tag", "line 1: score 'inf' is no finite number"),
        ("q Q0 d1 1 2 t\nq Q0 d1 2 1 t", "line 2: turn 'd1' is ranked twice for query 'q'"),
    ],
)
def test_a_broken_run_is_refused_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(ImportFormatError, match=said):
        read_run(_written(tmp_path / "run.txt", line))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q 0 d1", "line 1: 3 fields, but a line is 'query 0 turn grade'"),
        ("q 0 d1 yes", "line 1: grade 'yes' is no whole number"),
        ("q 0 d1 ٣", "line 1: grade '٣' is no whole number"),
        ("q 0 d1 1.0", "line 1: grade '1.0' is no whole number"),
        ("q 0 d1 1\nq 0 d1 2", "line 2: turn 'd1' has grade 2 for query 'q', but 1 before"),
    ],
)
def test_broken_judgements_are_refused_with_their_line(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(ImportFormatError, match=said):
        read_qrels(_written(tmp_path / "qrels.txt", line))


def test_a_judgement_given_twice_alike_counts_once(tmp_path: Path) -> None:
    assert read_qrels(_written(tmp_path / "qrels.txt", "q 0 d1 1\nq 0 d1 1\n")) == {"q": {"d1": 1}}


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_bytes(b"\xff\xfe q")

    with pytest.raises(ImportFormatError, match="can't be read as text"):
        read_run(tmp_path / "run.txt")
    with pytest.raises(ImportFormatError, match="can't be read as text"):
        read_run(tmp_path / "absent.txt")


def test_ir_measures_gives_our_run_the_numbers_that_we_give_it(tmp_path: Path) -> None:
    """The command line of ir_measures, on files that we wrote, a query without hits among them."""
    qrels = {
        "q 1": {"trip 7/turn 3": 1, "trip 7/turn 9": 2},
        "q2": {"Åsa\u2028": 1, "d1": 0},
        "no hits": {"d1": 1},
    }
    rankings = {
        "q 1": ["trip 7/turn 9", "d1", "trip 7/turn 3"],
        "q2": ["d2", "d1", "d3", "Åsa\u2028"],
        "no hits": [],
    }
    of_qrels = _written(tmp_path / "qrels.txt", "".join(qrels_lines(qrels)))
    of_run = _written(tmp_path / "run.txt", "".join(run_lines(rankings, tag="ours")))
    names = {"R@3": "recall@3", "Success@3": "success@3", "RR@10": "rr@10", "nDCG@10": "ndcg@10", "AP@10": "ap@10"}

    printed = subprocess.run(
        [sys.executable, "-m", "ir_measures", "--places", "12", str(of_qrels), str(of_run), *names],
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout

    theirs = dict(line.split("\t") for line in printed.splitlines())
    assert theirs.keys() == names.keys()
    for name, ours in names.items():
        values = [measure(ours).value_of(qrels[query], ranked) for query, ranked in rankings.items()]
        assert sum(values) / len(values) == pytest.approx(float(theirs[name]), abs=1e-9), name


def _written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode("utf-8"))
    return path
