"""A report accounts for every message."""

from __future__ import annotations

import json

import pytest

from memory_rag.errors import MemoryRagError
from memory_rag.importers.containers import Unread
from memory_rag.importers.report import FileReport, ImportReport
from memory_rag.importers.tally import Noted, Skipped


def report_of_two_files() -> ImportReport:
    first = FileReport("a.json", "chatgpt", read=3)
    first.count_kept(2)
    first.count_already_there()
    first.skip(Skipped("hidden", "c1/n1"))
    second = FileReport("b.json", "chatgpt")
    second.skip(Skipped("hidden", "c2/n1", 4))
    second.skip(Skipped("no role", "c2/n2"))
    second.note(Noted("time not finite", "c2/n3"))
    return ImportReport("export", [first, second], [Unread("x.png", "binary")])


def test_read_is_kept_and_already_there_and_skipped() -> None:
    report = report_of_two_files()
    report.check()
    assert (report.read, report.kept, report.already_there) == (9, 2, 1)
    assert {reason: found.count for reason, found in report.skipped.items()} == {"hidden": 5, "no role": 1}


def test_a_sum_that_does_not_hold_is_an_error() -> None:
    report = report_of_two_files()
    report.files[0].read += 1
    with pytest.raises(MemoryRagError, match=r"a\.json: .* 5 read, but 2 kept \+ 1 already there \+ 1 skipped"):
        report.check()


def test_a_file_that_was_refused_counts_nothing() -> None:
    report = report_of_two_files()
    report.files[1].refuse(ValueError("b.json, line 3: broken"))
    report.check()
    assert (report.read, report.files[1].error) == (4, "b.json, line 3: broken")
    assert report.noted == {}


def test_only_the_first_places_of_a_reason_are_kept() -> None:
    file = FileReport("a.json", "openai")
    for number in range(9):
        file.skip(Skipped("no role", f"line {number}"))
    assert (file.skipped["no role"].count, file.skipped["no role"].where) == (
        9,
        ["line 0", "line 1", "line 2"],
    )


def test_a_report_is_json_with_the_most_frequent_reason_first() -> None:
    written = json.loads(json.dumps(report_of_two_files().to_json()))
    assert written == {
        "path": "export",
        "read": 9,
        "kept": 2,
        "already_there": 1,
        "corrected": 0,
        "vanished": 0,
        "found": {},
        "skipped": [
            {"reason": "hidden", "count": 5, "where": ["c1/n1", "c2/n1"]},
            {"reason": "no role", "count": 1, "where": ["c2/n2"]},
        ],
        "noted": [{"reason": "time not finite", "count": 1, "where": ["c2/n3"]}],
        "files": [
            {
                "file": "a.json",
                "format": "chatgpt",
                "read": 4,
                "kept": 2,
                "already_there": 1,
                "corrected": 0,
                "vanished": 0,
                "found": {},
                "skipped": [{"reason": "hidden", "count": 1, "where": ["c1/n1"]}],
                "noted": [],
                "error": None,
            },
            {
                "file": "b.json",
                "format": "chatgpt",
                "read": 5,
                "kept": 0,
                "already_there": 0,
                "corrected": 0,
                "vanished": 0,
                "found": {},
                "skipped": [
                    {"reason": "hidden", "count": 4, "where": ["c2/n1"]},
                    {"reason": "no role", "count": 1, "where": ["c2/n2"]},
                ],
                "noted": [{"reason": "time not finite", "count": 1, "where": ["c2/n3"]}],
                "error": None,
            },
        ],
        "unread": [{"file": "x.png", "reason": "binary"}],
    }
