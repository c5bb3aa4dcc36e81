"""Several PostgreSQL servers on this machine, from the binaries of a wheel: a primary, and one that follows it.

They listen on sockets in a folder of their own, and run as the wheel's user where the tests run as root.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from tests.postgres_server import STARTS_WITHIN_S, PostgresServer, make_role

_LOOKS_EVERY_S: Final = 0.05
_STARTED_ANEW_AT_MOST: Final = 40
_SETTINGS: Final = (
    "listen_addresses=",
    "shared_preload_libraries=pg_textsearch",
    # Processes are killed here, no machine is.
    "fsync=off",
    "max_wal_senders=4",
    "wal_receiver_status_interval=100ms",
)


@dataclass(slots=True)
class Node:
    """A server: its data, and its process while it runs."""

    folder: Path
    """Where all servers of a test have their sockets and their data."""
    number: int
    settings: tuple[str, ...] = _SETTINGS
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def data(self) -> Path:
        return self.folder / f"node-{self.number}"

    @property
    def superuser(self) -> str:
        """The URL by which a superuser gets in."""
        return f"postgresql://postgres@/postgres?host={self.folder}&port={self.number}"

    @property
    def server(self) -> PostgresServer:
        return PostgresServer(self.superuser)

    def start(self) -> None:
        """Start it, and return when it answers."""
        given = [word for setting in self.settings for word in ("-c", setting)]
        deadline = time.monotonic() + STARTS_WITHIN_S
        self._process, tries = self._started(given), 0
        while not self._answers():
            assert time.monotonic() < deadline, self._told()
            if self._process.poll() is not None:
                # One that was killed leaves others of its processes behind, which end by themselves, and soon.
                tries += 1
                assert tries <= _STARTED_ANEW_AT_MOST, self._told()
                self._process = self._started(given)
            time.sleep(_LOOKS_EVERY_S)

    def _started(self, given: list[str]) -> subprocess.Popen[bytes]:
        command = [program("postgres"), "-D", str(self.data), "-k", str(self.folder), "-p", str(self.number), *given]
        with (self.folder / f"log-{self.number}").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, **_as_user())

    def _told(self) -> str:
        return (self.folder / f"log-{self.number}").read_text(encoding="utf-8", errors="replace")[-3000:]

    def _answers(self) -> bool:
        try:
            self.server.as_superuser("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def stop(self, mode: str = "fast") -> None:
        """Stop it; ``immediate`` is without any goodbye, as far as it can."""
        _run("pg_ctl", "-D", str(self.data), "-w", "-m", mode, "stop")
        self._ended()

    def kill(self) -> None:
        """Let the system end it, and see that none of its processes goes on."""
        assert self._process is not None
        self._process.kill()
        self._ended()

    def _ended(self) -> None:
        assert self._process is not None
        self._process.wait()
        self._process = None

    def close(self) -> None:
        """Stop it, if it runs."""
        if self._process is not None and self._process.poll() is None:
            self.stop("immediate")

    def promote(self) -> None:
        """Let one that follows another take writes from now on."""
        assert self.server.as_superuser(f"SELECT pg_promote(true, {STARTS_WITHIN_S})") == [(True,)]

    def follower(self, number: int) -> Node:
        """Make, start and return a server that follows this one."""
        follower = Node(self.folder, number, self.settings)
        slot = f"follower_{number}"
        _run(
            "pg_basebackup", "-D", str(follower.data), "-d", self.superuser, "-R", "-C", "-S", slot, "-c", "fast",
        )  # fmt: skip
        follower.start()
        return follower

    def set(self, name: str, value: str) -> None:
        """Give a setting another value while it runs."""
        self.server.as_superuser(f"ALTER SYSTEM SET {name} = '{value}'")
        self.server.as_superuser("SELECT pg_reload_conf()")
        deadline = time.monotonic() + STARTS_WITHIN_S
        while self.server.as_superuser(f"SELECT current_setting('{name}')") != [(value,)]:
            assert time.monotonic() < deadline
            time.sleep(_LOOKS_EVERY_S)


class Nodes:
    """The servers of one test, and the database of each new one; all are stopped at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._nodes: list[Node] = []

    def primary(self, *settings: str) -> Node:
        """Make and start a server of its own, with the role of the tests."""
        node = self._kept(Node(self.folder, len(self._nodes) + 1, (*_SETTINGS, *settings)))
        _run("initdb", "-D", str(node.data), "--auth=trust", "--encoding=utf8", "-U", "postgres", "--no-sync")
        node.start()
        make_role(node.server)
        return node

    def follower(self, node: Node) -> Node:
        """Make and start a server that follows another."""
        return self._kept(node.follower(len(self._nodes) + 1))

    def _kept(self, node: Node) -> Node:
        self._nodes.append(node)
        return node

    def close(self) -> None:
        for node in reversed(self._nodes):
            node.close()


@contextmanager
def postgres_nodes() -> Iterator[Nodes]:
    """Servers of the test's own; skips the test where there are no binaries."""
    if importlib.util.find_spec("psycopg") is None or importlib.util.find_spec("pgserver") is None:
        pytest.skip("needs PostgreSQL's binaries: pip install -r tests/requirements.txt")
    # Not pytest's folder: as root the servers run as another user, who can't get in there.
    folder = Path(tempfile.mkdtemp(prefix="memory-rag-pg-"))
    if user := _as_user().get("user"):
        shutil.chown(folder, user)
    nodes = Nodes(folder)
    try:
        yield nodes
    finally:
        nodes.close()
        shutil.rmtree(folder, ignore_errors=True)


@cache
def _as_user() -> dict[str, Any]:
    """Return how to start a process as whom the servers run; PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return {}
    with pytest.MonkeyPatch.context() as environment, tempfile.TemporaryDirectory() as runtime:
        environment.setenv("XDG_RUNTIME_DIR", runtime)
        from pgserver._commands import POSTGRES_BIN_PATH
        from pgserver.utils import ensure_folder_permissions, ensure_prefix_permissions, ensure_user_exists
    ensure_user_exists("pgserver")
    ensure_prefix_permissions(POSTGRES_BIN_PATH)
    ensure_folder_permissions(POSTGRES_BIN_PATH, 0o055)
    return {"user": "pgserver", "group": "pgserver", "extra_groups": [], "cwd": "/"}


def program(name: str) -> str:
    """Return the path of one of PostgreSQL's programs."""
    found = importlib.util.find_spec("pgserver")
    assert found is not None
    assert found.submodule_search_locations
    return str(Path(found.submodule_search_locations[0]) / "pginstall" / "bin" / name)


def _run(name: str, *words: str) -> None:
    done = subprocess.run([program(name), *words], capture_output=True, text=True, check=False, **_as_user())
    assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
