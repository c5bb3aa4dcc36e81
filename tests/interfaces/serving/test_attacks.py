"""What a hostile client may send, by the byte: nothing of it reaches the memory, keeps a place or stops the others."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from memory_rag.interfaces.endpoint.upstream import Upstream
from memory_rag.interfaces.serving.app import Service, app_of
from memory_rag.interfaces.serving.limits import Limits
from memory_rag.interfaces.serving.memories import Memories
from memory_rag.interfaces.serving.patience import PatientProtocol
from tests.interfaces.serving.served import PATIENCE_S, get, opened, serving
from tests.model_server import model_server

CHAT = b'{"model": "small", "messages": [{"role": "user", "content": "Let me in"}]}'


class Hasty(PatientProtocol):
    head_s = 0.3


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that all of these attack one after the other; at the end its memory is as it was."""
    home = tmp_path_factory.mktemp("home")
    memories = Memories(opened(home, "main"), name="main", home=home)
    memories.own.get(create=True).add("The price is 54 euro.")
    service_limits = Limits(at_once=8, patience_s=0.3)
    with model_server() as model:
        service = Service(memories, Upstream(model.url), has_mcp=False, limits=service_limits)
        with serving(app_of(service), http=Hasty) as found:
            yield found
        assert [turn.text for turn in memories.own.get().turns()] == ["The price is 54 euro."]
        assert model.requests == []
        memories.close()


def connected(url: str) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=PATIENCE_S)


def answer_to(url: str, *pieces: bytes) -> bytes:
    """Return all that comes back for some bytes until the server closes."""
    with connected(url) as client:
        for piece in pieces:
            client.sendall(piece)
        found = b""
        try:
            while data := client.recv(65536):
                found += data
        except ConnectionResetError:
            pass
    return found


def request(url: str, *headers: str, line: str = "POST /v1/chat/completions HTTP/1.1", body: bytes = CHAT) -> bytes:
    """Return a request's bytes; a header that is named is the one that is sent, ``name:`` alone leaves it out."""
    usual = {"host": urlsplit(url).netloc, "content-length": str(len(body)), "connection": "close"}
    named = {one.partition(":")[0].strip().lower() for one in headers}
    lines = [f"{name}: {value}" for name, value in usual.items() if name not in named]
    lines += [one for one in headers if one.partition(":")[2]]
    return "\r\n".join([line, *lines, "", ""]).encode("latin-1") + body


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0


@pytest.mark.parametrize(
    "headers",
    [
        ("host: evil.example",),  # a name that was pointed at this machine
        ("host: 127.0.0.1.evil.example:80",),
        ("host: localhost.",),
        ("host: localhost@evil.example",),
        ("host: 0x7f.1",),
        ("host: ",),
        ("host: evil.example", "x-forwarded-host: localhost"),
        ("host: evil.example", "forwarded: host=localhost"),
        ("origin: null",),
        ("origin: http://evil.example",),
        ("origin: http://localhost:1",),
        ("origin: http://127.0.0.1",),
        ("origin: file://",),
        ("origin: http://localhost@evil.example",),
        ("origin: http://evil.example", "referer: http://localhost/"),
    ],
)
def test_another_name_or_page_is_refused_whatever_else_it_says(url: str, headers: tuple[str, ...]) -> None:
    assert status(answer_to(url, request(url, *headers))) in (400, 403, 421)


def test_two_hosts_none_or_one_in_the_target_let_nobody_in(url: str) -> None:
    own = urlsplit(url).netloc

    assert status(answer_to(url, request(url, f"host: {own}\r\nhost: evil.example"))) in (400, 421)
    assert status(answer_to(url, request(url, "host:"))) in (400, 421)
    assert status(answer_to(url, request(url, "host: evil.example", line=f"POST http://{own}/v1/models HTTP/1.1"))) in (
        400,
        421,
    )


@pytest.mark.parametrize(
    "headers",
    [
        ("content-length: 5", "content-length : 6"),
        ("content-length: +5",),
        ("content-length: 0x5",),
        ("content-length: -1",),
        ("content-length: 5, 6",),
        ("content-length: " + "9" * 5000,),
        ("content-length: 99999999999999999999999999",),
        ("content-length:", "transfer-encoding: gzip, chunked"),
        ("content-length:", "transfer-encoding: chunked\x0b"),
        ("content-length:", "transfer-encoding:\tidentity"),
        ("x-bad\0name: 1",),
        ("x-folded: 1\r\n two: 2\r\n\tthree",),
    ],
)
def test_no_request_hides_in_another(url: str, headers: tuple[str, ...]) -> None:
    hidden = request(url, line="POST /v1/chat/completions HTTP/1.1")

    answer = answer_to(url, request(url, *headers, body=b"XXXXX" + hidden))

    assert status(answer) in (400, 413, 501)
    assert answer.count(b"HTTP/1.1 ") == 1


def test_a_chunked_body_with_a_length_beside_it_is_read_once(url: str) -> None:
    body = b"0\r\n\r\n" + request(url)

    answer = answer_to(url, request(url, "transfer-encoding: chunked", "content-length: 5", body=body))

    assert answer.count(b"HTTP/1.1 ") == 1
    assert status(answer) == 400


def test_headers_that_never_end_are_not_waited_for(url: str) -> None:
    assert answer_to(url, b"") == b""
    assert answer_to(url, b"GET / HTTP/1.1\r\nHost: ") == b""
    with connected(url) as client:
        # A byte now and then wins no time.
        sent = 0
        try:
            for _ in range(10_000):
                client.sendall(b"x")
                client.settimeout(0.05)
                sent += 1
                try:
                    if client.recv(1) == b"":
                        break
                except TimeoutError:
                    continue
        except OSError:
            pass
    assert sent < 10_000


def test_headers_without_end_take_no_memory(url: str) -> None:
    answer = answer_to(url, b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 50_000)

    assert status(answer) in (0, 400, 431)


def test_bodies_that_never_come_keep_no_places(url: str) -> None:
    slow = [connected(url) for _ in range(8)]
    for client in slow:
        client.sendall(request(url, "content-length: 1000", body=b"{"))
    answers = [client.recv(65536) for client in slow]

    assert {status(answer) for answer in answers} == {408}
    assert get(url + "/").status_code == 200
    for client in slow:
        client.close()


@pytest.mark.parametrize(
    "target",
    [
        "/v1/models/../../secrets",
        "/v1/models/..%2f..%2fsecrets",
        "/v1/models/a/../../b",
        "/v1/models/%2e%2e/b",
        "/v1/models//etc",
        "/static/../page.py",
        "/static/..%2f..%2f..%2fsettings.py",
        "/static/%2e%2e/%2e%2e/settings.py",
        "/benchmarks/report?name=../../x",
    ],
)
def test_no_path_leads_out(url: str, target: str) -> None:
    answer = answer_to(url, request(url, line=f"GET {target} HTTP/1.1", body=b""))

    assert status(answer) in (400, 404)
    assert b"memory_rag.errors" not in answer


def test_a_form_of_another_page_changes_nothing_with_any_kind_of_body(url: str) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        for target in ("/forget", "/pin", "/v1/chat/completions"):
            sent = request(url, "origin: http://evil.example", f"content-type: {kind}", line=f"POST {target} HTTP/1.1")
            assert status(answer_to(url, sent)) == 403
            # An old browser that names no page: forms need their mark, a chat its JSON.
            if target != "/v1/chat/completions":
                sent = request(url, f"content-type: {kind}", line=f"POST {target} HTTP/1.1")
                assert status(answer_to(url, sent)) in (400, 403, 415, 422)
