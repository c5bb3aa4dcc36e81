"""An add and a search do no more than was written down, however busy the machine is."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from memory_rag.evaluation.speed_counted import Work
from memory_rag.trials.counted_work import counted_work

WRITTEN = Path(__file__).parents[2] / "eval" / "results" / "speed-counted.json"
AGAIN = "write it down anew, if it is meant: python -m memory_rag.evaluation speed-counted --out eval/results"


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Work]:
    return counted_work(tmp_path_factory.mktemp("counted") / "memory")


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="what was written down was counted with Python 3.11")
def test_no_operation_does_over_15_percent_more_than_was_written_down(work: dict[str, Work]) -> None:
    written = json.loads(WRITTEN.read_text(encoding="utf-8"))["result"]["work"]

    assert work.keys() == written.keys()
    grown = {name: one.more_than(Work.of_json(written[name])) for name, one in work.items()}
    assert {name: told for name, told in grown.items() if told} == {}, AGAIN


def test_a_search_does_little_for_each_turn_that_it_does_not_find(work: dict[str, Work]) -> None:
    # Six searches of 3,000 turns: a line of Python for every turn would be 18,000 more.
    assert work["search"].lines < 25_000
    assert work["add"].lines < 6_000
