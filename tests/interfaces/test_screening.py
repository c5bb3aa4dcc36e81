"""Secrets on the command line: what was taken out is said, what is held is listed, off the record holds."""

from __future__ import annotations

import json
from pathlib import Path

from tests.interfaces.command_line import CommandLine

SAID = "my password is Granola77, mail ruth@example.com"


def test_add_says_what_it_took_out(memory_rag: CommandLine) -> None:
    added = memory_rag("add", SAID)

    assert (added.code, added.out) == (0, "t1\n")
    assert added.err == "note: redacted before it was stored: password\n"
    shown = memory_rag("show", "t1")
    assert "  redacted before it was stored: password; tagged: email" in shown.lines
    assert "my password is [redacted: password], mail ruth@example.com" in shown.lines


def test_findings_are_in_every_json(memory_rag: CommandLine) -> None:
    findings = memory_rag("add", SAID, "--json").json["findings"]

    assert findings == [
        {"kind": "password", "action": "redact", "place": "text", "start": 15, "end": 35},
        {"kind": "email", "action": "tag", "place": "text", "start": 42, "end": 58},
    ]
    assert memory_rag("show", "t1", "--json").json["findings"] == findings
    assert memory_rag("search", "password", "--json").json["hits"][0]["findings"] == findings
    assert memory_rag("quote", "my password is", "--json").json["quotes"][0]["findings"] == findings
    assert memory_rag("stats", "--json").json["found"] == {"email": {"tag": 1}, "password": {"redact": 1}}


def test_search_and_quote_tell_what_is_missing(memory_rag: CommandLine) -> None:
    memory_rag("add", SAID)

    assert "redacted before it was stored: password; tagged: email" in memory_rag("search", "password").out
    assert "this turn: redacted before it was stored: password" in memory_rag("quote", "my password is").out


def test_an_import_says_by_kind_what_it_found_before_it_stores(memory_rag: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    said = [{"role": "user", "content": SAID}, {"role": "assistant", "content": "Noted."}]
    file.write_text("".join(json.dumps(one) + "\n" for one in said), encoding="utf-8")

    ran = memory_rag("import", str(file), "--no-embed")
    assert ran.err.splitlines()[0] == (f"{file}: 1 × email (tagged), 1 × password (redacted before it was stored)")
    assert "  found: 1 × email (tagged), 1 × password (redacted before it was stored)" in ran.lines
    assert memory_rag("import", str(file), "--no-embed").err.count("email") == 0
    told = memory_rag("import", str(file), "--dry-run", "--memory", "b")
    assert "  found: 1 × email (to be tagged), 1 × password (to be redacted)" in told.lines
    assert told.err == ""
    dry = memory_rag("import", str(file), "--dry-run", "--json", "--secrets", "all=tag", "--memory", "b").json
    assert dry["imports"][0]["found"] == {"email": {"tag": 1}, "password": {"tag": 1}}
    refused = memory_rag("import", str(file), "--secrets", "refuse", "--memory", "c")
    assert refused.code == 0
    assert "  skipped: 1 × it holds what this memory refuses: password" in refused.lines


def test_a_wish_that_is_none_is_wrong_usage(memory_rag: CommandLine, tmp_path: Path) -> None:
    ran = memory_rag("import", str(tmp_path), "--secrets", "hide")

    assert ran.code == 2
    assert "unknown action 'hide' for secrets; an action is one of: tag, redact, refuse" in ran.err


def test_scan_lists_what_is_held_and_fails_where_it_should_not_be(memory_rag: CommandLine, tmp_path: Path) -> None:
    memory_rag("add", "mail ruth@example.com")
    clean = memory_rag("scan")
    assert (clean.code, clean.lines) == (0, ["email  1 in 1 turn: t1"])

    memory_rag("add", SAID, MEMORY_RAG_SECRETS="tag")
    found = memory_rag("scan")
    assert found.code == 1
    assert found.lines == ["email     2 in 2 turns: t1, t2", "password  1 in 1 turn: t2"]
    assert "memory-rag forget t2" in found.err
    assert "memory-rag correct t2 TEXT --drop-old" in found.err
    assert "Granola77" not in found.out + found.err


def test_off_the_record_is_said_by_add_and_stats_until_it_is_off(memory_rag: CommandLine) -> None:
    assert memory_rag("off-record", "on").out.startswith("off the record since ")
    added = memory_rag("add", "between us", "--json")
    assert added.json["stored"] is False
    assert added.err == "note: not stored: this memory is off the record\n"
    assert memory_rag("stats", "--json").json["off_record_since"] is not None
    assert "off record" in memory_rag("stats").out
    assert memory_rag("off-record", "--json").json["off_record"] is True
    assert memory_rag("off-record", "off").out == "on the record: turns are stored\n"
    assert memory_rag("add", "again").out == "t1\n"


def test_correct_says_that_it_took_something_out(memory_rag: CommandLine) -> None:
    memory_rag("add", "hello")

    assert "redacted" in memory_rag("correct", "t1", SAID).err
    assert "redacted" in memory_rag("correct", "t1", SAID, "--drop-old").err
