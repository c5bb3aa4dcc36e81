"""Files of questions that somebody wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.benchmark import Dropped, Query
from memory_rag.evaluation.datasets.assembly import Judged
from memory_rag.evaluation.datasets.files_read import FilesRead
from memory_rag.evaluation.datasets.question_file import judged_written, read_written, written_line
from memory_rag.turns import Role, Turn

Made = Callable[[str, Any], Path]

# A question without a sign that can be seen is none.
QUERIES = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
IDS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)


@given(query=QUERIES, ids=st.lists(IDS, unique=True, max_size=3), category=IDS, about=IDS)
def test_a_question_that_is_written_down_reads_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, query: str, ids: list[str], category: str, about: str
) -> None:
    judged = Judged(Query("q7", query, about, category), dict.fromkeys(ids, 1))
    path = tmp_path_factory.mktemp("questions") / "mine.jsonl"
    path.write_bytes(written_line(judged).encode())
    turns = [Turn(turn_id, about, "s", 0, Role.USER, "Ada", "x") for turn_id in ids]

    read = list(judged_written(read_written(FilesRead(path), path), turns, category="", dropped=Dropped()))

    assert read == [judged]


def test_a_table_has_the_question_a_tab_and_turn_ids(made: Made) -> None:
    path = made("mine.tsv", "Which deck?\tt1 t2\nWhich gate?\tt3, t4\nWhat dog?\t\n")

    read = list(read_written(FilesRead(path), path))

    assert [(found.query, found.turn_ids, found.query_id) for found in read] == [
        ("Which deck?", ("t1", "t2"), "q1"),
        ("Which gate?", ("t3", "t4"), "q2"),
        ("What dog?", (), "q3"),
    ]


def test_a_question_is_about_the_conversation_of_its_turns_or_about_everything(made: Made) -> None:
    path = made("mine.tsv", "one?\tt1\nboth?\tt1 t2\nnone?\t\n")
    turns = [Turn(f"t{n}", f"c{n}", "s", 0, Role.USER, "Ada", "x") for n in (1, 2)]

    judged = judged_written(read_written(FilesRead(path), path), turns, category="mine", dropped=Dropped())

    assert [(found.query.conversation_id, found.query.category) for found in judged] == [
        ("c1", "mine"),
        ("", "mine"),
        ("", "mine"),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Which deck?", r"mine, line 1: 'Which deck\?' is no question; a line is \{\"query\": "),
        ('{"turn_ids": []}', r"mine, line 1: no 'query'; a line is"),
        ('{"query": "a", "turn_ids": "t1"}', r"'turn_ids' is 't1'; it is a list of turn ids, empty if nothing answers"),
        ('{"query": "a"}', r"'turn_ids' is None; it is a list"),
        ('{"query": ', r"mine, line 1: broken JSON"),
    ],
)
def test_a_line_that_is_no_question_is_named(made: Made, line: str, said: str) -> None:
    path = made("mine", line)

    with pytest.raises(ImportFormatError, match=said):
        list(read_written(FilesRead(path), path))
