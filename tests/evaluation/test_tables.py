"""The tables of the pages are those that the results give, and say what they are."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import MemoryRagError
from memory_rag.evaluation.report_summary import summarized
from memory_rag.evaluation.tables import fill_pages, filled_in, load_results, tables_of
from tests.evaluation.made_report import PROVENANCE, made_report

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "eval" / "results"
PAGES = (ROOT / "eval" / "README.md", ROOT / "README.md", ROOT / "docs" / "postgres.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_committed_tables_are_those_of_the_committed_results(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    assert "<!-- table: " in text
    assert filled_in(text, tables_of(load_results(RESULTS)), page=str(page)) == text


def test_every_table_stands_on_the_page_of_measures() -> None:
    asked = re.findall(r"<!-- table: (\S+) -->", PAGES[0].read_text(encoding="utf-8"))

    assert sorted(asked) == sorted(tables_of({}))


def test_every_measure_on_that_page_says_what_it_is_and_what_it_leaves_out() -> None:
    sections = re.split(r"^## ", PAGES[0].read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]

    measures = [section for section in sections if "<!-- table: " in section and not section.startswith("Made with")]
    assert [section.partition("\n")[0] for section in measures] == [
        "Recall", "Not found", "When details are asked for", "Which conversation", "What summaries keep",
        "A new subject", "Speed", "On a PostgreSQL server", "Speed beside other memories", "Importing",
        "Many clients at once", "Secrets",
    ]  # fmt: skip
    for section in measures:
        said = [
            word
            for word in ("**Definition.**", "**Interval.**", "**Command.**", "**Not measured.**")
            if word in section
        ]
        assert len(said) == 4, (section[:40], said)


def test_not_found_has_intervals_and_what_it_costs() -> None:
    own = {
        "n": 100,
        "wrongly_empty": 0.05,
        "marked_weak_or_empty": 0.1,
        "recall_without_floor": 0.8,
        "recall_lost": 0.02,
    }
    removed = {"n": 100, "rightly_empty": 0.5, "marked_weak_or_empty": 0.7, "auroc": 0.9}
    result = _not_found({"own": own, "removed": removed})

    lines = tables_of({"not-found-locomo": result})["not-found"].splitlines()

    # Wilson: (.5 + 1.92 / 100) / 1.0384 -+ 1.96 sqrt(.25 / 100 + 3.84 / 40000) / 1.0384.
    # Hanley and McNeil: q1 = .8182, q2 = .8526, variance = (.09 + 99 * .0082 + 99 * .0426) / 10000.
    assert lines[2].split(" | ") == [
        "| LoCoMo: evidence and its neighbours removed",
        "100",
        ".500 [.404, .596]",
        ".700 [.604, .781]",
        ".900 [.856, .944] |",
    ]
    assert lines[6] == "| LoCoMo | 100 | .050 [.022, .112] | .100 [.055, .174] | .800 | .020 |"


def test_a_missing_result_is_said_with_the_command_that_makes_it() -> None:
    tables = tables_of({})

    assert tables["speed"] == "Not measured yet: speed. Measure it with `make bench`."
    assert {name for name, table in tables.items() if not table.startswith("Not measured yet")} == set()


def test_filling_a_page_twice_changes_nothing(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Before.\n\n<!-- table: recall -->\n<!-- end -->\n\nAfter.\n", encoding="utf-8")
    (tmp_path / "recall-locomo.json").write_text(json.dumps(summarized(made_report())), encoding="utf-8")

    assert fill_pages([page], results=tmp_path) == {page: ["recall"]}
    once = page.read_text(encoding="utf-8")
    fill_pages([page], results=tmp_path)

    assert page.read_text(encoding="utf-8") == once
    assert once.startswith("Before.\n\n<!-- table: recall -->\n\n| retriever |")
    assert once.endswith("\n\n<!-- end -->\n\nAfter.\n")


def test_a_table_that_there_is_not_is_named_with_those_that_there_are() -> None:
    with pytest.raises(MemoryRagError, match=r"page asks for table 'recal'; tables are: recall"):
        filled_in("<!-- table: recal -->\n<!-- end -->", {"recall": "x"}, page="page")


@pytest.mark.parametrize(
    "text",
    [
        "<!-- table: recall -->\n",
        "<!-- table: recall -->\n<!-- table: recall -->\n<!-- end -->",
        "see <!-- table: recall --> here <!-- end -->",
    ],
)
def test_a_marker_without_its_end_is_refused(text: str) -> None:
    with pytest.raises(MemoryRagError, match="markers of tables, but not each stands alone"):
        filled_in(text, {"recall": "x"}, page="page")


def test_a_page_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MemoryRagError, match=r"nowhere\.md can't be read .* name pages with --pages"):
        fill_pages([tmp_path / "nowhere.md"], results=tmp_path)


def test_a_result_that_is_not_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "speed.json").write_text("{", encoding="utf-8")

    with pytest.raises(MemoryRagError, match=r"speed\.json is not a result: .*; make it again with: make bench"):
        load_results(tmp_path)


def _not_found(result: dict[str, Any]) -> dict[str, Any]:
    return {
        "dataset": {"name": "locomo", "sha256": "0" * 64, "n_turns": 12},
        "provenance": {**PROVENANCE, "settings": {"embedder": "minilm-int8:384:x"}},
        "result": result,
    }
