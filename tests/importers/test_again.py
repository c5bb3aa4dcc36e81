"""A newer export of the same account adds what is new, corrects what was edited and marks what is gone."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_rag.importers import ImportOptions
from memory_rag.memory import Memory

Made = Callable[[str, Any], Path]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory", embedder="none") as opened:
        yield opened


def chat(*messages: tuple[int, str]) -> dict[str, Any]:
    told = [
        {"id": number, "type": "message", "date_unixtime": str(1767323045 + number), "from": "Bo", "text": text}
        for number, text in messages
    ]
    return {"name": "Ada", "type": "personal_chat", "id": 42, "messages": told}


def test_a_newer_export_adds_corrects_and_marks(memory: Memory, made: Made) -> None:
    memory.import_path(made("a/result.json", chat((1, "hej"), (2, "kom klockan sex"), (3, "nej"), (4, "jo"))))

    report = memory.import_path(made("b/result.json", chat((1, "hej"), (2, "kom klockan sju"), (4, "jo"), (5, "bra"))))

    assert (report.read, report.kept, report.already_there, report.corrected, report.vanished) == (4, 1, 3, 1, 1)
    assert {reason: found.where for reason, found in report.noted.items()} == {
        "edited at its source; corrected, the earlier text kept": ["t2"],
        "no longer at its source; kept and marked": ["t3"],
    }
    assert [turn.text for turn in memory.turns()] == ["hej", "kom klockan sju", "nej", "jo", "bra"]
    assert [turn.text for turn in memory.store.earlier_versions("t2")] == ["kom klockan sex"]
    assert list(memory.store.vanished()) == ["t3"]
    assert memory.search("klockan sju", mode="keyword").turn_ids[0] == "t2"


def test_an_older_export_after_a_newer_one_changes_nothing(memory: Memory, made: Made) -> None:
    old = made("a/result.json", chat((1, "hej"), (2, "sex"), (3, "nej")))
    memory.import_path(old)
    memory.import_path(made("b/result.json", chat((1, "hej"), (2, "sju"), (3, "nej"), (4, "ny"))))

    report = memory.import_path(old)

    assert (report.kept, report.corrected, report.vanished) == (0, 0, 0)
    assert [turn.text for turn in memory.turns()] == ["hej", "sju", "nej", "ny"]


def test_a_bound_in_time_marks_nothing_as_gone(memory: Memory, made: Made) -> None:
    memory.import_path(made("a/result.json", chat((1, "hej"), (2, "sex"), (3, "nej"))))
    since = memory.get("t3").said_at

    report = memory.import_path(
        made("b/result.json", chat((1, "hej"), (3, "nej"), (4, "ny"))), options=ImportOptions(since=since)
    )

    assert (report.kept, report.vanished) == (1, 0)


def test_an_answer_that_was_asked_for_anew_takes_the_first_one_out_of_recall(memory: Memory, made: Made) -> None:
    def node(parent: str | None, role: str, text: str) -> dict[str, Any]:
        message = {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}}
        return {"parent": parent, "message": message}

    mapping = {"q": node(None, "user", "En frukt?"), "a1": node("q", "assistant", "Ett äpple")}
    talk = {"id": "c", "title": "Frukt", "current_node": "a1", "mapping": mapping}
    memory.import_path(made("a/conversations.json", [talk]))
    again = {**talk, "current_node": "a2", "mapping": {**mapping, "a2": node("q", "assistant", "Ett päron")}}

    report = memory.import_path(made("b/conversations.json", json.dumps([again])))

    assert (report.read, report.kept, report.already_there) == (3, 1, 1)
    assert [(turn.text, turn.recalled) for turn in memory.turns()] == [
        ("En frukt?", True),
        ("Ett äpple", False),
        ("Ett päron", True),
    ]
    assert memory.search("äpple", mode="keyword").turn_ids == ()
    assert memory.store.vanished() == {}


def test_a_session_that_grows_adds_its_new_lines(memory: Memory, made: Made) -> None:
    def line(number: int) -> str:
        said = {"role": "user", "content": f"rad {number}"}
        return json.dumps({"type": "user", "uuid": f"u{number}", "sessionId": "s", "message": said}) + "\n"

    memory.import_path(made("s.jsonl", line(1) + line(2)[:20]))
    report = memory.import_path(made("s.jsonl", line(1) + line(2) + line(3)))

    assert (report.kept, report.already_there) == (2, 1)
    assert [turn.text for turn in memory.turns()] == ["rad 1", "rad 2", "rad 3"]


def account_export(made: Made, name: str, *talks: tuple[str, int], account: str = "user-1") -> Path:
    """A ChatGPT export in a zip: conversations of one message each, by their id and when it was said."""
    exported = [
        {
            "id": talk,
            "current_node": "n",
            "mapping": {"n": {"message": {"author": {"role": "user"}, "create_time": said, "content": f"om {talk}"}}},
        }
        for talk, said in talks
    ]
    path = made(name, b"")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps(exported))
        archive.writestr("user.json", json.dumps({"id": account}))
    return path


def test_a_conversation_that_an_accounts_newer_export_lacks_is_marked(memory: Memory, made: Made) -> None:
    old = account_export(made, "a.zip", ("bröd", 1_700_000_000), ("frö", 1_700_000_100))
    memory.import_path(old)

    report = memory.import_path(account_export(made, "b.zip", ("frö", 1_700_000_100), ("ny", 1_700_000_200)))

    assert (report.kept, report.vanished) == (1, 1)
    assert list(memory.store.vanished()) == ["t1"]
    assert memory.import_path(old).vanished == 0
    assert [turn.text for turn in memory.turns()] == ["om bröd", "om frö", "om ny"]


def test_another_accounts_export_says_nothing_of_this_one(memory: Memory, made: Made) -> None:
    memory.import_path(account_export(made, "a.zip", ("bröd", 1_700_000_000)))

    report = memory.import_path(account_export(made, "b.zip", ("frö", 1_700_000_100), account="user-2"))

    assert report.vanished == 0
    assert memory.store.vanished() == {}


def test_a_file_out_of_an_export_says_nothing_of_the_rest(memory: Memory, made: Made, tmp_path: Path) -> None:
    memory.import_path(account_export(made, "a.zip", ("bröd", 1_700_000_000)))
    with zipfile.ZipFile(account_export(made, "b.zip", ("frö", 1_700_000_100))) as archive:
        archive.extractall(tmp_path / "b")

    assert memory.import_path(tmp_path / "b" / "conversations.json").vanished == 0
    assert memory.import_path(tmp_path / "b").vanished == 1


def test_a_conversation_of_which_nothing_can_be_read_now_is_not_gone(memory: Memory, made: Made) -> None:
    memory.import_path(account_export(made, "a.zip", ("bröd", 1_700_000_000), ("frö", 1_700_000_100)))
    broken = account_export(made, "b.zip", ("bröd", 1_700_000_000), ("frö", 1_700_000_100))
    with zipfile.ZipFile(broken) as archive:
        talks = json.loads(archive.read("conversations.json"))
    talks[0]["mapping"]["n"]["message"]["author"] = {"role": "narrator"}
    with zipfile.ZipFile(broken, "w") as archive:
        archive.writestr("conversations.json", json.dumps(talks))
        archive.writestr("user.json", json.dumps({"id": "user-1"}))

    report = memory.import_path(broken)

    assert (report.read, report.already_there, report.vanished) == (2, 1, 0)
    assert memory.store.vanished() == {}
