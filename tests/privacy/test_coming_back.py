"""What was forgotten does not come back with the next import, unless it is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import TurnError
from memory_rag.memory import Memory
from memory_rag.store.correcting import Correction
from memory_rag.turns import Conversation, Role, Source, Turn
from tests.privacy.full_memory import bytes_of

Write = Callable[..., Path]
SECRET = "My code is zqcanary7731, do you hear"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    memory = Memory.open(tmp_path / "memory", embedder="none", language="en")
    yield memory
    memory.close()


def chatgpt(path: Path, *texts: str, title: str = "A talk") -> Path:
    """Write an export of ChatGPT's that holds one conversation."""
    nodes: dict[str, Any] = {"root": {"id": "root", "parent": None, "children": ["m0"], "message": None}}
    for number, text in enumerate(texts):
        nodes[f"m{number}"] = {
            "id": f"m{number}",
            "parent": f"m{number - 1}" if number else "root",
            "children": [f"m{number + 1}"] if number + 1 < len(texts) else [],
            "message": {
                "id": f"m{number}",
                "author": {"role": "user"},
                "create_time": 1.7e9 + number,
                "content": {"content_type": "text", "parts": [text]},
            },
        }
    last = f"m{len(texts) - 1}"
    talk = {"id": "talk", "title": title, "create_time": 1.7e9, "mapping": nodes, "current_node": last}
    path.write_text(json.dumps([talk]), encoding="utf-8")
    return path


def texts(memory: Memory) -> list[str]:
    return [turn.text for turn in memory.turns()]


def test_an_import_leaves_out_what_was_forgotten_and_counts_it(memory: Memory, tmp_path: Path) -> None:
    export = chatgpt(tmp_path / "conversations.json", "Hello there", SECRET, "Good bye")
    memory.import_path(export)
    memory.forget([turn.turn_id for turn in memory.turns() if turn.text == SECRET])

    again = memory.import_path(export)

    assert texts(memory) == ["Hello there", "Good bye"]
    assert (again.read, again.kept, again.already_there) == (3, 0, 2)
    assert {reason: found.count for reason, found in again.skipped.items()} == {
        "forgotten earlier; --include-forgotten takes it in again": 1
    }
    assert b"zqcanary7731" not in bytes_of(memory.folder)


def test_what_was_said_since_is_stored_all_the_same(memory: Memory, tmp_path: Path) -> None:
    export = tmp_path / "conversations.json"
    memory.import_path(chatgpt(export, "Hello there", SECRET))
    memory.forget([turn.turn_id for turn in memory.turns() if turn.text == SECRET])

    assert memory.import_path(chatgpt(export, "Hello there", SECRET, "And now?")).kept == 1
    assert texts(memory) == ["Hello there", "And now?"]


def test_it_comes_back_when_it_is_asked_for_and_stays(memory: Memory, tmp_path: Path) -> None:
    export = chatgpt(tmp_path / "conversations.json", "Hello there", SECRET, title="About zqcanary7731")
    memory.import_path(export)
    memory.forget([turn.turn_id for turn in memory.turns() if turn.text == SECRET])
    assert memory.store.conversations() == [Conversation("talk", "")]

    assert memory.import_path(export, dry_run=True, include_forgotten=True).kept == 1
    assert texts(memory) == ["Hello there"]
    assert memory.import_path(export, include_forgotten=True).kept == 1
    assert memory.import_path(export).already_there == 2
    assert texts(memory) == ["Hello there", SECRET]
    assert memory.store.conversations() == [Conversation("talk", "About zqcanary7731")]


def test_the_title_of_a_forgotten_conversation_does_not_come_back(memory: Memory, tmp_path: Path) -> None:
    export = chatgpt(tmp_path / "conversations.json", "Hello there", SECRET, title="My zqtitle")
    memory.import_path(export)
    memory.add("something else")
    memory.forget([turn.turn_id for turn in memory.turns(conversation_id="talk")])

    memory.import_path(export)

    assert b"zqtitle" not in bytes_of(memory.folder)
    assert [one.conversation_id for one in memory.store.conversations()] == ["main"]


