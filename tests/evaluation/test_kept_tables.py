"""What summaries keep and which new subjects are heard, as tables."""

from __future__ import annotations

from memory_rag.evaluation.tables import tables_of
from tests.evaluation.made_report import PROVENANCE


def test_the_share_kept_has_its_interval_and_what_was_not_there_a_dash() -> None:
    kept = {
        "name": {"kept": 3, "of": 4, "share": {"mean": 0.75, "low": 0.5, "high": 1.0, "n": 2}},
        "path": {"kept": 0, "of": 0, "share": None},
    }
    result = {
        "dataset": {"name": "locomo", "sha256": "0" * 64},
        "provenance": {**PROVENANCE, "settings": {"words": 200}},
        "summarizers": {"first sentences": {"kept": kept}},
    }

    lines = tables_of({"summaries-locomo": result})["summaries-kept"].splitlines()

    assert lines[2] == "| LoCoMo | first sentences | - | .750 [.500, 1.000] | - | - | - | - | - |"
    assert lines[-1] == "Mean of the conversations' shares [95 % interval]; at most 200 words for 100 turns."


def test_new_subjects_are_told_at_the_setting_that_holds() -> None:
    counted = {
        "0.4": {"joints": 10, "found": 10, "told": 40, "n_turns": 200},
        "0.95": {"joints": 10, "found": 6, "told": 8, "n_turns": 200},
    }
    deaf = {"0.95": {"joints": 10, "found": 0, "told": 0, "n_turns": 200}}
    result = {
        "dataset": {"name": "joined", "sha256": "0" * 64},
        "provenance": {**PROVENANCE, "settings": {"drift": 0.95}},
        "result": {"minilm": {"locomo": counted, "fifty-sv": deaf}},
    }

    lines = tables_of({"subjects": result})["new-subjects"].splitlines()

    assert lines[2:] == [
        "| LoCoMo | `minilm` | 10 | .600 | .750 | 1.0 |",
        "| fifty, Swedish | `minilm` | 10 | .000 | - | 0.0 |",
    ]
