"""Whatever lies in a folder, every message of it is accounted for: read = kept + already there + skipped by reason."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_rag.importers import ImportOptions, ImportReport
from memory_rag.ingest import import_into
from memory_rag.store.sqlite_store import SqliteTurnStore

BROKEN = None
"""In the place of a message: one that can't be stored."""
Messages = list[str | None]


@dataclass(frozen=True)
class History:
    """A file of a format, with messages that can be stored and others that can't."""

    name: str
    messages: Messages

    @property
    def n_good(self) -> int:
        return sum(message is not BROKEN for message in self.messages)

    def write(self, folder: Path, number: int) -> None:
        path, text = WRITERS[self.name](number, self.messages)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def _lines(records: list[Any]) -> str:
    return "".join((one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)) + "\n" for one in records)


def chatgpt(number: int, messages: Messages) -> tuple[str, str]:
    mapping: dict[str, Any] = {}
    for at, text in enumerate(messages):
        role = "user" if text is not BROKEN else "narrator"
        message = {"author": {"role": role}, "content": {"content_type": "text", "parts": [text or "x"]}}
        mapping[f"n{at}"] = {"parent": f"n{at - 1}" if at else None, "message": message}
    talk = {"id": f"c{number}", "current_node": f"n{len(messages) - 1}", "mapping": mapping}
    return f"{number}/conversations.json", json.dumps([talk])


def claude(number: int, messages: Messages) -> tuple[str, str]:
    said: list[dict[str, Any]] = [
        {"uuid": f"m{at}", "sender": "human" if text else "narrator", "text": text or "x", "content": []}
        for at, text in enumerate(messages)
    ]
    return f"{number}/conversations.json", json.dumps([{"uuid": f"k{number}", "chat_messages": said}])


def claude_code(number: int, messages: Messages) -> tuple[str, str]:
    lines = [
        '{"type":"user",'
        if text is BROKEN
        else {"type": "user", "uuid": f"u{at}", "sessionId": f"s{number}", "message": {"role": "user", "content": text}}
        for at, text in enumerate(messages)
    ]
    return f"{number}.jsonl", _lines(lines)


def codex(number: int, messages: Messages) -> tuple[str, str]:
    def item(at: int, text: str | None) -> dict[str, Any]:
        content = [{"type": "input_text", "text": text}] if text else []
        message = {"type": "message", "role": "user", "content": content}
        return {"timestamp": f"2026-01-05T09:00:{at:02}Z", "type": "response_item", "payload": message}

    return f"rollout-{number}.jsonl", _lines([item(at, text) for at, text in enumerate(messages)])


def openai(number: int, messages: Messages) -> tuple[str, str]:
    said = [{"role": "user" if text else "narrator", "content": text or "x"} for text in messages]
    return f"{number}.jsonl", _lines([{"id": f"o{number}", "messages": said}])


def sharegpt(number: int, messages: Messages) -> tuple[str, str]:
    said = [{"from": "human" if text else "narrator", "value": text or "x"} for text in messages]
    return f"{number}.json", json.dumps([{"id": f"g{number}", "conversations": said}])


def whatsapp(number: int, messages: Messages) -> tuple[str, str]:
    lines = [
        f"2026-01-05, 09:{at:02} - Ada {number}: {text}" if text else f"2026-01-05, 09:{at:02} - Bo lämnade gruppen"
        for at, text in enumerate(messages)
    ]
    return f"{number}.txt", _lines(lines)


def telegram(number: int, messages: Messages) -> tuple[str, str]:
    said = [
        {"id": at, "type": "message" if text else "service", "date": "2026-01-05T09:00:00", "text": text or "x"}
        for at, text in enumerate(messages)
    ]
    return f"{number}/result.json", json.dumps({"id": number, "messages": said})


def slack(number: int, messages: Messages) -> tuple[str, str]:
    said = [
        {"type": "message", "user": "U1", "text": text or "x", "ts": f"17000000{at:02}.000100" if text else "NaN"}
        for at, text in enumerate(messages)
    ]
    return f"{number}/general{number}/2023-11-14.json", json.dumps(said)


def discord(number: int, messages: Messages) -> tuple[str, str]:
    said = [
        {"id": str(at), "type": "Default" if text else "RecipientAdd", "content": text or "x", "author": {"name": "A"}}
        for at, text in enumerate(messages)
    ]
    return f"{number}.json", json.dumps({"guild": {}, "channel": {"id": str(number)}, "messages": said})


WRITERS: dict[str, Callable[[int, Messages], tuple[str, str]]] = {
    "chatgpt": chatgpt,
    "claude": claude,
    "claude-code": claude_code,
    "codex": codex,
    "discord": discord,
    "openai": openai,
    "sharegpt": sharegpt,
    "slack": slack,
    "telegram": telegram,
    "whatsapp": whatsapp,
}
WORDS = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=8)
# The first message tells what a file is, so it is whole.
HISTORIES = st.builds(
    lambda name, first, rest: History(name, [first, *rest]),
    st.sampled_from(sorted(WRITERS)),
    WORDS,
    st.lists(WORDS | st.just(BROKEN), max_size=6),
)
STRAYS = st.sampled_from([b"", b"\x89PNG\0\0", b"bara ord", b'{"a": }', b'{"a": 1}', b"\xff\xfe\x00", b"PK\x03\x04oj"])


def imported(store: SqliteTurnStore, path: Path) -> ImportReport:
    return import_into(store, path, format=None, options=ImportOptions(), dry_run=False, progress=None)


@settings(max_examples=25, deadline=None)
@given(st.lists(HISTORIES, min_size=2, max_size=5), st.lists(STRAYS, max_size=3), st.booleans())
def test_every_message_of_a_mixed_folder_is_accounted_for(
    histories: list[History], strays: list[bytes], zipped: bool
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "in"
        for number, history in enumerate(histories, 10):
            history.write(folder, number)
        for number, stray in enumerate(strays):
            (folder / f"stray{number}").write_bytes(stray)
        path = zip_of(folder) if zipped else folder
        store = SqliteTurnStore(Path(scratch) / "memory")
        first, again = imported(store, path), imported(store, path)
        stored = [turn.text for _, turn in store.scan()]
        store.close()

    n_good = sum(history.n_good for history in histories)
    n_all = sum(len(history.messages) for history in histories)
    for report, counts in ((first, (n_good, 0)), (again, (0, n_good))):
        report.check()
        assert (report.kept, report.already_there) == counts
        assert report.read == n_all
        assert sum(reason.count for reason in report.skipped.values()) == n_all - n_good
        assert (report.corrected, report.vanished) == (0, 0)
        assert len(report.unread) == len(strays)
        assert sorted(file.format for file in report.files) == sorted(history.name for history in histories)
    assert sorted(stored) == sorted(text for history in histories for text in history.messages if text is not BROKEN)


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_in_every_format_a_message_that_cannot_be_stored_costs_only_itself(tmp_path: Path, name: str) -> None:
    History(name, ["ett", BROKEN, "två", BROKEN]).write(tmp_path / "in", 10)
    store = SqliteTurnStore(tmp_path / "memory")

    report = imported(store, tmp_path / "in")

    assert [turn.text for _, turn in store.scan()] == ["ett", "två"]
    assert (report.read, report.kept) == (4, 2)
    assert sum(reason.count for reason in report.skipped.values()) == 2
    assert all(reason.where for reason in report.skipped.values())
    store.close()


def zip_of(folder: Path) -> Path:
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    return path
