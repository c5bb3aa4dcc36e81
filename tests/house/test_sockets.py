"""A test that forbids sockets sees every use of one, caught or not."""

from __future__ import annotations

from collections.abc import Callable

USES_ONE = """
import contextlib, socket, urllib.request

def test_that_stays_at_home(no_sockets): socket.socket().close()

def test_that_connects(no_sockets): socket.create_connection(("127.0.0.1", 9))

def test_that_hides_it(no_sockets):
    with contextlib.suppress(Exception):
        urllib.request.urlopen("http://memory.invalid/")

def test_that_comes_after_them():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
"""


def test_a_use_of_a_socket_fails_the_test_even_when_it_is_caught(outcome_of: Callable[..., str]) -> None:
    said = outcome_of(USES_ONE)

    assert "1 failed, 3 passed, 2 errors" in said
    assert "this test forbids sockets, but the code called socket.getaddrinfo('127.0.0.1', 9)" in said
    assert "sockets were used: socket.getaddrinfo('memory.invalid', 80)" in said
