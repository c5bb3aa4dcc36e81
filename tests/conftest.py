"""What every test may rely on: the evaluation data, no network where it is forbidden, nobody's own files."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.browser import chromium
from tests.either_engine import ENGINES, Place
from tests.postgres_server import PostgresServer, postgres_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# A busy machine makes a slow example, not a wrong one.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", settings.get_profile("here"), derandomize=True, print_blob=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "here")

_SKIP_IS_FAILURE = os.environ.get("MEMORY_RAG_ALL") == "1"
_KEPT = {"MEMORY_RAG_ALL", "MEMORY_RAG_DATA", "MEMORY_RAG_MINILM_PATH", "MEMORY_RAG_TEST_PG"}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if _SKIP_IS_FAILURE and report.skipped and not hasattr(report, "wasxfail"):
        _fail(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if _SKIP_IS_FAILURE and report.skipped:
        _fail(report)
    return report


def _fail(report: pytest.TestReport | pytest.CollectReport) -> None:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    report.outcome = "failed"
    report.longrepr = f"MEMORY_RAG_ALL=1 says that everything is installed, but: {reason}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "data_dir" in getattr(item, "fixturenames", ()):
            item.add_marker("needs_data")
        if _needs_postgres(item):
            # A server takes as long to start as the whole folder's tests do.
            item.add_marker("slow")
            item.add_marker("needs_postgres")


def _needs_postgres(item: pytest.Item) -> bool:
    if "postgres" in getattr(item, "fixturenames", ()):
        return True
    # A test that runs over either engine needs a server only for the one; what is a parameter of its own is no engine.
    parameters = getattr(item, "callspec", None)
    own = {name for mark in item.iter_markers("parametrize") for name in re.split(r"[,\s]+", ",".join(_names(mark)))}
    return parameters is not None and "postgres" in [
        value for name, value in parameters.params.items() if name not in own
    ]


def _names(mark: pytest.Mark) -> Sequence[str]:
    names: str | Sequence[str] = mark.args[0] if mark.args else mark.kwargs["argnames"]
    return [names] if isinstance(names, str) else names


@pytest.fixture(scope="session", autouse=True)
def _nobodys_own_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep a person's memories, settings and keys out of the tests."""
    with pytest.MonkeyPatch.context() as environment:
        for name in os.environ:
            if name.startswith("OPENAI_") or (name.startswith("MEMORY_RAG_") and name not in _KEPT):
                environment.delenv(name)
        environment.setenv("MEMORY_RAG_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of evaluation data that MEMORY_RAG_DATA names, with ``locomo10.json`` and ``beam/100K/``."""
    named = os.environ.get("MEMORY_RAG_DATA")
    if not named:
        pytest.skip("needs the evaluation data: set MEMORY_RAG_DATA to the folder with locomo10.json and beam/")
    folder = Path(named)
    missing = [name for name in ("locomo10.json", "beam/100K") if not (folder / name).exists()]
    if missing:
        pytest.fail(f"MEMORY_RAG_DATA={named} has no {' and no '.join(missing)}")
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A real PostgreSQL server."""
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_url(postgres: PostgresServer) -> str:
    """A database that the tests of this session share; each takes an owner of its own."""
    return postgres.new_database()


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where the test's memory lies: in a folder, and once more on a server."""
    return Place.of_engine(request, tmp_path / "memory")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium for the tests of one file: an open one would stop every event loop of the files after it."""
    with chromium() as opened:
        yield opened


class SocketForbiddenError(Exception):
    """A test that forbids the network saw a socket used."""


class _SocketGuard:
    """Sees every use of a socket in this process while armed; an audit hook can't be taken away again."""

    _USES = frozenset(
        f"socket.{use}" for use in ("connect", "bind", "sendto", "sendmsg", "getaddrinfo", "gethostbyname")
    )

    def __init__(self) -> None:
        self.armed = False
        self.seen: list[str] = []

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.armed and event in self._USES:
            told = [argument for argument in arguments if not isinstance(argument, socket.socket)]
            use = f"{event}{tuple(told[:2])}"
            self.seen.append(use)
            raise SocketForbiddenError(f"this test forbids sockets, but the code called {use}")


@pytest.fixture(scope="session")
def _socket_guard() -> _SocketGuard:
    guard = _SocketGuard()
    sys.addaudithook(guard)
    return guard


@pytest.fixture
def no_sockets(_socket_guard: _SocketGuard) -> Iterator[None]:
    """Forbid sockets: to connect, bind, send or look up a host raises, and fails the test even if caught."""
    _socket_guard.seen.clear()
    _socket_guard.armed = True
    try:
        yield
    finally:
        _socket_guard.armed = False
    if _socket_guard.seen:
        pytest.fail("sockets were used: " + "; ".join(_socket_guard.seen))
