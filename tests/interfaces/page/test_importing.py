"""A history is uploaded, looked at, and stored when that is said; nothing before."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.requests import Request

from memory_rag.interfaces.page.uploads import TooLargeError, Uploads
from memory_rag.memory import Memory
from tests.interfaces.page.conftest import Shown, hidden

CHAT = {
    "id": "workshop",
    "messages": [
        {"role": "user", "content": "The workshop costs 54 euro. Write to ebba@example.org."},
        {"role": "assistant", "content": "Noted: 54 euro."},
        {"role": "user", "content": ""},
    ],
}
File = tuple[str, bytes]


def chat(name: str = "chat.json") -> File:
    return name, json.dumps(CHAT).encode()


def upload(shown: Shown, *files: File, at: str = "/import", **fields: str) -> httpx2.Response:
    sent: list[Any] = [("file", (name, data, "application/octet-stream")) for name, data in files]
    mark = hidden(shown.get(at).text)["mark"]
    return shown.client.post(at, data={"mark": mark, **fields}, files=sent, follow_redirects=True)


def test_what_would_be_stored_is_counted_by_kind_and_stored_when_that_is_said(shown: Shown) -> None:
    looked = upload(shown, chat(), ("notes.bin", b"nothing that anybody knows"))

    assert "2 turns would be stored" in looked.text
    assert "Nothing is stored yet." in looked.text
    assert "<td>openai</td>" in looked.text
    assert "e-mail address" in looked.text
    assert "no importer knows this format" in looked.text
    assert len(shown.memory) == 6

    form = hidden(looked.text)
    stored = shown.client.post("/import/store", data=form, follow_redirects=True)

    assert "2 turns are stored" in stored.text
    assert [turn.text for turn in shown.memory.turns(conversation_id="workshop")] == [
        "The workshop costs 54 euro. Write to ebba@example.org.",
        "Noted: 54 euro.",
    ]
    again = shown.client.post("/import/store", data=form, follow_redirects=True)
    assert "2 turns are stored" in again.text
    assert len(shown.memory) == 8

    assert "There is nothing new here" in upload(shown, chat("renamed.json")).text


def test_neither_the_folder_nor_a_path_is_told_or_stored(shown: Shown) -> None:
    looked = upload(shown, ("../../../outside.json", chat()[1]), ("broken.zip", b"PK\x03\x04 broken"))
    shown.client.post("/import/store", data=hidden(looked.text))

    assert "outside.json" in looked.text
    assert "memory-rag-upload" not in looked.text
    assert "memory-rag-upload" not in "".join(shown.memory.export())
    assert not list(shown.home.rglob("outside*"))


def test_an_upload_ends_when_it_isn_t_wanted(shown: Shown) -> None:
    looked = upload(shown, chat())
    form = hidden(looked.text)

    left = shown.client.post("/import/drop", data=form, follow_redirects=True)
    gone = shown.client.post("/import/store", data=form, follow_redirects=True)

    assert 'type="file"' in left.text
    assert "This upload is gone" in gone.text
    assert len(shown.memory) == 6


def test_where_nothing_is_stored_yet_a_look_makes_no_memory(unfilled: Callable[[], Shown], tmp_path: Path) -> None:
    shown = unfilled()
    shown.memory.close()
    for file in sorted((tmp_path / "main").rglob("*"), reverse=True):
        file.unlink() if file.is_file() else file.rmdir()
    assert "Choose files" in shown.get("/").text

    looked = upload(shown, chat())
    assert "2 turns would be stored" in looked.text
    assert not (tmp_path / "main" / "turns.sqlite").exists()

    shown.client.post("/import/store", data=hidden(looked.text))
    assert "2 turns, word for word." in shown.get("/").text


def test_an_upload_belongs_to_the_memory_it_was_sent_to(shown: Shown) -> None:
    with Memory.open(shown.home / "work", embedder="none") as work:
        work.add("Only at work.")
    looked = upload(shown, chat(), at="/memory/work/import")
    assert looked.url.path == "/memory/work/import"
    form = hidden(looked.text)

    assert "This upload is gone" in shown.client.post("/import/store", data=form, follow_redirects=True).text
    assert "2 turns are stored" in shown.client.post("/memory/work/import/store", data=form, follow_redirects=True).text
    assert len(shown.memory) == 6


@pytest.mark.parametrize(
    ("files", "fields", "status", "told"),
    [
        ([("", b"")], {}, 400, "no file was chosen"),
        ([chat()], {"format": "../x"}, 400, "../x is no format that is known here"),
        ([chat()], {"date_order": "x"}, 400, "x is no format that is known here"),
        ([chat()], {"mark": "0" * 64}, 403, "This form is from before the server was started"),
        ([("x.json", b"{")], {}, 200, "This could not be read."),
        ([("empty", b"")], {}, 200, "This could not be read."),
    ],
)
def test_what_can_t_be_used_is_told(
    only_shown: Shown, files: list[File], fields: dict[str, str], status: int, told: str
) -> None:
    answer = upload(only_shown, *files, **fields)

    assert answer.status_code == status
    assert told in answer.text


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/plain", b"hello"),
        ("multipart/form-data", b"hello"),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--\r\n"),
        ("multipart/form-data; boundary=x", b"--y"),
        ("multipart/form-data; boundary=x", b"\0\xff" * 999),
        ("", b""),
    ],
)
def test_what_is_no_upload_breaks_nothing(only_shown: Shown, kind: str, body: bytes) -> None:
    answer = only_shown.client.post("/import", content=body, headers={"content-type": kind} if kind else {})

    assert answer.status_code in (400, 403)


def test_too_many_files_are_refused(only_shown: Shown) -> None:
    answer = upload(only_shown, *(chat(f"{number}.json") for number in range(201)))

    assert answer.status_code == 400
    assert "Too many files" in answer.text


def test_a_browser_that_goes_away_in_the_middle_leaves_nothing(
    only_shown: Shown, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    head = "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: {}\r\nContent-Length: 100000\r\n\r\n"
    place = only_shown.url.removeprefix("http://")
    for path, kind in (("/import", "multipart/form-data; boundary=x"), ("/pin", "application/x-www-form-urlencoded")):
        with socket.create_connection(place.split(":")) as connection:  # type: ignore[arg-type]
            connection.sendall(head.format(path, place, kind).encode())
            connection.sendall(b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhello')

    # Answered after those before it, on the same loop.
    while only_shown.get("/import").status_code != 200:
        pass
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []


def test_an_upload_that_is_too_large_is_read_to_its_end_and_refused(tmp_path: Path) -> None:
    uploads = Uploads(within=tmp_path, largest=100_000)
    sent = [b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n', *[b"0" * 65536] * 9]
    asked: list[int] = []

    async def receive() -> dict[str, Any]:
        asked.append(len(asked))
        return {"type": "http.request", "body": sent[asked[-1]], "more_body": asked[-1] + 1 < len(sent)}

    headers = [(b"content-type", b"multipart/form-data; boundary=x")]
    request = Request({"type": "http", "method": "POST", "headers": headers}, receive)
    with pytest.raises(TooLargeError, match="up to 100 kB"):
        asyncio.run(uploads.receive(request))

    assert len(asked) == len(sent)
    assert list(tmp_path.iterdir()) == []