def test_a_mark_is_no_hash_that_a_guess_could_be_held_against(tmp_path: Path) -> None:
    marks = []
    for name in ("one", "other"):
        with Memory.open(tmp_path / name, embedder="none") as memory:
            memory.add(SECRET, source=Source("chat", "n1"))
            memory.forget(["t1"])
            with memory.store.connections.reading() as connection:
                marks.append(connection.execute("SELECT mark FROM tombstones").fetchall())

    assert len(marks[0]) == len(marks[1]) == 1
    assert marks[0] != marks[1]


def test_a_turn_that_came_from_nowhere_does_not_come_back_with_an_old_export_of_ours(
    memory: Memory, tmp_path: Path
) -> None:
    memory.add("kept", said_at=datetime(2026, 4, 1, tzinfo=UTC))
    memory.add(SECRET, said_at=datetime(2026, 4, 2, tzinfo=UTC))
    lines = [line for line in memory.export() if '"turn"' in line or '"format"' in line]
    old = tmp_path / "old.jsonl"
    old.write_text("".join(lines), encoding="utf-8")
    memory.forget(["t2"])

    memory.import_path(old)

    assert SECRET not in texts(memory)


def test_storing_a_forgotten_turn_by_hand_is_refused_with_what_to_do(memory: Memory) -> None:
    source = Source("chat", "n1")
    memory.add(SECRET, source=source)
    memory.forget(["t1"])

    with pytest.raises(TurnError, match=r"was forgotten, and what is forgotten stays so.*--include-forgotten"):
        memory.add(SECRET, source=source)

    assert memory.add_many([Turn("", "main", "s", -1, Role.USER, "Ada", SECRET, source=source)]).forgotten == ("n1",)
    assert len(memory) == 0
    # Another conversation's message of that number is another message.
    assert memory.add("else", source=source, conversation_id="d").text == "else"


def test_what_was_erased_by_a_correction_does_not_come_back(memory: Memory, tmp_path: Path) -> None:
    export = chatgpt(tmp_path / "conversations.json", "Hello there", SECRET)
    memory.import_path(export)
    (wrong,) = (turn.turn_id for turn in memory.turns() if turn.text == SECRET)
    memory.forgetting.correct(wrong, Correction(text="My code is mine"))

    report = memory.import_path(export)

    assert texts(memory) == ["Hello there", "My code is mine"]
    assert b"zqcanary7731" not in bytes_of(memory.folder)
    assert "the source has another text now; the stored one stays" in report.noted


def test_the_source_that_quoted_a_forgotten_turn_does_not_come_back(memory: Memory) -> None:
    def said(native_id: str, text: str, raw: str) -> Turn:
        return Turn("", "c", "s", int(native_id), Role.USER, "Ada", text, source=Source("chat", native_id, raw))

    reply = said("2", "Yes", json.dumps({"reply_to": SECRET}))
    memory.store.append([said("1", SECRET, "{}"), reply], newer=True)
    memory.forget(["t1"])

    memory.store.append([reply], newer=True)

    assert b"zqcanary7731" not in bytes_of(memory.folder)


def test_what_an_account_held_is_told_without_what_was_forgotten(memory: Memory) -> None:
    for conversation in ("zqone", "two"):
        memory.add("words", conversation_id=conversation, source=Source("chat", conversation))
    note: dict[str, Any] = {"source_name": "chat", "account": "me", "latest": datetime(2026, 5, 1, tzinfo=UTC)}
    memory.store.note_export(conversation_ids=["zqone", "two"], **note)
    memory.forget(["t1"])

    assert memory.store.note_export(conversation_ids=["zqone", "two"], **note) == []
    assert b"zqone" not in bytes_of(memory.folder)
    assert memory.store.note_export(conversation_ids=[], **note) == ["t2"]


def test_an_own_export_made_before_does_not_bring_back_what_a_correction_erased(memory: Memory, tmp_path: Path) -> None:
    memory.add(SECRET)
    memory.add("something else")
    export = tmp_path / "own.jsonl"
    export.write_text("".join(f"{line.rstrip()}\n" for line in memory.export()), encoding="utf-8")
    memory.correct("t1", text="My code is mine", keep_old=False)

    report = memory.import_path(export)

    assert SECRET not in [turn.text for turn in memory.turns()]
    assert b"zqcanary7731" not in bytes_of(memory.folder)
    assert (report.kept, report.already_there) == (0, 2)
